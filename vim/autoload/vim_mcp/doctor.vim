" What is wrong in this editor, for :VimMCPDoctor and :checkhealth. Must work where
" the plugin itself cannot: in an old Vim.

" -> [{level: ok, warning or error, what, remedy ('' when ok)}]
function! vim_mcp#doctor#Report() abort
  if !exists('#vim_mcp#VimEnter')
    return s:Unable()
  endif
  return s:Editor() + s:Options() + s:Program() + s:Directory() + s:Connection() + s:Private()
endfunction

function! s:Ok(what) abort
  return [{'level': 'ok', 'what': a:what, 'remedy': ''}]
endfunction

function! s:Warning(what, remedy) abort
  return [{'level': 'warning', 'what': a:what, 'remedy': a:remedy}]
endfunction

function! s:Error(what, remedy) abort
  return [{'level': 'error', 'what': a:what, 'remedy': a:remedy}]
endfunction

function! s:Unable() abort
  if has('nvim')
    return s:Error('this Neovim is too old', 'Neovim 0.5 or later is needed')
  endif
  let l:missing = filter(['channel', 'job', 'timers'], '!has(v:val)')
  let l:what = printf('this is Vim %d.%d', v:version / 100, v:version % 100)
        \ . (has('patch-8.2.4684') ? '' : ', before patch 8.2.4684')
        \ . join(map(l:missing, '", without +" . v:val'), '')
  return s:Error(l:what, 'Vim 8.2.4684 or later with +channel, +job and +timers is needed')
endfunction

function! s:Editor() abort
  let l:info = vim_mcp#info#All()
  let l:copies = has('nvim') ? nvim_get_runtime_file('plugin/vim_mcp.vim', v:true)
        \ : globpath(&runtimepath, 'plugin/vim_mcp.vim', 0, 1)
  call uniq(sort(map(l:copies, 'resolve(v:val)')))
  return s:Ok(printf('%s %s, plugin %s', l:info.editor is# 'nvim' ? 'Neovim' : 'Vim',
        \ l:info.version, l:info.plugin_version))
        \ + (len(l:copies) < 2 ? [] : s:Warning('the plugin is installed more than once: '
        \ . join(l:copies, ', '), 'keep one of them'))
endfunction

function! s:Options() abort
  let l:found = []
  for l:problem in vim_mcp#options#Problems()
    let l:found += s:Warning(l:problem, ':help vim-mcp-options')
  endfor
  let l:set = sort(filter(keys(g:), 'v:val =~# "^vim_mcp_"'))
  return l:found + s:Ok('options set: ' . (empty(l:set) ? 'none' : 'g:' . join(l:set, ', g:')))
endfunction

function! s:Program() abort
  let l:program = vim_mcp#hub#Command()[0]
  return executable(l:program) ? s:Ok('program: ' . exepath(l:program))
        \ : s:Error('the program ' . l:program . ' is not found, so this editor cannot start the hub',
        \ 'run `vim-mcp install` in a terminal, or set g:vim_mcp_command')
endfunction

function! s:Directory() abort
  let l:path = vim_mcp#client#Describe().path
  let l:dir = fnamemodify(l:path, ':h')
  if l:path is# ''
    return []
  elseif vim_mcp#options#Get('socket_path') isnot# ''
    return s:Ok('socket: ' . l:path . ' (g:vim_mcp_socket_path; not looked at)')
  elseif getftype(l:dir) is# ''
    return s:Ok('directory of the hub: ' . l:dir . ' is made when the first hub starts')
  elseif getftype(l:dir) isnot# 'dir' || getfperm(l:dir) isnot# 'rwx------' || filewritable(l:dir) != 2
    return s:Error('directory of the hub: ' . l:dir . ' is not a directory of ours with mode 0700 ('
          \ . getftype(l:dir) . ', ' . getfperm(l:dir) . ')',
          \ 'chmod 700 it if it is yours, else set $VIM_MCP_RUNTIME_DIR to one that is')
  endif
  return s:Ok('directory of the hub: ' . l:dir)
endfunction

function! s:Connection() abort
  let l:state = vim_mcp#client#Describe()
  if l:state.phase is# 'off'
    return s:Warning('not connected, because ' . l:state.why, ':VimMCPConnect connects all the same')
  elseif l:state.phase isnot# 'ready'
    return s:Warning('not connected yet (' . l:state.phase . ')'
          \ . (l:state.last_error is# '' ? '' : ': ' . l:state.last_error),
          \ 'run `vim-mcp doctor` in a terminal')
  endif
  let l:version = get(l:state.hub, 'version', '?')
  let l:found = s:Ok(printf('connected as %s to hub %s, pid %s', l:state.instance_id, l:version,
        \ get(l:state.hub, 'pid', '?')))
  if l:version isnot# vim_mcp#info#All().plugin_version
    let l:found += s:Warning('plugin and hub differ in version',
          \ 'run `vim-mcp install` and `vim-mcp hub --stop`, start this editor again')
  endif
  return l:found + (vim_mcp#acts#IsPaused()
        \ ? s:Warning('assistants may look but not act', ':VimMCPResume') : [])
endfunction

function! s:Private() abort
  let l:count = len(filter(range(1, bufnr('$')), 'bufexists(v:val) && vim_mcp#privacy#IsPrivate(v:val)'))
  return s:Ok('private buffers, which no assistant sees: ' . l:count)
endfunction
