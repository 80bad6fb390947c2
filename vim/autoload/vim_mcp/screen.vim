" What the user sees of an act.

" Show changes now where the editor would not by itself.
function! vim_mcp#screen#Update() abort
  if mode() isnot# 'n'
    redraw
  endif
endfunction

" vim_mcp#statusline() has another answer now. Elsewhere than in Normal mode
" something may be on the screen that drawing would wipe out: it waits.
function! vim_mcp#screen#Status() abort
  if mode(1) is# 'n' && (&statusline . &tabline . &rulerformat) =~# 'vim_mcp#statusline'
    redrawstatus!
  endif
endfunction
