" What the commands do, and the statusline. Only here anything is shown, because
" only here the user has asked for it.

let s:needs = 'vim-mcp needs Vim 8.2.4684 or later with +channel and +job, or Neovim 0.5'

function! s:IsAble() abort
  return exists('#vim_mcp#VimEnter')
endfunction

" 'mcp' when connected, 'mcp!' when the user has paused the assistants, 'mcp?'
" while there is no hub, '' when off.
function! vim_mcp#statusline() abort
  if !s:IsAble()
    return ''
  endif
  let l:phase = vim_mcp#client#Describe().phase
  if l:phase is# 'off'
    return ''
  endif
  return l:phase isnot# 'ready' ? 'mcp?' : vim_mcp#acts#IsPaused() ? 'mcp!' : 'mcp'
endfunction

function! vim_mcp#Connect() abort
  if s:IsAble()
    call vim_mcp#client#Connect()
  endif
  if !s:IsAble() || !vim_mcp#options#Get('enabled')
    call vim_mcp#Status()
  else
    echo 'vim-mcp: ' . (vim_mcp#client#Describe().phase is# 'ready' ? 'connected'
          \ : 'connecting, :VimMCPStatus tells more')
  endif
endfunction

function! vim_mcp#Disconnect() abort
  if s:IsAble()
    call vim_mcp#client#Disconnect()
    echo 'vim-mcp: disconnected, until :VimMCPConnect'
  endif
endfunction

function! vim_mcp#Reconnect() abort
  if s:IsAble()
    call vim_mcp#client#Disconnect()
  endif
  call vim_mcp#Connect()
endfunction

function! vim_mcp#Pause() abort
  call s:SetPaused(1)
endfunction

function! vim_mcp#Resume() abort
  call s:SetPaused(0)
endfunction

function! s:SetPaused(is_paused) abort
  if s:IsAble()
    call vim_mcp#acts#SetPaused(a:is_paused)
    call vim_mcp#events#InfoChanged()
    echo 'vim-mcp: ' . (a:is_paused ? 'assistants may look but not act, until :VimMCPResume'
          \ : 'assistants may act again')
  endif
endfunction

" Show how things stand.
function! vim_mcp#Status() abort
  for l:line in s:IsAble() ? s:StatusLines() : [s:needs . '.']
    echo l:line
  endfor
endfunction

" Show what is wrong, with the remedy.
function! vim_mcp#Doctor() abort
  for l:found in vim_mcp#doctor#Report()
    echo printf('%-8s %s%s', l:found.level, l:found.what,
          \ l:found.remedy is# '' ? '' : ' -- ' . l:found.remedy)
  endfor
endfunction

let s:words = {'off': 'off', 'waiting': 'waiting for a hub', 'proving': 'connecting',
      \ 'dialling': 'connecting', 'greeting': 'connecting (the hub has not answered yet)',
      \ 'ready': 'connected'}

function! s:StatusLines() abort
  let l:state = vim_mcp#client#Describe()
  let l:lines = ['vim-mcp: ' . s:words[l:state.phase]
        \ . (l:state.phase is# 'off' ? ', because ' . l:state.why : '')
        \ . (vim_mcp#acts#IsPaused() ? ' (assistants are paused: :VimMCPResume)' : '')]
  if l:state.path isnot# ''
    call add(l:lines, 'socket:   ' . l:state.path
          \ . (vim_mcp#options#Get('socket_path') is# '' ? '' : ' (g:vim_mcp_socket_path)'))
  endif
  if l:state.phase is# 'ready'
    call add(l:lines, 'instance: ' . l:state.instance_id)
    call add(l:lines, printf('hub:      version %s, pid %s', get(l:state.hub, 'version', '?'),
          \ get(l:state.hub, 'pid', '?')))
    call extend(l:lines, s:Sessions())
  elseif l:state.last_error isnot# '' && l:state.phase isnot# 'off'
    call add(l:lines, 'problem:  ' . l:state.last_error)
  endif
  return l:lines + map(vim_mcp#options#Problems(), '"option:   " . v:val')
endfunction

" Who is connected, if the hub tells within 200 ms.
function! s:Sessions() abort
  let l:reply = {}
  call vim_mcp#client#Call('status', {message -> extend(l:reply, message)})
  let l:tries = 20
  while empty(l:reply) && l:tries > 0
    sleep 10m
    let l:tries -= 1
  endwhile
  let l:sessions = get(get(l:reply, 'result', {}), 'sessions', [])
  if empty(l:reply)
    return ['assistants: the hub did not say']
  endif
  return ['assistants: ' . (empty(l:sessions) ? 'none'
        \ : join(map(copy(l:sessions), 'get(v:val, "client", "?")'), ', '))]
endfunction
