" Requests that only look. They are answered at once, in every state of the
" editor, so nothing here may change anything, move anything or take long.

let s:max_slice = 65536

" The reading methods, by their name on the wire.
function! vim_mcp#reads#Methods() abort
  return s:methods
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

" The whole number {params}.{name}, {default} when it is left out.
function! vim_mcp#reads#Number(params, name, default) abort
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
  let l:first = vim_mcp#reads#Number(a:params, 'first', 1)
  let l:last = min([vim_mcp#reads#Number(a:params, 'last', l:answer.line_count), l:answer.line_count])
  let l:byte = vim_mcp#reads#Number(a:params, 'byte', 0)
  let l:budget = max([16, min([vim_mcp#reads#Number(a:params, 'max_bytes', s:max_slice), s:max_slice])])
  if l:first > l:answer.line_count
    call vim_mcp#error#BadParams(printf('There is no line %d: the buffer has %d.',
          \ l:first, l:answer.line_count))
  elseif l:first < 1 || l:byte < 0 || l:first > l:last
    call vim_mcp#error#BadParams(printf('There are no lines %d to %d: the buffer has %d.',
          \ l:first, vim_mcp#reads#Number(a:params, 'last', l:answer.line_count), l:answer.line_count))
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
        \ 'windows': vim_mcp#windows#Rows(),
        \ 'buffers': vim_mcp#buffers#Rows(l:current),
        \ 'tabpages': tabpagenr('$'),
        \ 'tabpage': tabpagenr(),
        \ 'cursor': l:is_private ? v:null : vim_mcp#reads#Cursor(),
        \ 'byte': l:is_private ? v:null : col('.'),
        \ 'mode': mode(1),
        \ 'cwd': getcwd(),
        \ 'root': vim_mcp#info#Root(),
        \ 'selection': l:is_private ? v:null : vim_mcp#selection#Now(),
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

" Byte column to column in characters, both from 1.
function! vim_mcp#reads#Column(nr, line, byte) abort
  let l:text = get(getbufline(a:nr, a:line), 0, '')
  return strchars(strpart(l:text, 0, max([a:byte, 1]) - 1)) + 1
endfunction

" [line, column in characters] of the current window.
function! vim_mcp#reads#Cursor() abort
  return [line('.'), vim_mcp#reads#Column(bufnr('%'), line('.'), col('.'))]
endfunction

" Last, because the functions must exist.
let s:methods = {
      \ 'health': function('s:Health'),
      \ 'get_state': function('s:GetState'),
      \ 'get_lines': function('s:GetLines'),
      \ 'outcome': function('vim_mcp#acts#Outcome'),
      \ 'waiting': function('vim_mcp#acts#Waiting'),
      \ 'look_at_file': function('vim_mcp#disk#Look'),
      \ 'buffers': function('vim_mcp#buffers#List'),
      \ 'windows': function('vim_mcp#windows#Layout'),
      \ 'cursor': function('vim_mcp#cursor#Look'),
      \ 'selection': function('vim_mcp#selection#Look'),
      \ 'diagnostics': function('vim_mcp#diagnostics#List'),
      \ 'search': function('vim_mcp#search#Slice'),
      \ }
