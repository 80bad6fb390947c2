" One clock in milliseconds, and the hub's clock seen from here.

let s:offset = v:null

function! vim_mcp#clock#Now() abort
  return reltimefloat(reltime()) * 1000.0
endfunction

" At our time {sent} a message went out whose answer bears the hub's time {t}.
" The true offset is later than this bound, so requests look older than they
" are: an act may be refused too early, never begun too late.
function! vim_mcp#clock#Sync(sent, t) abort
  let s:offset = s:IsNumber(a:t) ? a:sent - a:t : v:null
endfunction

" The same, measured once more while connected: the later bound is the better one.
function! vim_mcp#clock#Improve(sent, t) abort
  if s:IsNumber(a:t) && (s:offset is v:null || a:sent - a:t > s:offset)
    let s:offset = a:sent - a:t
  endif
endfunction

" Our time at which a request of the hub's time {t} is {age} ms old. Where one of
" the two did not come, its age counts from now.
function! vim_mcp#clock#When(t, age) abort
  return (s:offset is v:null || !s:IsNumber(a:t) ? vim_mcp#clock#Now() : s:offset + a:t) + a:age
endfunction

function! s:IsNumber(value) abort
  return type(a:value) == v:t_number || type(a:value) == v:t_float
endfunction
