" Showing a file to the user.

function! vim_mcp#open#Run(params) abort
  let l:line = s:Position(a:params, 'line')
  let l:column = s:Position(a:params, 'column')
  let l:nr = vim_mcp#load#Known(a:params)
  if l:nr == 0
    let l:nr = vim_mcp#load#Add(a:params)
  endif
  let l:made_window = s:EnterWindow(l:nr)
  if bufnr('%') != l:nr
    call s:Show(l:nr, l:made_window)
  endif
  call setbufvar(l:nr, '&buflisted', 1)
  if l:line > 0
    call s:Go(l:line, l:column)
  endif
  call vim_mcp#screen#Update()
  let l:cursor = vim_mcp#reads#Cursor()
  return extend(vim_mcp#target#Common(l:nr), {'line': l:cursor[0], 'column': l:cursor[1]})
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

" Make the window current in which buffer {nr} is, or shall be, shown.
" -> 1 when it had to be made
function! s:EnterWindow(nr) abort
  let l:windows = [winnr(), winnr('#')] + range(1, winnr('$'))
  for l:winnr in l:windows
    if l:winnr > 0 && winbufnr(l:winnr) == a:nr && win_gettype(l:winnr) is# ''
      call s:Enter(l:winnr)
      return 0
    endif
  endfor
  for l:winnr in l:windows
    if l:winnr > 0 && s:IsOrdinary(l:winnr)
      call s:Enter(l:winnr)
      return s:MustStayVisible() && s:Split()
    endif
  endfor
  return s:Split()
endfunction

function! s:Enter(winnr) abort
  if a:winnr != winnr()
    call vim_mcp#quiet#Execute(a:winnr . 'wincmd w')
  endif
endfunction

" Would leaving the current buffer lose text, or hide it against the user's wish?
function! s:MustStayVisible() abort
  return &modified && (!&hidden || &bufhidden =~# '^\%(unload\|delete\|wipe\)$')
        \ && &bufhidden isnot# 'hide' && len(win_findbuf(bufnr('%'))) == 1
endfunction

function! s:Split() abort
  call vim_mcp#quiet#Execute('aboveleft split')
  " A window beside a preview or diff window must not become one, too.
  setlocal nopreviewwindow nodiff noscrollbind nocursorbind nowinfixheight nowinfixwidth
  return 1
endfunction

" Show buffer {nr} in the current window.
function! s:Show(nr, made_window) abort
  let l:winid = win_getid()
  call s:MarkJump()
  try
    " "hide", so that the undo history of what was here survives.
    call vim_mcp#load#Guarded('hide buffer ' . a:nr, a:nr)
    let l:error = 'Vim:' . v:errmsg
  catch
    let l:error = v:exception
  endtry
  if bufnr('%') != a:nr
    if a:made_window && win_getid() == l:winid && winnr('$') > 1
      silent! noautocmd close
    endif
    throw 'vim-mcp ' . json_encode(vim_mcp#error#From(l:error))
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
