" The `cursor` request: where the user is and what is around.

let s:around = 5
let s:max_width = 500

function! vim_mcp#cursor#Look(params) abort
  let l:nr = bufnr('%')
  call vim_mcp#privacy#Check(l:nr)
  let [l:line, l:byte] = [line('.'), col('.')]
  let l:text = getline(l:line)
  let l:before = strpart(l:text, 0, l:byte - 1)
  let l:after = strpart(l:text, l:byte - 1)
  let l:first = max([1, l:line - s:around])
  return extend(vim_mcp#target#Common(l:nr), {
        \ 'line': l:line,
        \ 'column': strchars(l:before) + 1,
        \ 'byte': l:byte,
        \ 'screen_column': virtcol('.'),
        \ 'word': s:Cut(s:Word()),
        \ 'before': s:Tail(l:before),
        \ 'after': s:Cut(l:after),
        \ 'first': l:first,
        \ 'lines': map(getline(l:first, l:line + s:around), 's:Cut(v:val)'),
        \ 'syntax': s:Syntax(l:line, l:byte),
        \ 'mode': mode(1),
        \ 'selection': vim_mcp#selection#Now(),
        \ 'winid': win_getid(),
        \ 'tabnr': tabpagenr(),
        \ 'cwd': getcwd(),
        \ })
endfunction

function! s:Cut(text) abort
  return vim_mcp#text#Wire([strcharpart(a:text, 0, s:max_width)])[0]
endfunction

function! s:Tail(text) abort
  return vim_mcp#text#Wire([strcharpart(a:text, max([0, strchars(a:text) - s:max_width]))])[0]
endfunction

function! s:Word() abort
  try
    return expand('<cword>')
  catch /:E348:/
    return ''
  endtry
endfunction

" Names of what the text is, the outermost first: syntax groups, in Neovim those
" of tree-sitter when it colours this buffer.
function! s:Syntax(line, byte) abort
  if has('nvim')
    let l:captures = luaeval('require("vim_mcp.syntax").captures(_A[1], _A[2])', [a:line, a:byte])
    if !empty(l:captures)
      return l:captures
    endif
  endif
  let l:names = []
  for l:id in synstack(a:line, a:byte)
    call add(l:names, synIDattr(l:id, 'name'))
    let l:shown = synIDattr(synIDtrans(l:id), 'name')
  endfor
  " What the last one looks like tells more than its name: pythonString is a Constant.
  return empty(l:names) || l:shown is# l:names[-1] ? l:names : add(l:names, l:shown)
endfunction
