" Which buffers and files never leave the editor.

let s:patterns = {}
let s:by_name = {}

" One regular expression for the globs without a slash (they match the last part
" of the name) and one for those with (they match all of it).
function! s:Compile() abort
  let s:patterns = {'tail': '', 'path': ''}
  for l:glob in vim_mcp#options#Get('ignore')
    let l:kind = stridx(l:glob, '/') >= 0 ? 'path' : 'tail'
    let l:pattern = '\%(' . glob2regpat(l:glob) . '\)'
    let s:patterns[l:kind] .= (s:patterns[l:kind] is# '' ? '' : '\|') . l:pattern
  endfor
  for l:kind in ['tail', 'path']
    if s:patterns[l:kind] isnot# ''
      let s:patterns[l:kind] = (&fileignorecase ? '\c' : '\C') . s:patterns[l:kind]
    endif
  endfor
endfunction

function! s:Matches(name) abort
  if empty(s:patterns)
    call s:Compile()
  endif
  return (s:patterns.tail isnot# '' && fnamemodify(a:name, ':t') =~ s:patterns.tail)
        \ || (s:patterns.path isnot# '' && a:name =~ s:patterns.path)
endfunction

" Does g:vim_mcp_ignore name this path, itself or what it is a link to?
function! vim_mcp#privacy#IgnoresPath(path) abort
  if a:path is# ''
    return 0
  endif
  if !has_key(s:by_name, a:path)
    let s:by_name[a:path] = s:Matches(a:path) || s:Matches(vim_mcp#files#Resolve(a:path))
  endif
  return s:by_name[a:path]
endfunction

" Links may lead elsewhere by now.
function! vim_mcp#privacy#Forget() abort
  let s:by_name = {}
endfunction

" Must buffer {nr} stay in this editor? Also true for a buffer gone meanwhile.
function! vim_mcp#privacy#IsPrivate(nr) abort
  if !bufexists(a:nr) || !empty(getbufvar(a:nr, 'vim_mcp_private', 0))
    return 1
  endif
  " A swap file switched off for one buffer says: leave no copies. With the
  " global option off it says nothing; -n works without the option.
  if &g:swapfile && !getbufvar(a:nr, '&swapfile', 1)
        \ && index(['', 'acwrite'], getbufvar(a:nr, '&buftype', '')) >= 0
    return 1
  endif
  return vim_mcp#privacy#IgnoresPath(getbufinfo(a:nr)[0].name)
        \ || (getbufvar(a:nr, '&buftype', '') is# 'quickfix' && s:ListsPrivate(a:nr))
endfunction

" A list of errors shows names and lines of files. Of one that no window shows
" it cannot be told which list it was.
function! s:ListsPrivate(nr) abort
  let l:windows = win_findbuf(a:nr)
  if empty(l:windows)
    return 1
  endif
  let l:items = getwininfo(l:windows[0])[0].loclist ? getloclist(l:windows[0]) : getqflist()
  let l:seen = {}
  for l:item in l:items
    if l:item.bufnr > 0 && !has_key(l:seen, l:item.bufnr)
      let l:seen[l:item.bufnr] = 1
      if vim_mcp#privacy#IsPrivate(l:item.bufnr)
        return 1
      endif
    endif
  endfor
  return 0
endfunction

" Refuse when buffer {nr} is private.
function! vim_mcp#privacy#Check(nr) abort
  if vim_mcp#privacy#IsPrivate(a:nr)
    call vim_mcp#error#Throw(1004, 'private', 'This buffer is private (g:vim_mcp_ignore, b:vim_mcp_private or its swap file is switched off): it never leaves the editor. Ask the user.')
  endif
endfunction
