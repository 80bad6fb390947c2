" The expressions an assistant may :echo: literals, options and a few questions
" about the current place, put together by operators that cannot call anything.

let s:place = '[.$%#v]\|''[a-z<>[\]]\|w[0$]'

" What the one argument of a function may be, as a pattern; '' = none.
let s:functions = {
      \ 'line': s:place, 'col': s:place, 'virtcol': s:place,
      \ 'bufnr': '[%#$]\?\|\d\+', 'bufname': '[%#]\?\|\d\+',
      \ 'winnr': '[$#hjkl]\?', 'tabpagenr': '[$#]\?',
      \ 'mode': '1\?', 'getcwd': '', 'changenr': '', 'wordcount': '',
      \ 'strlen': '.*',
      \ }

let s:token = '^\%(\(\d\+\)\|\(''\%([^'']\|''''\)*''\)\|"\([^"\\]*\)"\|\(&\%([lg]:\)\?\l\+\)\|\(v:version\)'
      \ . '\|\(\l\+\)( *\%(\(\d\+\)\|''\([^'']*\)''\|"\([^"\\]*\)"\)\? *)\)'

" {text} written anew when it is such an expression; refuses all else.
function! vim_mcp#expression#Check(text) abort
  let l:rest = a:text
  let l:out = ''
  while 1
    let l:match = matchlist(l:rest, s:token)
    if empty(l:match)
      call s:Deny()
    endif
    let l:out .= s:Term(l:match, l:rest)
    let l:rest = strpart(l:rest, strlen(l:match[0]))
    if l:rest =~# '^ *$'
      return l:out
    endif
    let l:operator = matchstr(l:rest, '^ *\%(\.\.\|[.+,-]\| \) *')
    if l:operator is# ''
      call s:Deny()
    endif
    " A comma means two things to show, which :echo writes with a space.
    let l:out .= ' ' . substitute(l:operator, '[ ,]', '', 'g') . ' '
    let l:rest = strpart(l:rest, strlen(l:operator))
  endwhile
endfunction

function! s:Term(match, rest) abort
  if a:match[6] isnot# ''
    return s:Call(a:match[6], a:match[7] . a:match[8] . a:match[9])
  elseif a:match[4] is# '&key' || (a:match[4] isnot# '' && !exists(a:match[4]))
    call s:Deny()
  elseif a:rest =~# '^"'
    return string(a:match[3])
  endif
  return a:match[0]
endfunction

function! s:Call(name, argument) abort
  if !has_key(s:functions, a:name) || a:argument !~# '^\%(' . s:functions[a:name] . '\)$'
    call s:Deny()
  endif
  if a:name is# 'bufname' && a:argument =~# '\d\|#'
    call vim_mcp#privacy#Check(a:argument is# '#' ? bufnr('#') : str2nr(a:argument))
  endif
  if a:argument is# ''
    return a:name . '()'
  endif
  return a:name . '(' . (a:argument =~# '^\d\+$' ? a:argument : string(a:argument)) . ')'
endfunction

function! s:Deny() abort
  call vim_mcp#error#Throw(1004, 'denied', 'Only simple expressions may be shown: numbers, strings, &option, v:version and '
        \ . join(map(sort(keys(s:functions)), 'v:val . "()"'), ', ') . ' (:help vim-mcp-execute).')
endfunction
