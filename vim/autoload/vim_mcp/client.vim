" The connection to the hub: when to dial, how to greet, what to do when it ends.
" Requests are handed on; nothing about buffers is known here.

" off       not connected, and not trying (s:why says why)
" waiting   a timer will try again
" proving   asking who owns the socket's directory
" dialling  connecting
" greeting  registered, no answer yet
" ready     connected
let s:phase = 'off'
let s:why = 'it has not started'
" Answers that belong to an earlier try are known by an old turn.
let s:turn = 0

" The user asked with :VimMCPConnect: no objection counts.
let s:is_asked = 0
let s:channel = 0
let s:path = ''
let s:instance_id = ''
let s:hub = {}
let s:last_error = ''
let s:registered_at = 0.0
let s:tries = 0
let s:slow_greetings = 0
let s:greeting_time = 5000
let s:next_timer = -1
let s:greeting_timer = -1
" What uid and owner of $HOME say: '' no objection, v:null not known yet.
let s:objection = v:null
let s:home_is_ours = v:null
let s:calls = {}
let s:last_call = 0

" A greeting that took longer says too little of the hub's clock, in ms.
let s:slow_clock = 100
let s:is_measuring = 0

let s:first_pause = 50
let s:longest_backoff = 1000
" Some 6 s: longer than a hub takes to be started by whoever needs it.
let s:quick_tries = 10
let s:grace = 1000

let s:logged = ''

function! s:Become(phase, why) abort
  let l:text = 'now ' . a:phase . (a:why is# '' ? '' : ': ' . a:why)
  " What lasts is logged, and once, not every try.
  if index(['off', 'waiting', 'ready'], a:phase) >= 0 && l:text isnot# s:logged
    let s:logged = l:text
    call vim_mcp#log#Write(l:text)
  endif
  let s:phase = a:phase
  let s:why = a:why
  let s:turn += 1
  call vim_mcp#screen#Status()
endfunction

" Autocommands

function! vim_mcp#client#Start() abort
  if !vim_mcp#options#Get('enabled')
    call s:Become('off', 'g:vim_mcp_enabled is 0')
  elseif s:phase is# 'off'
    call s:Try()
  endif
endfunction

" The editor has started: what it edits is known now.
function! vim_mcp#client#Entered() abort
  call s:Reconsider()
  call vim_mcp#hub#Allow(s:grace)
  if s:phase isnot# 'off'
    call vim_mcp#safely#Later(s:grace + 1, {-> s:phase is# 'waiting' ? s:Try() : 0})
    call vim_mcp#events#InfoChanged()
  endif
endfunction

function! vim_mcp#client#UiCame() abort
  if s:phase is# 'off' && s:objection isnot v:null && s:objection isnot# ''
    call vim_mcp#client#Start()
  endif
  call vim_mcp#events#InfoChanged()
endfunction

function! vim_mcp#client#StdinCame() abort
  call vim_mcp#startup#StdinCame()
  call s:Reconsider()
endfunction

function! vim_mcp#client#Leave() abort
  call s:HangUp()
  call s:Become('off', 'the editor is leaving')
endfunction

" Something is known about this editor that was not when it connected.
function! s:Reconsider() abort
  if s:phase isnot# 'off' && !s:is_asked && s:home_is_ours isnot v:null
    let s:objection = vim_mcp#startup#Objection(s:uid, s:home_is_ours)
    if s:objection isnot# ''
      call s:HangUp()
      call s:Become('off', s:objection)
    endif
  endif
endfunction

" Commands

" Connect because the user wants it, whatever kind of editor this is.
function! vim_mcp#client#Connect() abort
  if !vim_mcp#options#Get('enabled')
    return
  endif
  let s:is_asked = 1
  call vim_mcp#hub#Allow(0)
  let s:tries = 0
  if s:phase is# 'off' || s:phase is# 'waiting'
    call s:Try()
  endif
endfunction

function! vim_mcp#client#Disconnect() abort
  call s:HangUp()
  call s:Become('off', 'the user disconnected it (:VimMCPDisconnect)')
endfunction

" State for :VimMCPStatus and the statusline.
function! vim_mcp#client#Describe() abort
  return {'phase': s:phase, 'why': s:why, 'instance_id': s:instance_id, 'hub': s:hub,
        \ 'path': s:path, 'last_error': s:last_error}
endfunction

function! vim_mcp#client#IsReady() abort
  return s:phase is# 'ready'
endfunction

" Dialling

function! s:Try() abort
  call s:StopTimers()
  call s:Become('proving', '')
  call vim_mcp#address#Uid(function('s:GotUid', [s:turn]))
endfunction

function! s:GotUid(turn, uid) abort
  if a:turn != s:turn
    return
  endif
  let s:uid = a:uid
  let l:address = vim_mcp#address#Find(a:uid)
  let s:path = l:address.path
  if l:address.problem isnot# ''
    let s:last_error = l:address.problem
    call s:Become('off', l:address.problem)
  elseif s:home_is_ours isnot v:null && getftype(s:path) isnot# 'socket'
    " Cheap to see, and nothing to prove.
    call s:Proven(a:turn, '', s:home_is_ours)
  else
    call vim_mcp#address#Prove(l:address.dir, a:uid, function('s:Proven', [a:turn]))
  endif
endfunction

function! s:Proven(turn, problem, home_is_ours) abort
  if a:turn != s:turn
    return
  endif
  let s:home_is_ours = a:home_is_ours
  let s:objection = vim_mcp#startup#Objection(s:uid, a:home_is_ours)
  if s:objection isnot# '' && !s:is_asked
    call s:Become('off', s:objection)
  elseif a:problem isnot# ''
    call s:Failed(a:problem)
  elseif getftype(s:path) isnot# 'socket'
    call s:Failed('No hub is running.')
  else
    call s:Become('dialling', '')
    if !vim_mcp#channel#Open(s:path, {'on_open': function('s:OnOpen'),
          \ 'on_line': function('s:OnLine'), 'on_close': function('s:OnClose')})
      call s:Failed('No hub answers at ' . s:path . '.')
    endif
  endif
