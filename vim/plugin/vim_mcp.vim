" vim-mcp: lets MCP assistants see and edit this editor through a hub.
" Everything stands inside this :if, because an editor without +eval (vim-tiny)
" skips an :if block whole, but would stumble over what follows a :finish.
if !exists('g:loaded_vim_mcp') && !&compatible
  let g:loaded_vim_mcp = 1
  let s:cpo = &cpoptions
  set cpoptions&vim

  command! -bar VimMCPConnect call vim_mcp#Connect()
  command! -bar VimMCPDisconnect call vim_mcp#Disconnect()
  command! -bar VimMCPReconnect call vim_mcp#Reconnect()
  command! -bar VimMCPStatus call vim_mcp#Status()
  command! -bar VimMCPDoctor call vim_mcp#Doctor()
  command! -bar VimMCPPause call vim_mcp#Pause()
  command! -bar VimMCPResume call vim_mcp#Resume()

  " Vim speaks to Unix sockets from 8.2.4684 on, Neovim has luv pipes from 0.5.
  if has('nvim-0.5') || (has('channel') && has('job') && has('timers')
        \ && has('patch-8.2.4684'))
    augroup vim_mcp
      autocmd!
      autocmd VimEnter * call vim_mcp#client#Entered()
      if exists('##UIEnter')
        autocmd UIEnter * call vim_mcp#client#UiCame()
      endif
      if exists('##GUIEnter')
        autocmd GUIEnter * call vim_mcp#client#UiCame()
      endif
      autocmd StdinReadPre * call vim_mcp#client#StdinCame()
      autocmd BufReadPost,BufNewFile,BufFilePost * call vim_mcp#stamps#Take(+expand('<abuf>'))
      autocmd BufWritePost * call vim_mcp#stamps#Written(+expand('<abuf>'), expand('<afile>:p'))
      autocmd VimLeavePre * call vim_mcp#client#Leave()
    augroup END
    " Now, not at VimEnter: that never comes while a swap file prompt stands.
    call vim_mcp#client#Start()
  endif

  let &cpoptions = s:cpo
  unlet s:cpo
endif
