" Which Ex commands an assistant may run: a small grammar of our own. What it
" does not understand is refused; what it understands is written anew, with the
" command's full name, so that the editor cannot read it differently.

let s:address = '\%(\d\+\|[.$]\|''[a-z<>[\]]\)\?\%([+-]\d*\)*'
let s:range = '%\|' . s:address . '\%(,' . s:address . '\)\?'

let s:edits = ['substitute', 'delete', 'move', 'copy', 't', 'join', '>', '<', 'sort', 'retab',
      \ 'undo', 'redo']

" What serves instead of a refused command, by a pattern for its name.
let s:instead = [
      \ ['^\%(e\%[dit]\|new\|vne\%[w]\|sp\%[lit]\|vs\%[plit]\|tabe\%[dit]\|tabnew\|fin\%[d]\|vi\%[sual]\|vie\%[w]\|sf\%[ind]\|drop\)$',
      \   'Use vim_open to open a file.'],
      \ ['^\%(w\%[rite]\|up\%[date]\|wa\%[ll]\|wq\|x\%[it]\|sav\%[eas]\|exi\%[t]\)$', 'Use vim_save to write a file.'],
      \ ['^\%(q\%[uit]\|qa\%[ll]\|quita\%[ll]\|clo\%[se]\|on\%[ly]\|bd\%[elete]\|bw\%[ipeout]\|bun\%[load]\|cq\%[uit]\)$',
      \   'Closing things is left to the user.'],
      \ ['^\%(norm\%[al]\|g\%[lobal]\|v\%[global]\|r\%[ead]\|a\%[ppend]\|i\%[nsert]\|c\%[hange]\|pu\%[t]\|le\%[ft]\|ri\%[ght]\|ce\%[nter]\)$',
      \   'Use vim_edit to change text.'],
      \ ['^\%(ls\|buffers\|files\|tabs\|ju\%[mps]\|changes\)$', 'Use vim_get_state to see buffers and windows, vim_navigate to go through jumps and changes.'],
      \ ['^\%(l\%[ist]\|vim\%[grep]\|gr\%[ep]\)$', 'Use vim_search to search, vim_read to see text.'],
      \ ['^\%(set\?\|setl\%[ocal]\|setg\%[lobal]\|let\|unl\%[et]\|cons\%[t]\)$', 'Options can only be asked for, one at a time: set {option}?'],
      \ ]

" The Ex command to run for {command}; refuses with reason `denied`.
function! vim_mcp#policy#Check(command) abort
  if a:command =~# '[[:cntrl:]]'
    call s:Deny('A command is one line without control characters.')
  endif
  let l:text = substitute(a:command, '^[: ]\+', '', '')
  let l:range = matchstr(l:text, '^\%(' . s:range . '\)')
  let l:rest = substitute(strpart(l:text, strlen(l:range)), '^ \+', '', '')
  if l:rest is# ''
    return s:Move(l:range)
  endif
  if l:range =~# '^\d\+,\d\+$' && str2nr(l:range) > str2nr(matchstr(l:range, ',\zs.*'))
    " Vim would ask, or swap the lines without a word.
    call s:Deny('The range is backwards.')
  endif
  let l:name = matchstr(l:rest, '^\%(\a\+\|[=#<>]\)')
  let l:full = s:FullName(l:name)
  if l:full is# ''
    call s:Deny(s:Instead(l:name))
  endif
  if index(s:edits, l:full) >= 0 && &readonly
    " Vim would only warn, and wait a second.
    call vim_mcp#error#Throw(1004, 'readonly', "This buffer is read-only ('readonly' is set). Ask the user.")
  endif
  let [l:shortest, l:may_range, l:may_bang, l:Arguments] = s:commands[l:full]
  let l:rest = strpart(l:rest, strlen(l:name))
  let l:bang = matchstr(l:rest, '^!')
  let l:given = substitute(strpart(l:rest, strlen(l:bang)), '^ \+\| \+$', '', 'g')
  if l:range isnot# '' && !l:may_range
    call s:Deny(':' . l:full . ' takes no line range here.')
  elseif l:bang isnot# '' && !l:may_bang && l:full isnot# 'substitute'
    call s:Deny(':' . l:full . '! is not allowed.')
  elseif l:full is# 'substitute'
    " The exclamation mark may be its delimiter.
    let [l:given, l:bang] = [l:rest, '']
  endif
  return s:Prefix(l:full) . l:range . l:full . l:bang . s:Join(l:full, s:Arguments(l:full, l:Arguments, l:given))
endfunction

function! s:Prefix(full) abort
  " Neither the user's search pattern nor '[ and '] are to change.
  return a:full is# 'substitute' ? 'keepjumps keeppatterns ' : ''
endfunction

function! s:Join(full, arguments) abort
  return a:arguments is# '' || a:full =~# '^[<>]$' || a:full is# 'substitute'
        \ ? a:arguments : ' ' . a:arguments
endfunction

