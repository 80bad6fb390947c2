" Requests that only look. They are answered at once, in every state of the
" editor, so nothing here may change anything, move anything or take long.

let s:max_slice = 65536

" The reading methods, by their name on the wire.
function! vim_mcp#reads#Methods() abort
  return {
        \ 'health': function('s:Health'),
        \ 'get_state': function('s:GetState'),
        \ 'get_lines': function('s:GetLines'),
        \ 'outcome': function('vim_mcp#acts#Outcome'),
        \ 'look_at_file': function('vim_mcp#disk#Look'),
        \ }
endfunction

function! s:Health(params) abort
  return {
        \ 'mode': mode(1),
        \ 'state': exists('*state') ? state() : '',
        \ 'pending_acts': vim_mcp#acts#Pending(),
        \ 'paused': s:Bool(vim_mcp#acts#IsPaused()),
        \ }
endfunction

function! s:Bool(value) abort
  return a:value ? v:true : v:false
endfunction

" get_lines

function! s:Number(params, name, default) abort
  let l:value = get(a:params, a:name, v:null)
  if l:value is v:null
    return a:default
  elseif type(l:value) != v:t_number
    call vim_mcp#error#BadParams(a:name . ' must be a whole number.')
  endif
  return l:value
endfunction

function! s:GetLines(params) abort
  let l:nr = vim_mcp#target#Loaded(a:params)
  let l:answer = vim_mcp#target#Common(l:nr)
  if get(a:params, 'if_changedtick', v:null) is# l:answer.changedtick
    return {'bufnr': l:nr, 'changedtick': l:answer.changedtick, 'unchanged': v:true}
  endif
  call vim_mcp#target#CheckTick(l:nr, a:params)
  let l:first = s:Number(a:params, 'first', 1)
  let l:last = min([s:Number(a:params, 'last', l:answer.line_count), l:answer.line_count])
  let l:byte = s:Number(a:params, 'byte', 0)
  let l:budget = max([16, min([s:Number(a:params, 'max_bytes', s:max_slice), s:max_slice])])
  if l:first > l:answer.line_count
    call vim_mcp#error#BadParams(printf('There is no line %d: the buffer has %d.',
          \ l:first, l:answer.line_count))
  elseif l:first < 1 || l:byte < 0 || l:first > l:last
    call vim_mcp#error#BadParams(printf('There are no lines %d to %d: the buffer has %d.',
          \ l:first, s:Number(a:params, 'last', l:answer.line_count), l:answer.line_count))
  endif
  let l:slice = s:Slice(l:nr, l:first, l:last, l:byte, l:budget)
  let l:slice.lines = vim_mcp#text#Wire(l:slice.lines)
  return extend(l:answer, extend(l:slice, {'first': l:first}))
endfunction

" Up to {budget} bytes (a newline counts) of lines {first} to {last}, the first
" one from its byte {byte} on. -> {lines, last, next}
function! s:Slice(nr, first, last, byte, budget) abort
  let l:lines = []
  let l:left = a:budget
  let l:at = a:first
  if a:byte > 0
    let l:text = getbufline(a:nr, a:first)[0]
    if a:byte > strlen(l:text) || s:IsInside(l:text, a:byte)
      call vim_mcp#error#BadParams('byte must be the start of a character in line ' . a:first . '.')
    endif
    let l:text = strpart(l:text, a:byte)
    if strlen(l:text) > l:left
      let l:size = s:CutAt(l:text, l:left)
      return {'lines': [strpart(l:text, 0, l:size)], 'last': a:first,
            \ 'next': {'line': a:first, 'byte': a:byte + l:size}}
    endif
    call add(l:lines, l:text)
    let l:left -= strlen(l:text) + 1
    let l:at += 1
  endif
  " Lines are asked for in growing portions and measured by join(): a loop over
  " single lines would cost ten times as much.
  let l:portion = 32
  while l:at <= a:last && l:left > 0
    let l:some = getbufline(a:nr, l:at, min([l:at + l:portion - 1, a:last]))
    let l:size = strlen(join(l:some, "\n")) + 1
    if l:size > l:left
      let l:fit = s:Fitting(l:some, l:left)
      if l:fit > 0
        call extend(l:lines, l:some[: l:fit - 1])
        let l:at += l:fit
      elseif empty(l:lines)
        let l:size = s:CutAt(l:some[0], l:left)
        return {'lines': [strpart(l:some[0], 0, l:size)], 'last': l:at,
              \ 'next': {'line': l:at, 'byte': l:size}}
      endif
      break
    endif
    call extend(l:lines, l:some)
    let l:left -= l:size
    let l:at += len(l:some)
    let l:portion = l:portion * 2
  endwhile
  return {'lines': l:lines, 'last': l:at - 1,
        \ 'next': l:at > a:last ? v:null : {'line': l:at, 'byte': 0}}
endfunction

" How many of {lines} fit into {left} bytes, found by halving.
function! s:Fitting(lines, left) abort
  let [l:fits, l:too_many] = [0, len(a:lines)]
  while l:fits + 1 < l:too_many
    let l:middle = (l:fits + l:too_many) / 2
    if strlen(join(a:lines[: l:middle - 1], "\n")) + 1 <= a:left
      let l:fits = l:middle
    else
      let l:too_many = l:middle
    endif
  endwhile
  return l:fits
endfunction

" Does byte offset {byte} of {text} lie inside a character?
function! s:IsInside(text, byte) abort
  let l:code = char2nr(strpart(a:text, a:byte, 1))
  return &encoding is# 'utf-8' && l:code >= 0x80 && l:code <= 0xbf
endfunction

