" Is this a moment at which an act cannot hurt? A callback may come between the
" keys of one command: `5Gd`, another buffer, `j` would delete lines of that one.

" Why the act {method} may not run now, a reason of the wire; '' when it may.
" {nr}: the buffer whose text alone is changed, 0 when the act does more.
function! vim_mcp#guard#Reason(method, nr) abort
  if getcmdwintype() isnot# ''
    return 'cmdwin'
  elseif has('nvim') && nvim_get_mode().blocking
    return 'pending_key'
  endif
  let l:mode = mode(1)
  let l:reason = s:ModeReason(l:mode)
  if l:reason isnot# '' && !s:IsElsewhere(l:mode, a:method, a:nr)
    return l:reason
  endif
  return s:IsHalfway() ? 'pending_key' : ''
endfunction

" Is what the user does there no concern of this act?
function! s:IsElsewhere(mode, method, nr) abort
  if a:mode is# 't'
    " Keys go to the program in the terminal, where assistants like to live. All
    " acts but these leave that window alone.
    return index(['execute', 'navigate'], a:method) < 0
  endif
  " The text of a buffer where the user is not may change while they type.
  return a:nr > 0 && a:nr != bufnr('%') && a:mode =~# "^\\%(i\\|R\\|Rv\\|v\\|V\\|\<C-V>\\)$"
endfunction

function! s:ModeReason(mode) abort
  if a:mode is# 'n' || a:mode is# 'nt'
    return ''
  elseif a:mode =~# '^\%(i\|R\|ni\)'
    return 'insert_mode'
  elseif a:mode =~# "^[vVsS\<C-V>\<C-S>]"
    return 'visual_mode'
  elseif a:mode =~# '^r'
    return 'hit_enter'
  elseif a:mode =~# '^[t!]'
    return 'busy'
  endif
  return 'pending_key'
endfunction

" m: a mapping is half typed, o: an operator waits, a: completion is busy,
" x: autocommands run, s: messages scrolled, w: a callback of another plugin waits
" for its own channel, S: anything else half done.
function! s:IsHalfway() abort
  " In a terminal every key leaves S behind.
  let l:flags = mode() is# 't' ? 'moaxsw' : 'moaxswS'
  return (exists('*state') && state(l:flags) isnot# '') || pumvisible()
        \ || reg_recording() isnot# '' || reg_executing() isnot# ''
endfunction

let s:sentences = {
      \ 'hit_enter': 'The editor shows a prompt that waits for the user. Ask them to answer it, then try again.',
      \ 'pending_key': 'The user is in the middle of a command (or a macro). Try again when they are done.',
      \ 'cmdwin': 'The user has the command-line window open. Ask them to close it, then try again.',
      \ 'textlock': 'The editor allows no changes at this moment. Try again.',
      \ 'insert_mode': 'The user is typing in Insert mode. Try again when they are back in Normal mode.',
      \ 'visual_mode': 'The user is selecting text. Try again when they are back in Normal mode.',
      \ 'busy': 'The editor is busy, or the user is in a terminal window. Try again later.',
      \ 'paused': 'The user has paused the assistants in this editor (:VimMCPPause). Reading works; ask them to resume before acting.',
      \ }

" The sentence that explains {reason}.
function! vim_mcp#guard#Sentence(reason) abort
  return get(s:sentences, a:reason, s:sentences.busy)
endfunction
