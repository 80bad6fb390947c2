" Refusals and failures: thrown as one string, told to the hub as one object.

let s:prefix = 'vim-mcp '

" The error object of the wire. {reason} may be ''.
function! vim_mcp#error#Make(code, reason, message) abort
  let l:error = {'code': a:code, 'message': a:message, 'data': {}}
  if a:reason isnot# ''
    let l:error.data.reason = a:reason
  endif
  return l:error
endfunction

" Leave the running request with this error.
function! vim_mcp#error#Throw(code, reason, message) abort
  call vim_mcp#error#ThrowMade(vim_mcp#error#Make(a:code, a:reason, a:message))
endfunction

" The same with an error object.
function! vim_mcp#error#ThrowMade(error) abort
  throw s:prefix . json_encode(a:error)
endfunction

" Parameters that cannot be meant: -32602.
function! vim_mcp#error#BadParams(message) abort
  call vim_mcp#error#Throw(-32602, '', a:message)
endfunction

" The error object for {exception} (v:exception).
function! vim_mcp#error#From(exception) abort
  if stridx(a:exception, s:prefix . '{') == 0
    return json_decode(strpart(a:exception, strlen(s:prefix)))
  elseif a:exception is# 'Vim:Interrupt'
    return vim_mcp#error#Make(1004, 'busy', 'The user pressed Ctrl-C while this ran. Look what is there before trying again.')
  endif
  let l:text = vim_mcp#error#Text(a:exception)
  let l:error = vim_mcp#error#Make(1004, vim_mcp#error#IsTextlock(a:exception)
        \ ? 'textlock' : '', l:text)
  let l:error.data.original_error = l:text
  return l:error
endfunction

" Throw {exception} (v:exception) on, as ours when it is Vim's, which cannot be
" thrown by hand (E608).
function! vim_mcp#error#Rethrow(exception) abort
  throw a:exception =~# '^Vim' ? s:prefix . json_encode(vim_mcp#error#From(a:exception))
        \ : a:exception
endfunction

" Vim's own message, without the "Vim(command):" in front.
function! vim_mcp#error#Text(exception) abort
  return substitute(a:exception, '^Vim\%((\w\+)\)\?:', '', '')
endfunction

" Did the editor refuse because text or buffers are locked just now?
function! vim_mcp#error#IsTextlock(exception) abort
  return a:exception =~# '^Vim\%((\w\+)\)\?:E\%(523\|565\|578\|788\|11\|1155\):'
endfunction