function! s:Arguments(full, Check, given) abort
  if type(a:Check) == v:t_func
    return a:Check(a:given)
  elseif a:given !~# '^\%(' . a:Check . '\)$'
    call s:Deny(a:Check is# '' ? ':' . a:full . ' takes no arguments here.'
          \ : ':' . a:full . ' does not take these arguments here.'
          \ . (a:full =~# '^set' ? ' Options can only be asked for, one at a time: set {option}?' : ''))
  endif
  return a:given
endfunction

" A range alone goes to its line.
function! s:Move(range) abort
  if a:range is# '' || a:range =~# '[%,]'
    call s:Deny('There is no command in it.')
  endif
  return a:range
endfunction

" The command {name} abbreviates, '' when it is none of ours.
function! s:FullName(name) abort
  if has_key(s:commands, a:name)
    return a:name
  endif
  for [l:full, l:entry] in items(s:commands)
    if strlen(a:name) >= strlen(l:entry[0]) && stridx(l:full, a:name) == 0
      return l:full
    endif
  endfor
  return ''
endfunction

function! s:Instead(name) abort
  for [l:pattern, l:sentence] in s:instead
    if a:name =~# l:pattern
      return l:sentence
    endif
  endfor
  return ''
endfunction

function! s:Deny(sentence) abort
  call vim_mcp#error#Throw(1004, 'denied', 'This command is not among those an assistant may run in this editor (:help vim-mcp-execute).'
        \ . (a:sentence is# '' ? '' : ' ' . a:sentence))
endfunction

function! s:Buffer(given) abort
  if a:given !~# '^\d\+$'
    call s:Deny('Name a buffer by its number.')
  elseif bufexists(str2nr(a:given))
    call vim_mcp#privacy#Check(str2nr(a:given))
  endif
  return a:given
endfunction

" Deleted text goes nowhere: the user's registers stay.
function! s:Delete(given) abort
  let l:count = matchstr(a:given, '^\%(_ *\)\?\zs\d*$')
  if a:given !~# '^\%(_ *\)\?\d*$'
    call s:Deny('Only the register _ may be named.')
  endif
  return '_' . (l:count is# '' ? '' : ' ' . l:count)
endfunction

" Ends in a backslash that is not itself escaped.
let s:open_escape = '\%(^\|[^\\]\)\%(\\\\\)*\\$'

" /pattern/replacement/flags, where the delimiter occurs nowhere else: so all
" parsers agree about the parts.
function! s:Substitute(given) abort
  let l:delimiter = matchstr(a:given, '^[/#,;!@+]')
  if l:delimiter is# ''
    call s:Deny('Write it as s/pattern/replacement/flags, with one of / # , ; ! @ +')
  endif
  let l:parts = split(strpart(a:given, 1), '\V' . l:delimiter, 1)
  if len(l:parts) < 2 || len(l:parts) > 3
    call s:Deny('The delimiter ' . l:delimiter . ' must not be part of pattern or replacement: take another one of / # , ; ! @ +')
  endif
  let [l:pattern, l:replacement] = l:parts[0:1]
  let l:flags = get(l:parts, 2, '')
  if l:pattern is# '' || l:pattern =~# '\\%#=' || l:pattern =~# '\%(^\|[^\\]\)\%(\\\\\)*[|~]'
    call s:Deny('The pattern must not be empty, nor use ~, a bare | or \%#=.')
  elseif l:replacement =~# '[|~]' || l:replacement =~# '\\='
    call s:Deny('The replacement must be plain: no expression (\=), no ~ and no |.')
  elseif l:pattern =~# s:open_escape || l:replacement =~# s:open_escape
    call s:Deny('A delimiter must not follow a backslash.')
  elseif l:flags !~# '^ *[giIenp#l]* *$'
    call s:Deny('Only the flags g, i, I, e, n, p, # and l are allowed.')
  endif
  return a:given
endfunction

" Last, because the functions must exist.
" full name: [shortest abbreviation, may have a range, may have a !, arguments]
" The arguments are a pattern, or a function that gives them back checked.
let s:commands = {
      \ 'echo': ['ec', 0, 0, function('vim_mcp#expression#Check')],
      \ '=': ['=', 1, 0, ''],
      \ '#': ['#', 1, 0, '\d*'],
      \ 'number': ['nu', 1, 0, '\d*'],
      \ 'print': ['p', 1, 0, '\d*'],
      \ 'pwd': ['pw', 0, 0, ''],
      \ 'version': ['ve', 0, 0, ''],
      \ 'undolist': ['undol', 0, 0, ''],
      \ 'set': ['se', 0, 0, '\l\+?'],
      \ 'setlocal': ['setl', 0, 0, '\l\+?'],
      \ 'bnext': ['bn', 0, 0, '\d*'],
      \ 'bprevious': ['bp', 0, 0, '\d*'],
      \ 'bfirst': ['bf', 0, 0, ''],
      \ 'blast': ['bl', 0, 0, ''],
      \ 'buffer': ['b', 0, 0, function('s:Buffer')],
      \ 'tabnext': ['tabn', 0, 0, '\d*'],
      \ 'tabprevious': ['tabp', 0, 0, '\d*'],
      \ 'wincmd': ['winc', 1, 0, '[hjklwptb]'],
      \ 'nohlsearch': ['noh', 0, 0, ''],
      \ 'foldopen': ['foldo', 1, 1, ''],
      \ 'foldclose': ['foldc', 1, 1, ''],
      \ 'copen': ['cope', 0, 0, '\d*'],
      \ 'cclose': ['ccl', 0, 0, ''],
      \ 'lopen': ['lope', 0, 0, '\d*'],
      \ 'lclose': ['lcl', 0, 0, ''],
      \ 'substitute': ['s', 1, 0, function('s:Substitute')],
      \ 'delete': ['d', 1, 0, function('s:Delete')],
      \ 'move': ['m', 1, 0, '\S\@=' . s:address],
      \ 'copy': ['co', 1, 0, '\S\@=' . s:address],
      \ 't': ['t', 1, 0, '\S\@=' . s:address],
      \ 'join': ['j', 1, 1, '\d*'],
      \ '>': ['>', 1, 0, '>*\s*\d*'],
      \ '<': ['<', 1, 0, '<*\s*\d*'],
      \ 'sort': ['sor', 1, 1, '[niu ]*'],
      \ 'retab': ['ret', 1, 1, '\d*'],
      \ 'undo': ['u', 0, 0, '\d*'],
      \ 'redo': ['red', 0, 0, ''],
      \ }
