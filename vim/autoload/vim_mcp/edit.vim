" Changing the text of a buffer, as little as possible: lines that stay keep
" their marks, folds and signs, and cursors stay where they are.

" The context of an edit is shown up to so many lines, and characters a line.
let s:max_context = 40
let s:max_width = 500

" The buffer that alone is touched by this act, 0 when more happens (a file is
" loaded, or written: autocommands run).
function! vim_mcp#edit#Scope(params) abort
  try
    let l:nr = vim_mcp#target#Find(a:params)
  catch /^vim-mcp /
    return 0
  endtry
  return l:nr > 0 && bufloaded(l:nr) && empty(get(a:params, 'save', 0)) ? l:nr : 0
endfunction

function! vim_mcp#edit#Run(params) abort
  let l:hunks = s:Hunks(get(a:params, 'hunks', v:null))
  let l:nr = vim_mcp#load#Buffer(a:params)
  call s:CheckWritable(l:nr)
  call vim_mcp#target#CheckTick(l:nr, a:params)
  call s:CheckRange(l:hunks, getbufinfo(l:nr)[0].linecount)
  let l:save = get(a:params, 'save', v:false)
  if !empty(l:save)
    call vim_mcp#save#Check(l:nr)
  endif
  let l:changed = s:Apply(l:nr, s:IntoEmpty(l:nr, l:hunks))
  let l:answer = {'changed': l:changed, 'saved': v:false}
  if !empty(l:save)
    call extend(l:answer, s:Save(l:nr))
  endif
  call vim_mcp#events#Tell('TextChanged', l:nr)
  call vim_mcp#screen#Update()
  let l:around = get(a:params, 'context', 0)
  if type(l:around) == v:t_number && l:around > 0 && !empty(l:changed)
    let l:answer.context = s:Context(l:nr, l:changed[0], l:around)
  endif
  return extend(vim_mcp#target#Common(l:nr), l:answer)
endfunction

" An empty buffer has no line, though Vim shows one: what is put before or after
" it takes its place, else the file would get an empty line that nobody wrote.
function! s:IntoEmpty(nr, hunks) abort
  if len(a:hunks) != 1 || a:hunks[0].last >= a:hunks[0].first || empty(a:hunks[0].lines)
        \ || getbufline(a:nr, 1, 2) != ['']
    return a:hunks
  endif
  " A file that holds one newline looks the same.
  let l:is_empty = a:nr == bufnr('%') ? line2byte(2) < 0
        \ : getfsize(getbufinfo(a:nr)[0].name) <= 0
  return l:is_empty ? [extend({'first': 1, 'last': 1}, a:hunks[0], 'keep')] : a:hunks
endfunction

" The changed {range} with {around} lines before and after, in one answer with
" the edit itself: nobody can have typed between the two.
function! s:Context(nr, range, around) abort
  let l:first = max([1, a:range.first - a:around])
  let l:last = min([a:range.last + a:around, l:first + s:max_context])
  let l:lines = map(getbufline(a:nr, l:first, l:last), 'strcharpart(v:val, 0, s:max_width)')
  return {'first': l:first, 'lines': vim_mcp#text#Wire(l:lines)}
endfunction

" The edit stands by now, so a failing write is no failure of the whole.
function! s:Save(nr) abort
  try
    call vim_mcp#save#Write(a:nr)
    return {'saved': v:true}
  catch
    return {'saved': v:false, 'save_error': vim_mcp#error#From(v:exception).message}
  endtry
endfunction

function! s:Hunks(hunks) abort
  if type(a:hunks) != v:t_list
    call vim_mcp#error#BadParams('hunks must be a list.')
  endif
  let l:end = 0
  for l:hunk in a:hunks
    if type(l:hunk) != v:t_dict || type(get(l:hunk, 'first', '')) != v:t_number
          \ || type(get(l:hunk, 'last', '')) != v:t_number
          \ || type(get(l:hunk, 'lines', '')) != v:t_list
          \ || !empty(filter(copy(l:hunk.lines), 'type(v:val) != v:t_string'))
      call vim_mcp#error#BadParams('A hunk needs first, last and lines (a list of strings).')
    elseif l:hunk.first < 1 || l:hunk.last < l:hunk.first - 1 || l:hunk.first <= l:end
      call vim_mcp#error#BadParams('Hunks must be in ascending order and must not overlap.')
    endif
    let l:end = max([l:hunk.last, l:end])
  endfor
  return a:hunks
endfunction

function! s:CheckRange(hunks, line_count) abort
  for l:hunk in a:hunks
    if l:hunk.last > a:line_count || l:hunk.first > a:line_count + 1
      call vim_mcp#error#BadParams(printf('There is no line %d: the buffer has %d.',
            \ max([l:hunk.last, l:hunk.first]), a:line_count))
    endif
  endfor
endfunction

function! s:CheckWritable(nr) abort
  if index(['', 'acwrite'], getbufvar(a:nr, '&buftype')) < 0
    call vim_mcp#error#Throw(1004, 'readonly', 'This is no ordinary file buffer but one of type "'
          \ . getbufvar(a:nr, '&buftype') . '": it is not edited.')
  elseif !getbufvar(a:nr, '&modifiable') || getbufvar(a:nr, '&readonly')
    call vim_mcp#error#Throw(1004, 'readonly', "This buffer is read-only ('readonly' is set or 'modifiable' is off). Ask the user.")
  endif
