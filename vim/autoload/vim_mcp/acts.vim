" Requests that change something wait here in one queue. A timer takes them out
" one by one at safe moments, or refuses them when their deadline has passed: an
" act is never done after its caller was told that it failed.

let s:queue = []
let s:timer = -1
let s:is_running = 0
let s:is_paused = 0

" Outcomes by `op`, so that one asked for again is not done twice. An assistant
" may have so many calls under way at once (the hub's bound); what the others do
" meanwhile, while its forwarder is stopped for example, makes it forget nothing.
let s:outcomes = {}
let s:ops = {}
let s:max_ops = 256
" Those that acted last, the latest at the end.
let s:sessions = []
let s:max_sessions = 32

" How often to look whether the moment has become safe, in ms.
let s:look_again = 25

" Refusals that say nothing about the next try.
let s:passing = ['hit_enter', 'pending_key', 'cmdwin', 'textlock', 'insert_mode',
      \ 'visual_mode', 'busy', 'suspended', 'paused', 'stale']

let s:methods = {
      \ 'edit': function('vim_mcp#edit#Run'),
      \ 'open': function('vim_mcp#open#Run'),
      \ 'undo': function('vim_mcp#undo#Run'),
      \ 'save': function('vim_mcp#save#Run'),
      \ 'execute': function('vim_mcp#execute#Run'),
      \ 'follow_file': function('vim_mcp#disk#Follow'),
      \ 'navigate': function('vim_mcp#navigate#Run'),
      \ }

function! vim_mcp#acts#Has(method) abort
  return has_key(s:methods, a:method)
endfunction

function! vim_mcp#acts#Pending() abort
  return len(s:queue)
endfunction

" What the acts in the queue wait for, as a sentence; '' when nothing keeps them.
function! vim_mcp#acts#Waiting(params) abort
  let l:reason = empty(s:queue) ? '' : s:queue[0].reason
  return {'why': l:reason is# '' ? '' : vim_mcp#guard#Sentence(l:reason)}
endfunction

function! vim_mcp#acts#IsPaused() abort
  return s:is_paused
endfunction

" From now on all acts are refused, those that wait too; or no longer.
function! vim_mcp#acts#SetPaused(is_paused) abort
  let s:is_paused = a:is_paused
  call s:Changed()
  if s:is_paused && !empty(s:queue)
    call s:Arm(0)
  endif
endfunction

" Queue {request} (a decoded message) that must not begin at or after our time
" {due}. {Send} takes the messages that answer it.
function! vim_mcp#acts#Park(request, due, Send) abort
  let l:op = get(a:request, 'op', '')
  if type(l:op) == v:t_string && has_key(s:outcomes, l:op)
    call a:Send(extend({'id': a:request.id}, s:outcomes[l:op]))
    return
  endif
  call add(s:queue, {
        \ 'id': a:request.id,
        \ 'method': a:request.method,
        \ 'params': a:request.params,
        \ 'op': type(l:op) == v:t_string ? l:op : '',
        \ 'who': s:Who(a:request),
        \ 'due': a:due,
        \ 'reason': '',
        \ 'send': a:Send,
        \ })
  call s:Changed()
  if s:timer == -1 && !s:is_running && !vim_mcp#client#HasMore()
    " It came alone: nothing that waits has taken it back. A second one that comes
    " in this turn finds the timer armed.
    call s:Drain()
  endif
  call s:Arm(0)
endfunction

" What the act named {params.op} had come to, for a caller that lost the answer.
function! vim_mcp#acts#Outcome(params) abort
  let l:op = get(a:params, 'op', '')
  if type(l:op) != v:t_string || !has_key(s:outcomes, l:op)
    return {'known': v:false}
  elseif has_key(s:outcomes[l:op], 'error')
    call vim_mcp#error#ThrowMade(s:outcomes[l:op].error)
  endif
  return extend({'known': v:true}, s:outcomes[l:op].result)
endfunction

" Take back the act with request id {id}; nothing happens when it has run.
function! vim_mcp#acts#Cancel(id) abort
  call filter(s:queue, 'v:val.id isnot a:id')
  call s:Changed()
endfunction

" The hub is gone: nobody waits for these any more.
function! vim_mcp#acts#Clear() abort
  let s:queue = []
  call s:Changed()
endfunction

function! s:Who(request) abort
  let l:actor = get(a:request, 'actor', {})
  let l:name = type(l:actor) == v:t_dict ? get(l:actor, 'assistant', '') : ''
  return type(l:name) == v:t_string && l:name isnot# '' ? l:name : 'an assistant'
endfunction

function! s:Changed() abort
  call vim_mcp#channel#Facts({'pending_acts': len(s:queue),
        \ 'paused': s:is_paused ? v:true : v:false})
endfunction

function! s:Arm(milliseconds) abort
  if s:timer == -1
    let s:timer = vim_mcp#safely#Later(a:milliseconds, function('s:Drain'))
  endif
endfunction

" One act a turn, so that the user's keys come between.
function! s:Drain() abort
  let s:timer = -1
  try
    call s:DrainOne()
  catch
    " A fault must not stop the queue.
    call s:Arm(s:look_again)
    throw v:exception =~# '^Vim' ? 'error: ' . v:exception : v:exception
  endtry
