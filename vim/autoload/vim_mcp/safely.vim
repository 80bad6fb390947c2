" Code that the editor calls (timers, channels) must not show an error message, nor
" leave one in v:errmsg: the user has not asked for anything.

" Call {Function} with the list {arguments}. What it throws is logged.
function! vim_mcp#safely#Call(Function, arguments) abort
  let l:errmsg = v:errmsg
  try
    call call(a:Function, a:arguments)
  catch
    " Cut, because messages of json_decode() hold what it was given.
    call vim_mcp#log#Write('failed: ' . strcharpart(v:exception, 0, 80) . ' at ' . v:throwpoint)
  endtry
  let v:errmsg = l:errmsg
endfunction

" Call {Function} without arguments in {milliseconds}. -> the timer
function! vim_mcp#safely#Later(milliseconds, Function) abort
  return timer_start(a:milliseconds, {-> vim_mcp#safely#Call(a:Function, [])})
endfunction
