" The `diagnostics` request: what linters, compilers and language servers say, from
" wherever this editor keeps it. Each entry names its provider.

" Entries of a quickfix or location list that are looked at: a search in a whole
" tree makes more than anybody reads, and Vim builds them all at once.
let s:max_list = 2000
let s:max_rows = 1000
let s:max_width = 2000

let s:severities = ['error', 'warning', 'info', 'hint', 'other']
let s:types = {'E': 'error', 'W': 'warning', 'I': 'info', 'N': 'info', 'H': 'hint'}

" {bufnr or file: of this buffer alone; severities: only these; max; after: the
" `round` of an earlier answer, to see what coc answered since}
" -> {rows, counts, omitted, notes, pending, round}
function! vim_mcp#diagnostics#List(params) abort
  let l:only = has_key(a:params, 'bufnr') || has_key(a:params, 'file') ? s:Buffer(a:params) : 0
  let l:wanted = get(a:params, 'severities', s:severities)
  let l:max = min([s:max_rows, max([1, vim_mcp#reads#Number(a:params, 'max', 200)])])
  let l:round = vim_mcp#coc#Ask(vim_mcp#reads#Number(a:params, 'after', 0))
  let [l:found, l:notes] = s:Gather(l:only)
  let l:counts = {}
  let l:rows = []
  for l:severity in s:severities
    let l:some = filter(copy(l:found), 'v:val.severity is# l:severity')
    let l:counts[l:severity] = len(l:some)
    if index(l:wanted, l:severity) >= 0
      call extend(l:rows, l:some)
    endif
  endfor
  let l:omitted = max([0, len(l:rows) - l:max])
  return {'rows': map(l:rows[: l:max - 1], 's:Told(v:val)'), 'counts': l:counts,
        \ 'omitted': l:omitted, 'notes': l:notes, 'round': l:round,
        \ 'pending': vim_mcp#coc#IsPending(l:round) ? v:true : v:false}
endfunction

function! s:Buffer(params) abort
  let l:nr = vim_mcp#target#Find(a:params)
  if l:nr == 0
    call vim_mcp#error#Throw(1004, 'not_open', 'This buffer or file is not known to the editor.')
  endif
  call vim_mcp#privacy#Check(l:nr)
  return l:nr
endfunction

" What buffer {nr} has, sorted by place: for those who go from one to the next.
function! vim_mcp#diagnostics#Places(nr) abort
  let l:found = filter(s:Gather(a:nr)[0], 'v:val.severity isnot# "other"')
  let l:places = map(l:found, '[v:val.line, max([1, v:val.byte])]')
  return uniq(sort(l:places, {a, b -> a[0] == b[0] ? a[1] - b[1] : a[0] - b[0]}))
endfunction

" All entries of buffer {only}, of all when that is 0, without those of private
" buffers, and without what two providers have: ALE and others fill the location
" list with what they know. -> [entries, notes]
function! s:Gather(only) abort
  let l:notes = []
  let l:entries = has('nvim') ? s:FromNeovim(a:only) : []
  call extend(l:entries, s:FromAle())
  call extend(l:entries, vim_mcp#coc#Entries())
  call extend(l:entries, s:FromLists(l:notes))
  let [l:kept, l:known, l:private] = [[], {}, {}]
  for l:entry in l:entries
    if !s:IsWanted(l:entry, a:only, l:private)
      continue
    endif
    let l:key = join([l:entry.bufnr > 0 ? l:entry.bufnr : l:entry.file, l:entry.line, l:entry.byte])
    let l:messages = get(l:known, l:key, [])
    if !s:IsKnown(l:messages, l:entry)
      let l:known[l:key] = add(l:messages, l:entry.message)
      call add(l:kept, l:entry)
    endif
  endfor
  return [l:kept, l:notes]
endfunction

" Was {entry} told at this place already, by one of {messages}? In lists the message
" is often put between other words.
function! s:IsKnown(messages, entry) abort
  if index(a:messages, a:entry.message) >= 0
    return 1
  elseif index(['quickfix', 'loclist'], a:entry.provider) >= 0
    for l:one in a:messages
      if stridx(a:entry.message, l:one) >= 0 || stridx(l:one, a:entry.message) >= 0
        return 1
      endif
    endfor
  endif
  return 0
endfunction

" {private} remembers what was asked before.
function! s:IsWanted(entry, only, private) abort
  let l:nr = a:entry.bufnr
  if l:nr == 0
    return a:only == 0 && a:entry.file isnot# '' && !vim_mcp#privacy#IgnoresPath(a:entry.file)
  elseif a:only > 0 && l:nr != a:only
    return 0
  endif
  if !has_key(a:private, l:nr)
    let a:private[l:nr] = vim_mcp#privacy#IsPrivate(l:nr)
  endif
  return !a:private[l:nr]
endfunction

" An entry; {byte} and {end_byte} from 1, the latter included, 0 where unknown.
function! vim_mcp#diagnostics#Entry(provider, nr, file, severity, message, source, code, place) abort
  return {
        \ 'provider': a:provider, 'bufnr': a:nr, 'file': a:file, 'severity': a:severity,
        \ 'message': a:message, 'source': a:source, 'code': a:code,
        \ 'line': a:place[0], 'byte': a:place[1],
        \ 'end_line': a:place[2], 'end_byte': a:place[3],
        \ }
endfunction

function! s:FromNeovim(only) abort
  let l:found = luaeval('require("vim_mcp.diagnostics").list(_A)', a:only)
  return map(l:found, 'vim_mcp#diagnostics#Entry("vim.diagnostic", v:val.bufnr, "",'
        \ . ' s:severities[v:val.severity - 1], v:val.message, v:val.source, v:val.code, v:val.place)')
endfunction

function! s:FromAle() abort
  let l:entries = []
  for [l:nr, l:info] in items(get(g:, 'ale_buffer_info', {}))
    for l:item in get(l:info, 'loclist', [])
      let l:end = get(l:item, 'end_lnum', 0)
      " -1 when it is about another file, which has a name then.
      let l:owner = get(l:item, 'bufnr', +l:nr)
      let l:file = l:owner > 0 ? '' : get(l:item, 'filename', '')
      let l:owner = l:owner > 0 ? l:owner : l:file is# '' ? 0 : vim_mcp#target#ByFile(l:file)
      call add(l:entries, vim_mcp#diagnostics#Entry('ale', l:owner, l:file,
            \ get(s:types, get(l:item, 'type', 'E'), 'other'), get(l:item, 'text', ''),
            \ get(l:item, 'linter_name', ''), get(l:item, 'code', ''),
            \ [l:item.lnum, get(l:item, 'col', 0), l:end, get(l:item, 'end_col', 0)]))
    endfor
  endfor
  return l:entries
endfunction

" The quickfix list and all windows' location lists. What is too long is left out,
" and {notes} gets a sentence.
function! s:FromLists(notes) abort
  let l:entries = s:FromList('quickfix', function('getqflist'), a:notes)
  let l:seen = {}
  for l:window in getwininfo()
    let l:Get = function('getloclist', [l:window.winid])
    let l:id = l:Get({'id': 0}).id
    if l:id > 0 && !has_key(l:seen, l:id)
      let l:seen[l:id] = 1
      call extend(l:entries, s:FromList('loclist', l:Get, a:notes))
    endif
  endfor
  return l:entries
endfunction

function! s:FromList(provider, Get, notes) abort
  let l:size = a:Get({'size': 1}).size
  if l:size > s:max_list
    call add(a:notes, printf('A %s list of %d entries is left out: more than %d.',
          \ a:provider is# 'quickfix' ? 'quickfix' : 'location', l:size, s:max_list))
    return []
  elseif l:size == 0
    return []
  endif
  let l:list = a:Get({'items': 1, 'title': 1})
  " No more than the command's name: its arguments may name private files. Where a
  " script made the list, that tells nothing.
  let l:source = matchstr(l:list.title, '^:\?\zs\%(set\%(qf\|loc\)list\)\@![A-Za-z.]\+')
  let l:entries = []
  for l:item in l:list.items
    if l:item.valid && l:item.bufnr > 0 && l:item.lnum > 0
      call add(l:entries, vim_mcp#diagnostics#Entry(a:provider, l:item.bufnr, '',
            \ get(s:types, toupper(l:item.type), 'other'), l:item.text, l:source,
            \ l:item.nr > 0 ? l:item.nr : '',
            \ [l:item.lnum, l:item.vcol ? 0 : l:item.col, get(l:item, 'end_lnum', 0),
            \   l:item.vcol ? 0 : get(l:item, 'end_col', 0)]))
    endif
  endfor
  return l:entries
endfunction

" The entry as it is told: columns in characters where the text is at hand.
function! s:Told(entry) abort
  let l:nr = a:entry.bufnr
  let l:row = {
        \ 'provider': a:entry.provider, 'severity': a:entry.severity,
        \ 'bufnr': l:nr > 0 ? l:nr : v:null,
        \ 'file': l:nr > 0 ? getbufinfo(l:nr)[0].name : a:entry.file,
        \ 'message': s:Cut(a:entry.message), 'source': s:Cut(a:entry.source),
        \ 'code': s:Cut(a:entry.code), 'line': a:entry.line, 'column': v:null,
        \ 'end_line': a:entry.end_line > 0 ? a:entry.end_line : v:null, 'end_column': v:null,
        \ }
  if l:nr == 0 || !bufloaded(l:nr)
    return l:row
  endif
  if a:entry.byte > 0
    let l:row.column = vim_mcp#reads#Column(l:nr, a:entry.line, a:entry.byte)
  endif
  if a:entry.end_byte > 0
    let l:row.end_line = a:entry.end_line > 0 ? a:entry.end_line : a:entry.line
    " The last byte, which may be in the middle of a character.
    let l:text = get(getbufline(l:nr, l:row.end_line), 0, '')
    let l:row.end_column = max([1, strchars(strpart(l:text, 0, a:entry.end_byte))])
  endif
  return l:row
endfunction

function! s:Cut(value) abort
  let l:text = type(a:value) == v:t_string ? a:value : type(a:value) == v:t_number ? a:value . '' : ''
  return vim_mcp#text#Wire([strcharpart(l:text, 0, s:max_width)])[0]
endfunction
