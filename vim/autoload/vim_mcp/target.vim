" Which buffer a request means. Names are compared whole, never as a pattern:
" bufnr('a*') would find another buffer.

let s:resolved = {}

" The buffer of {params} (bufnr, file, or neither: the current one), 0 when the
" file has no buffer here.
function! vim_mcp#target#Find(params) abort
  if has_key(a:params, 'bufnr') && a:params.bufnr isnot v:null
    if type(a:params.bufnr) != v:t_number || a:params.bufnr < 1
      call vim_mcp#error#BadParams('bufnr must be a buffer number.')
    endif
    return bufexists(a:params.bufnr) ? a:params.bufnr : 0
  elseif has_key(a:params, 'file') && a:params.file isnot v:null
    return vim_mcp#target#ByFile(vim_mcp#target#Path(a:params))
  endif
  return bufnr('%')
endfunction

" The absolute path in {params}.file.
function! vim_mcp#target#Path(params) abort
  let l:path = get(a:params, 'file', v:null)
  if type(l:path) != v:t_string || l:path !~# '^/' || l:path =~# "\n"
    call vim_mcp#error#BadParams('file must be an absolute path.')
  endif
  return l:path
endfunction

" As Find(), for requests that need the text: refused when the buffer is private
" or has no text here.
function! vim_mcp#target#Loaded(params) abort
  let l:nr = vim_mcp#target#Find(a:params)
  if l:nr > 0
    call vim_mcp#privacy#Check(l:nr)
  elseif has_key(a:params, 'file') && vim_mcp#privacy#IgnoresPath(a:params.file)
    call vim_mcp#error#Throw(1004, 'private', 'This file is private (g:vim_mcp_ignore). Ask the user.')
  endif
  if l:nr == 0 || !bufloaded(l:nr)
    call vim_mcp#error#Throw(1004, 'not_open', get(a:params, 'file', v:null) is v:null
          \ ? 'There is no loaded buffer with this number.'
          \ : 'This file is not open in the editor: show it with vim_open, or read it from disk.')
  endif
  return l:nr
endfunction

" The buffer of the file at absolute {path}, 0 when there is none. A buffer with
" this very name goes before one that is the same file by another name.
function! vim_mcp#target#ByFile(path) abort
  let l:tail = fnamemodify(a:path, ':t')
  let l:last = bufnr('$')
  for l:nr in range(1, l:last)
    if bufexists(l:nr) && fnamemodify(bufname(l:nr), ':t') is# l:tail
          \ && getbufinfo(l:nr)[0].name is# a:path
      return l:nr
    endif
  endfor
  let l:real = vim_mcp#files#Resolve(a:path)
  for l:nr in range(1, l:last)
    if bufexists(l:nr) && s:Resolved(l:nr) is# l:real
          \ && vim_mcp#files#Resolve(getbufinfo(l:nr)[0].name) is# l:real
      return l:nr
    endif
  endfor
  return 0
endfunction

" resolve() asks the system for each part of a path, so its answers are kept; a
" hit is asked for again before it is believed.
function! s:Resolved(nr) abort
  if !has_key(s:resolved, a:nr) || s:resolved[a:nr][0] isnot# bufname(a:nr)
    let l:name = getbufinfo(a:nr)[0].name
    let s:resolved[a:nr] = [bufname(a:nr), l:name is# '' ? '' : vim_mcp#files#Resolve(l:name)]
  endif
  return s:resolved[a:nr][1]
endfunction

" The facts every answer about a buffer begins with.
function! vim_mcp#target#Common(nr) abort
  let l:info = getbufinfo(a:nr)[0]
  return {
        \ 'bufnr': a:nr,
        \ 'file': l:info.name,
        \ 'changedtick': l:info.changedtick,
        \ 'line_count': l:info.linecount,
        \ 'modified': l:info.changed ? v:true : v:false,
        \ 'filetype': getbufvar(a:nr, '&filetype'),
        \ }
endfunction

" Refuse when the caller knew another text than buffer {nr} has now.
function! vim_mcp#target#CheckTick(nr, params) abort
  let l:known = get(a:params, 'changedtick', v:null)
  if l:known isnot v:null && l:known != getbufvar(a:nr, 'changedtick')
    call vim_mcp#error#Throw(1004, 'stale', printf(
          \ 'The buffer has changed meanwhile (changedtick is %d, not %s). Read it again.',
          \ getbufvar(a:nr, 'changedtick'), l:known))
  endif
endfunction