endfunction

" Nothing there: start a hub when that is due, and look again later.
function! s:Failed(why) abort
  let s:last_error = a:why
  call s:Become('waiting', a:why)
  let l:problem = vim_mcp#hub#Need(s:is_asked, function('s:HubStarted'))
  if l:problem isnot# ''
    let s:last_error = l:problem
  endif
  let l:pause = vim_mcp#options#Get('reconnect_interval')
  if s:tries < s:quick_tries
    let l:backoff = s:first_pause * float2nr(pow(2, s:tries))
    let l:pause = min([l:backoff, s:longest_backoff, l:pause])
  endif
  let s:tries += 1
  " Half to one and a half times, so that many editors do not dial together.
  let l:jitter = abs(reltime()[1] / 1000 + getpid() * 7) % 1000
  call s:StopTimers()
  let s:next_timer = vim_mcp#safely#Later(l:pause / 2 + l:pause * l:jitter / 1000, {-> s:Try()})
endfunction

function! s:HubStarted(status) abort
  if a:status != 0
    let s:last_error = 'The hub could not be started (exit status ' . a:status . '): run `vim-mcp hub` in a terminal to see why.'
    call vim_mcp#log#Write(s:last_error)
  elseif s:phase is# 'waiting'
    let s:tries = 0
    call s:Try()
  endif
endfunction

function! s:StopTimers() abort
  call timer_stop(s:next_timer)
  call timer_stop(s:greeting_timer)
  let [s:next_timer, s:greeting_timer] = [-1, -1]
endfunction

" The connection

function! s:OnOpen(id) abort
  if s:phase isnot# 'dialling'
    call vim_mcp#channel#Close(a:id)
    return
  endif
  let s:channel = a:id
  call s:Become('greeting', '')
  if s:instance_id is# ''
    let s:instance_id = vim_mcp#info#InstanceId()
  endif
  let s:registered_at = vim_mcp#clock#Now()
  call vim_mcp#client#Send({'type': 'register', 'instance_id': s:instance_id,
        \ 'info': vim_mcp#events#FullInfo()})
  " A stopped hub takes connections into its backlog but answers none. Waiting
  " longer each time keeps that queue from filling up, where dialling would hang.
  let s:greeting_timer = vim_mcp#safely#Later(s:greeting_time, {-> s:NotGreeted()})
  let s:greeting_time = min([s:greeting_time * 2, 600000])
endfunction

function! s:NotGreeted() abort
  if s:phase is# 'greeting'
    call s:HangUp()
    call s:Failed('The hub took the connection but did not answer. Is it stopped?')
  endif
endfunction

function! s:OnClose(id) abort
  if s:phase is# 'dialling' && s:channel == 0
    call s:Failed('No hub answers at ' . s:path . '.')
  elseif a:id == s:channel
    call s:Lost('The hub is gone.')
  endif
endfunction

" Forget a connection that has ended, and come back by itself.
function! s:Lost(why) abort
  if s:phase is# 'ready'
    let s:tries = 0
    call vim_mcp#hub#Postpone(s:grace)
  endif
  call s:Drop()
  call s:Failed(a:why)
endfunction

function! s:HangUp() abort
  if s:channel > 0
    call vim_mcp#client#Send({'type': 'bye'})
    call vim_mcp#channel#Close(s:channel)
  endif
  call s:Drop()
  call s:StopTimers()
