" How this editor was started: some editors are not for assistants unless the
" user asks with :VimMCPConnect.

let s:stdin = 0

" vim -es, ex -s: a script, nobody looks.
function! vim_mcp#startup#IsSilent() abort
  let l:flags = s:Flags()
  let l:is_ex = fnamemodify(v:argv[0], ':t') is# 'ex'
        \ || index(l:flags, '-e') >= 0 || index(l:flags, '-E') >= 0
  return index(l:flags, '-es') >= 0 || index(l:flags, '-Es') >= 0
        \ || (l:is_ex && index(l:flags, '-s') >= 0)
endfunction

" vim -R, view, vim -M: the user means to look only.
function! vim_mcp#startup#IsReadonly() abort
  let l:flags = s:Flags()
  return index(l:flags, '-R') >= 0 || index(l:flags, '-M') >= 0
        \ || fnamemodify(v:argv[0], ':t') =~# '^r\?g\?view'
endfunction

function! s:Flags() abort
  let l:end = index(v:argv, '--')
  return l:end < 0 ? v:argv[1:] : l:end == 0 ? [] : v:argv[1 : l:end - 1]
endfunction

function! vim_mcp#startup#StdinCame() abort
  let s:stdin = 1
endfunction

" Why this editor does not connect by itself, as the end of "not connected
" because …"; '' when it may. {home_is_ours}: does $HOME belong to this user?
function! vim_mcp#startup#Objection(uid, home_is_ours) abort
  if vim_mcp#startup#IsSilent() || vim_mcp#info#Ui() is# 'headless'
    return 'this editor has no screen'
  elseif $SUDO_USER isnot# ''
    return 'it runs under sudo'
  elseif a:uid == 0 && !a:home_is_ours
    return 'it runs as root with the home of somebody else'
  elseif s:stdin || index(s:Flags(), '-') >= 0
    return 'it shows standard input'
  elseif match(v:argv, 'macros/less\.\%(vim\|sh\)$') >= 0
    return 'it is a pager'
  elseif &filetype =~# '^\%(git\|hg\|svn\|jj\|arch\)\?\%(commit\|rebase\|description\)$'
        \ || &filetype is# 'svn' || &filetype is# 'crontab'
        \ || match(argv(-1, -1), s:message_files) >= 0
    return 'it edits a message or a crontab for another program'
  elseif s:IsMergeTool()
    return 'it is a merge tool on temporary files'
  endif
  return ''
endfunction

let s:message_files = '\C\%(^\|/\)\%(COMMIT_EDITMSG\|MERGE_MSG\|TAG_EDITMSG\|SQUASH_MSG'
      \ . '\|NOTES_EDITMSG\|EDIT_DESCRIPTION\|PULLREQ_EDITMSG\|ISSUE_EDITMSG\|BRANCH_DESCRIPTION'
      \ . '\|git-rebase-todo\|addp-hunk-edit\.diff\|ADD_EDIT\.patch\|hg-editor-.*\|svn-commit\.tmp'
      \ . '\|crontab\.[^/]*\|bash-fc[.-].*\|zsh[A-Za-z0-9]\{6}\%(\.zsh\)\?\)$'

function! s:IsMergeTool() abort
  if !&diff && index(s:Flags(), '-d') < 0 && fnamemodify(v:argv[0], ':t') !~# 'diff$'
    return 0
  endif
  let l:temporary = $TMPDIR is# '' ? '/tmp' : substitute($TMPDIR, '/\+$', '', '')
  for l:name in argv(-1, -1)
    if l:name =~# '_\%(LOCAL\|REMOTE\|BASE\|BACKUP\)_\d\+\%(\.[^/]*\)\?$'
          \ || stridx(fnamemodify(l:name, ':p'), l:temporary . '/git-') == 0
          \ || fnamemodify(l:name, ':p') =~# '^/tmp/[A-Za-z0-9]\{6}_[^/]*$'
      return 1
    endif
  endfor
  return 0
endfunction
