" Showing a file to the user.

function! vim_mcp#open#Run(params) abort
  let l:line = s:Position(a:params, 'line')
  let l:column = s:Position(a:params, 'column')
  let l:nr = vim_mcp#load#Known(a:params)
  if l:nr == 0
    let l:nr = vim_mcp#load#Add(a:params)
  endif
  let [l:winid, l:is_new] = s:Window(l:nr)
  if mode() isnot# 't'
    call win_gotoid(l:winid)
  endif
  try
    " A user who is in a terminal stays there: their keys are for it.
    call vim_mcp#quiet#ExecuteAt(l:winid,
          \ printf('call vim_mcp#open#Here(%d, %d, %d)', l:nr, l:line, l:column))
  catch
    if l:is_new
      call win_execute(l:winid, 'silent! noautocmd close')
    endif
    call vim_mcp#error#Rethrow(v:exception)
  endtry
  call vim_mcp#screen#Update()
  return extend(vim_mcp#target#Common(l:nr), {'line': s:cursor[0], 'column': s:cursor[1]})
endfunction

" Not for others: show buffer {nr} in the current window, at {line} and {column}
" when they are not 0.
function! vim_mcp#open#Here(nr, line, column) abort
  if bufnr('%') != a:nr
    call s:MarkJump()
    " "hide", so that the undo history of what was here survives.
    call vim_mcp#load#Guarded('hide buffer ' . a:nr, a:nr)
    if bufnr('%') != a:nr
      call vim_mcp#error#Throw(1004, '', 'The editor could not show this file. ' . v:errmsg)
    endif
  endif
  call setbufvar(a:nr, '&buflisted', 1)
  if a:line > 0
    call s:Go(a:line, a:column)
  endif
  let s:cursor = vim_mcp#reads#Cursor()
endfunction

function! s:Position(params, name) abort
  let l:value = get(a:params, a:name, v:null)
  if l:value isnot v:null && (type(l:value) != v:t_number || l:value < 1)
    call vim_mcp#error#BadParams(a:name . ' must be a number from 1 on.')
  endif
  return l:value is v:null ? 0 : l:value
endfunction

" A window the user edits files in: no terminal, quickfix, help, preview, diff or
" floating window.
function! s:IsOrdinary(winnr) abort
  return win_gettype(a:winnr) is# ''
        \ && index(['', 'acwrite'], getwinvar(a:winnr, '&buftype')) >= 0
        \ && !getwinvar(a:winnr, '&previewwindow') && !getwinvar(a:winnr, '&diff')
        \ && empty(getwinvar(a:winnr, '&winfixbuf', 0))
endfunction

" The window in which buffer {nr} is, or shall be, shown. -> [window id, is new]
function! s:Window(nr) abort
  let l:windows = map([winnr(), winnr('#')] + range(1, winnr('$')), 'win_getid(v:val)')
  for l:winid in l:windows
    if l:winid > 0 && winbufnr(l:winid) == a:nr && win_gettype(l:winid) is# ''
      return [l:winid, 0]
    endif
  endfor
  for l:winid in l:windows
    if l:winid > 0 && s:IsOrdinary(l:winid)
      return s:MustStayVisible(winbufnr(l:winid)) ? [s:Split(l:winid), 1] : [l:winid, 0]
    endif
  endfor
  return [s:Split(win_getid()), 1]
endfunction

" Would leaving buffer {nr} lose text, or hide it against the user's wish?
function! s:MustStayVisible(nr) abort
  let l:fate = getbufvar(a:nr, '&bufhidden')
  return getbufvar(a:nr, '&modified') && len(win_findbuf(a:nr)) == 1 && l:fate isnot# 'hide'
        \ && (!&hidden || index(['unload', 'delete', 'wipe'], l:fate) >= 0)
endfunction

" A new window beside {winid}.
function! s:Split(winid) abort
  call vim_mcp#quiet#ExecuteAt(a:winid, 'call vim_mcp#open#SplitHere()')
  return s:new_window
endfunction

" Not for others: split the current window.
function! vim_mcp#open#SplitHere() abort
  let l:winid = win_getid()
  let l:is_terminal = mode() is# 't'
  aboveleft split
  " Beside a preview or diff window it must not become one, too.
  setlocal nopreviewwindow nodiff noscrollbind nocursorbind nowinfixheight nowinfixwidth
  let s:new_window = win_getid()
  if l:is_terminal
    call win_gotoid(l:winid)
  endif
endfunction

" To {line} and {column} (characters; 0: the line's first nonblank), both
" clamped to the text.
function! s:Go(line, column) abort
  call s:MarkJump()
  let l:line = min([a:line, line('$')])
  let l:text = getline(l:line)
  if a:column > 0
    let l:byte = byteidxcomp(l:text, min([a:column, max([1, strchars(l:text)])]) - 1)
    call cursor(l:line, max([l:byte, 0]) + 1)
  else
    call cursor(l:line, match(l:text, '\S') + 1)
  endif
  if foldclosed(l:line) > 0
    silent! foldopen!
  endif
endfunction

" Ctrl-O shall return to this place. (As m' does; but :normal would leave Vim's
" state() unsafe till the next key.)
function! s:MarkJump() abort
  call search('\%#', 'cs')
endfunction
