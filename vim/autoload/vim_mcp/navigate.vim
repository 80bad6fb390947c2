" The `navigate` request: move the user's cursor, as keys of theirs would, or go to
" another buffer, window or tab page. What is private is passed by, or refused.

let s:max_count = 10000
let s:max_width = 500

" Directions that are keys in Normal mode; a count goes before them.
let s:keys = {
      \ 'left': 'h', 'right': 'l', 'up': 'k', 'down': 'j',
      \ 'line_start': '0', 'first_nonblank': '^', 'line_end': '$',
      \ 'word_forward': 'w', 'word_back': 'b', 'word_end': 'e',
      \ 'paragraph_forward': '}', 'paragraph_back': '{',
      \ 'page_down': "\<C-F>", 'page_up': "\<C-B>",
      \ 'half_page_down': "\<C-D>", 'half_page_up': "\<C-U>",
      \ 'top': 'gg', 'bottom': 'G', 'matching_bracket': '%',
      \ }
" Of these the count would be something else than a number of times.
let s:countless = ['line_start', 'first_nonblank', 'half_page_down', 'half_page_up', 'top',
      \ 'bottom', 'matching_bracket']

function! vim_mcp#navigate#Run(params) abort
  let l:direction = get(a:params, 'direction', v:null)
  let l:count = vim_mcp#reads#Number(a:params, 'count', 1)
  if type(l:direction) != v:t_string || !(has_key(s:keys, l:direction) || has_key(s:moves, l:direction))
    call vim_mcp#error#BadParams('This editor knows no such direction.')
  elseif l:count < 1 || (l:count > s:max_count && l:direction isnot# 'line')
    call vim_mcp#error#BadParams('count must be a number from 1 to ' . s:max_count . '.')
  endif
  call vim_mcp#privacy#Check(bufnr('%'))
  let l:before = s:Here()
  let v:errmsg = ''
  if has_key(s:keys, l:direction)
    call s:Keys(l:direction, l:count)
  else
    let [l:Move, l:argument] = s:moves[l:direction]
    call l:Move(l:argument, l:count)
  endif
  let l:moved = s:Here() != l:before
  if l:moved && foldclosed('.') > 0 && l:direction !~# '^\%(left\|right\|up\|down\)$'
    silent! foldopen!
  endif
  call vim_mcp#screen#Update()
  return s:Told(l:moved)
endfunction

" What an answer may say of the place depends on whether it is private.
function! s:Told(moved) abort
  let l:nr = bufnr('%')
  call vim_mcp#privacy#Check(l:nr)
  let [l:line, l:column] = vim_mcp#reads#Cursor()
  return extend(vim_mcp#target#Common(l:nr), {
        \ 'moved': a:moved ? v:true : v:false, 'line': l:line, 'column': l:column,
        \ 'text': vim_mcp#text#Wire([strcharpart(getline('.'), 0, s:max_width)])[0],
        \ 'winid': win_getid(), 'tabnr': tabpagenr(),
        \ 'topline': line('w0'), 'botline': line('w$')})
endfunction

function! s:Here() abort
  return [tabpagenr(), win_getid(), bufnr('%')] + getcurpos()[1:3]
endfunction

function! s:Fail(message) abort
  call vim_mcp#error#Throw(1004, '', a:message)
endfunction

" Keys

function! s:Keys(direction, count) abort
  let l:key = s:keys[a:direction]
  if index(s:countless, a:direction) < 0
    call s:Normal(a:count . l:key)
  elseif a:direction =~# '^half_page'
    " A count would set 'scroll'.
    let l:left = a:count
    while l:left > 0
      let l:place = [getcurpos(), line('w0')]
      call s:Normal(l:key)
      let l:left -= [getcurpos(), line('w0')] == l:place ? l:left : 1
    endwhile
  else
    call s:Normal(l:key)
  endif
endfunction

" With "silent!", because a motion that fails beeps, and a beep drops what the user
" has typed ahead.
function! s:Normal(keys) abort
  call vim_mcp#quiet#Execute('silent! normal! ' . a:keys)
endfunction

