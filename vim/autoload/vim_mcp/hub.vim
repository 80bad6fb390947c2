" Starting a hub in the background.

" Run {argv}; {Then}(exit status) when it has ended. The hub itself outlives it,
" and this editor.
function! vim_mcp#hub#Start(argv, Then) abort
  let l:path = vim_mcp#options#Get('socket_path')
  let l:env = l:path is# '' ? {} : {'VIM_MCP_SOCKET': fnamemodify(expand(l:path), ':p')}
  if has('nvim')
    let l:options = {'detach': 1, 'on_exit': {job, status, event -> a:Then(status)}}
    return jobstart(a:argv, empty(l:env) ? l:options : extend(l:options, {'env': l:env}))
  endif
  return job_start(a:argv, {'stoponexit': '', 'in_io': 'null', 'out_io': 'null',
        \ 'err_io': 'null', 'env': l:env, 'exit_cb': {job, status -> a:Then(status)}})
endfunction
