" Who this editor is: what it tells the hub when it registers.

let s:max_names = 500
let s:started = substitute(strftime('%Y-%m-%dT%H:%M:%S%z'), '\d\d$', ':&', '')
let s:root = {'key': '', 'value': ''}

" Unlike the pid, which repeats across containers, no two processes share this.
function! vim_mcp#info#Nonce() abort
  if !exists('s:nonce')
    let l:seed = join([getpid(), string(reltime()), tempname(), hostname()])
    let s:nonce = strpart(sha256(l:seed), 0, 32)
  endif
  return s:nonce
endfunction

" {filename}-{project}-{pid}
function! vim_mcp#info#InstanceId() abort
  let l:main = vim_mcp#info#MainFile()
  let l:root = vim_mcp#info#Root()
  let l:project = fnamemodify(l:root is# '' ? s:Cwd() : l:root, ':t')
  return join([s:Word(fnamemodify(l:main, ':t:r'), 'unnamed'),
        \ s:Word(l:project, 'root'), getpid()], '-')
endfunction

" State files bear the id in their name: no slash, nothing unprintable.
function! s:Word(text, default) abort
  let l:word = substitute(a:text, '[[:cntrl:][:space:]/\\:*?"<>|]', '_', 'g')
  let l:word = strcharpart(l:word, 0, 40)
  return l:word is# '' ? a:default : l:word
endfunction

" The directory of the whole editor, not of a window with its own.
function! s:Cwd() abort
  return getcwd(-1)
endfunction

" The file this editor was started for, else the current one; '' when private.
function! vim_mcp#info#MainFile() abort
  for l:nr in [s:ArgBuffer(), bufnr('%')]
    if l:nr > 0 && getbufvar(l:nr, '&buftype') is# ''
      let l:name = getbufinfo(l:nr)[0].name
      if l:name isnot# ''
        return vim_mcp#privacy#IsPrivate(l:nr) || isdirectory(l:name) ? '' : l:name
      endif
    endif
  endfor
  return ''
endfunction

function! s:ArgBuffer() abort
  return argc(-1) > 0 ? vim_mcp#target#ByFile(fnamemodify(argv(0, -1), ':p')) : 0
endfunction

" Git root of the directory, else of the main file, else the directory itself,
" without symbolic links. '' when that would be too much: /, /tmp, $HOME or what
" is above it.
function! vim_mcp#info#Root() abort
  let l:key = s:Cwd() . "\n" . vim_mcp#info#MainFile()
  if s:root.key isnot# l:key
    let s:root = {'key': l:key, 'value': s:FindRoot()}
  endif
  return s:root.value
endfunction

function! s:FindRoot() abort
  let l:cwd = resolve(s:Cwd())
  let l:main = vim_mcp#info#MainFile()
  let l:dirs = [s:GitRoot(l:cwd)]
  if l:main isnot# ''
    call add(l:dirs, s:GitRoot(resolve(fnamemodify(l:main, ':h'))))
  endif
  for l:dir in add(l:dirs, l:cwd)
    if l:dir isnot# '' && !s:IsTooWide(l:dir)
      return l:dir
    endif
  endfor
  return ''
endfunction

function! s:GitRoot(dir) abort
  let l:dir = a:dir
  while l:dir isnot# '/' && l:dir isnot# '' && l:dir isnot# '.'
    " A file in a worktree or submodule.
    if getftype(l:dir . '/.git') =~# '^\%(dir\|file\|link\)$'
      return l:dir
    endif
    let l:dir = fnamemodify(l:dir, ':h')
  endwhile
  return ''
endfunction

function! s:IsTooWide(dir) abort
  let l:home = resolve($HOME)
  return a:dir is# '/' || a:dir is# '/tmp' || a:dir is# resolve('/tmp')
        \ || stridx(l:home . '/', a:dir . '/') == 0
endfunction

function! s:BufferNames() abort
  let l:names = []
  for l:info in getbufinfo({'buflisted': 1})
    if l:info.name isnot# '' && !vim_mcp#privacy#IsPrivate(l:info.bufnr)
      call add(l:names, l:info.name)
      if len(l:names) >= s:max_names
        break
      endif
    endif
  endfor
  return l:names
endfunction

" 'tty', 'gui', 'embed' or 'headless'.
function! vim_mcp#info#Ui() abort
  if has('gui_running')
    return 'gui'
  elseif has('nvim')
    let l:uis = nvim_list_uis()
    if index(v:argv, '--embed') >= 0
      " From 0.9 on the terminal is a process of its own, with a UI here.
      return empty(l:uis) ? 'headless'
            \ : get(l:uis[0], 'stdout_tty', v:false) ? 'tty' : 'embed'
    endif
    return index(v:argv, '--headless') >= 0 && empty(l:uis) ? 'headless' : 'tty'
  endif
  return has('ttyin') && has('ttyout') && !vim_mcp#startup#IsSilent() ? 'tty' : 'headless'
endfunction

function! s:Version() abort
  if has('nvim')
    let l:version = luaeval('vim.version()')
    return join([l:version.major, l:version.minor, l:version.patch], '.')
  endif
  " Distributions add single later patches, which v:versionlong would tell.
  let l:patches = matchstr(execute('version', 'silent'), '\<1-\zs\d\+')
  return printf('%d.%d.%d', v:version / 100, v:version % 100,
        \ l:patches is# '' ? v:versionlong % 10000 : l:patches)
endfunction

function! s:Features() abort
  let l:features = ['slices', 'ops', 'undo', 'save', 'execute', 'disk']
  return has('nvim') ? l:features + ['fast_health'] : l:features
endfunction

" The facts that may change while the editor runs.
function! vim_mcp#info#Changing() abort
  return {
        \ 'cwd': s:Cwd(),
        \ 'main_file': vim_mcp#info#MainFile(),
        \ 'buffers': s:BufferNames(),
        \ 'root': vim_mcp#info#Root(),
        \ 'ui': vim_mcp#info#Ui(),
        \ 'readonly': vim_mcp#startup#IsReadonly() ? v:true : v:false,
        \ 'paused': vim_mcp#acts#IsPaused() ? v:true : v:false,
        \ 'state_files': vim_mcp#options#Get('state_files'),
        \ 'state_interval': vim_mcp#options#Get('state_interval'),
        \ }
endfunction

" The whole `info` of the register message.
function! vim_mcp#info#All() abort
  return extend(vim_mcp#info#Changing(), {
        \ 'pid': getpid(),
        \ 'version': s:Version(),
        \ 'protocol': 1,
        \ 'plugin_version': '0.1.0',
        \ 'editor': has('nvim') ? 'nvim' : 'vim',
        \ 'host': hostname(),
        \ 'features': s:Features(),
        \ 'nonce': vim_mcp#info#Nonce(),
        \ 'started': s:started,
        \ })
endfunction
