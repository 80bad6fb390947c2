" Lines over a Unix socket, the same for both editors. Nothing here blocks:
" a peer that does not read costs memory, never the user's time.

let s:last_id = 0
let s:channels = {}

" After this many bytes of which nobody has proven to have read them, the kernel's
" buffer may be full (macOS has a small one) and Vim may be holding the rest back.
let s:unproven_max = has('linux') ? 65536 : 4096
let s:push_interval = 20
let s:pings = 0

" Dial the socket at path {address}. Returns an id > 0, or 0 when refused.
" {callbacks} may hold
"   on_open(id)        once, when connected (may come before Open() returns)
"   on_line(id, line)  for each line, without its newline
"   on_close(id)       once, when the peer is gone or never was there; not
"                      after Close()
function! vim_mcp#channel#Open(address, callbacks) abort
  let s:last_id += 1
  let s:channels[s:last_id] = {'callbacks': a:callbacks, 'unproven': 0, 'push': -1}
  return has('nvim') ? s:NvimOpen(s:last_id, a:address) : s:VimOpen(s:last_id, a:address)
endfunction

" Send {line}. Returns 0 when the channel is gone.
function! vim_mcp#channel#Send(id, line) abort
  if !has_key(s:channels, a:id)
    return 0
  endif
  return has('nvim')
        \ ? luaeval('require("vim_mcp.channel").send(_A[1], _A[2])', [a:id, a:line . "\n"])
        \ : s:VimSend(a:id, a:line . "\n")
endfunction

" Has the peer sent more than the line that is being handled now?
function! vim_mcp#channel#HasMore(id) abort
  if !has_key(s:channels, a:id)
    return 0
  endif
  return has('nvim') ? luaeval('require("vim_mcp.channel").has_more(_A)', a:id)
        \ : ch_canread(s:channels[a:id].handle)
endfunction

function! vim_mcp#channel#Close(id) abort
  let l:channel = s:Forget(a:id)
  if empty(l:channel)
    return
  elseif has('nvim')
    call luaeval('require("vim_mcp.channel").close(_A)', a:id)
  elseif ch_status(l:channel.handle) isnot# 'closed'
    call ch_close(l:channel.handle)
  endif
endfunction

" Facts that Neovim's read callback may tell without asking Vimscript.
function! vim_mcp#channel#Facts(facts) abort
  if has('nvim')
    call luaeval('require("vim_mcp.channel").set_facts(_A)', a:facts)
  endif
endfunction

function! s:Call(id, name, arguments) abort
  if has_key(s:channels, a:id) && has_key(s:channels[a:id].callbacks, a:name)
    call vim_mcp#safely#Call(s:channels[a:id].callbacks[a:name], [a:id] + a:arguments)
  endif
endfunction

function! s:Forget(id) abort
  if !has_key(s:channels, a:id)
    return {}
  endif
  let l:channel = remove(s:channels, a:id)
  call timer_stop(l:channel.push)
  return l:channel
endfunction

function! s:Closed(id) abort
  if has_key(s:channels, a:id)
    let l:callbacks = s:Forget(a:id).callbacks
    if has_key(l:callbacks, 'on_close')
      call vim_mcp#safely#Call(l:callbacks.on_close, [a:id])
    endif
  endif
endfunction

" Vim

function! s:VimOpen(id, path) abort
  try
    " 'nl', because in the default mode a peer can send ["ex", …] past us;
    " 'noblock', because else ch_sendraw() hangs when the peer does not read.
    let l:handle = ch_open('unix:' . a:path, {
          \ 'mode': 'nl',
          \ 'noblock': 1,
          \ 'callback': function('s:VimLine', [a:id]),
          \ 'close_cb': function('s:VimClosed', [a:id]),
          \ })
  catch /:E\%(896\|898\|901\|902\|903\|906\|475\):/
    call s:Forget(a:id)
    return 0
  endtry
  if ch_status(l:handle) isnot# 'open'
    call s:Forget(a:id)
    return 0
  endif
  let s:channels[a:id].handle = l:handle
  call s:Call(a:id, 'on_open', [])
  return a:id
endfunction

function! s:VimLine(id, handle, line) abort
  if !has_key(s:channels, a:id)
    return
  endif
  let l:channel = s:channels[a:id]
  if l:channel.push != -1 && a:line =~# '^\s*{\s*"id"\s*:\s*' . l:channel.ping
    call timer_stop(l:channel.push)
    let l:channel.push = -1
    call s:PushIfNeeded(a:id)
  else
    call s:Call(a:id, 'on_line', [a:line])
  endif
endfunction

function! s:VimClosed(id, handle) abort
  call s:Closed(a:id)
endfunction

function! s:VimSend(id, text) abort
  let l:channel = s:channels[a:id]
  try
    call ch_sendraw(l:channel.handle, a:text)
  catch /:E\%(630\|631\|906\):/
    return 0
  endtry
  let l:channel.unproven += strlen(a:text)
  call s:PushIfNeeded(a:id)
  return 1
endfunction

" A request of ours, whose answer (that there is no such method is one) proves that
" all before it has been read. A line of the peer's own accord proves nothing.
function! s:PushIfNeeded(id) abort
  let l:channel = s:channels[a:id]
  if l:channel.unproven > s:unproven_max && l:channel.push == -1
    let l:channel.unproven = 0
    let s:pings += 1
    let l:channel.ping = '"p' . s:pings . '"'
    let l:channel.push = timer_start(s:push_interval, function('s:Push', [a:id]),
          \ {'repeat': -1})
    call s:VimSend(a:id, '{"id":' . l:channel.ping . ',"method":"ping","params":{}}' . "\n")
  endif
endfunction

" Vim queues what the kernel does not take, and goes on with the queue only when
" the next text is sent. The hub ignores empty lines.
function! s:Push(id, timer) abort
  if !has_key(s:channels, a:id)
    call timer_stop(a:timer)
    return
  endif
  try
    call ch_sendraw(s:channels[a:id].handle, "\n")
  catch /:E\%(630\|631\|906\):/
    call timer_stop(a:timer)
  endtry
endfunction

" Neovim

function! s:NvimOpen(id, path) abort
  if luaeval('require("vim_mcp.channel").open(_A[1], _A[2])', [a:id, a:path])
    return a:id
  endif
  call s:Forget(a:id)
  return 0
endfunction

" Called by Lua: connected, a line, the end.
function! vim_mcp#channel#NvimOpened(id) abort
  call s:Call(a:id, 'on_open', [])
endfunction

function! vim_mcp#channel#NvimLine(id, line) abort
  call s:Call(a:id, 'on_line', [a:line])
endfunction

function! vim_mcp#channel#NvimClosed(id) abort
  call s:Closed(a:id)
endfunction
