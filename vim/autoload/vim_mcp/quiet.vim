" Running Ex commands so that the user notices nothing but their effect.

let s:depth = 0
let s:saved = {}
let s:swap_seen = 0
let s:is_watching = 0

" From here to the matching Lower() the editor asks the user nothing: no dialog,
" no prompt about a swap file. To be used with :finally.
function! vim_mcp#quiet#Raise() abort
  let s:depth += 1
  if s:depth > 1
    return
  endif
  let s:swap_seen = 0
  let s:saved = {'confirm': &confirm, 'shortmess': &shortmess}
  if &confirm
    " It turns errors into dialogs.
    noautocmd set noconfirm
  endif
  if !s:is_watching
    " At the first act, so after the autocommands of others, and for good: taking
    " one back makes Vim look through all there are, 0.3 ms where filetypes are on.
    let s:is_watching = 1
    augroup vim_mcp_quiet
      autocmd!
      autocmd SwapExists * call s:OnSwap()
    augroup END
  endif
endfunction

function! vim_mcp#quiet#Lower() abort
  let s:depth -= 1
  if s:depth == 0
    if &confirm != s:saved.confirm
      noautocmd let &confirm = s:saved.confirm
    endif
    if &shortmess isnot# s:saved.shortmess
      noautocmd let &shortmess = s:saved.shortmess
    endif
  endif
endfunction

" Between Raise() and Lower(): where SwapExists is not triggered (bufload(), the
" first change of a buffer) the ATTENTION message would come in spite of :silent.
function! vim_mcp#quiet#HideAttention() abort
  noautocmd set shortmess+=A
endfunction

" Only while we run something: the user's own :edit asks as it always does.
function! s:OnSwap() abort
  if s:depth > 0
    let v:swapchoice = 'q'
    let s:swap_seen = 1
  endif
endfunction

" Nothing is being run any more. (Ctrl-C may have come before a :finally.)
function! vim_mcp#quiet#Settle() abort
  while s:depth > 0
    call vim_mcp#quiet#Lower()
  endwhile
endfunction

function! vim_mcp#quiet#RefuseSwap() abort
  call vim_mcp#error#Throw(1004, '', 'There is a swap file: another editor has this file open, or a crashed one did. Ask the user.')
endfunction

" The output of {command}. Errors are thrown; no prompt, no message.
function! vim_mcp#quiet#Execute(command) abort
  call vim_mcp#quiet#Raise()
  try
    let l:output = execute(a:command, 'silent')
    if s:swap_seen
      call vim_mcp#quiet#RefuseSwap()
    endif
    return l:output
  finally
    call vim_mcp#quiet#Lower()
  endtry
endfunction

" The same with buffer {nr} current for its time: in its window when it has one
" (this tab page first), else in a hidden one.
function! vim_mcp#quiet#ExecuteIn(nr, command) abort
  if a:nr == bufnr('%')
    return vim_mcp#quiet#Execute(a:command)
  endif
  let l:windows = filter([bufwinid(a:nr)] + win_findbuf(a:nr), 'v:val > 0')
  if !empty(l:windows)
    return vim_mcp#quiet#ExecuteAt(l:windows[0], a:command)
  elseif has('nvim')
    let [s:output, s:thrown] = ['', '']
    call luaeval('require("vim_mcp.buffer").execute(_A[1], _A[2])', [a:nr, a:command])
    return s:Outcome()
  endif
  " Closing the popup must not unload the buffer.
  let l:fate = getbufvar(a:nr, '&bufhidden')
  noautocmd call setbufvar(a:nr, '&bufhidden', 'hide')
  let l:popup = popup_create(a:nr, {'hidden': 1})
  try
    return vim_mcp#quiet#ExecuteAt(l:popup, a:command)
  finally
    call popup_close(l:popup)
    noautocmd call setbufvar(a:nr, '&bufhidden', l:fate)
  endtry
endfunction

let [s:output, s:thrown] = ['', '']

" The same with window {winid} current for its time. win_execute() swallows
" exceptions in some versions, so the command catches its own.
function! vim_mcp#quiet#ExecuteAt(winid, command) abort
  if a:winid == win_getid()
    return vim_mcp#quiet#Execute(a:command)
  endif
  let [s:output, s:thrown] = ['', '']
  call win_execute(a:winid, 'call vim_mcp#quiet#Inner(' . string(a:command) . ')', 'silent')
  return s:Outcome()
endfunction

" Not for others: the part of the above that runs inside.
function! vim_mcp#quiet#Inner(command) abort
  try
    let s:output = vim_mcp#quiet#Execute(a:command)
  catch
    let s:thrown = v:exception
  endtry
endfunction

function! s:Outcome() abort
  if s:thrown isnot# ''
    call vim_mcp#error#Rethrow(s:thrown)
  endif
  return s:output
endfunction
