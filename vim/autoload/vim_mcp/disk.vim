" Files that somebody else changed on disk, an assistant with its own tools above
" all: a buffer without changes follows, one with unsaved text is kept as it is.

" Stamps of files of which the user has been told, by buffer.
let s:told = {}
let s:choice = ''

" What the editor has of the file {params.file}; of a private one, nothing.
function! vim_mcp#disk#Look(params) abort
  let l:nr = s:Buffer(a:params)
  return {'loaded': l:nr > 0 ? v:true : v:false,
        \ 'modified': l:nr > 0 && getbufinfo(l:nr)[0].changed ? v:true : v:false}
endfunction

" {params.file} may have changed: follow it. -> outcome: none (not open here), same,
" gone (from the disk), kept (unsaved text), reloaded
function! vim_mcp#disk#Follow(params) abort
  let l:nr = s:Buffer(a:params)
  if l:nr == 0
    return {'outcome': 'none'}
  endif
  let l:name = getbufinfo(l:nr)[0].name
  if getftype(l:name) is# ''
    return {'outcome': 'gone'}
  elseif !getbufinfo(l:nr)[0].changed
    " The editor's own look is finer than a stamp of ours.
    return {'outcome': s:Reload(l:nr) ? 'reloaded' : 'same'}
  elseif vim_mcp#stamps#AreSame(l:nr)
    return {'outcome': 'same'}
  endif
  call s:Tell(l:nr, l:name)
  return {'outcome': 'kept'}
endfunction

function! s:Buffer(params) abort
  let l:nr = vim_mcp#target#ByFile(vim_mcp#target#Path(a:params))
  return l:nr > 0 && bufloaded(l:nr) && getbufvar(l:nr, '&buftype') is# ''
        \ && !vim_mcp#privacy#IsPrivate(l:nr) ? l:nr : 0
endfunction

" The editor's own way of reading a changed file again, without its question: the
" cursor stays, and the old text can be had back by undo.
function! s:Reload(nr) abort
  let l:before = getbufvar(a:nr, 'changedtick')
  call vim_mcp#quiet#Raise()
  try
    call vim_mcp#quiet#HideAttention()
    augroup vim_mcp_disk
      autocmd!
      execute printf('autocmd FileChangedShell <buffer=%d> call s:Choose()', a:nr)
    augroup END
    " Its message would be the editor's "reloaded", which may want a key.
    execute 'silent checktime' a:nr
  finally
    augroup vim_mcp_disk
      autocmd!
    augroup END
    call vim_mcp#quiet#Lower()
  endtry
  if getbufvar(a:nr, 'changedtick') == l:before
    return 0
  endif
  call vim_mcp#log#Write(fnamemodify(getbufinfo(a:nr)[0].name, ':t') . ' has changed on disk: read again')
  call vim_mcp#screen#Update()
  return 1
endfunction

function! s:Choose() abort
  let v:fcs_choice = v:fcs_reason is# 'changed' || v:fcs_reason is# 'mode' ? 'reload' : ''
endfunction

" Once for each change.
function! s:Tell(nr, name) abort
  let l:stamp = vim_mcp#stamps#OnDisk(a:name)
  if get(s:told, a:nr, '') isnot# l:stamp
    let s:told[a:nr] = l:stamp
    call vim_mcp#tell#User(fnamemodify(a:name, ':t')
          \ . ' has changed on disk; your unsaved text is kept')
  endif
endfunction
