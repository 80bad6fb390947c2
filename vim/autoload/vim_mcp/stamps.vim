" How each buffer's file looked when the editor last read or wrote it. Before a
" write they are compared, because Vim's own check would ask the user a question.

let s:stamps = {}

" Note the file of buffer {nr} as it is now.
function! vim_mcp#stamps#Take(nr) abort
  call vim_mcp#privacy#Forget()
  let l:name = bufexists(a:nr) ? getbufinfo(a:nr)[0].name : ''
  let s:stamps[a:nr] = [l:name, s:Stamp(l:name)]
endfunction

" Buffer {nr} was written to {path}, which may be another file than its own.
function! vim_mcp#stamps#Written(nr, path) abort
  if bufexists(a:nr) && getbufinfo(a:nr)[0].name is# a:path
    call vim_mcp#stamps#Take(a:nr)
  endif
endfunction

" Is the file of buffer {nr} as the editor knows it? A buffer loaded before the
" plugin is unknown: Vim's own check must do.
function! vim_mcp#stamps#AreSame(nr) abort
  let l:name = getbufinfo(a:nr)[0].name
  let l:stamp = get(s:stamps, a:nr, [])
  return empty(l:stamp) || l:stamp[0] isnot# l:name || l:stamp[1] is# s:Stamp(l:name)
endfunction

" How the file {name} looks now.
function! vim_mcp#stamps#OnDisk(name) abort
  return s:Stamp(a:name)
endfunction

" '' when there is no such file. Vim tells whole seconds only: a change in the
" very second of the last read or write that keeps the size is left to Vim.
function! s:Stamp(name) abort
  if a:name is# ''
    return ''
  elseif has('nvim')
    return luaeval('require("vim_mcp.owner").stamp(_A)', a:name)
  endif
  let l:time = getftime(a:name)
  return l:time < 0 ? '' : l:time . ' ' . getfsize(a:name)
endfunction
