" Where the hub listens, and the proof that the place is ours: whoever owns that
" directory can make this editor do things.

" sockaddr_un holds 108 bytes on Linux, 104 on macOS, with the final NUL.
let s:longest = 103

let s:uid = -1

" The socket's path and what must be proven first.
" -> {path, dir ('' = nothing to prove), problem ('' = none)}
function! vim_mcp#address#Find(uid) abort
  let l:own = vim_mcp#options#Get('socket_path')
  if l:own isnot# ''
    " The user's own choice, in a vimrc only the user writes.
    let l:found = {'path': fnamemodify(expand(l:own), ':p'), 'dir': ''}
  elseif $VIM_MCP_SOCKET isnot# ''
    let l:path = fnamemodify($VIM_MCP_SOCKET, ':p')
    let l:found = {'path': l:path, 'dir': fnamemodify(l:path, ':h')}
  else
    let l:dir = $VIM_MCP_RUNTIME_DIR isnot# ''
          \ ? substitute(fnamemodify($VIM_MCP_RUNTIME_DIR, ':p'), '/\+$', '', '')
          \ : '/tmp/vim-mcp-' . a:uid
    let l:found = {'path': l:dir . '/vim-mcp-server.sock', 'dir': l:dir}
  endif
  let l:found.problem = strlen(l:found.path) <= s:longest ? ''
        \ : printf('The socket path has %d bytes, %d are possible: set $VIM_MCP_RUNTIME_DIR to a shorter directory.',
        \ strlen(l:found.path), s:longest)
  return l:found
endfunction

" Call {Then}(uid) with our user id, at once where the system tells it without
" a child process.
function! vim_mcp#address#Uid(Then) abort
  if s:uid < 0 && has('nvim')
    let s:uid = luaeval('(vim.uv or vim.loop).getuid()')
  endif
  if s:uid < 0 && filereadable('/proc/self/status')
    let l:line = matchstr(readfile('/proc/self/status', '', 20), '^Uid:')
    let s:uid = l:line is# '' ? -1 : str2nr(split(l:line)[2])
  endif
  if s:uid >= 0
    call a:Then(s:uid)
  else
    call s:Run(['id', '-u'], function('s:GotUid', [a:Then]))
  endif
endfunction

function! s:GotUid(Then, output) abort
  let l:text = trim(get(a:output, 0, ''))
  if l:text =~# '^\d\+$'
    let s:uid = str2nr(l:text)
    call a:Then(s:uid)
  else
    call vim_mcp#log#Write('`id -u` told no user id')
  endif
endfunction

" Call {Then}(problem) with '' when {dir} is a directory that only we can enter,
" {home_is_ours} as the second argument tells whether $HOME belongs to us.
function! vim_mcp#address#Prove(dir, uid, Then) abort
  if a:dir isnot# '' && getftype(a:dir) is# ''
    call a:Then('No hub has run yet: ' . a:dir . ' does not exist.', 1)
  elseif has('nvim')
    let l:told = luaeval('require("vim_mcp.owner").tell(_A)', [a:dir, s:Home()])
    call a:Then(a:dir is# '' ? '' : s:Judge(a:dir, a:uid, l:told[0]),
          \ a:uid != 0 || get(l:told[1], 'uid', 0) == 0)
  elseif a:uid != 0
    " Nobody but the owner passes all three, unless we are root.
    call a:Then(a:dir is# '' || (getftype(a:dir) is# 'dir' && getfperm(a:dir) is# 'rwx------'
          \ && filewritable(a:dir) == 2) ? '' : s:Refusal(a:dir, a:uid), 1)
  else
    call s:Run([executable('/bin/ls') ? '/bin/ls' : 'ls', '-ldn', a:dir is# '' ? '/' : a:dir, s:Home()],
          \ function('s:GotListing', [a:dir, a:uid, a:Then]))
  endif
endfunction

" With the dot a home that is a symbolic link is looked through.
function! s:Home() abort
  return $HOME . '/.'
endfunction

function! s:Judge(dir, uid, facts) abort
  " 448 is 0700: an octal literal reads differently from version to version.
  return get(a:facts, 'type', '') is# 'directory' && a:facts.uid == a:uid
        \ && a:facts.mode == 448 ? '' : s:Refusal(a:dir, a:uid)
endfunction

function! s:Refusal(dir, uid) abort
  if a:uid == 65534
    return a:dir . ' cannot be proven ours: this editor runs as nobody (an unmapped user namespace?). Run it with the same user id as the hub.'
  endif
  return a:dir . ' is not a directory of ours with mode 0700: not used. Remove it, or set $VIM_MCP_RUNTIME_DIR to a directory of your own.'
endfunction

function! s:GotListing(dir, uid, Then, output) abort
  call a:Then(a:dir is# '' || s:Listed(a:output, a:dir, '^drwx------') == a:uid
        \ ? '' : s:Refusal(a:dir, a:uid), s:Listed(a:output, s:Home(), '^d') == a:uid)
endfunction

" The owner that `ls -ldn` names for {path}, -1 when it has not the {kind}.
function! s:Listed(output, path, kind) abort
  for l:line in a:output
    let l:words = split(l:line)
    if len(l:words) > 3 && l:line =~# a:kind && strpart(l:line,
          \ strlen(l:line) - strlen(a:path) - 1) is# ' ' . a:path
      return str2nr(l:words[2])
    endif
  endfor
  return -1
endfunction

" Run {argv} without a shell; {Then}(lines) when it has ended (Vim only: Neovim
" can ask the system itself).
function! s:Run(argv, Then) abort
  let l:lines = []
  call job_start(a:argv, {'in_io': 'null', 'err_io': 'null',
        \ 'out_cb': {channel, line -> add(l:lines, line)},
        \ 'close_cb': {channel -> a:Then(l:lines)}})
endfunction