" The last character boundary at or before {byte}, if one is near: text that is
" no UTF-8 at all may be cut anywhere.
function! s:CutAt(text, byte) abort
  for l:back in range(0, 5)
    if !s:IsInside(a:text, a:byte - l:back)
      return a:byte - l:back
    endif
  endfor
  return a:byte
endfunction

" get_state

function! s:GetState(params) abort
  let l:current = bufnr('%')
  let l:is_private = vim_mcp#privacy#IsPrivate(l:current)
  return {
        \ 'current_buffer': s:CurrentBuffer(l:current, l:is_private),
        \ 'windows': map(getwininfo(), 's:Window(v:val)'),
        \ 'buffers': s:Buffers(l:current),
        \ 'tabpages': tabpagenr('$'),
        \ 'tabpage': tabpagenr(),
        \ 'cursor': l:is_private ? v:null : vim_mcp#reads#Cursor(),
        \ 'byte': l:is_private ? v:null : col('.'),
        \ 'mode': mode(1),
        \ 'cwd': getcwd(),
        \ 'root': vim_mcp#info#Root(),
        \ 'selection': l:is_private ? v:null : s:Selection(),
        \ 'paused': s:Bool(vim_mcp#acts#IsPaused()),
        \ }
endfunction

function! s:CurrentBuffer(nr, is_private) abort
  if a:is_private
    return {'id': a:nr, 'bufnr': a:nr, 'private': v:true}
  endif
  let l:facts = vim_mcp#target#Common(a:nr)
  return {
        \ 'id': a:nr,
        \ 'bufnr': a:nr,
        \ 'name': l:facts.file,
        \ 'filetype': l:facts.filetype,
        \ 'line_count': l:facts.line_count,
        \ 'modified': l:facts.modified,
        \ 'changedtick': l:facts.changedtick,
        \ 'buftype': &buftype,
        \ }
endfunction

function! s:Buffers(current) abort
  let l:buffers = []
  for l:info in getbufinfo()
    if !l:info.listed && !l:info.loaded
      continue
    elseif vim_mcp#privacy#IsPrivate(l:info.bufnr)
      call add(l:buffers, {'bufnr': l:info.bufnr, 'private': v:true})
      continue
    endif
    call add(l:buffers, {
          \ 'bufnr': l:info.bufnr,
          \ 'name': l:info.name,
          \ 'listed': s:Bool(l:info.listed),
          \ 'loaded': s:Bool(l:info.loaded),
          \ 'hidden': s:Bool(l:info.hidden),
          \ 'modified': s:Bool(l:info.changed),
          \ 'filetype': getbufvar(l:info.bufnr, '&filetype'),
          \ 'buftype': getbufvar(l:info.bufnr, '&buftype'),
          \ 'line_count': l:info.linecount,
          \ 'changedtick': l:info.changedtick,
          \ 'current': s:Bool(l:info.bufnr == a:current),
          \ })
  endfor
  return l:buffers
endfunction

function! s:Window(info) abort
  let l:window = {
        \ 'winid': a:info.winid,
        \ 'winnr': a:info.winnr,
        \ 'tabnr': a:info.tabnr,
        \ 'bufnr': a:info.bufnr,
        \ 'width': a:info.width,
        \ 'height': a:info.height,
        \ 'current': s:Bool(a:info.winid == win_getid()),
        \ }
  if vim_mcp#privacy#IsPrivate(a:info.bufnr)
    return extend(l:window, {'private': v:true})
  endif
  return extend(l:window, {
        \ 'name': getbufinfo(a:info.bufnr)[0].name,
        \ 'cursor': s:WindowCursor(a:info),
        \ 'topline': a:info.topline,
        \ 'botline': a:info.botline,
        \ })
endfunction

function! s:WindowCursor(info) abort
  if has('nvim')
    let [l:line, l:byte] = nvim_win_get_cursor(a:info.winid)
    return [l:line, s:Column(a:info.bufnr, l:line, l:byte + 1)]
  endif
  let [l:line, l:byte] = getcurpos(a:info.winid)[1:2]
  return [l:line, s:Column(a:info.bufnr, l:line, l:byte)]
endfunction

" Byte column to column in characters, both from 1.
function! s:Column(nr, line, byte) abort
  let l:text = get(getbufline(a:nr, a:line), 0, '')
  return strchars(strpart(l:text, 0, max([a:byte, 1]) - 1)) + 1
endfunction

" [line, column in characters] of the current window.
function! vim_mcp#reads#Cursor() abort
  return [line('.'), s:Column(bufnr('%'), line('.'), col('.'))]
endfunction

let s:selections = {'v': 'char', 'V': 'line', "\<C-V>": 'block',
      \ 's': 'char', 'S': 'line', "\<C-S>": 'block'}

" The selection of the current window, ends included; v:null without one.
function! s:Selection() abort
  let l:kind = get(s:selections, strcharpart(mode(), 0, 1), '')
  if l:kind is# ''
    return v:null
  endif
  let l:nr = bufnr('%')
  let l:ends = sort([getpos('v')[1:2], getpos('.')[1:2]],
        \ {a, b -> a[0] == b[0] ? a[1] - b[1] : a[0] - b[0]})
  let [l:start, l:end] = map(l:ends, '[v:val[0], s:Column(l:nr, v:val[0], v:val[1])]')
  if l:kind is# 'line'
    let l:start[1] = 1
    let l:end[1] = max([1, strchars(get(getbufline(l:nr, l:end[0]), 0, ''))])
  elseif l:kind is# 'block'
    let [l:start[1], l:end[1]] = [min([l:start[1], l:end[1]]), max([l:start[1], l:end[1]])]
  elseif &selection is# 'exclusive' && l:end[1] > 1
    let l:end[1] -= 1
  endif
  return {'mode': l:kind, 'start': l:start, 'end': l:end}
endfunction
