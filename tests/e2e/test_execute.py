"""vim_execute: what it runs does what it says, and the rest is refused and has no effect."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import done, hide, reason, refused, show, write

LINES = ["one", "two", "Three", "four"]


class Runs(NamedTuple):
    """An allowed command on LINES with the cursor on line 2, and what becomes of it."""

    command: str
    output: str | None = ""
    lines: list[str] = LINES
    #: An expression, and its value afterwards.
    expression: str = "1"
    value: Any = 1


ALLOWED = [
    # Views
    Runs("echo 1 + 2", "3"),
    Runs(":echo 'a' . 'b'", "ab"),
    Runs("ec 'it''s' 5", "it's 5"),
    Runs('echo "plain"', "plain"),
    Runs("echo line('.') line('$')", "2 4"),
    Runs("echo col('.'), virtcol('.')", "1 1"),
    Runs("echo &tabstop", "8"),
    Runs("echo &l:filetype", "text"),
    Runs("echo bufname() ", None),
    Runs("echo winnr('$') tabpagenr()", "1 1"),
    Runs("echo mode()", "n"),
    Runs("echo strlen('four')", "4"),
    Runs("echo v:version", None),
    Runs("=", "4"),
    Runs("1=", "1"),
    Runs("2,3print", "two\nThree"),
    Runs("p", "two"),
    Runs("number", "  2 two"),
    Runs("1,$#", "  1 one\n  2 two\n  3 Three\n  4 four"),
    Runs("pwd", None),
    Runs("version", None),
    Runs("set shiftwidth?", "  shiftwidth=8"),
    Runs("setlocal tabstop?", "  tabstop=8"),
    Runs("se nu?", "nonumber"),
    Runs("undolist", None),
    # Moves
    Runs("4", "", expression="line('.')", value=4),
    Runs("$", "", expression="line('.')", value=4),
    Runs("-", "", expression="line('.')", value=1),
    Runs(".+2", "", expression="line('.')", value=4),
    Runs("wincmd t", "", expression="winnr()"),
    Runs("tabnext", "", expression="tabpagenr()"),
    Runs("copen", "", expression="[winnr('$'), &buftype]", value=[2, "quickfix"]),
    Runs("copen 5", "", expression="winheight(0)", value=5),
    # Edits
    Runs("s/two/2/", None, ["one", "2", "Three", "four"]),
    Runs("%s/o/0/g", None, ["0ne", "tw0", "Three", "f0ur"]),
    Runs("%s/t/T/gi", None, ["one", "Two", "Three", "four"]),
    Runs("1,2s#\\(.\\)$#<\\1>#", None, ["on<e>", "tw<o>", "Three", "four"]),
    Runs("%s/nothing//e", "", LINES),
    Runs("%s/e/&/gn", None, LINES),
    Runs("delete", "", ["one", "Three", "four"]),
    Runs("2,3d _", "", ["one", "four"]),
    Runs("d 2", "", ["one", "four"]),
    Runs("move 0", "", ["two", "one", "Three", "four"]),
    Runs("1m$", "", ["two", "Three", "four", "one"]),
    Runs("copy .", "", ["one", "two", "two", "Three", "four"]),
    Runs("1,2t$", "", [*LINES, "one", "two"]),
    Runs("1,3join", "", ["one two Three", "four"]),
    Runs("1,2join!", "", ["onetwo", "Three", "four"]),
    Runs("2>", "", ["one", "\ttwo", "Three", "four"]),
    Runs("sort", None, ["Three", "four", "one", "two"]),
    Runs("sort! i", None, ["two", "Three", "one", "four"]),
    Runs("sor u", None, ["Three", "four", "one", "two"]),
    Runs("retab", None, LINES),
]


@pytest.mark.parametrize("case", ALLOWED, ids=[case.command for case in ALLOWED])
def test_allowed_command_does_what_it_says(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, case: Runs
) -> None:
    show(editor, write(sandbox, "a.txt", *LINES))
    number = editor.eval("bufnr()")
    editor.type("2G0")
    output = done(assistant, "vim_execute", command=case.command)
    if case.output is not None:
        assert output == case.output
    assert editor.lines(number) == case.lines
    assert editor.eval(case.expression) == case.value
    # Nothing on the way that the user would have to answer, and nothing of theirs gone.
    assert editor.mode() == "n"
    assert not editor.waiting
    assert editor.eval("[getreg('\"'), getreg('-'), @/]") == ["", "", ""]


def test_output_of_two_lines_needs_no_key(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *[f"line {n}" for n in range(1, 101)])
    show(editor, path)
    assert done(assistant, "vim_execute", command="%print").splitlines()[-1] == "line 100"
    assert editor.mode() == "n"
    assert not editor.waiting


def test_buffers_are_gone_through_by_command(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    editor.command("set hidden")
    first, second, third = (
        show(editor, write(sandbox, name, name)) for name in ("a.txt", "b.txt", "c.txt")
    )
    for command, expected in (
        ("bnext", first),
        ("bprevious", third),
        (f"buffer {second}", second),
        ("blast", third),
        ("bfirst", first),
        (f"b{third}", third),
    ):
        done(assistant, "vim_execute", command=command)
        assert editor.eval("bufnr()") == expected, command


def test_windows_and_tab_pages_are_gone_through_by_command(
    editor: Editor, assistant: Assistant
) -> None:
    editor.type(":tabnew<CR>:split<CR>:vsplit<CR>")
    for command, expected in (
        ("wincmd b", [2, 3]),
        ("wincmd k", [2, 1]),
        ("wincmd l", [2, 2]),
        ("1wincmd w", [2, 1]),
        ("tabprevious", [1, 1]),
        ("tabnext 2", [2, 1]),
    ):
        done(assistant, "vim_execute", command=command)
        assert editor.eval("[tabpagenr(), winnr()]") == expected, command


def test_highlighting_and_folds_are_changed_by_command(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *LINES))
    editor.type(":set hlsearch<CR>/two<CR>2Gzfj")
    done(assistant, "vim_execute", command="nohlsearch")
    done(assistant, "vim_execute", command="2foldopen")
    assert editor.eval("foldclosed(2)") == -1
    done(assistant, "vim_execute", command="2foldclose")
    assert editor.eval("foldclosed(2)") == 2


def test_undo_and_redo_by_command(editor: Editor, assistant: Assistant) -> None:
    editor.type("ione<Esc>atwo<Esc>")
    done(assistant, "vim_execute", command="undo")
    assert editor.lines() == ["one"]
    done(assistant, "vim_execute", command="redo")
    assert editor.lines() == ["onetwo"]


def test_command_is_one_undo_step_of_its_own(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *LINES))
    editor.type("Ax<Esc>")
    done(assistant, "vim_execute", command="%s/o/0/g")
    done(assistant, "vim_execute", command="1delete")
    editor.type("u")
    assert editor.lines() == ["0nex", "tw0", "Three", "f0ur"]
    editor.type("u")
    assert editor.lines() == ["onex", *LINES[1:]]


def test_substitute_leaves_the_users_search_alone(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *LINES))
    editor.type("/four<CR>:s/four/4/<CR>gg")
    history = editor.eval("[@/, histget('/'), histget(':'), getreg(':')]")
    done(assistant, "vim_execute", command="%s/one/1/")
    assert editor.eval("[@/, histget('/'), histget(':'), getreg(':')]") == history


FAILING = {
    "%s/nothing here/x/": "E486",
    "buffer 4711": "E86",
    "move 4711": "E16",
    "'zprint": "E20",
    "foldopen": "E490",
    "set nosuchoption?": "E518",
    "lopen": "E776",
}


@pytest.mark.parametrize("command", FAILING)
def test_failing_command_is_an_error_in_vims_own_words(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, command: str
) -> None:
    show(editor, write(sandbox, "a.txt", *LINES))
    error = refused(assistant, "vim_execute", command=command)
    assert error["code"] == 1004
    assert error["message"].startswith(f"{FAILING[command]}:"), error
    assert error["data"]["original_error"] == error["message"]
    assert "reason" not in error["data"]
    assert editor.lines() == LINES
    assert not editor.waiting
    assert "E" not in editor.eval("v:errmsg")


def test_read_only_buffer_is_not_changed_by_command(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *LINES))
    editor.command("setlocal nomodifiable")
    error = refused(assistant, "vim_execute", command="1delete")
    assert error["message"].startswith("E21:")
    assert editor.lines() == LINES


def test_autocommands_of_the_user_still_run(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    hidden = hide(editor, write(sandbox, "a.txt", *LINES))
    editor.command("autocmd BufEnter * let g:entered = bufnr()")
    done(assistant, "vim_execute", command=f"buffer {hidden}")
    assert editor.eval("g:entered") == hidden
    editor.command("autocmd! BufEnter *")
    assert reason(refused(assistant, "vim_execute", command="doautocmd BufEnter")) == "denied"
