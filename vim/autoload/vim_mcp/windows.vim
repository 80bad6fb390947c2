" Windows: where they are, what they show. Of other tab pages too, without going
" there.

" One row for each window of all tab pages, floating ones of Neovim included.
function! vim_mcp#windows#Rows() abort
  return map(getwininfo(), 's:Row(v:val)')
endfunction

function! s:Row(info) abort
  let l:row = {
        \ 'winid': a:info.winid,
        \ 'winnr': a:info.winnr,
        \ 'tabnr': a:info.tabnr,
        \ 'bufnr': a:info.bufnr,
        \ 'width': a:info.width,
        \ 'height': a:info.height,
        \ 'kind': s:Kind(a:info),
        \ 'current': s:Bool(a:info.winid == win_getid()),
        \ }
  if vim_mcp#privacy#IsPrivate(a:info.bufnr)
    return extend(l:row, {'private': v:true})
  endif
  let [l:line, l:byte] = s:Cursor(a:info.winid)
  return extend(l:row, {
        \ 'name': getbufinfo(a:info.bufnr)[0].name,
        \ 'cursor': [l:line, vim_mcp#reads#Column(a:info.bufnr, l:line, l:byte)],
        \ 'byte': l:byte,
        \ 'topline': a:info.topline,
        \ 'botline': a:info.botline,
        \ })
endfunction

" 'normal', 'terminal', or as win_gettype() has it: preview, quickfix, loclist,
" popup, command …
function! s:Kind(info) abort
  let l:type = win_gettype(a:info.winid)
  return l:type isnot# '' ? l:type : get(a:info, 'terminal', 0) ? 'terminal' : 'normal'
endfunction

" [line, byte column], both from 1.
function! s:Cursor(winid) abort
  if has('nvim')
    let [l:line, l:byte] = nvim_win_get_cursor(a:winid)
    return [l:line, l:byte + 1]
  endif
  return getcurpos(a:winid)[1:2]
endfunction

function! s:Bool(value) abort
  return a:value ? v:true : v:false
endfunction

" The `windows` request.
function! vim_mcp#windows#Layout(params) abort
  return {
        \ 'tabpages': map(range(1, tabpagenr('$')), 's:TabPage(v:val)'),
        \ 'windows': vim_mcp#windows#Rows(),
        \ 'columns': &columns,
        \ 'lines': &lines,
        \ }
endfunction

function! s:TabPage(tabnr) abort
  return {
        \ 'tabnr': a:tabnr,
        \ 'current': s:Bool(a:tabnr == tabpagenr()),
        \ 'current_winid': win_getid(tabpagewinnr(a:tabnr), a:tabnr),
        \ 'layout': s:Tree(winlayout(a:tabnr)),
        \ }
endfunction

" winlayout() with names: a row holds windows side by side, a col one above the
" other.
function! s:Tree(node) abort
  if empty(a:node) || a:node[0] is# 'leaf'
    return {'layout': 'leaf', 'winid': get(a:node, 1, 0)}
  endif
  return {'layout': a:node[0], 'children': map(copy(a:node[1]), 's:Tree(v:val)')}
endfunction
