" Which files may be opened for an assistant.

" Refuse {path} (absolute, not open here) unless it lies inside the project and
" is, or may become, a plain file.
function! vim_mcp#files#Check(path) abort
  if a:path =~# '\%(^\|/\)\.\.\%(/\|$\)'
    call vim_mcp#error#BadParams('file must not have ".." in it.')
  elseif vim_mcp#privacy#IgnoresPath(a:path)
    call vim_mcp#error#Throw(1004, 'private', 'This file is private (g:vim_mcp_ignore): it is not opened for an assistant. Ask the user.')
  endif
  let l:real = s:Real(a:path)
  let l:root = vim_mcp#info#Root()
  if l:root is# '' || l:real is# '' || stridx(l:real, l:root . '/') != 0
    call vim_mcp#error#Throw(1004, 'denied', printf(
          \ 'This file is not open and not inside %s. Ask the user to open it in Vim.',
          \ l:root is# '' ? 'a project (this editor has none)' : 'the project ' . l:root))
  endif
  let l:type = getftype(l:real)
  if l:type is# ''
    if !isdirectory(fnamemodify(l:real, ':h'))
      call vim_mcp#error#Throw(1004, '', 'The directory of this file does not exist.')
    endif
  elseif l:type isnot# 'file'
    call vim_mcp#error#Throw(1004, 'denied', 'This is no plain file but a ' . l:type . ': it is not opened as text.')
  elseif !filereadable(l:real)
    call vim_mcp#error#Throw(1004, 'denied', 'The user may not read this file.')
  endif
endfunction

" {path} without symbolic links, as far as they lead somewhere: resolve() throws
" where they go in a circle.
function! vim_mcp#files#Resolve(path) abort
  try
    return resolve(a:path)
  catch /:E655:/
    return a:path
  endtry
endfunction

" {path} without symbolic links; a file to be made is in its real directory.
" '' when links go in a circle.
function! s:Real(path) abort
  let l:real = vim_mcp#files#Resolve(a:path)
  if getftype(l:real) is# ''
    let l:real = vim_mcp#files#Resolve(fnamemodify(l:real, ':h')) . '/' . fnamemodify(l:real, ':t')
  endif
  return getftype(l:real) is# 'link' ? '' : l:real
endfunction
