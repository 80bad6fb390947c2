" A word to a user who has not asked for one, where it matters to them: one line
" that fits, at a moment when nothing waits, so that no prompt can come of it.

function! vim_mcp#tell#User(text) abort
  call vim_mcp#log#Write(a:text)
  if mode(1) isnot# 'n' || vim_mcp#guard#Reason('', 0) isnot# ''
    return
  endif
  let l:room = exists('v:echospace') ? v:echospace : &columns - 30
  let l:line = 'vim-mcp: ' . a:text
  if strdisplaywidth(l:line) > l:room
    let l:line = strcharpart(l:line, 0, max([0, l:room - 3])) . '...'
  endif
  " What is to be drawn first would wipe it out, or scroll it into a prompt.
  redraw
  echohl WarningMsg
  echomsg l:line
  echohl None
endfunction
