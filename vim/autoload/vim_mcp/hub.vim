" Starting a hub in the background: rarely, late, and never against the user.

" The time from which on it may be done; v:null before VimEnter.
let s:from = v:null
let s:last = -1.0e9

" No second one so soon, in ms.
let s:pause = 10000

" The editor has started, or the user asks: a hub may be started {wait} ms from
" now.
function! vim_mcp#hub#Allow(wait) abort
  let s:from = vim_mcp#clock#Now() + a:wait
endfunction

" The hub is gone and others may be starting one already: wait {wait} ms.
function! vim_mcp#hub#Postpone(wait) abort
  let l:from = vim_mcp#clock#Now() + a:wait
  if s:from isnot v:null && s:from < l:from
    let s:from = l:from
  endif
endfunction

" The hub has left of its own will: whoever needs one starts the next.
function! vim_mcp#hub#Forbid() abort
  if s:from isnot v:null
    let s:from = 1.0e18
  endif
endfunction

" A hub is there again.
function! vim_mcp#hub#Seen() abort
  if s:from isnot v:null && s:from > vim_mcp#clock#Now()
    let s:from = vim_mcp#clock#Now()
  endif
endfunction

" How to run vim-mcp. An editor started from a dock has a poor $PATH: where the
" program is not on it, `vim-mcp install` has left word of the place.
function! vim_mcp#hub#Command() abort
  let l:command = vim_mcp#options#Get('command')
  if l:command !=# ['vim-mcp'] || executable('vim-mcp')
    return l:command
  endif
  let l:recorded = s:Recorded()
  return l:recorded is# '' ? l:command : [l:recorded]
endfunction

function! s:Recorded() abort
  let l:state = $XDG_STATE_HOME is# '' ? $HOME . '/.local/state' : $XDG_STATE_HOME
  let l:file = l:state . '/vim-mcp/command'
  " A file that others may write to could name anything.
  if !filereadable(l:file) || getfperm(l:file) !~# '^r...-..-.$'
    return ''
  endif
  let l:path = get(readfile(l:file, '', 1), 0, '')
  return l:path =~# '^/' && executable(l:path) ? l:path : ''
endfunction

" Start a hub when that is allowed and due; {Then}(exit status) is called when
" the starter has ended. -> why it cannot be started, or ''
function! vim_mcp#hub#Need(is_asked, Then) abort
  let l:now = vim_mcp#clock#Now()
  if s:from is v:null || l:now < s:from || l:now - s:last < s:pause
        \ || !(a:is_asked || vim_mcp#options#Get('autostart'))
    return ''
  endif
  let l:command = vim_mcp#hub#Command()
  if !executable(l:command[0])
    return 'The program ' . l:command[0] . ' is not installed: install it with `pipx install vim-mcp` and run `vim-mcp install`, or set g:vim_mcp_command.'
  endif
  let s:last = l:now
  call vim_mcp#log#Write('starting a hub')
  call s:Start(l:command + ['hub', '--ensure'], a:Then)
  return ''
endfunction

" The hub outlives its starter, and this editor.
function! s:Start(argv, Then) abort
  let l:path = vim_mcp#options#Get('socket_path')
  let l:env = l:path is# '' ? {} : {'VIM_MCP_SOCKET': fnamemodify(expand(l:path), ':p')}
  if has('nvim')
    let l:options = {'detach': 1, 'on_exit': {job, status, event -> a:Then(status)}}
    return jobstart(a:argv, empty(l:env) ? l:options : extend(l:options, {'env': l:env}))
  endif
  return job_start(a:argv, {'stoponexit': '', 'in_io': 'null', 'out_io': 'null',
        \ 'err_io': 'null', 'env': l:env, 'exit_cb': {job, status -> a:Then(status)}})
endfunction
