" Buffer text on its way to the hub must be valid UTF-8, whatever bytes a file
" holds. json_encode() is the first to see to it: Vim's makes U+FFFD of a broken
" sequence, Neovim's throws. Overlong sequences and surrogates it lets through
" (Neovim's then loses the closing quote), so those are looked for here.

" {lines} without what json_encode() would let through.
function! vim_mcp#text#Wire(lines) abort
  if &encoding isnot# 'utf-8' || s:IsHarmless(join(a:lines, "\n"))
    return a:lines
  endif
  return map(copy(a:lines), 's:IsHarmless(v:val) ? v:val : s:Clean(v:val)')
endfunction

" {lines} exactly as the hub gets to see them.
function! vim_mcp#text#Seen(lines) abort
  return json_decode(vim_mcp#text#Encode(vim_mcp#text#Wire(a:lines)))
endfunction

" {value} as JSON text. Names of files may hold any byte, hence the second try.
function! vim_mcp#text#Encode(value) abort
  try
    return json_encode(a:value)
  catch /:E474:/
    return json_encode(s:CleanDeep(a:value))
  endtry
endfunction

function! s:Pairs(lead, from, to) abort
  return map(range(a:from, a:to), 'a:lead . eval(printf(''"\x%02x"'', v:val))')
endfunction

" Byte sequences that valid UTF-8 never has, by the byte that makes a look for
" them worth while. stridx() over 64 KB costs some 5 us.
let s:never = ["\xc0", "\xc1", "\xf5", "\xf6", "\xf7", "\xf8", "\xf9", "\xfa",
      \ "\xfb", "\xfc", "\xfd", "\xfe", "\xff"]
let s:after = {"\xe0": s:Pairs("\xe0", 0x80, 0x9f), "\xed": s:Pairs("\xed", 0xa0, 0xbf),
      \ "\xf0": s:Pairs("\xf0", 0x80, 0x8f), "\xf4": s:Pairs("\xf4", 0x90, 0xbf)}

function! s:IsHarmless(text) abort
  if strchars(a:text) == strlen(a:text)
    return 1
  endif
  for l:byte in s:never
    if stridx(a:text, l:byte) >= 0
      return 0
    endif
  endfor
  for [l:lead, l:pairs] in items(s:after)
    if stridx(a:text, l:lead) >= 0
      for l:pair in l:pairs
        if stridx(a:text, l:pair) >= 0
          return 0
        endif
      endfor
    endif
  endfor
  return 1
endfunction

function! s:Clean(text) abort
  if has('nvim')
    return luaeval('require("vim_mcp.text").clean(_A)', a:text)
  endif
  let l:text = list2str(str2list(json_decode(json_encode(a:text))))
  let l:bad = '[' . nr2char(0xd800) . '-' . nr2char(0xdfff) . ']\|['
        \ . nr2char(0x110000) . '-' . nr2char(0x7fffffff) . ']'
  return substitute(l:text, l:bad, nr2char(0xfffd), 'g')
endfunction

function! s:CleanDeep(value) abort
  if type(a:value) == v:t_string
    return s:Clean(a:value)
  elseif type(a:value) == v:t_list
    return map(copy(a:value), 's:CleanDeep(v:val)')
  elseif type(a:value) == v:t_dict
    let l:clean = {}
    for [l:key, l:item] in items(a:value)
      let l:clean[l:key] = s:CleanDeep(l:item)
    endfor
    return l:clean
  endif
  return a:value
endfunction
