"""vim_navigate: the user's cursor goes where keys of theirs would have taken it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from harness import Assistant, Editor, Hub, Sandbox
from tests.e2e.support import done, masked, reason, refused, show, write

TEXT = ("one two three", "  (four five) six", "日本語 wide", "", "last line here")

KEYS = [
    ("right", 2, "gg0", "2l"),
    ("left", 3, "gg$", "3h"),
    ("right", 500, "gg0", "500l"),
    ("down", 2, "gg0", "2j"),
    ("down", 500, "gg0", "500j"),
    ("up", 1, "G", "k"),
    ("line_start", 1, "jj$", "0"),
    ("first_nonblank", 1, "j0", "^"),
    ("line_end", 1, "jj0", "$"),
    ("word_forward", 4, "gg0", "4w"),
    ("word_back", 2, "G$", "2b"),
    ("word_end", 3, "gg0", "3e"),
    ("paragraph_forward", 1, "gg0", "}"),
    ("paragraph_back", 1, "G$", "{"),
    ("matching_bracket", 1, "j0f(", "%"),
    ("top", 1, "G", "gg"),
    ("bottom", 1, "gg", "G"),
    ("line", 3, "gg", "3G"),
    ("line", 99999, "gg", "G"),
]


@pytest.mark.parametrize(("direction", "count", "start", "keys"), KEYS)
def test_motion_is_that_of_the_keys(
    editor: Editor, assistant: Assistant, sandbox: Sandbox,
    direction: str, count: int, start: str, keys: str,
) -> None:  # fmt: skip
    show(editor, write(sandbox, "a.txt", *TEXT))
    editor.type(f"gg0{start}{keys}")
    expected = editor.eval("getcurpos()[1:2]")
    editor.type(f"gg0{start}")
    told = done(assistant, "vim_navigate", direction=direction, count=count)
    assert editor.eval("getcurpos()[1:2]") == expected
    line, byte = expected
    assert told["line"] == line
    assert told["column"] == len(TEXT[line - 1].encode()[: byte - 1].decode()) + 1
    assert (told["text"], told["moved"]) == (TEXT[line - 1], True)
    # The next act is not held up: :normal leaves the editor in doubt about its state.
    done(assistant, "vim_navigate", direction="top")
    assert editor.messages() == ""


@pytest.mark.parametrize(
    ("direction", "keys"),
    [
        ("page_down", "<C-f>"),
        ("page_up", "G<C-b>"),
        ("half_page_down", "<C-d>"),
        ("half_page_up", "G<C-u>"),
    ],
)
def test_pages(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, direction: str, keys: str
) -> None:
    show(editor, write(sandbox, "a.txt", *map(str, range(1, 301))))
    view = "[line('.'), line('w0'), &scroll]"
    editor.type(f"gg{keys}{keys[-5:]}")
    expected = editor.eval(view)
    editor.type("gg" + ("G" if keys.startswith("G") else ""))
    told = done(assistant, "vim_navigate", direction=direction, count=2)
    assert editor.eval(view) == expected
    assert told["topline"] <= told["line"] <= told["botline"]


def test_answer(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion
) -> None:
    show(editor, write(sandbox, "a.txt", *TEXT))
    answer = done(assistant, "vim_navigate", direction="word_forward", count=2)
    assert masked(answer, sandbox) == snapshot


@pytest.mark.parametrize("direction", ["left", "up", "word_back", "line_start", "next_window"])
def test_nowhere_to_go_is_no_error(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, direction: str
) -> None:
    show(editor, write(sandbox, "a.txt", *TEXT))
    assert done(assistant, "vim_navigate", direction=direction)["moved"] is False


def test_registers_and_search_stay(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "a.txt", *TEXT))
    editor.type("yiw/two<CR>")
    kept = "[@/, v:searchforward, getreg('\"'), b:changedtick, v:errmsg]"
    before = editor.eval(kept)
    for direction in ("word_forward", "bottom", "previous_change", "older_position"):
        assistant.call("vim_navigate", direction=direction)
    assert editor.eval(kept) == before


def test_changes_and_jumps(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "a.txt", *map(str, range(1, 101))))
    editor.type("10Gx50Gx90Gxgg")

    def line(direction: str, count: int = 1) -> Any:
        return done(assistant, "vim_navigate", direction=direction, count=count)["line"]

    assert [line("previous_change") for _ in range(3)] == [90, 50, 10]
    assert line("next_change", 2) == 90
    line("line", 20)
    assert line("older_position") == 90
    assert line("newer_position") == 20


@pytest.mark.parametrize(
    ("direction", "message"),
    [
        ("previous_change", "E664:"),
        ("older_position", "There is no older position"),
        ("newer_position", "There is no newer position"),
        ("next_error", "E42:"),
        ("next_diagnostic", "There are no diagnostics"),
    ],
)
def test_what_is_not_there_is_said(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, direction: str, message: str
) -> None:
    show(editor, write(sandbox, "a.txt", *TEXT))
    editor.command("clearjumps")
    error = refused(assistant, "vim_navigate", direction=direction)
    assert error["code"] == 1004
    assert error["message"].startswith(message)
    assert editor.eval("v:errmsg") == ""


def three(editor: Editor, sandbox: Sandbox) -> list[Path]:
    """Load three files and a private one between them; show the first."""
    editor.command("set hidden")
    names = ["a.txt", "b.txt", "id_canary", "c.txt"]
    paths = [write(sandbox, name, *TEXT) for name in names]
    for path in paths:
        editor.command(f"badd {path}")
    editor.command("let g:blank = bufnr()")
    show(editor, paths[0])
    editor.command("execute 'bwipeout' g:blank")
    return [paths[0], paths[1], paths[3]]


def test_buffers_go_round_without_the_private_one(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    paths = three(editor, sandbox)

    def file(direction: str, count: int = 1) -> Any:
        return done(assistant, "vim_navigate", direction=direction, count=count)["file"]

    assert [file("next_buffer") for _ in range(3)] == [str(paths[n]) for n in (1, 2, 0)]
    assert file("previous_buffer") == str(paths[2])
    assert file("previous_buffer", 5) == str(paths[0])


def test_buffer_with_changes_is_not_left_against_the_user_s_wish(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    three(editor, sandbox)
    editor.command("set nohidden confirm")
    editor.type("Ax<Esc>")
    error = refused(assistant, "vim_navigate", direction="next_buffer")
    assert error["message"].startswith("E37:")
    assert editor.eval("fnamemodify(bufname(), ':t')") == "a.txt"


def test_windows_and_tabs(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    paths = [write(sandbox, name, name) for name in ("a.txt", "b.txt", "c.txt")]
    show(editor, paths[0])
    editor.command(f"rightbelow vsplit {paths[1]}")
    editor.command(f"rightbelow split {paths[2]}")
    editor.command("tabnew | tabprevious | wincmd t")

    def go(direction: str, count: int = 1) -> str:
        told = done(assistant, "vim_navigate", direction=direction, count=count)
        assert told["winid"] == editor.eval("win_getid()")
        return f"{told['tabnr']} {Path(told['file']).name}"

    assert go("window_right") in ("1 b.txt", "1 c.txt")
    assert [go("window_down"), go("window_up"), go("window_left")] == [
        "1 c.txt",
        "1 b.txt",
        "1 a.txt",
    ]
    assert [go("next_window"), go("next_window"), go("previous_window")] == [
        "1 b.txt",
        "1 c.txt",
        "1 b.txt",
    ]
    assert [go("next_tab"), go("previous_tab"), go("next_tab", 2)] == ["2 ", "1 b.txt", "1 b.txt"]


def test_private_windows_are_passed_by_or_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *TEXT))
    first = editor.eval("win_getid()")
    editor.command(f"belowright split {write(sandbox, 'id_canary', 'hunter2')}")
    editor.command(f"tabedit {write(sandbox, '.env.canary', 'hunter2')}")
    editor.command("tabprevious | wincmd t")
    assert done(assistant, "vim_navigate", direction="next_window")["winid"] == first
    assert done(assistant, "vim_navigate", direction="next_tab")["tabnr"] == 1
    error = refused(assistant, "vim_navigate", direction="window_down")
    assert reason(error) == "private"
    editor.command("wincmd b")
    assert reason(refused(assistant, "vim_navigate", direction="down")) == "private"
    assert editor.eval("line('.')") == 1


def test_jump_to_a_private_buffer_is_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    editor.command("set hidden")
    show(editor, write(sandbox, "id_canary", "hunter2"))
    path = write(sandbox, "a.txt", *TEXT)
    show(editor, path)
    assert reason(refused(assistant, "vim_navigate", direction="older_position")) == "private"
    assert editor.eval("expand('%:p')") == str(path)


def test_quickfix_list(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    editor.command("set hidden")
    a, b = write(sandbox, "a.txt", *TEXT), write(sandbox, "b.txt", *TEXT)
    secret = write(sandbox, "id_canary", "hunter2")
    show(editor, a)
    items = [
        {"filename": str(a), "lnum": 2, "col": 4, "text": "first"},
        {"text": "no place"},
        {"filename": str(b), "lnum": 3, "col": 4, "text": "second"},
        {"filename": str(secret), "lnum": 1, "text": "third"},
    ]
    editor.command(f"call setqflist({items}) | cc 1")
    told = done(assistant, "vim_navigate", direction="next_error")
    assert (told["file"], told["line"], told["column"]) == (str(b), 3, 2)
    assert reason(refused(assistant, "vim_navigate", direction="next_error")) == "private"
    assert editor.eval("expand('%:p')") == str(b)
    told = done(assistant, "vim_navigate", direction="previous_error", count=9)
    assert (told["file"], told["line"], told["column"]) == (str(a), 2, 4)
    error = refused(assistant, "vim_navigate", direction="previous_error")
    assert error["message"].startswith("E553:")


def test_diagnostics_go_round(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    path = write(sandbox, "a.txt", *TEXT)
    number = show(editor, path)
    items = [
        {"bufnr": number, "lnum": line, "col": 1, "type": "E", "text": f"wrong {line}"}
        for line in (5, 1, 3)
    ]
    editor.command(f"call setloclist(0, {items})")
    editor.type("2G")

    def line(direction: str, count: int = 1) -> Any:
        return done(assistant, "vim_navigate", direction=direction, count=count)["line"]

    assert [line("next_diagnostic") for _ in range(3)] == [3, 5, 1]
    assert [line("previous_diagnostic") for _ in range(2)] == [5, 3]
    assert line("next_diagnostic", 4) == 5


def test_closed_fold_is_opened_for_who_jumps_into_it(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *map(str, range(1, 31))))
    editor.type(":10,20fold<CR>gg")
    done(assistant, "vim_navigate", direction="line", count=15)
    assert (editor.eval("line('.')"), editor.eval("foldclosed('.')")) == (15, -1)


@pytest.mark.private
@pytest.mark.parametrize(
    ("keys", "mode", "expected"),
    [("ix", "i", "insert_mode"), ("v", "v", "visual_mode"), ("d", "no", "pending_key")],
)
def test_user_in_the_middle_of_something_is_not_moved(
    hub: Hub, editor: Editor, new_assistant: Callable[..., Assistant], sandbox: Sandbox,
    keys: str, mode: str, expected: str,
) -> None:  # fmt: skip
    hub.restart(VIM_MCP_TIMEOUT_SCALE="0.2")
    assistant = new_assistant()
    show(editor, write(sandbox, "a.txt", *TEXT))
    editor.type(keys, sync=False)
    editor.wait_mode(mode)
    error = refused(assistant, "vim_navigate", direction="down")
    assert (error["code"], reason(error)) == (1003, expected)
    assert editor.eval("line('.')") == 1
    editor.type("<Esc><Esc>")
    assert done(assistant, "vim_navigate", direction="down")["line"] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"direction": "sideways"},
        {"direction": "down", "count": 0},
        {"direction": "down", "count": 10_001},
        {"direction": "down", "count": 1.5},
        {},
    ],
)
def test_senseless_arguments_are_refused(
    editor: Editor, assistant: Assistant, arguments: dict[str, Any]
) -> None:
    assert refused(assistant, "vim_navigate", **arguments)["code"] == -32602


def test_hidden_buffer_of_the_jump_list_is_shown_again(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    first = write(sandbox, "a.txt", *TEXT)
    editor.command("set hidden")
    show(editor, first)
    editor.type("Gx")
    show(editor, write(sandbox, "b.txt", *TEXT))
    told = done(assistant, "vim_navigate", direction="older_position")
    assert (told["file"], told["line"], told["modified"]) == (str(first), 5, True)


def test_jump_past_this_line_s_own_entry_is_seen_through(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    """The editor drops an entry of the present line first: the one before it is the target."""
    editor.command("set hidden")
    show(editor, write(sandbox, "id_canary", "hunter2"))
    show(editor, write(sandbox, "a.txt", *TEXT))
    editor.type("m'")
    before = editor.eval("bufnr()")
    assert refused(assistant, "vim_navigate", direction="older_position")
    assert editor.eval("bufnr()") == before
