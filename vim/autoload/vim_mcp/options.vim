" The user's options, read once: what an assistant may do must not depend on a
" global variable that something could change later.

let s:default_events = ['BufEnter', 'BufAdd', 'BufDelete', 'BufFilePost',
      \ 'BufWritePost', 'TextChanged', 'TextChangedI', 'TextChangedP', 'WinEnter',
      \ 'WinClosed', 'ModeChanged', 'InsertLeave', 'CursorHold', 'DirChanged',
      \ 'QuickFixCmdPost', 'DiagnosticChanged']

let s:defaults = {
      \ 'enabled': 1,
      \ 'autostart': 1,
      \ 'command': ['vim-mcp'],
      \ 'socket_path': '',
      \ 'reconnect_interval': 5000,
      \ 'state_push_events': s:default_events,
      \ 'refresh_interval': 0,
      \ 'state_files': 'meta',
      \ 'state_interval': 1000,
      \ 'ignore': ['*.gpg', '*.asc', '*.pem', '*.key', 'id_*', '.env*', '.netrc',
      \   '.pgpass', '/dev/shm/*', '/var/tmp/*', 'crontab.*'],
      \ }

let s:values = {}
let s:problems = []
let s:reloads_left = 1

function! s:IsFlag(value) abort
  return type(a:value) == v:t_bool || (type(a:value) == v:t_number
        \ && (a:value == 0 || a:value == 1))
endfunction

function! s:IsStrings(value) abort
  return type(a:value) == v:t_list
        \ && empty(filter(copy(a:value), 'type(v:val) != v:t_string || v:val is# ""'))
endfunction

" Why {value} cannot be the option {name}; '' when it can.
function! s:Wrong(name, value) abort
  if a:name is# 'enabled' || a:name is# 'autostart'
    return s:IsFlag(a:value) ? '' : 'must be 0 or 1'
  elseif a:name is# 'command'
    if type(a:value) == v:t_string
      return a:value =~# '\S' ? '' : 'must not be empty'
    endif
    return s:IsStrings(a:value) && !empty(a:value) ? ''
          \ : 'must be a string or a list of strings'
  elseif a:name is# 'socket_path'
    return type(a:value) == v:t_string ? '' : 'must be a string'
  elseif a:name is# 'state_files'
    return type(a:value) == v:t_string && index(['meta', 'full', 'off'], a:value) >= 0 ? ''
          \ : "must be 'meta', 'full' or 'off'"
  elseif a:name is# 'refresh_interval' && a:value is# 0
    return ''
  elseif a:name =~# '_interval$'
    return type(a:value) == v:t_number && a:value >= 100 ? ''
          \ : 'must be a number of milliseconds, 100 or more'
            \   . (a:name is# 'refresh_interval' ? ', or 0' : '')
  endif
  return s:IsStrings(a:value) ? '' : 'must be a list of strings'
endfunction

function! s:Complain(name, problem) abort
  let l:text = 'g:vim_mcp_' . a:name . ' ' . a:problem
  call add(s:problems, l:text)
  call vim_mcp#log#Write(l:text)
endfunction

function! s:Load() abort
  let s:problems = []
  let s:values = deepcopy(s:defaults)
  for l:name in keys(s:defaults)
    if !has_key(g:, 'vim_mcp_' . l:name)
      continue
    endif
    let l:wrong = s:Wrong(l:name, g:['vim_mcp_' . l:name])
    if l:wrong is# ''
      let s:values[l:name] = deepcopy(g:['vim_mcp_' . l:name])
    else
      call s:Complain(l:name, l:wrong . '; the default is used')
    endif
  endfor
  if type(s:values.command) == v:t_string
    " One program whose path may hold spaces, else a command line.
    let s:values.command = executable(s:values.command) ? [s:values.command]
          \ : split(s:values.command)
  endif
  let s:values.state_push_events = vim_mcp#events#Known(s:values.state_push_events,
        \ {problem -> s:Complain('state_push_events', problem)})
endfunction

" The value of g:vim_mcp_{name} as it was when the plugin was loaded.
function! vim_mcp#options#Get(name) abort
  if empty(s:values)
    call s:Load()
  endif
  return s:values[a:name]
endfunction

" All options with the values they have when the user says nothing.
function! vim_mcp#options#Defaults() abort
  return deepcopy(s:defaults)
endfunction

" What was wrong with the user's options, a list of sentences.
function! vim_mcp#options#Problems() abort
  return copy(s:problems)
endfunction

" For require('vim_mcp').setup{} which some plugin managers call after loading.
" Works once, so that nothing can loosen the options later.
function! vim_mcp#options#Reload() abort
  if !empty(s:values) && s:reloads_left <= 0
    call vim_mcp#log#Write('setup() was called again: ignored')
    return 0
  endif
  let s:reloads_left -= 1
  call s:Load()
  call vim_mcp#events#Restart()
  return 1
endfunction
