"""vim_execute: what would reach the shell, files, options or scripts is refused, effect and all."""

from __future__ import annotations

import pytest

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import reason, refused, show, write

LINES = ["one", "two", "three", "four"]

# CANARY is a file that must not appear, OTHER one that must not be changed or shown.
REFUSED: dict[str, list[str]] = {
    "shell": [
        "!touch CANARY",
        ":!touch CANARY",
        "  : !touch CANARY",
        "%!tee CANARY",
        "1,2!tee CANARY",
        ".!touch CANARY",
        "!!touch CANARY",
        "silent !touch CANARY",
        "terminal touch CANARY",
        "make CANARY",
        "grep x OTHER",
        "shell",
        "suspend",
        "w !tee CANARY",
        "r !touch CANARY",
        "cexpr system('touch CANARY')",
        "echo system('touch CANARY')",
        "echo systemlist('touch CANARY')",
        "echo `touch CANARY`",
        "edit `touch CANARY`",
        "buffer `touch CANARY`",
        "bnext `touch CANARY`",
        "hardcopy > CANARY",
    ],
    "two commands": [
        "echo 1|!touch CANARY",
        "echo 1 | !touch CANARY",
        "print|!touch CANARY",
        "1|!touch CANARY",
        "|!touch CANARY",
        "s/one/1/|!touch CANARY",
        "s/one/1/g|!touch CANARY",
        "s#one#1#|write CANARY",
        "s/one|!touch CANARY",
        "s/one/1|!touch CANARY",
        "d _|!touch CANARY",
        "2move 0|!touch CANARY",
        "1,2join|!touch CANARY",
        "sort|!touch CANARY",
        "bnext|!touch CANARY",
        "wincmd t|!touch CANARY",
        "set number?|!touch CANARY",
        "undo|!touch CANARY",
        "pwd|!touch CANARY",
        "echo 1\n!touch CANARY",
        "print\r!touch CANARY",
        "s/one/1/\n!touch CANARY",
        "s/one/1\r/\x01!touch CANARY",
        "echo 1\x16\n!touch CANARY",
        "2\n!touch CANARY",
        '1"|!touch CANARY',
        "p p|!touch CANARY",
        "# |!touch CANARY",
    ],
    "expressions": [
        "s/one/\\=writefile([], 'CANARY')/",
        "%s/one/\\=system('touch CANARY')/",
        "s/one/x\\=1/",
        "s/one/~/",
        "s/one/\\=@a/e",
        "s/\\%#=1one/x/",
        "echo writefile([], 'CANARY')",
        "echo 'a'->writefile('CANARY')",
        "echo [1]->writefile('CANARY')",
        "echo function('writefile')([], 'CANARY')",
        "echo call('writefile', [[], 'CANARY'])",
        "echo execute('write CANARY')",
        "echo eval('1')",
        "echo {-> writefile([], 'CANARY')}()",
        "echo map([1], 'writefile([], \"CANARY\")')",
        "echo line(writefile([], 'CANARY'))",
        "echo line('.')->writefile('CANARY')",
        "echo strlen(system('touch CANARY'))",
        "echo \"\\<C-r>=system('touch CANARY')\\<CR>\"",
        "echo $HOME",
        "echo @a",
        'echo @"',
        "echo @=",
        "echo getreg('a')",
        "echo g:secret",
        "echo s:secret",
        "echo b:secret",
        "echo secret",
        "echo g:",
        "echo environ()",
        "echo getenv('HOME')",
        "echo readfile('OTHER')",
        "echo bufname('other')",
        "echo getbufline(1, 1)",
        "echo expand('$HOME')",
        "echo input('')",
        "echo inputlist(['x'])",
        "echo confirm('x')",
        "echo &key",
        "echo feedkeys(':q!\\r')",
        "echo luaeval('1')",
        "echo py3eval('1')",
        "echo $'{system(\"touch CANARY\")}'",
        "echo 1 ? 2 : 3",
        "echo 1 == 1",
    ],
    "scripts": [
        "execute 'write CANARY'",
        "exe 'write CANARY'",
        "normal! dd",
        "norm dd",
        "global/one/write CANARY",
        "g/one/d",
        "v/one/d",
        "call writefile([], 'CANARY')",
        "cal Mine()",
        "eval writefile([], 'CANARY')",
        "Mine",
        "Mine!",
        "source OTHER",
        "runtime plugin/x.vim",
        "packadd x",
        "function Other()",
        "autocmd BufEnter * write CANARY",
        "doautocmd User Mine",
        "command Other write CANARY",
        "nnoremap x :write CANARY<CR>",
        "cabbrev echo write",
        "lua io.open('CANARY', 'w')",
        "luado return 1",
        "=io.open('CANARY', 'w')",
        "1=io.open('CANARY', 'w')",
        "python3 open('CANARY', 'w')",
        "py3 open('CANARY', 'w')",
        "perl 1",
        "ruby 1",
        "vim9cmd writefile([], 'CANARY')",
        "windo write CANARY",
        "bufdo d",
        "tabdo d",
        "argdo d",
        "cdo d",
        "folddoopen d",
        "sandbox write CANARY",
        "silent! write CANARY",
        "noautocmd write CANARY",
        "keepjumps write CANARY",
        "verbose write CANARY",
        "vertical copen",
        "debug 1",
        "@a",
        "@:",
        "*a",
        "&&",
        "~",
        "redir > CANARY",
        "timer_start(0, 'x')",
    ],
    "files": [
        "write CANARY",
        "w! CANARY",
        "w",
        "update",
        "wq",
        "x",
        "saveas CANARY",
        "file CANARY",
        "edit OTHER",
        "e!",
        "e +d OTHER",
        "split OTHER",
        "tabnew OTHER",
        "read OTHER",
        "0r OTHER",
        "badd OTHER",
        "args OTHER",
        "find OTHER",
        "buffer OTHER",
        "buffer +d 1",
        "buffer! 1",
        "bnext!",
        "bdelete",
        "bwipeout!",
        "mksession CANARY",
        "mkview",
        "wundo CANARY",
        "wviminfo CANARY",
        "help",
        "tag x",
        "cfile OTHER",
        "diffsplit OTHER",
    ],
    "options and places": [
        "set number",
        "set nomodeline",
        "set tabstop=4",
        "set shell=sh",
        "set all",
        "set",
        "set number!",
        "set number&",
        "set invnumber",
        "set ts? sw=3",
        "set ts?|set sw=3",
        "setlocal noswapfile",
        "setglobal ts=3",
        "let g:x = 1",
        "let &ts = 3",
        "let @a = 'x'",
        "let $X = 'x'",
        "unlet g:x",
        "cd /",
        "lcd /",
        "tcd /",
        "chdir /",
        "quit",
        "quitall!",
        "qa!",
        "close",
        "only",
        "hide",
        "tabclose",
        "cquit",
        "restart",
        "detach",
        "VimMCPPause",
        "VimMCPDisconnect",
        "VimMCPResume",
        "stopinsert",
        "startinsert",
        "mark a",
        "ka",
        "delmarks a",
        "registers",
        "display",
        "history",
        "messages",
        "scriptnames",
        "yank",
        "put",
        "delete a",
        'delete "',
        "d x",
        "sort /x/ r",
        "sort x",
        "wincmd o",
        "wincmd c",
        "wincmd q",
        "wincmd f",
        "wincmd _",
        "1,2bnext",
        "/one/d",
        "?one?d",
        "1;2d",
        "\\/d",
        "%%d",
        "",
        ":",
        "   ",
        "copen!",
    ],
}


