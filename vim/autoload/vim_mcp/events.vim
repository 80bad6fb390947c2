" What happens in the editor, told to the hub in small batches of facts. One
" batch at most is on its way: a hub that does not read gets no second one.

let s:facts = {}
let s:timer = -1
let s:is_lazy = 0
let s:refresh_timer = -1
let s:seq = 0
let s:unacknowledged = 0
let s:is_on = 0
let s:info_is_due = 0
let s:sent_info = {}
let s:told_ticks = {}

" Long enough to gather what one command causes, short for a person.
let s:gather = 15
" What comes with single keys is gathered longer: nobody reads it that fast.
let s:gather_keys = 500
" A batch must fit into a socket that nobody reads. What is more is told as one.
let s:most_facts = 200
let s:with_keys = '^\%(TextChanged[IPT]\|CursorMoved.*\|InsertCharPre\|Cmdline\%(Changed\|Enter\|Leave\)\)$'

" Events that not all editors have, and what tells the same there, if less exactly.
let s:instead = {
      \ 'ModeChanged': ['InsertEnter', 'InsertLeave', 'CmdlineEnter', 'CmdlineLeave',
      \   'CursorMoved'],
      \ 'TextChangedP': [],
      \ 'WinClosed': ['WinEnter'],
      \ 'DirChanged': [],
      \ 'DiagnosticChanged': [],
      \ }

" The autocommand events of this editor for the {names} that a user chose. Each
" name that cannot serve is told to {Complain}(problem).
function! vim_mcp#events#Known(names, Complain) abort
  let l:known = []
  for l:name in a:names
    if l:name =~? 'Cmd$'
      " Who listens to these has to do the reading or writing.
      call a:Complain('cannot have ' . l:name)
    elseif l:name =~# '^\a\+$' && exists('##' . l:name)
      call add(l:known, l:name)
    elseif has_key(s:instead, l:name)
      call extend(l:known, filter(copy(s:instead[l:name]), 'exists("##" . v:val)'))
    else
      call a:Complain('names no event of this editor: ' . l:name)
    endif
  endfor
  return uniq(sort(l:known))
endfunction

