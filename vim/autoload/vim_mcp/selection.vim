" What the user has selected, or had last. No register is touched.

let s:kinds = {'v': 'char', 'V': 'line', "\<C-V>": 'block',
      \ 's': 'char', 'S': 'line', "\<C-S>": 'block'}

" Bytes of text an answer may hold.
let s:max_text = 65536

" {mode, start, end} of the selection in the current window, ends included, both
" [line, column in characters]; v:null without one.
function! vim_mcp#selection#Now() abort
  let l:kind = s:Active()
  return l:kind is# '' ? v:null : s:Told(s:Region(l:kind, getpos('v'), getpos('.')))
endfunction

function! s:Active() abort
  return get(s:kinds, strcharpart(mode(), 0, 1), '')
endfunction

" The `selection` request: the selection, else the last one of the current buffer,
" with its text.
function! vim_mcp#selection#Look(params) abort
  let l:nr = bufnr('%')
  call vim_mcp#privacy#Check(l:nr)
  let l:kind = s:Active()
  let l:answer = extend(vim_mcp#target#Common(l:nr), {'active': l:kind is# '' ? v:false : v:true})
  let l:last = l:kind is# '' ? get(s:kinds, visualmode(), '') : ''
  if l:kind isnot# ''
    let l:region = s:Region(l:kind, getpos('v'), getpos('.'))
  elseif l:last isnot# '' && line("'<") > 0 && line("'>") <= line('$')
    let l:region = s:Region(l:last, getpos("'<"), getpos("'>"))
  else
    return extend(l:answer, {'mode': v:null, 'start': v:null, 'end': v:null,
          \ 'lines': [], 'truncated': v:false})
  endif
  return extend(extend(l:answer, s:Told(l:region)), s:Text(l:region))
endfunction

" {kind, from, to}: the ends in order, [line, byte] from 1, {to} included. Of a
" block also {left, right}, its screen columns.
function! s:Region(kind, one, other) abort
  let l:ends = sort([a:one[1:2], a:other[1:2]],
        \ {a, b -> a[0] == b[0] ? a[1] - b[1] : a[0] - b[0]})
  let l:region = {'kind': a:kind, 'from': l:ends[0], 'to': l:ends[1]}
  let l:length = strlen(getline(l:region.to[0]))
  if a:kind is# 'line'
    let l:region.from[1] = 1
    let l:region.to[1] = max([1, l:length])
  elseif a:kind is# 'char'
    " A last column past the text takes the line's end in.
    let l:region.to[1] = min([l:region.to[1], l:length + 1])
    if &selection is# 'exclusive' && l:region.to[1] > 1
      let l:region.to[1] -= 1
    endif
  else
    call s:Block(l:region)
  endif
  return l:region
endfunction

function! s:Block(region) abort
  for l:end in [a:region.from, a:region.to]
    let l:end[1] = min([l:end[1], max([1, strlen(getline(l:end[0]))])])
  endfor
  let l:spans = map([a:region.from, a:region.to], 's:Span(getline(v:val[0]), v:val[1])')
  let a:region.left = min([l:spans[0][0], l:spans[1][0]])
  let a:region.right = max([l:spans[0][1], l:spans[1][1]])
  if &selection is# 'exclusive'
    let a:region.right = max([a:region.left, max([l:spans[0][0], l:spans[1][0]]) - 1])
  endif
  " A block made with $ goes to the end of each line.
  if s:Active() is# 'block' && getcurpos()[4] > 1000000
    let a:region.right = 1000000
  endif
endfunction

" First and last screen column of the character at {byte} of {text}, without
" wrapping.
function! s:Span(text, byte) abort
  let l:before = strdisplaywidth(strpart(a:text, 0, a:byte - 1))
  let l:char = strcharpart(strpart(a:text, a:byte - 1), 0, 1)
  return [l:before + 1, l:before + max([1, strdisplaywidth(l:char, l:before)])]
endfunction

" The region as it is told: columns in characters.
function! s:Told(region) abort
  let l:nr = bufnr('%')
  let [l:start, l:end] = map([a:region.from, a:region.to],
        \ '[v:val[0], vim_mcp#reads#Column(l:nr, v:val[0], v:val[1])]')
  if a:region.kind is# 'line'
    let l:end[1] = max([1, strchars(getline(l:end[0]))])
  elseif a:region.kind is# 'block'
    let [l:start[1], l:end[1]] = [min([l:start[1], l:end[1]]), max([l:start[1], l:end[1]])]
  endif
  return {'mode': a:region.kind, 'start': l:start, 'end': l:end}
endfunction

" {lines, truncated, newline}: the text, whether it was cut, and whether it takes
" the end of its last line in.
function! s:Text(region) abort
  let [l:first, l:last] = [a:region.from[0], a:region.to[0]]
  let l:lines = []
  let l:left = s:max_text
  for l:number in range(l:first, l:last)
    let l:line = s:Part(a:region, l:number)
    let l:left -= strlen(l:line) + 1
    if l:left < 0
      if empty(l:lines)
        call add(l:lines, strcharpart(l:line, 0, s:max_text / 4))
      endif
      break
    endif
    call add(l:lines, l:line)
  endfor
  let l:truncated = l:left < 0 ? v:true : v:false
  let l:to_the_end = !l:truncated && (a:region.kind is# 'line'
        \ || (a:region.kind is# 'char' && a:region.to[1] > strlen(getline(l:last))))
  return {'lines': vim_mcp#text#Wire(l:lines), 'truncated': l:truncated,
        \ 'newline': l:to_the_end ? v:true : v:false}
endfunction

" What of line {number} is in the region.
function! s:Part(region, number) abort
  let l:text = getline(a:number)
  if a:region.kind is# 'line'
    return l:text
  elseif a:region.kind is# 'block'
    return s:Columns(l:text, a:region.left, a:region.right)
  endif
  let l:from = a:number == a:region.from[0] ? a:region.from[1] - 1 : 0
  if a:number != a:region.to[0]
    return strpart(l:text, l:from)
  endif
  " To the end of the character that the last byte begins.
  let l:tail = strcharpart(strpart(l:text, a:region.to[1] - 1), 0, 1)
  return strpart(l:text, l:from, a:region.to[1] - 1 - l:from) . l:tail
endfunction

" The characters of {text} that lie in screen columns {left} to {right}, if only
" in part.
function! s:Columns(text, left, right) abort
  let [l:part, l:at] = ['', 0]
  for l:char in split(a:text, '\zs')
    let l:width = strdisplaywidth(l:char, l:at)
    if l:at + max([1, l:width]) >= a:left
      if l:at + 1 > a:right
        break
      endif
      let l:part .= l:char
    endif
    let l:at += l:width
  endfor
  return l:part
endfunction
