" The `execute` request: one command the policy lets through.

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
    let l:output = vim_mcp#quiet#Execute(l:checked)
  finally
    if bufexists(l:nr)
      call vim_mcp#undo#Break(l:nr)
    endif
  endtry
  call vim_mcp#screen#Update()
  return {'output': trim(l:output, "\n"), 'bufnr': bufnr('%'), 'changedtick': b:changedtick}
endfunction
