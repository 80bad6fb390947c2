" The `execute` request: one command the policy lets through.

" Bytes of output an answer may hold.
let s:max_output = 65536

function! vim_mcp#execute#Run(params) abort
  let l:command = get(a:params, 'command', v:null)
  if type(l:command) != v:t_string
    call vim_mcp#error#BadParams('command must be a string.')
  endif
  call vim_mcp#privacy#Check(bufnr('%'))
  let l:checked = vim_mcp#policy#Check(l:command)
  let l:nr = bufnr('%')
  call vim_mcp#undo#Break(l:nr)
  try
    let l:output = s:Run(l:checked)
  finally
    if bufexists(l:nr)
      call vim_mcp#undo#Break(l:nr)
    endif
  endtry
  call vim_mcp#screen#Update()
  return {'output': s:Readable(l:output), 'bufnr': bufnr('%'), 'changedtick': b:changedtick}
endfunction

function! s:Run(command) abort
  if a:command is# 'nohlsearch'
    " Its effect ends with the function that calls it, so the main loop does it.
    call feedkeys("\<Cmd>nohlsearch\<CR>", 'n')
    return ''
  endif
  return vim_mcp#quiet#Execute(a:command)
endfunction

function! s:Readable(output) abort
  let l:output = trim(a:output, "\n")
  if strlen(l:output) > s:max_output
    let l:output = strpart(l:output, 0, s:max_output) . "\n(the rest is left out)"
  endif
  return vim_mcp#text#Wire([l:output])[0]
endfunction