endfunction

function! s:Drop() abort
  let s:channel = 0
  let s:hub = {}
  let s:calls = {}
  let s:is_measuring = 0
  call vim_mcp#events#Stop()
  call vim_mcp#acts#Clear()
endfunction

" Send {message} (a dictionary) to the hub; lost when there is none.
function! vim_mcp#client#Send(message) abort
  return s:channel > 0 && vim_mcp#channel#Send(s:channel, vim_mcp#text#Encode(a:message))
endfunction

" Has the hub sent more than the line that is being handled now?
function! vim_mcp#client#HasMore() abort
  return vim_mcp#channel#HasMore(s:channel)
endfunction

" Ask the hub; {Then}(reply) is called unless the connection ends before.
function! vim_mcp#client#Call(method, Then) abort
  let s:last_call += 1
  let l:id = 'e' . s:last_call
  let s:calls[l:id] = a:Then
  return vim_mcp#client#Send({'id': l:id, 'method': a:method, 'params': {}})
endfunction

" Ask for the hub's clock: requests look older than they are, and none would be
" answered, when it was first measured while one of us was stopped, or when our
" clock has jumped (older Vims have the wall's, which goes on while a laptop sleeps).
function! vim_mcp#client#MeasureClock() abort
  if !s:is_measuring
    let s:is_measuring = 1
    call vim_mcp#client#Call('clock', function('s:Measured', [vim_mcp#clock#Now()]))
  endif
endfunction

function! s:Measured(sent, reply) abort
  let s:is_measuring = 0
  call vim_mcp#clock#Improve(a:sent, get(get(a:reply, 'result', {}), 't', v:null))
endfunction

" What the hub says

function! s:OnLine(id, line) abort
  if a:id != s:channel || a:line is# ''
    return
  endif
  let l:message = json_decode(a:line)
  if type(l:message) == v:t_dict
    call s:Handle(l:message)
  endif
endfunction

function! s:Handle(message) abort
  if has_key(a:message, 'method')
    call vim_mcp#requests#Handle(a:message)
  elseif has_key(a:message, 'id') && has_key(s:calls, a:message.id)
    call remove(s:calls, a:message.id)(a:message)
  else
    let l:type = get(a:message, 'type', '')
    if l:type is# 'registered'
      call s:Registered(a:message)
    elseif l:type is# 'rejected'
      call s:Rejected(a:message)
    elseif l:type is# 'goodbye'
      call s:Goodbye(get(a:message, 'reason', ''))
    elseif l:type is# 'cancel'
      call vim_mcp#acts#Cancel(get(a:message, 'id', v:null))
    elseif l:type is# 'ack'
      call vim_mcp#events#Acknowledged(get(a:message, 'seq', -1))
    endif
  endif
endfunction

function! s:Registered(message) abort
  if s:phase isnot# 'greeting'
    return
  endif
  if vim_mcp#clock#Now() - s:registered_at > s:grace && s:slow_greetings < 3
    " One of us was stopped meanwhile. With such a measure of the hub's clock
    " every act would look too old.
    let s:slow_greetings += 1
    call s:HangUp()
    call s:Try()
    return
  endif
  let s:slow_greetings = 0
  let s:greeting_time = 5000
  let s:tries = 0
  let s:last_error = ''
  call s:StopTimers()
  call vim_mcp#clock#Sync(s:registered_at, get(a:message, 't', v:null))
  if vim_mcp#clock#Now() - s:registered_at > s:slow_clock
    call vim_mcp#client#MeasureClock()
  endif
  let s:instance_id = get(a:message, 'instance_id', s:instance_id)
  let s:hub = get(a:message, 'hub', {})
  call vim_mcp#hub#Seen()
  " Terminals opened in this editor tell an assistant which editor it is in.
  let $VIM_MCP_INSTANCE = s:instance_id
  call s:Become('ready', '')
  call vim_mcp#events#Begin()
endfunction

function! s:Rejected(message) abort
  let l:reason = 'The hub rejected this editor: ' . get(a:message, 'reason', 'no reason given')
  call vim_mcp#channel#Close(s:channel)
  call s:Drop()
  call s:StopTimers()
  if get(a:message, 'retry', v:false) is v:true
    call s:Failed(l:reason)
  else
    let s:last_error = l:reason
    call s:Become('off', l:reason)
  endif
endfunction

function! s:Goodbye(reason) abort
  call vim_mcp#channel#Close(s:channel)
  call s:Lost('The hub said goodbye (' . a:reason . ').')
  if a:reason is# 'idle' || a:reason is# 'stopped'
    call vim_mcp#hub#Forbid()
  endif
endfunction