endfunction

" Apply checked {hunks} to buffer {nr} as one undo step of its own.
" -> the changed ranges in new line numbers
function! s:Apply(nr, hunks) abort
  let l:done = []
  call vim_mcp#quiet#Raise()
  try
    " The first change of a buffer that was read-only makes its swap file.
    call vim_mcp#quiet#HideAttention()
    call vim_mcp#undo#Break(a:nr)
    for l:hunk in reverse(copy(a:hunks))
      call s:ApplyHunk(a:nr, l:hunk, l:done)
    endfor
  catch
    let l:exception = v:exception
    call s:TakeBack(a:nr, l:done)
    call vim_mcp#error#Rethrow(l:exception)
  finally
    call vim_mcp#undo#Break(a:nr)
    call vim_mcp#quiet#Lower()
  endtry
  return s:NewRanges(l:done)
endfunction

" {done} holds what happened, bottom up: [line, old lines, number of new ones].
function! s:ApplyHunk(nr, hunk, done) abort
  let l:new = a:hunk.lines
  let l:old = a:hunk.last < a:hunk.first ? [] : getbufline(a:nr, a:hunk.first, a:hunk.last)
  " Compared as the hub saw them: bytes it could not see are not a change.
  let l:seen = vim_mcp#text#Seen(l:old)
  let l:both = min([len(l:old), len(l:new)])
  let l:head = 0
  while l:head < l:both && l:seen[l:head] is# l:new[l:head]
    let l:head += 1
  endwhile
  let l:tail = 0
  while l:tail < l:both - l:head && l:seen[-1 - l:tail] is# l:new[-1 - l:tail]
    let l:tail += 1
  endwhile
  call s:Replace(a:nr, a:hunk.first + l:head, s:Middle(l:old, l:head, l:tail),
        \ s:Middle(l:seen, l:head, l:tail), s:Middle(l:new, l:head, l:tail), a:done)
endfunction

" {list} without its first {head} and last {tail} items. (A bare slice would
" take [0 : -1], all of it, for nothing.)
function! s:Middle(list, head, tail) abort
  return a:head + a:tail >= len(a:list) ? [] : a:list[a:head : len(a:list) - a:tail - 1]
endfunction

" Put {new} where {old} is, from line {first} on: the surplus first, because it
" is below.
function! s:Replace(nr, first, old, seen, new, done) abort
  let l:both = min([len(a:old), len(a:new)])
  if len(a:old) > l:both
    call s:Delete(a:nr, a:first + l:both, a:first + len(a:old) - 1)
    call add(a:done, [a:first + l:both, a:old[l:both :], 0])
  elseif len(a:new) > l:both
    call s:Must(appendbufline(a:nr, a:first + l:both - 1, a:new[l:both :]))
    call add(a:done, [a:first + l:both, [], len(a:new) - l:both])
  endif
  let l:end = l:both
  while l:end > 0
    " A run of lines that differ.
    if a:seen[l:end - 1] is# a:new[l:end - 1]
      let l:end -= 1
      continue
    endif
    let l:start = l:end - 1
    while l:start > 0 && a:seen[l:start - 1] isnot# a:new[l:start - 1]
      let l:start -= 1
    endwhile
    call s:Must(setbufline(a:nr, a:first + l:start, a:new[l:start : l:end - 1]))
    call add(a:done, [a:first + l:start, a:old[l:start : l:end - 1], l:end - l:start])
    let l:end = l:start
  endwhile
endfunction

" Delete lines {first} to {last}. Vim's deletebufline() scrolls a window whose cursor
" is in its top line to the top of the buffer: it is put back.
function! s:Delete(nr, first, last) abort
  let l:tops = map(win_findbuf(a:nr), '[v:val, getwininfo(v:val)[0].topline]')
  call s:Must(deletebufline(a:nr, a:first, a:last))
  for [l:winid, l:top] in l:tops
    let l:top -= max([0, min([a:last, l:top - 1]) - a:first + 1])
    if getwininfo(l:winid)[0].topline != l:top
      call win_execute(l:winid, 'call winrestview({"topline": ' . l:top . '})')
    endif
  endfor
endfunction

function! s:Must(failed) abort
  if a:failed
    call vim_mcp#error#Throw(1004, '', 'The editor refused to change this buffer.')
  endif
endfunction

" An edit that fails half way (Ctrl-C, text lock) must not stay half done.
function! s:TakeBack(nr, done) abort
  for [l:line, l:old, l:count] in reverse(a:done)
    if l:count > 0 && len(l:old) == l:count
      call setbufline(a:nr, l:line, l:old)
    elseif l:count > 0
      call deletebufline(a:nr, l:line, l:line + l:count - 1)
    else
      call appendbufline(a:nr, l:line - 1, l:old)
    endif
  endfor
endfunction

" Top down, neighbours joined, shifted by what changed above.
function! s:NewRanges(done) abort
  let l:ranges = []
  let l:shift = 0
  for [l:line, l:old, l:count] in reverse(copy(a:done))
    let l:first = l:line + l:shift
    let l:last = l:first + l:count - 1
    if !empty(l:ranges) && l:first <= l:ranges[-1].last + 1
      let l:ranges[-1].last = max([l:last, l:ranges[-1].last])
    else
      call add(l:ranges, {'first': l:first, 'last': l:last})
    endif
    let l:shift += l:count - len(l:old)
  endfor
  return l:ranges
endfunction
