" The harness's own line to an editor under test, so that a test looks at the editor without going
" through the product. In Vim a channel in mode json: Vim itself runs ["call", …] and answers.
" Neovim's line is in control.lua, which calls the same functions.

if !has('nvim')
  let s:channel = ch_open('unix:' . $HARNESS_CONTROL)
endif

" The value of an expression, as JSON in {'value'}, or {'error'}.
function! HarnessEval(expr) abort
  try
    return {'value': json_encode(eval(a:expr))}
  catch
    return {'error': v:exception}
  endtry
endfunction

" The output of an Ex command, as JSON in {'value'}, or {'error'}.
function! HarnessCommand(command) abort
  try
    let l:output = execute(a:command)
    redraw
    return {'value': json_encode(l:output)}
  catch
    return {'error': v:exception}
  endtry
endfunction

" Vim's mode, and whether it has more keys to work on, or waits for the rest of something ("S",
" which it also has during completion, "a"). Without state() (before 8.2) only the mode can tell.
function! HarnessMode() abort
  let l:state = exists('*state') ? state('mSa') : ''
  return {'mode': mode(1), 'typeahead': l:state =~# 'm', 'pending': l:state =~# 'S' && l:state !~# 'a'}
endfunction