endfunction

function! s:DrainOne() abort
  if s:is_running
    " A nested callback: an autocommand of an act of ours sleeps, for example.
    return
  endif
  call s:RefuseLate()
  if empty(s:queue)
    return
  endif
  let l:act = s:queue[0]
  let l:act.reason = s:is_paused ? 'paused' : s:NotNow(l:act)
  if l:act.reason is# 'paused'
    call remove(s:queue, 0)
    call s:Answer(l:act, {'error': s:Refusal(1004, 'paused')})
  elseif l:act.reason isnot# ''
    call s:Arm(s:look_again)
    return
  else
    call remove(s:queue, 0)
    call s:Run(l:act)
  endif
  if !empty(s:queue)
    call s:Arm(0)
  endif
endfunction

function! s:Refusal(code, reason) abort
  return vim_mcp#error#Make(a:code, a:reason, vim_mcp#guard#Sentence(a:reason))
endfunction

function! s:RefuseLate() abort
  let l:now = vim_mcp#clock#Now()
  let l:late = filter(copy(s:queue), 'v:val.due <= l:now')
  if empty(l:late)
    return
  endif
  " Behind another act that waits, it is that one's reason.
  let l:head = s:queue[0].reason
  call filter(s:queue, 'v:val.due > l:now')
  for l:act in l:late
    let l:reason = l:act.reason is# '' ? l:head : l:act.reason
    call s:Answer(l:act, {'error': l:reason is# '' ? s:TooLate() : s:Refusal(1003, l:reason)})
  endfor
endfunction

function! s:TooLate() abort
  return vim_mcp#error#Make(1003, 'busy', 'The request reached the editor after its deadline: nothing was done. Try again.')
endfunction

function! s:NotNow(act) abort
  return vim_mcp#guard#Reason(a:act.method,
        \ a:act.method is# 'edit' ? vim_mcp#edit#Scope(a:act.params) : 0)
endfunction

function! s:Run(act) abort
  let l:errmsg = v:errmsg
  let s:is_running = 1
  call a:act.send({'type': 'started', 'id': a:act.id})
  try
    " Only now: had we been stopped before the hub was told that it begins, its
    " caller may have been told by now that it never did.
    let l:outcome = vim_mcp#clock#Now() < a:act.due
          \ ? {'result': s:methods[a:act.method](a:act.params)} : {'error': s:TooLate()}
  catch
    let l:outcome = {'error': vim_mcp#error#From(v:exception)}
  finally
    let s:is_running = 0
    call vim_mcp#quiet#Settle()
  endtry
  let v:errmsg = l:errmsg
  call s:BecomeSafe()
  if get(get(get(l:outcome, 'error', {}), 'data', {}), 'reason', '') is# 'textlock'
        \ && vim_mcp#clock#Now() < a:act.due
    let a:act.reason = 'textlock'
    call insert(s:queue, a:act)
    call timer_stop(s:timer)
    let s:timer = -1
    call s:Arm(s:look_again)
    return
  endif
  call s:Answer(a:act, l:outcome)
endfunction

" An autocommand that uses :normal (many go to the last position so) leaves
" state() unsafe until the main loop comes round: then all acts would wait for the
" user's next key. The moment was safe when this act began and no key can have
" been read since, so a key that does nothing makes the loop come round now.
function! s:BecomeSafe() abort
  if exists('*state') && mode(1) is# 'n' && state('moaxsS') is# 'S'
    call feedkeys("\<Ignore>", 'n')
  endif
endfunction

function! s:Answer(act, outcome) abort
  let l:error = get(a:outcome, 'error', {})
  if a:act.method isnot# 'follow_file'
    " That one is the hub's own, and comes again and again.
    call vim_mcp#log#Write(printf('%s: %s %s', a:act.who, a:act.method,
          \ empty(l:error) ? 'done' : 'refused: ' . l:error.message))
  endif
  if a:act.op isnot# '' && index(s:passing, get(get(l:error, 'data', {}), 'reason', '')) < 0
    call s:Remember(a:act.op, a:outcome)
  endif
  call s:Changed()
  call a:act.send(extend({'id': a:act.id}, a:outcome))
endfunction

function! s:Remember(op, outcome) abort
  let l:session = matchstr(a:op, '^[^:]*')
  if get(s:sessions, -1, '') isnot# l:session
    call filter(s:sessions, 'v:val isnot# l:session')
    call add(s:sessions, l:session)
  endif
  let l:ops = get(s:ops, l:session, [])
  let s:ops[l:session] = l:ops
  if !has_key(s:outcomes, a:op)
    call add(l:ops, a:op)
  endif
  let s:outcomes[a:op] = a:outcome
  if len(l:ops) > s:max_ops
    call remove(s:outcomes, remove(l:ops, 0))
  endif
  if len(s:sessions) > s:max_sessions
    for l:old in remove(s:ops, remove(s:sessions, 0))
      call remove(s:outcomes, l:old)
    endfor
  endif
endfunction
