" Bringing a used editor back to the state it had after its start, and saying what is left.

" Options that belong to the terminal or tell a state, and variables that say what was loaded.
let s:not_ours = '\v^(t_..|columns|lines|term|ttytype|scroll|window|channel|modified|fileencoding)$'
let s:kept = '\v#|^(loaded|did|harness)_'
" What plugins may add when they are first used is not a test's leaving.
let s:own_groups = '\v\c^vim_?mcp'

" The values of all options, in the order of s:names. One expression: an :execute for each takes
" ten times as long.
function! s:Options(scope) abort
  return eval('[&' . a:scope . ':' . join(s:names, ', &' . a:scope . ':') . ']')
endfunction

function! s:Listed(command) abort
  return split(execute(a:command), "\n")
endfunction

" All that is defined, as Vim lists it. Long, but quick to compare.
function! s:AsListed() abort
  return map(['map', 'map!', 'tmap', 'abbreviate', 'command', 'autocmd'], 'execute(v:val)')
endfunction

function! s:Definitions() abort
  " Of the autocommands their headings: the group, if any, and the event.
  let l:events = filter(s:Listed('autocmd'), 'v:val =~# ''^\a'' && v:val !~# s:own_groups')
  return {
        \ 'mappings': s:Listed('map') + s:Listed('map!') + s:Listed('tmap'),
        \ 'abbreviations': s:Listed('abbreviate'),
        \ 'commands': map(s:Listed('command'), 'matchstr(v:val, ''\u\w*'')'),
        \ 'autocommands': l:events,
        \ }
endfunction

" What was defined or deleted since the start: [what, which] each.
function! s:Redefined() abort
  let l:listed = s:AsListed()
  if l:listed ==# s:listed
    return []
  endif
  let l:now = s:Definitions()
  let l:found = []
  for [l:what, l:wanted] in items(s:definitions)
    let l:added = filter(copy(l:now[l:what]), 'index(l:wanted, v:val) < 0')
    if l:what ==# 'commands'
      call filter(l:added, '!s:FromRuntime(v:val)')
    endif
    let l:gone = filter(copy(l:wanted), 'index(l:now[l:what], v:val) < 0')
    if !empty(l:added + l:gone)
      call add(l:found, [l:what, l:added + l:gone])
    endif
  endfor
  if empty(l:found)
    " Only what plugins themselves add: the same again next time.
    let s:listed = l:listed
  endif
  return l:found
endfunction

" Whether a user command comes with the editor: a file type's, loaded when first seen.
function! s:FromRuntime(command) abort
  return stridx(execute('verbose command ' . a:command), 'Last set from ' . $VIMRUNTIME) >= 0
endfunction

" Remember the state of an editor that has just started.
function! HarnessSnapshot() abort
  let s:cwd = getcwd()
  let s:names = filter(getcompletion('', 'option'), 'v:val !~# s:not_ours && exists("&" . v:val)')
  let s:global = s:Options('g')
  let s:local = s:Options('l')
  let s:variables = deepcopy(filter(copy(g:), 'v:key !~# s:kept && type(v:val) != v:t_func'))
  let s:definitions = s:Definitions()
  let s:listed = s:AsListed()
  return 1
endfunction

" The options that are not as they were: {name: value it had}.
function! s:Differing(scope, wanted) abort
  let l:now = s:Options(a:scope)
  if l:now ==# a:wanted
    return {}
  endif
  let l:differing = {}
  for l:at in range(len(s:names))
    if l:now[l:at] isnot# a:wanted[l:at]
      let l:differing[s:names[l:at]] = a:wanted[l:at]
    endif
  endfor
  return l:differing
endfunction

function! s:ResetOptions() abort
  for [l:scope, l:wanted] in [['g', s:global], ['l', s:local]]
    for [l:name, l:value] in items(s:Differing(l:scope, l:wanted))
      silent! execute 'let &' . l:scope . ':' . l:name . ' = l:value'
    endfor
  endfor
endfunction

function! s:ResetVariables() abort
  for l:name in keys(g:)
    if l:name !~# s:kept && !has_key(s:variables, l:name)
      unlet! g:[l:name]
    endif
  endfor
  call extend(g:, deepcopy(s:variables))
  for l:scope in [w:, t:, b:]
    for l:name in keys(l:scope)
      if l:name !=# 'changedtick'
        unlet! l:scope[l:name]
      endif
    endfor
  endfor
endfunction

" One window and one buffer, new, empty and without a name; everything else forgotten.
function! s:ResetWindows() abort
  if has('nvim')
    for l:window in nvim_list_wins()
      if nvim_win_is_valid(l:window) && nvim_win_get_config(l:window).relative isnot# ''
        call nvim_win_close(l:window, v:true)
      endif
    endfor
  elseif exists('*popup_clear')
    call popup_clear(1)
  endif
  silent! tabonly!
  silent! only!
  enew!
  silent! %argdelete
  let l:others = filter(range(1, bufnr('$')), 'bufexists(v:val) && v:val != bufnr()')
  if !empty(l:others)
    silent! execute 'bwipeout!' join(l:others)
  endif
endfunction

function! s:ResetHistory() abort
  for l:name in split('abcdefghijklmnopqrstuvwxyz0123456789-"', '\zs')
    call setreg(l:name, [])
  endfor
  let @/ = ''
  for l:kind in [':', '/', '=', '@', '>']
    call histdel(l:kind)
  endfor
  silent! delmarks! | delmarks A-Z0-9
  clearjumps
  call clearmatches()
  call setqflist([], 'f')
  call setloclist(0, [], 'f')
  let v:errmsg = ''
  let v:errors = []
endfunction

function! HarnessReset() abort
  call s:ResetWindows()
  execute 'cd' fnameescape(s:cwd)
  call s:ResetOptions()
  call s:ResetVariables()
  call s:ResetHistory()
  if &modified || !empty(bufname()) || getline(1, '$') !=# ['']
    " An option's or a plugin's doing: once more, now without it.
    enew!
  endif
  messages clear
  redraw!
  return HarnessLeft()
endfunction

" What differs from the state after the start, as sentences. Empty when the editor is blank.
function! HarnessLeft() abort
  let l:buffers = filter(range(1, bufnr('$')), 'bufexists(v:val)')
  let l:facts = [
        \ ['mode', mode(1), 'n'],
        \ ['command-line window', getcmdwintype(), ''],
        \ ['recording into', reg_recording(), ''],
        \ ['windows', winnr('$'), 1],
        \ ['tab pages', tabpagenr('$'), 1],
        \ ['buffers', len(l:buffers), 1],
        \ ['name of the buffer', bufname(), ''],
        \ ['text', getline(1, '$'), ['']],
        \ ['modified', &modified, 0],
        \ ['directory', getcwd(), s:cwd],
        \ ['local directory', haslocaldir(), 0],
        \ ['arguments', argc(), 0],
        \ ['unnamed register', getreg('"'), ''],
        \ ['register a', getreg('a'), ''],
        \ ['search pattern', @/, ''],
        \ ['quickfix list', getqflist(), []],
        \ ['messages', s:Listed('messages'), []],
        \ ['global options', s:Differing('g', s:global), {}],
        \ ['local options', s:Differing('l', s:local), {}],
        \ ]
  for [l:what, l:which] in s:Redefined()
    call add(l:facts, [l:what, l:which, []])
  endfor
  call filter(l:facts, 'v:val[1] isnot# v:val[2] && v:val[1] !=# v:val[2]')
  return map(l:facts, 'v:val[0] . " is " . string(v:val[1]) . ", not " . string(v:val[2])')
endfunction
