" The list of buffers: who has which flags, in pages.

" Buffers in one page of the `buffers` request.
let s:page = 200

" Every listed or loaded buffer, those from number {from} on and at most {count}
" when told so. {current}: the buffer of the current window.
function! vim_mcp#buffers#Rows(current, ...) abort
  let [l:from, l:count] = a:0 ? [a:1, a:2] : [1, -1]
  let l:alternate = bufnr('#')
  let l:rows = []
  for l:info in getbufinfo()
    if l:info.bufnr < l:from || (!l:info.listed && !l:info.loaded)
      continue
    endif
    call add(l:rows, vim_mcp#privacy#IsPrivate(l:info.bufnr)
          \ ? {'bufnr': l:info.bufnr, 'private': v:true}
          \ : s:Row(l:info, a:current, l:alternate))
    if len(l:rows) == l:count
      break
    endif
  endfor
  return l:rows
endfunction

" The current buffer is used now, which is not said: it would be another time at
" every look.
function! s:Row(info, current, alternate) abort
  let l:nr = a:info.bufnr
  return {
        \ 'bufnr': l:nr,
        \ 'name': a:info.name,
        \ 'listed': s:Bool(a:info.listed),
        \ 'loaded': s:Bool(a:info.loaded),
        \ 'hidden': s:Bool(a:info.hidden),
        \ 'modified': s:Bool(a:info.changed),
        \ 'readonly': s:Bool(getbufvar(l:nr, '&readonly')),
        \ 'modifiable': s:Bool(getbufvar(l:nr, '&modifiable')),
        \ 'filetype': getbufvar(l:nr, '&filetype'),
        \ 'buftype': getbufvar(l:nr, '&buftype'),
        \ 'line_count': a:info.loaded ? a:info.linecount : 0,
        \ 'changedtick': a:info.changedtick,
        \ 'windows': copy(a:info.windows),
        \ 'last_used': l:nr == a:current ? 0 : get(a:info, 'lastused', 0),
        \ 'current': s:Bool(l:nr == a:current),
        \ 'alternate': s:Bool(l:nr == a:alternate && l:nr != a:current),
        \ }
endfunction

function! s:Bool(value) abort
  return a:value ? v:true : v:false
endfunction

" The `buffers` request: a page of them from number {params.from} on. `next` is
" where the following page begins, v:null after the last.
function! vim_mcp#buffers#List(params) abort
  let l:from = vim_mcp#reads#Number(a:params, 'from', 1)
  let l:rows = vim_mcp#buffers#Rows(bufnr('%'), l:from, s:page + 1)
  let l:next = len(l:rows) > s:page ? remove(l:rows, -1).bufnr : v:null
  return {'buffers': l:rows, 'next': l:next,
        \ 'total': len(filter(getbufinfo(), 'v:val.listed || v:val.loaded'))}
endfunction