@pytest.mark.parametrize("group", REFUSED)
def test_9_2_refused_and_without_effect(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, group: str
) -> None:
    canary, other = sandbox.root / "canary", write(sandbox, "other.vim", f"write {sandbox.root}/no")
    path = write(sandbox, "a.txt", *LINES)
    show(editor, path)
    number = editor.eval("bufnr()")
    editor.command("let [g:secret, b:secret] = ['hunter2', 'hunter2']")
    editor.command("let @a = ':write hunter2'")
    editor.command(f"command! -bang Mine call writefile([], '{canary}')")
    editor.type("2G0")
    facts = (
        "[bufnr(), winnr('$'), tabpagenr('$'), getcwd(), &number, &tabstop, &shiftwidth, &shell,"
        " getpos('.'), getreg('a'), getreg('\"'), len(getbufinfo()), &modified, exists('g:x'),"
        " getpos(\"'a\"), execute('nmap x'), expand('%'), &swapfile, b:changedtick, mode(1)]"
    )
    before = editor.eval(facts)
    for command in REFUSED[group]:
        text = command.replace("CANARY", str(canary)).replace("OTHER", str(other))
        error = refused(assistant, "vim_execute", command=text)
        if command == "":
            assert error["code"] == -32602
            continue
        assert (error["code"], reason(error)) == (1004, "denied"), (command, error)
        assert "hunter2" not in error["message"]
        assert not canary.exists(), command
        assert editor.eval(facts) == before, command
    assert editor.lines(number) == LINES
    assert path.read_text().split() == LINES
    assert sorted(p.name for p in sandbox.project().iterdir()) == [".git", "a.txt", "other.vim"]
    assert editor.messages() == ""


def test_users_own_command_names_hide_nothing(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    canary = sandbox.root / "canary"
    show(editor, write(sandbox, "a.txt", *LINES))
    # What is run is the command's full name, so an abbreviation of the user's does not matter.
    editor.command(f"cabbrev echo write! {canary}<Bar>echo")
    editor.command(f"cnoremap <CR> <C-u>write! {canary}<CR>")
    assert assistant.call("vim_execute", command="echo 1").text == "1"
    assert not canary.exists()


def test_command_with_a_nul_is_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    canary = sandbox.root / "canary"
    # It comes as bytes where strings cannot hold it.
    error = refused(assistant, "vim_execute", command=f"echo 1\0!touch {canary}")
    assert error["code"] in (1004, -32602)
    assert not canary.exists()


def test_command_that_is_too_long_is_refused(editor: Editor, assistant: Assistant) -> None:
    error = refused(assistant, "vim_execute", command="echo '" + "x" * 3000 + "'")
    assert error["code"] == -32602
