" What the plugin did, for :VimMCPStatus and for people who look for a fault.
" A ring in memory; never a message on the user's screen, never buffer text.

let s:lines = []
let s:keep = 200

" Add one line.
function! vim_mcp#log#Write(text) abort
  call add(s:lines, strftime('%H:%M:%S') . ' ' . a:text)
  if len(s:lines) > s:keep
    call remove(s:lines, 0, len(s:lines) - s:keep - 1)
  endif
endfunction

" The remembered lines, oldest first.
function! vim_mcp#log#Lines() abort
  return copy(s:lines)
endfunction
