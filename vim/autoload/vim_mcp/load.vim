" Buffers for files that are not open yet.

" The loaded buffer an act is meant for; a file that is not open gets a listed
" buffer without a window. Refuses what is private or may not be opened.
function! vim_mcp#load#Buffer(params) abort
  let l:nr = vim_mcp#load#Known(a:params)
  if l:nr == 0
    let l:nr = vim_mcp#load#Add(a:params)
  endif
  if !bufloaded(l:nr)
    let l:was_listed = buflisted(l:nr)
    call vim_mcp#quiet#Raise()
    try
      call vim_mcp#quiet#HideAttention()
      call vim_mcp#load#Guarded('call bufload(' . l:nr . ')', l:nr)
    finally
      call vim_mcp#quiet#Lower()
    endtry
    if !bufloaded(l:nr)
      call s:Forget(l:nr)
      call vim_mcp#error#Throw(1004, '', 'The editor could not load this file.')
    elseif s:HasStrangeSwap(l:nr)
      execute 'silent! noautocmd' (l:was_listed ? 'bunload' : 'bwipeout') l:nr
      call vim_mcp#quiet#RefuseSwap()
    endif
    call setbufvar(l:nr, '&buflisted', 1)
  endif
  return l:nr
endfunction

" bufload() does not trigger SwapExists: it loads, with a swap file of another
" name because the usual one is taken.
function! s:HasStrangeSwap(nr) abort
  return swapname(a:nr) !~# '^$\|\.swp$'
endfunction

" The buffer {params} mean, when the user has it open: loaded, or in the buffer
" list. 0 when it is a file that may be opened; refuses all else.
function! vim_mcp#load#Known(params) abort
  let l:nr = vim_mcp#target#Find(a:params)
  if l:nr > 0
    call vim_mcp#privacy#Check(l:nr)
    if bufloaded(l:nr) || (buflisted(l:nr) && getftype(getbufinfo(l:nr)[0].name) =~# '^\%(file\|link\)\?$')
      return l:nr
    endif
  endif
  if get(a:params, 'file', v:null) is v:null
    call vim_mcp#error#Throw(1004, 'not_open', 'There is no loaded buffer with this number.')
  endif
  call vim_mcp#files#Check(a:params.file)
  return 0
endfunction

" A new, not yet loaded buffer for the file of {params}.
function! vim_mcp#load#Add(params) abort
  " Named as :edit would name it, when that means the same file.
  let l:short = fnamemodify(a:params.file, ':.')
  return bufadd(fnamemodify(l:short, ':p') is# a:params.file ? l:short : a:params.file)
endfunction

" Run {command}, which loads buffer {nr}. Never a swap file prompt: the act is
" refused instead.
function! vim_mcp#load#Guarded(command, nr) abort
  let v:errmsg = ''
  try
    " With "silent!", because an error in an autocommand of the user's must not
    " end the loading half way.
    call vim_mcp#quiet#Execute('silent! ' . a:command)
  catch /^vim-mcp /
    call s:Forget(a:nr)
    throw v:exception
  endtry
  if vim_mcp#error#IsTextlock('Vim:' . v:errmsg)
    call vim_mcp#error#Throw(1004, 'textlock', vim_mcp#guard#Sentence('textlock'))
  endif
endfunction

" Leave no buffer behind that was not there before.
function! s:Forget(nr) abort
  if bufexists(a:nr) && !bufloaded(a:nr) && !buflisted(a:nr)
    silent! execute 'noautocmd bwipeout' a:nr
  endif
endfunction
