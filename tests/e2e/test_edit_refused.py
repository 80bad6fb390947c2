"""vim_edit that is refused changes nothing: not the text, the file, the layout or the undo tree."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import done, hide, reason, refused, show, write

THREE = ("one", "two", "three")

FACTS = (
    "[b:changedtick, &modified, undotree().seq_last, getpos('.'), winnr('$'), len(getbufinfo())]"
)


def test_stale_changedtick_is_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    tick = editor.eval("b:changedtick")
    editor.type("Auser<Esc>")
    before = editor.eval(FACTS)
    wheres: list[dict[str, Any]] = [
        {"line": 1},
        {"line": 1, "column": 1},
        {"old_text": "two"},
        {},
    ]
    for where in wheres:
        error = refused(
            assistant, "vim_edit", file=str(path), content="x", expected_changedtick=tick, **where
        )
        assert (error["code"], reason(error)) == (1004, "stale"), (where, error)
        assert str(before[0]) in error["message"]
        assert editor.lines() == ["oneuser", "two", "three"]
        assert editor.eval(FACTS) == before
    done(
        assistant,
        "vim_edit",
        file=str(path),
        line=2,
        content="x",
        expected_changedtick=before[0],
    )
    assert editor.lines() == ["oneuser", "x", "three"]


def test_changedtick_of_the_last_answer_is_good_for_the_next_edit(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    tick = editor.eval("b:changedtick")
    for n in range(3):
        answer = done(
            assistant,
            "vim_edit",
            file=str(path),
            line=n + 1,
            content=f"new {n}",
            expected_changedtick=tick,
            save=n == 1,
        )
        tick = answer["changedtick"]
    assert editor.lines() == ["new 0", "new 1", "new 2"]


BAD: dict[str, dict[str, Any]] = {
    "line past the end": {"line": 5, "content": "x"},
    "end past the end": {"line": 2, "end_line": 4, "content": "x"},
    "insertion past the end": {"line": 5, "end_line": 4, "content": "x"},
    "line zero": {"line": 0, "content": "x"},
    "line below zero": {"line": -1, "content": "x"},
    "end before the line": {"line": 3, "end_line": 1, "content": "x"},
    "end without a line": {"end_line": 1, "content": "x"},
    "column without a line": {"column": 1, "content": "x"},
    "column zero": {"line": 1, "column": 0, "content": "x"},
    "column past the end": {"line": 1, "column": 5, "content": "x"},
    "column in a line past the end": {"line": 4, "column": 1, "content": "x"},
    "column and end": {"line": 1, "end_line": 2, "column": 1, "content": "x"},
    "old_text and line": {"old_text": "one", "line": 1, "content": "x"},
    "empty old_text": {"old_text": "", "content": "x"},
    "no content": {"line": 1, "end_line": 2},
    "content of no text": {"line": 1, "content": 5},
    "unknown argument": {"line": 1, "content": "x", "force": True},
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD)
def test_arguments_that_cannot_be_meant_are_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, arguments: dict[str, Any]
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    before = editor.eval(FACTS)
    error = refused(assistant, "vim_edit", file=str(path), **arguments)
    assert error["code"] == -32602
    assert editor.lines() == list(THREE)
    assert editor.eval(FACTS) == before


@pytest.mark.parametrize("option", ["nomodifiable", "readonly"])
@pytest.mark.parametrize("place", ["current", "hidden"])
def test_buffer_the_user_protected_is_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, option: str, place: str
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    number = show(editor, path)
    editor.command(f"setlocal {option}")
    if place == "hidden":
        editor.command("set hidden | enew")
    for tool, arguments in (
        ("vim_edit", {"line": 1, "content": "x"}),
        ("vim_edit", {"content": "x", "save": True}),
        ("vim_undo", {}),
    ):
        error = refused(assistant, tool, file=str(path), **arguments)
        assert (error["code"], reason(error)) == (1004, "readonly"), error
    assert editor.lines(number) == list(THREE)
    assert editor.eval(f"getbufvar({number}, '&{option.removeprefix('no')}')") == (
        0 if option == "nomodifiable" else 1
    )
    assert path.read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize("kind", ["nofile", "nowrite", "quickfix", "help", "terminal"])
def test_buffer_that_is_no_file_is_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, kind: str
) -> None:
    if kind == "quickfix":
        editor.command("call setqflist([{'text': 'x'}]) | copen")
    elif kind == "terminal":
        editor.command("new" if editor.kind == "nvim" else "")
        editor.command("terminal")
        editor.type("<C-\\><C-n>" if editor.kind == "vim" else "<Esc>")
    else:
        editor.command(f"new | call setline(1, 'x') | setlocal buftype={kind}")
    number = editor.eval("bufnr()")
    before = editor.lines()
    for tool, arguments in (("vim_edit", {"line": 1, "content": "y"}), ("vim_save", {})):
        error = refused(assistant, tool, bufnr=number, **arguments)
        assert (error["code"], reason(error)) == (1004, "readonly"), (tool, error)
    if kind != "terminal":
        assert editor.lines() == before


def test_file_outside_the_project_is_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    outside = write(sandbox, "a.txt", *THREE, project="other")
    before = editor.eval(FACTS)
    for file in (str(outside), "../other/a.txt", f"file://{outside}"):
        for arguments in ({"line": 1}, {"old_text": "one"}, {}, {"line": 1, "column": 1}):
            error = refused(assistant, "vim_edit", file=file, content="x", save=True, **arguments)
            assert error["code"] == 1004, error
            assert reason(error) in ("denied", "not_open")
            assert "one" not in error["message"].split()
    assert outside.read_text() == "one\ntwo\nthree\n"
    assert editor.eval(FACTS) == before


def test_edit_without_a_target_is_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *THREE))
    assert refused(assistant, "vim_edit", line=1, content="x")["code"] == -32602
    assert refused(assistant, "vim_edit", bufnr=4711, line=1, content="x")["code"] == 1004
    both = refused(assistant, "vim_edit", bufnr=1, file="a.txt", line=1, content="x")
    assert both["code"] == -32602
    assert editor.lines() == list(THREE)


def test_edit_stands_when_the_file_cannot_be_written(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    editor.command("autocmd BufWritePre <buffer> throw 'the linter says no'")
    answer = done(assistant, "vim_edit", file=str(path), line=1, content="ONE", save=True)
    assert answer["saved"] is False
    assert "the linter says no" in answer["save_error"]
    assert editor.lines() == ["ONE", "two", "three"]
    assert path.read_text() == "one\ntwo\nthree\n"


def test_save_that_is_known_to_fail_makes_no_edit(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    hide(editor, path)
    path.write_text("written by another program\n")
    error = refused(assistant, "vim_edit", file=str(path), line=1, content="ONE", save=True)
    assert error["code"] == 1004
    assert "changed on disk" in error["message"]
    assert path.read_text() == "written by another program\n"
    assert "1\tone" in done(assistant, "vim_read", file=str(path))