" {line} and {byte} of this buffer; Ctrl-O shall lead back.
function! s:Jump(line, byte) abort
  call search('\%#', 'cs')
  call cursor(min([a:line, line('$')]), a:byte)
endfunction

function! s:Line(_, count) abort
  call s:Jump(a:count, 1)
  call cursor(line('.'), match(getline('.'), '\S') + 1)
endfunction

function! s:Change(is_back, count) abort
  let l:before = s:Here()
  if &diff
    return s:Normal(a:count . (a:is_back ? '[c' : ']c'))
  endif
  call s:Normal(a:count . (a:is_back ? 'g;' : 'g,'))
  if s:Here() == l:before && v:errmsg isnot# ''
    call s:Fail(v:errmsg)
  endif
endfunction

function! s:Position(is_back, count) abort
  let [l:jumps, l:at] = getjumplist()
  if l:at == len(l:jumps)
    " From its end the editor first notes this place, in the place of any such entry.
    call filter(l:jumps, 'v:val.bufnr != bufnr("%") || v:val.lnum != line(".")')
    let l:at = len(l:jumps)
  endif
  let l:to = a:is_back ? l:at - a:count : l:at + a:count
  if l:to < 0 || l:to >= len(l:jumps)
    call s:Fail(a:is_back ? 'There is no older position in the jump list.'
          \ : 'There is no newer position in the jump list.')
  endif
  call s:CheckBuffer(l:jumps[l:to].bufnr)
  " Not all that is in the list is still there to go to.
  let l:before = s:Here()
  call s:Normal(a:count . (a:is_back ? "\<C-O>" : "\<C-I>"))
  if s:Here() == l:before && v:errmsg isnot# ''
    call s:Fail(v:errmsg)
  endif
endfunction

" Buffer {nr} is where a jump would lead: may it be shown? As for vim_open.
function! s:CheckBuffer(nr) abort
  if a:nr <= 0 || !bufexists(a:nr)
    call s:Fail('This leads to a file that is not open: show it with vim_open.')
  endif
  call vim_mcp#privacy#Check(a:nr)
  if !bufloaded(a:nr) && !buflisted(a:nr)
    call vim_mcp#files#Check(getbufinfo(a:nr)[0].name)
  endif
endfunction

function! s:Diagnostic(is_back, count) abort
  let l:places = vim_mcp#diagnostics#Places(bufnr('%'))
  if empty(l:places)
    call s:Fail('There are no diagnostics in this buffer.')
  endif
  let l:here = [line('.'), col('.')]
  let l:after = len(filter(copy(l:places), 's:Order(v:val, l:here) <= 0'))
  let l:before = len(filter(copy(l:places), 's:Order(v:val, l:here) < 0'))
  let l:index = a:is_back ? l:before - a:count : l:after + a:count - 1
  " Round the end, as editors do.
  let l:size = len(l:places)
  call call(function('s:Jump'), l:places[(l:index % l:size + l:size) % l:size])
endfunction

function! s:Order(one, other) abort
  return a:one[0] == a:other[0] ? a:one[1] - a:other[1] : a:one[0] - a:other[0]
endfunction

" Buffers, windows, tab pages

" The item {count} places from {here} in {items}, round their end.
function! s:Around(items, here, is_back, count) abort
  let l:size = len(a:items)
  let l:at = index(a:items, a:here)
  if l:at < 0
    " Not among them: as if it were between two of them.
    let l:at = len(filter(copy(a:items), 'v:val < a:here')) - (a:is_back ? 0 : 1)
  endif
  let l:to = (l:at + (a:is_back ? -a:count : a:count)) % l:size
  return a:items[l:to < 0 ? l:to + l:size : l:to]
endfunction

