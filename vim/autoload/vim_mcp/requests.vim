" Requests of the hub: reads are answered here and now, acts wait their turn.

let s:reads = vim_mcp#reads#Methods()

" Answer or queue {request}, a decoded message with a method.
function! vim_mcp#requests#Handle(request) abort
  if !has_key(a:request, 'id')
    return
  endif
  if type(a:request.method) != v:t_string || type(get(a:request, 'params', {})) != v:t_dict
    call s:Answer(a:request.id, {'error': vim_mcp#error#Make(-32602, '', 'method must be a string and params an object.')})
    return
  endif
  let a:request.params = get(a:request, 'params', {})
  let l:due = s:Due(a:request)
  if l:due <= vim_mcp#clock#Now()
    " It comes late, or our notion of the hub's clock is wrong.
    call vim_mcp#client#MeasureClock()
  endif
  if has_key(s:reads, a:request.method)
    if l:due > vim_mcp#clock#Now()
      call s:Answer(a:request.id, s:Read(s:reads[a:request.method], a:request.params))
    endif
  elseif vim_mcp#acts#Has(a:request.method)
    call vim_mcp#acts#Park(a:request, l:due, function('vim_mcp#client#Send'))
  else
    call s:Answer(a:request.id, {'error': vim_mcp#error#Make(-32601, '',
          \ 'This editor knows no method ' . a:request.method . '.')})
  endif
endfunction

" Our time at which the hub tells its caller that nothing came of it.
function! s:Due(request) abort
  let l:age = get(a:request, 'deadline_ms', 2000)
  let l:age = type(l:age) == v:t_number || type(l:age) == v:t_float ? l:age : 2000
  return vim_mcp#clock#When(get(a:request, 't', v:null), l:age)
endfunction

function! s:Read(Method, params) abort
  try
    return {'result': a:Method(a:params)}
  catch
    return {'error': vim_mcp#error#From(v:exception)}
  endtry
endfunction

function! s:Answer(id, outcome) abort
  call vim_mcp#client#Send(extend({'id': a:id}, a:outcome))
endfunction
