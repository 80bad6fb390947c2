"""vim_open: a file is shown where the user edits files, and nothing of theirs is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import Assistant, Editor, EditorBlocked, Sandbox
from tests.e2e.support import done, reason, refused, show, write

THREE = ("one", "two", "three")


@pytest.mark.parametrize(
    ("place", "cursor"),
    [
        ({}, [1, 1]),
        ({"line": 2}, [2, 1]),
        ({"line": 2, "column": 3}, [2, 3]),
        ({"line": 3, "column": 4}, [3, 4]),
        ({"line": 400}, [4, 3]),
        ({"line": 2, "column": 400}, [2, 3]),
        ({"line": 4}, [4, 3]),
    ],
)
def test_cursor_goes_there_or_as_near_as_there_is_text(
    editor: Editor,
    assistant: Assistant,
    sandbox: Sandbox,
    place: dict[str, int],
    cursor: list[int],
) -> None:
    path = write(sandbox, "a.txt", "one", "two", "äöü日", "  indented")
    answer = done(assistant, "vim_open", file=str(path), **place)
    assert [answer["line"], answer["column"]] == cursor
    assert editor.eval("[line('.'), charcol('.')]") == cursor
    assert editor.eval("expand('%:p')") == str(path)
    assert editor.eval("&buflisted") == 1


def test_file_shown_already_only_moves_the_cursor(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    editor.type("Aunsaved<Esc>")
    done(assistant, "vim_open", file=str(path), line=3)
    assert editor.lines() == ["oneunsaved", "two", "three"]
    assert editor.eval("[line('.'), winnr('$')]") == [3, 1]


def test_file_in_another_window_is_shown_there(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    first, second = write(sandbox, "a.txt", *THREE), write(sandbox, "b.txt", *THREE)
    show(editor, first)
    editor.command(f"split {second}")
    done(assistant, "vim_open", file=str(first), line=2)
    assert editor.eval("[winnr(), winnr('$'), line('.'), expand('%:t')]") == [2, 2, 2, "a.txt"]


def test_ctrl_o_returns_to_where_the_user_was(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    here = write(sandbox, "here.txt", *[f"line {n}" for n in range(1, 31)])
    there = write(sandbox, "there.txt", *[f"row {n}" for n in range(1, 31)])
    editor.command("set hidden")
    show(editor, here)
    editor.type("20G")
    done(assistant, "vim_open", file=str(there), line=15)
    assert editor.eval("getline('.')") == "row 15"
    back = []
    for _ in range(3):
        back.append(editor.eval("getline('.')"))
        editor.type("<C-o>")
    assert "line 20" in [*back, editor.eval("getline('.')")]


def test_ctrl_o_returns_within_the_file(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *[f"line {n}" for n in range(1, 31)])
    show(editor, path)
    editor.type("20G")
    done(assistant, "vim_open", file=str(path), line=5)
    editor.type("<C-o>")
    assert editor.eval("getline('.')") == "line 20"


@pytest.mark.parametrize("hidden", [True, False])
def test_unsaved_text_is_not_lost(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, hidden: bool
) -> None:
    mine, other = write(sandbox, "mine.txt", *THREE), write(sandbox, "other.txt", "other")
    editor.command("set hidden" if hidden else "set nohidden")
    number = show(editor, mine)
    editor.type("Aunsaved<Esc>")
    done(assistant, "vim_open", file=str(other))
    assert editor.eval("expand('%:t')") == "other.txt"
    assert editor.lines(number) == ["oneunsaved", "two", "three"]
    # Where the user does not hide buffers, theirs stays on the screen.
    assert editor.eval("winnr('$')") == (1 if hidden else 2)
    assert editor.eval(f"bufwinnr({number}) > 0") == (0 if hidden else 1)
    editor.type(f":buffer {number}<CR>" if hidden else "<C-w>p")
    editor.type("u")
    assert editor.lines(number) == list(THREE)


@pytest.mark.parametrize("options", ["confirm", "autochdir", "autowrite", "nohidden confirm"])
def test_options_of_the_user_bring_no_question(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, options: str
) -> None:
    mine, other = write(sandbox, "mine.txt", *THREE), write(sandbox, "sub/other.txt", "other")
    show(editor, mine)
    for option in options.split():
        editor.command(f"set {option}")
    editor.type("Aunsaved<Esc>")
    done(assistant, "vim_open", file=str(other))
    assert editor.eval("expand('%:t')") == "other.txt"
    assert not editor.waiting
    assert mine.read_text() == "one\ntwo\nthree\n"
    for option in options.split():
        assert editor.eval(f"&{option.removeprefix('no')}") == (0 if option == "nohidden" else 1)


WINDOWS = {
    "quickfix": "copen",
    "location list": "lexpr ['x'] | lopen",
    "help": "setlocal buftype=help",
    "preview": "pedit mine.txt | wincmd P",
    "terminal": "terminal",
    "prompt": "new | setlocal buftype=prompt",
    "scratch": "new | setlocal buftype=nofile",
}


@pytest.mark.parametrize("special", WINDOWS)
def test_special_window_is_left_as_it_is(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, special: str
) -> None:
    mine, other = write(sandbox, "mine.txt", *THREE), write(sandbox, "other.txt", "other")
    show(editor, mine)
    # Vim's :terminal makes a window of its own.
    if special == "help" or (special == "terminal" and editor.kind == "nvim"):
        editor.command("new")
    editor.command(WINDOWS[special])
    if special == "terminal":
        # Into its Normal mode: while the user types into a terminal, an open waits.
        editor.type("<C-\\><C-n>" if editor.kind == "vim" else "<Esc>")
    there = editor.eval("[win_getid(), bufnr()]")
    done(assistant, "vim_open", file=str(other))
    assert editor.eval("expand('%:t')") == "other.txt"
    assert editor.eval("win_getid()") != there[0]
    assert editor.eval(f"winbufnr({there[0]})") == there[1]
    assert editor.eval("[&buftype, &previewwindow]") == ["", 0]


def test_only_special_windows_get_one_beside_them(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    other = write(sandbox, "other.txt", "other")
    editor.command("copen | only")
    done(assistant, "vim_open", file=str(other))
    assert editor.eval("[expand('%:t'), winnr('$'), &buftype]") == ["other.txt", 2, ""]


def unopenable(sandbox: Sandbox, what: str) -> Path:
    """Make something in the project that is no plain file, and return its path."""
    path = sandbox.project() / "thing"
    if what == "directory":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "link to a directory":
        path.symlink_to(sandbox.project())
    elif what == "link out of the project":
        path.symlink_to(write(sandbox, "out.txt", "secret", project="other"))
    elif what == "link to itself":
        path.symlink_to(path)
    elif what == "in a linked directory":
        path.symlink_to(sandbox.project("other"))
        path = path / "out.txt"
        path.write_text("secret")
    elif what == "in no directory":
        path = path / "a.txt"
    else:
        path = Path(what.replace("PROJECT", str(sandbox.project())))
    return path


@pytest.mark.parametrize("tool", ["vim_open", "vim_edit"])
@pytest.mark.parametrize(
    "what",
    [
        "directory",
        "fifo",
        "device",
        "link to a directory",
        "link out of the project",
        "link to itself",
        "in a linked directory",
        "in no directory",
        "/etc/hostname",
        "/dev/tty",
        "/proc/self/environ",
        "PROJECT/../other/out.txt",
        "PROJECT-2/a.txt",
        "/",
    ],
)
def test_what_is_no_file_of_the_project_is_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, what: str, tool: str
) -> None:
    path = unopenable(sandbox, what)
    more = {"line": 1, "content": "x"} if tool == "vim_edit" else {}
    error = refused(assistant, tool, file=str(path), **more)
    assert error["code"] == 1004
    if what != "in no directory":
        assert reason(error) == "denied", error
    assert "secret" not in str(error)
    assert editor.eval("[len(getbufinfo()), winnr('$'), bufname()]") == [1, 1, ""]
    assert not editor.waiting


def test_file_outside_that_the_user_opened_is_theirs_to_share(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    outside = write(sandbox, "out.txt", *THREE, project="other")
    show(editor, outside)
    done(assistant, "vim_edit", file=str(outside), line=1, content="ONE")
    done(assistant, "vim_open", file=str(outside), line=2)
    assert editor.lines() == ["ONE", "two", "three"]


def test_new_file_is_shown_empty(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    path = sandbox.project() / "new.txt"
    answer = done(assistant, "vim_open", file=str(path))
    assert answer["line_count"] == 1
    assert editor.eval("expand('%:p')") == str(path)
    assert not path.exists()


@pytest.mark.parametrize("tool", ["vim_open", "vim_edit"])
def test_file_another_editor_has_open_is_refused_without_a_prompt(
    new_editor: Callable[..., Editor],
    new_assistant: Callable[..., Assistant],
    sandbox: Sandbox,
    tool: str,
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    theirs = new_editor(files=[path], swap=True, plugin=False)
    theirs.type("Atheirs<Esc>")
    theirs.command("preserve")
    swaps = list(sandbox.root.rglob("*.sw?"))
    assert swaps
    mine = new_editor(swap=True)
    assistant = new_assistant()
    more = {"line": 1, "content": "x"} if tool == "vim_edit" else {}
    error = refused(assistant, tool, file=str(path), **more)
    assert error["code"] == 1004
    assert "swap" in error["message"]
    assert not mine.waiting
    assert mine.eval("[bufname(), winnr('$'), len(getbufinfo())]") == ["", 1, 1]
    assert mine.messages() == ""
    assert list(sandbox.root.rglob("*.sw?")) == swaps
    assert mine.eval("[&shortmess =~# 'A', &confirm]") == [0, 0]
    # Neither is the user's own question taken from them.
    with pytest.raises(EditorBlocked, match="Swap file"):
        mine.type(f":edit {path}<CR>")


def test_open_waits_while_the_user_types(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    mine, other = write(sandbox, "mine.txt", "mine"), write(sandbox, "other.txt", "other")
    editor.command("set hidden")
    number = show(editor, mine)
    editor.type("A is ")
    opened = assistant.call_async("vim_open", file=str(other))
    editor.type("mine")
    assert not opened.done()
    editor.type("<Esc>")
    assert not opened.result(30).is_error
    assert editor.lines(number) == ["mine is mine"]
    assert editor.lines() == ["other"]
