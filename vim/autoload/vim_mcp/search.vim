" The `search` request: lines that match a pattern, found in slices so that the
" editor never stands still. The hub asks for one slice after the other.

" Milliseconds one slice may take; only a single line that takes longer to match
" goes past it.
let s:slice = 20.0
let s:max_rows = 1000
let s:max_width = 500
" Characters shown before a match in a line too long to be shown whole.
let s:lead = 100

" {pattern, bufnr, line, max}: search on from {line} of buffer {bufnr}, or from
" the beginning when they are left out. {scope} is 'current' or 'all'.
" -> {rows, lines (looked at), next: {bufnr, line} or v:null}
function! vim_mcp#search#Slice(params) abort
  let l:pattern = s:Pattern(get(a:params, 'pattern', v:null))
  let l:buffers = s:Buffers(a:params)
  let l:left = min([s:max_rows, max([1, vim_mcp#reads#Number(a:params, 'max', 100)])])
  let l:slice = {'rows': [], 'lines': 0, 'until': vim_mcp#clock#Now() + s:slice}
  let l:line = vim_mcp#reads#Number(a:params, 'line', 1)
  for l:nr in l:buffers
    let l:stopped = s:Buffer(l:slice, l:nr, l:line, l:pattern, l:left)
    if l:stopped > 0
      return s:Told(l:slice, {'bufnr': l:nr, 'line': l:stopped})
    endif
    let l:line = 1
  endfor
  return s:Told(l:slice, v:null)
endfunction

function! s:Told(slice, next) abort
  return {'rows': a:slice.rows, 'lines': a:slice.lines, 'next': a:next}
endfunction

" The buffers to look at from the one on that the last slice stopped in.
function! s:Buffers(params) abort
  let l:from = vim_mcp#reads#Number(a:params, 'bufnr', 0)
  if get(a:params, 'scope', 'current') isnot# 'all'
    let l:nr = l:from > 0 ? l:from : bufnr('%')
    call vim_mcp#privacy#Check(l:nr)
    return [l:nr]
  endif
  " A terminal may show the very call that asks for this, a quickfix window lines
  " of private buffers.
  return filter(map(getbufinfo({'bufloaded': 1}), 'v:val.bufnr'),
        \ 'v:val >= l:from && index(["terminal", "quickfix"], getbufvar(v:val, "&buftype")) < 0'
        \ . ' && !vim_mcp#privacy#IsPrivate(v:val)')
endfunction

" {pattern} as `/` would take it: match() knows neither 'smartcase' nor 'nomagic'.
function! s:Pattern(pattern) abort
  if type(a:pattern) != v:t_string || a:pattern is# ''
    call vim_mcp#error#BadParams('pattern must be a string that is not empty.')
  elseif a:pattern =~# '^\\%#='
    call vim_mcp#error#BadParams('pattern must not choose a regexp engine (\%#=).')
  endif
  " Vim's own message for a bad one, as soon as possible.
  call match('', a:pattern)
  let l:bare = substitute(a:pattern, '\\\\', '', 'g')
  let l:case = ''
  if l:bare !~# '\\[cC]'
    let l:has_capital = substitute(l:bare, '\\\%(_.\|%.\|z.\|.\)', '', 'g') =~# '[[:upper:]]'
    let l:case = &ignorecase && !(&smartcase && l:has_capital) ? '\c' : '\C'
  endif
  let l:pattern = (&magic ? '\m' : '\M') . l:case . a:pattern
  " The engine that backtracks can take for ever over one line; the other can't.
  try
    call match('', '\%#=2' . l:pattern)
    return '\%#=2' . l:pattern
  catch
    return l:pattern
  endtry
endfunction

" Look through buffer {nr} from {line} on; {max} rows at most are gathered in all.
" -> the line to go on with when there was no time or room, 0 at its end
function! s:Buffer(slice, nr, line, pattern, max) abort
  let l:at = a:line
  let l:portion = 16
  let l:facts = {}
  while 1
    let l:lines = getbufline(a:nr, l:at, l:at + l:portion - 1)
    if empty(l:lines)
      return 0
    endif
    let l:index = match(l:lines, a:pattern)
    while l:index >= 0
      if len(a:slice.rows) >= a:max
        let a:slice.lines += l:index
        return l:at + l:index
      elseif empty(l:facts)
        let l:facts = vim_mcp#target#Common(a:nr)
      endif
      call add(a:slice.rows, s:Row(l:facts, l:at + l:index, l:lines[l:index], a:pattern))
      let l:index = match(l:lines, a:pattern, l:index + 1)
    endwhile
    let l:at += len(l:lines)
    let a:slice.lines += len(l:lines)
    if vim_mcp#clock#Now() > a:slice.until
      return l:at
    endif
    let l:portion = min([1024, l:portion * 2])
  endwhile
endfunction

function! s:Row(facts, line, text, pattern) abort
  let [l:match, l:start, l:end] = matchstrpos(a:text, a:pattern)
  let l:column = strchars(strpart(a:text, 0, l:start)) + 1
  let l:from = strchars(a:text) <= s:max_width ? 0 : max([0, l:column - 1 - s:lead])
  return {
        \ 'file': a:facts.file,
        \ 'bufnr': a:facts.bufnr,
        \ 'changedtick': a:facts.changedtick,
        \ 'line': a:line,
        \ 'column': l:column,
        \ 'end_column': l:column + max([1, strchars(l:match)]) - 1,
        \ 'text': vim_mcp#text#Wire([strcharpart(a:text, l:from, s:max_width)])[0],
        \ 'text_column': l:from + 1,
        \ }
endfunction
