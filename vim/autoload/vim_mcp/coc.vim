" What coc.nvim knows. It lives in a process of its own, so it is asked without
" waiting; what it answers is kept for the next look.

let s:severities = {'Error': 'error', 'Warning': 'warning', 'Information': 'info', 'Hint': 'hint'}

let s:items = []
" Questions asked, and the last of them that was answered.
let [s:asked, s:answered] = [0, 0]

function! s:IsReady() abort
  return get(g:, 'coc_service_initialized', 0) && exists('*CocActionAsync')
endfunction

" Ask anew, unless {round} says which question to wait for. -> the question's number
function! vim_mcp#coc#Ask(round) abort
  if !s:IsReady()
    let s:items = []
    return 0
  elseif a:round > 0
    return a:round
  endif
  let s:asked += 1
  try
    call CocActionAsync('diagnosticList', function('s:Answered', [s:asked]))
  catch
    let s:answered = s:asked
  endtry
  return s:asked
endfunction

function! vim_mcp#coc#IsPending(round) abort
  return s:IsReady() && s:answered < a:round
endfunction

" CocActionAsync() calls with an error, or with v:null and the list.
function! s:Answered(round, error, ...) abort
  if a:round > s:answered
    let s:answered = a:round
    if a:0 && type(a:1) == v:t_list
      let s:items = a:1
    endif
  endif
endfunction

" What it answered last, as entries of vim_mcp#diagnostics.
function! vim_mcp#coc#Entries() abort
  let l:numbers = {}
  return map(filter(copy(s:items), 'type(v:val) == v:t_dict && !empty(get(v:val, "file", ""))'
        \ . ' && has_key(v:val, "lnum")'), 's:Entry(v:val, l:numbers)')
endfunction

" {numbers} remembers which buffers the files have.
function! s:Entry(item, numbers) abort
  let l:file = a:item.file
  if !has_key(a:numbers, l:file)
    let a:numbers[l:file] = vim_mcp#target#ByFile(l:file)
  endif
  let l:nr = a:numbers[l:file]
  let l:end = get(a:item, 'end_lnum', 0)
  return vim_mcp#diagnostics#Entry('coc', l:nr, l:file,
        \ get(s:severities, get(a:item, 'severity', ''), 'other'), get(a:item, 'message', ''),
        \ get(a:item, 'source', ''), get(a:item, 'code', ''),
        \ [a:item.lnum, s:Byte(l:nr, a:item.lnum, get(a:item, 'col', 1)),
        \   l:end, l:end > 0 ? max([1, s:Byte(l:nr, l:end, get(a:item, 'end_col', 2)) - 1]) : 0])
endfunction

" The byte column of coc's column, which counts UTF-16 units; 0 when the text is not
" at hand.
function! s:Byte(nr, line, column) abort
  if a:nr == 0 || !bufloaded(a:nr)
    return 0
  endif
  let [l:units, l:byte] = [a:column - 1, 0]
  let l:text = get(getbufline(a:nr, a:line), 0, '')
  if strlen(l:text) == strchars(l:text)
    return min([l:units, strlen(l:text)]) + 1
  endif
  for l:char in split(l:text, '\zs')
    for l:code in str2list(l:char)
      let l:units -= l:code > 0xffff ? 2 : 1
    endfor
    if l:units < 0
      break
    endif
    let l:byte += strlen(l:char)
  endfor
  return l:byte + 1
endfunction
