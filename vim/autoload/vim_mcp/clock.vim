" One clock in milliseconds, and the hub's clock seen from here.

let s:offset = 0.0

function! vim_mcp#clock#Now() abort
  return reltimefloat(reltime()) * 1000.0
endfunction

" At our time {sent} a message went out whose answer bears the hub's time {t}.
" The true offset is later than this bound, so requests look older than they
" are: an act may be refused too early, never begun too late.
function! vim_mcp#clock#Sync(sent, t) abort
  let s:offset = a:sent - a:t
endfunction

" Our time at which a request of the hub's time {t} is {age} ms old.
function! vim_mcp#clock#When(t, age) abort
  return s:offset + a:t + a:age
endfunction
