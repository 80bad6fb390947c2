" What the user sees of an act.

" Show changes now where the editor would not by itself.
function! vim_mcp#screen#Update() abort
  if mode() isnot# 'n'
    redraw
  endif
endfunction
