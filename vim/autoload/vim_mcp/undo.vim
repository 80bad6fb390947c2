" Undo, and the steps it goes by.

let s:undone = 0

" End the undo step of buffer {nr} here. Setting 'undolevels' does it, in any
" buffer and without a change when the same local value is set again.
function! vim_mcp#undo#Break(nr) abort
  if a:nr == bufnr('%')
    let &l:undolevels = &l:undolevels
  else
    call setbufvar(a:nr, '&undolevels', getbufvar(a:nr, '&l:undolevels'))
  endif
endfunction

function! vim_mcp#undo#Run(params) abort
  let l:count = get(a:params, 'count', 1)
  if type(l:count) != v:t_number || l:count < 1 || l:count > 1000
    call vim_mcp#error#BadParams('count must be a number from 1 to 1000.')
  endif
  let l:nr = vim_mcp#target#Loaded(a:params)
  call vim_mcp#target#CheckTick(l:nr, a:params)
  if !getbufvar(l:nr, '&modifiable') || getbufvar(l:nr, '&readonly')
    call vim_mcp#error#Throw(1004, 'readonly', "This buffer is read-only ('readonly' is set or 'modifiable' is off). Ask the user.")
  endif
  let s:undone = 0
  call vim_mcp#quiet#ExecuteIn(l:nr, 'call vim_mcp#undo#Steps(' . l:count . ')')
  if s:undone == 0
    call vim_mcp#error#Throw(1004, '', 'There is nothing to undo in this buffer.')
  endif
  call vim_mcp#events#Tell('TextChanged', l:nr)
  call vim_mcp#screen#Update()
  return extend(vim_mcp#target#Common(l:nr), {'undone': s:undone})
endfunction

" Not for others: undo {count} steps of the current buffer, or as many as it has.
function! vim_mcp#undo#Steps(count) abort
  while s:undone < a:count
    let l:before = changenr()
    keepjumps undo
    if changenr() == l:before
      return
    endif
    let s:undone += 1
  endwhile
endfunction
