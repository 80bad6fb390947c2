" Writing a buffer to its file, only where Vim would not have to ask.

function! vim_mcp#save#Run(params) abort
  let l:nr = vim_mcp#target#Loaded(a:params)
  call vim_mcp#target#CheckTick(l:nr, a:params)
  call vim_mcp#save#Check(l:nr)
  call vim_mcp#save#Write(l:nr)
  return extend(vim_mcp#target#Common(l:nr), {'saved': v:true})
endfunction

" Refuse when buffer {nr} cannot be written without a question.
function! vim_mcp#save#Check(nr) abort
  let l:info = getbufinfo(a:nr)[0]
  let l:type = getbufvar(a:nr, '&buftype')
  if index(['', 'acwrite'], l:type) < 0
    call vim_mcp#error#Throw(1004, 'readonly', 'This is no file buffer but one of type "' . l:type . '": it is not written.')
  elseif l:info.name is# ''
    call vim_mcp#error#Throw(1004, '', 'This buffer has no file name: ask the user to save it under one.')
  elseif getbufvar(a:nr, '&readonly') || !&write
    call vim_mcp#error#Throw(1004, 'readonly', "This buffer is read-only ('readonly' is set). Ask the user.")
  elseif l:type is# ''
    call s:CheckDisk(a:nr, l:info.name)
  endif
endfunction

function! s:CheckDisk(nr, name) abort
  if isdirectory(a:name)
    call vim_mcp#error#Throw(1004, '', 'This is a directory.')
  elseif getftype(a:name) isnot# '' && !filewritable(a:name)
    call vim_mcp#error#Throw(1004, 'readonly', 'The user may not write this file.')
  elseif !vim_mcp#stamps#AreSame(a:nr)
    call vim_mcp#error#Throw(1004, '', 'The file has changed on disk since the editor read it: nothing was written. Ask the user which text is right.')
  endif
endfunction

" Write the checked buffer {nr} when it is modified.
function! vim_mcp#save#Write(nr) abort
  if !getbufinfo(a:nr)[0].changed
    return
  endif
  " :write would set the '[ and '] marks.
  call vim_mcp#quiet#ExecuteIn(a:nr, 'lockmarks write')
  if getbufinfo(a:nr)[0].changed
    call vim_mcp#error#Throw(1004, '', 'The editor has not written the file.')
  endif
endfunction