" Connected: listen.
function! vim_mcp#events#Begin() abort
  let s:is_on = 1
  augroup vim_mcp_events
    autocmd!
    for l:event in vim_mcp#options#Get('state_push_events')
      execute printf('autocmd %s * call s:Note("%s")', l:event, l:event)
    endfor
    autocmd BufAdd,BufDelete,BufFilePost,BufEnter,DirChanged *
          \ call vim_mcp#events#InfoChanged()
    autocmd QuickFixCmdPost * call vim_mcp#events#Tell('Diagnostics', bufnr('%'))
    autocmd User ALELintPost,CocDiagnosticChange
          \ call vim_mcp#events#Tell('Diagnostics', bufnr('%'))
    if exists('##DiagnosticChanged')
      autocmd DiagnosticChanged * call s:Note('Diagnostics')
    endif
    " A buffer may be private now: what is kept of it must go, whatever is pushed.
    autocmd OptionSet swapfile call s:Note('OptionSet')
  augroup END
  let l:interval = vim_mcp#options#Get('refresh_interval')
  if l:interval > 0
    let s:refresh_timer = timer_start(l:interval,
          \ {-> vim_mcp#safely#Call(function('s:Note'), ['Refresh'])}, {'repeat': -1})
  endif
  " What changed while the greeting was under way.
  call vim_mcp#events#InfoChanged()
endfunction

" Not connected: cost nothing.
function! vim_mcp#events#Stop() abort
  if s:is_on
    augroup vim_mcp_events
      autocmd!
    augroup END
  endif
  let s:is_on = 0
  call timer_stop(s:timer)
  call timer_stop(s:refresh_timer)
  let s:timer = -1
  let s:refresh_timer = -1
  let s:facts = {}
  let s:told_ticks = {}
  let s:unacknowledged = 0
endfunction

" The options were read again.
function! vim_mcp#events#Restart() abort
  if s:is_on
    call timer_stop(s:refresh_timer)
    call vim_mcp#events#Begin()
  endif
endfunction

" An autocommand: remember that it happened, tell later. Not restarting the timer
" with every key is what makes this cheap.
function! s:Note(event) abort
  let l:nr = +expand('<abuf>')
  call vim_mcp#events#Tell(a:event, l:nr > 0 ? l:nr : bufnr('%'))
endfunction

" {event} happened in buffer {nr}: for what no autocommand tells, too.
function! vim_mcp#events#Tell(event, nr) abort
  if !s:is_on
    return
  elseif len(s:facts) < s:most_facts
    let s:facts[a:event . a:nr] = [a:event, a:nr]
  else
    let s:facts.More = ['More', 0]
  endif
  call s:TellSoon(a:event =~? s:with_keys)
endfunction

function! s:TellSoon(is_lazy) abort
  if s:timer != -1 && s:is_lazy && !a:is_lazy
    call timer_stop(s:timer)
    let s:timer = -1
  endif
  if s:timer == -1
    let s:is_lazy = a:is_lazy
    let s:timer = vim_mcp#safely#Later(a:is_lazy ? s:gather_keys : s:gather, function('s:Tell'))
  endif
endfunction

" Something of the registration may have changed.
function! vim_mcp#events#InfoChanged() abort
  let s:info_is_due = 1
  if s:is_on
    call s:TellSoon(0)
  endif
endfunction

" The info to register with; later updates tell what differs from it.
function! vim_mcp#events#FullInfo() abort
  let s:sent_info = vim_mcp#info#Changing()
  return extend(vim_mcp#info#All(), s:sent_info)
endfunction

function! vim_mcp#events#Acknowledged(seq) abort
  if a:seq == s:seq
    let s:unacknowledged = 0
    if !empty(s:facts) || s:info_is_due
      call s:TellSoon(0)
    endif
  endif
endfunction

function! s:Tell() abort
  let s:timer = -1
  if !s:is_on || s:unacknowledged
    return
  endif
  let l:update = {}
  let l:info = s:info_is_due ? s:NewInfo() : {}
  let s:info_is_due = 0
  if !empty(l:info)
    let l:update.info = l:info
  endif
  let l:events = filter(map(values(s:facts), 's:Event(v:val[0], v:val[1])'), 's:IsNews(v:val)')
  let s:facts = {}
  if !empty(l:events)
    let l:update.events = l:events
  endif
  if !empty(l:update)
    let s:seq += 1
    let s:unacknowledged = 1
    call vim_mcp#client#Send(extend({'type': 'update', 'seq': s:seq}, l:update))
  endif
endfunction

function! s:NewInfo() abort
  let l:now = vim_mcp#info#Changing()
  let l:new = filter(copy(l:now), 'string(v:val) isnot# string(get(s:sent_info, v:key, v:null))')
  let s:sent_info = l:now
  return l:new
endfunction

" Of a change that we made both we and the editor tell, not always in one batch.
function! s:IsNews(event) abort
  if a:event.event !~? '^TextChanged' || !has_key(a:event, 'changedtick')
    return 1
  endif
  let l:is_new = get(s:told_ticks, a:event.bufnr, -1) != a:event.changedtick
  let s:told_ticks[a:event.bufnr] = a:event.changedtick
  return l:is_new
endfunction

" The facts as they are now, which is what counts.
function! s:Event(event, nr) abort
  let l:event = {'event': a:event, 'bufnr': a:nr}
  if a:nr == 0
    return l:event
  elseif !bufexists(a:nr)
    return extend(l:event, {'gone': v:true})
  elseif vim_mcp#privacy#IsPrivate(a:nr)
    return extend(l:event, {'private': v:true})
  endif
  call extend(l:event, {'file': getbufinfo(a:nr)[0].name,
        \ 'changedtick': getbufvar(a:nr, 'changedtick'), 'mode': mode(1)})
  return a:nr == bufnr('%') ? extend(l:event, {'cursor': vim_mcp#reads#Cursor()}) : l:event
endfunction