function! s:Buffer(is_back, count) abort
  let l:numbers = map(getbufinfo({'buflisted': 1}), 'v:val.bufnr')
  call filter(l:numbers, '!vim_mcp#privacy#IsPrivate(v:val)'
        \ . ' && (bufloaded(v:val) || getftype(getbufinfo(v:val)[0].name) =~# "^\\%(file\\|link\\)\\?$")')
  if empty(l:numbers) || l:numbers == [bufnr('%')]
    return
  endif
  let l:to = s:Around(l:numbers, bufnr('%'), a:is_back, a:count)
  if l:to == bufnr('%')
    return
  endif
  call vim_mcp#load#Guarded('buffer ' . l:to, l:to)
  if bufnr('%') != l:to
    call s:Fail(v:errmsg is# '' ? 'The editor did not go to that buffer.' : v:errmsg)
  endif
endfunction

function! s:Window(is_back, count) abort
  let l:winids = filter(map(range(1, winnr('$')), 'win_getid(v:val)'),
        \ 's:MayEnter(v:val) || v:val == win_getid()')
  call win_gotoid(l:winids[s:Around(range(len(l:winids)), index(l:winids, win_getid()),
        \ a:is_back, a:count)])
endfunction

function! s:MayEnter(winid) abort
  if has('nvim') && !nvim_win_get_config(a:winid).focusable
    return 0
  endif
  return !vim_mcp#privacy#IsPrivate(winbufnr(a:winid))
endfunction

function! s:Beside(side, count) abort
  let l:winid = win_getid(winnr(a:count . a:side))
  if l:winid != win_getid()
    call vim_mcp#privacy#Check(winbufnr(l:winid))
    call win_gotoid(l:winid)
  endif
endfunction

function! s:Tab(is_back, count) abort
  let l:tabs = filter(range(1, tabpagenr('$')), 'v:val == tabpagenr()'
        \ . ' || !vim_mcp#privacy#IsPrivate(tabpagebuflist(v:val)[tabpagewinnr(v:val) - 1])')
  call vim_mcp#quiet#Execute('tabnext ' . s:Around(l:tabs, tabpagenr(), a:is_back, a:count))
endfunction

" Quickfix

function! s:Error(is_back, count) abort
  let l:list = getqflist({'idx': 0, 'items': 1})
  let l:valid = filter(range(1, len(l:list.items)), 'l:list.items[v:val - 1].valid')
  if empty(l:valid)
    call s:Fail('E42: No Errors')
  endif
  let l:steps = filter(copy(l:valid), a:is_back ? 'v:val < l:list.idx' : 'v:val > l:list.idx')
  if empty(l:steps)
    call s:Fail('E553: No more items')
  endif
  let l:to = a:is_back ? l:steps[max([0, len(l:steps) - a:count])]
        \ : l:steps[min([len(l:steps), a:count]) - 1]
  let l:nr = l:list.items[l:to - 1].bufnr
  call s:CheckBuffer(l:nr)
  call vim_mcp#load#Guarded('cc ' . l:to, l:nr)
  if bufnr('%') != l:nr
    call s:Fail(v:errmsg is# '' ? 'The editor did not go there.' : v:errmsg)
  endif
endfunction

" Last, because the functions must exist. direction: [function, its first argument]
let s:moves = {
      \ 'line': [function('s:Line'), 0],
      \ 'next_change': [function('s:Change'), 0],
      \ 'previous_change': [function('s:Change'), 1],
      \ 'older_position': [function('s:Position'), 1],
      \ 'newer_position': [function('s:Position'), 0],
      \ 'next_diagnostic': [function('s:Diagnostic'), 0],
      \ 'previous_diagnostic': [function('s:Diagnostic'), 1],
      \ 'next_buffer': [function('s:Buffer'), 0],
      \ 'previous_buffer': [function('s:Buffer'), 1],
      \ 'next_window': [function('s:Window'), 0],
      \ 'previous_window': [function('s:Window'), 1],
      \ 'window_left': [function('s:Beside'), 'h'],
      \ 'window_right': [function('s:Beside'), 'l'],
      \ 'window_up': [function('s:Beside'), 'k'],
      \ 'window_down': [function('s:Beside'), 'j'],
      \ 'next_tab': [function('s:Tab'), 0],
      \ 'previous_tab': [function('s:Tab'), 1],
      \ 'next_error': [function('s:Error'), 0],
      \ 'previous_error': [function('s:Error'), 1],
      \ }
