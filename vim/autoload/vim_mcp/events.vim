" What happens in the editor, told to the hub in small batches of facts. One
" batch at most is on its way: a hub that does not read gets no second one.

let s:facts = {}
let s:timer = -1
let s:seq = 0
let s:unacknowledged = 0
let s:is_on = 0
let s:info_is_due = 0
let s:sent_info = {}

" Long enough to gather what one command causes, short for a person.
let s:gather = 50

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
  augroup END
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
  let s:timer = -1
  let s:facts = {}
  let s:unacknowledged = 0
endfunction

" An autocommand: remember that it happened, tell later. Not restarting the timer
" is what makes this cheap.
function! s:Note(event) abort
  call vim_mcp#events#Tell(a:event, +expand('<abuf>'))
endfunction

" {event} happened in buffer {nr}: for what no autocommand tells, too.
function! vim_mcp#events#Tell(event, nr) abort
  let s:facts[a:event . a:nr] = [a:event, a:nr]
  if s:is_on && s:timer == -1
    let s:timer = vim_mcp#safely#Later(s:gather, function('s:Tell'))
  endif
endfunction

" Something of the registration may have changed.
function! vim_mcp#events#InfoChanged() abort
  let s:info_is_due = 1
  if s:is_on && s:timer == -1
    let s:timer = vim_mcp#safely#Later(s:gather, function('s:Tell'))
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
    if (!empty(s:facts) || s:info_is_due) && s:timer == -1
      let s:timer = vim_mcp#safely#Later(s:gather, function('s:Tell'))
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
  let l:events = map(values(s:facts), 's:Event(v:val[0], v:val[1])')
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

" The facts as they are now, which is what counts.
function! s:Event(event, nr) abort
  let l:event = {'event': a:event, 'bufnr': a:nr}
  if vim_mcp#privacy#IsPrivate(a:nr)
    return extend(l:event, {'private': v:true})
  endif
  call extend(l:event, {'file': getbufinfo(a:nr)[0].name,
        \ 'changedtick': getbufvar(a:nr, 'changedtick'), 'mode': mode(1)})
  return a:nr == bufnr('%') ? extend(l:event, {'cursor': vim_mcp#reads#Cursor()}) : l:event
endfunction
