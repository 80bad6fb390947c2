"""vim_get_state: what the user sees, without the text."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import done, hide, show, write


def test_cursor_is_counted_in_characters_and_in_bytes(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", "one", "äö日本x"))
    for keys, column, byte in (("j0", 1, 1), ("l", 2, 3), ("l", 3, 5), ("l", 4, 8), ("l", 5, 11)):
        editor.type(keys)
        state = done(assistant, "vim_get_state")
        assert (state["cursor"], state["byte"]) == ([2, column], byte)
        assert state["windows"][0]["cursor"] == [2, column]


def test_combining_characters_count_as_vim_counts_them(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "e\u0301x")
    show(editor, path)
    editor.type("0l")
    state = done(assistant, "vim_get_state")
    line, column = state["cursor"]
    # The column of the state is one that vim_edit understands.
    done(assistant, "vim_edit", file=str(path), line=line, column=column, content="+")
    assert editor.lines() == ["e\u0301+x"]


@pytest.mark.parametrize(
    ("keys", "mode", "expected"),
    [
        ("gg0lvj", "v", {"mode": "char", "start": [1, 2], "end": [2, 2]}),
        ("G0vk", "v", {"mode": "char", "start": [2, 1], "end": [3, 1]}),
        ("gg$vh", "v", {"mode": "char", "start": [1, 2], "end": [1, 3]}),
        ("ggjlV", "V", {"mode": "line", "start": [2, 1], "end": [2, 5]}),
        ("GlVk", "V", {"mode": "line", "start": [2, 1], "end": [3, 5]}),
        ("gg0l<C-v>jl", "\x16", {"mode": "block", "start": [1, 2], "end": [2, 3]}),
        ("gg0ll<C-v>jh", "\x16", {"mode": "block", "start": [1, 2], "end": [2, 3]}),
        ("G$vh", "v", {"mode": "char", "start": [3, 4], "end": [3, 5]}),
    ],
)
def test_selection_is_told_with_its_ends_included(
    editor: Editor,
    assistant: Assistant,
    sandbox: Sandbox,
    keys: str,
    mode: str,
    expected: dict[str, Any],
) -> None:
    show(editor, write(sandbox, "a.txt", "abc", "äöüßx", "日本語中文"))
    editor.type(keys)
    state = done(assistant, "vim_get_state")
    assert state["mode"] == mode
    assert state["selection"] == expected


def test_without_a_selection_there_is_none(editor: Editor, assistant: Assistant) -> None:
    editor.type("ione two<Esc>viw<Esc>")
    state = done(assistant, "vim_get_state")
    assert (state["mode"], state["selection"]) == ("n", None)


@pytest.mark.parametrize(
    ("keys", "mode"), [("i", "i"), ("R", "R"), ("d", "no"), (":set", "c"), ("gh", "s")]
)
def test_mode_is_told_in_the_middle_of_a_command(
    editor: Editor, assistant: Assistant, keys: str, mode: str
) -> None:
    editor.type("ione two<Esc>")
    editor.type(keys, sync=False)
    editor.wait_mode(mode)
    assert done(assistant, "vim_get_state")["mode"] == mode
    editor.type("<Esc><Esc>")


def test_windows_of_all_tab_pages_are_told(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    first, second = write(sandbox, "a.txt", "one", "two"), write(sandbox, "b.txt", "three")
    show(editor, first)
    editor.type("j")
    editor.command(f"vsplit {second}")
    editor.command(f"tabedit {first}")
    editor.command(f"split {second}")
    state = done(assistant, "vim_get_state")
    assert (state["tabpage"], state["tabpages"]) == (2, 2)
    seen = [(w["tabnr"], w["winnr"], w["name"], w["current"]) for w in state["windows"]]
    assert seen == [
        (1, 1, str(second), False),
        (1, 2, str(first), False),
        (2, 1, str(second), True),
        (2, 2, str(first), False),
    ]
    for window in state["windows"]:
        found = editor.eval(f"getwininfo({window['winid']})[0]")
        for fact in ("winnr", "tabnr", "bufnr", "width", "height", "topline", "botline"):
            assert window[fact] == found[fact]
        assert window["cursor"] == [editor.eval(f"line('.', {window['winid']})"), 1]


def test_visible_lines_are_told(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "a.txt", *map(str, range(1, 101))))
    editor.type("50Gzt")
    (window,) = done(assistant, "vim_get_state")["windows"]
    assert window["topline"] == 50
    assert window["botline"] == 50 + window["height"] - 1
    assert window["cursor"] == [50, 1]


def test_buffers_are_told_with_what_became_of_them(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    paths = [write(sandbox, f"{name}.py", name) for name in ("hidden", "unloaded", "shown")]
    hidden = hide(editor, paths[0])
    editor.command(f"call setbufline({hidden}, 1, 'changed')")
    editor.command(f"badd {paths[1]}")
    shown = show(editor, paths[2])
    buffers = {b["name"]: b for b in done(assistant, "vim_get_state")["buffers"]}
    one = buffers[str(paths[0])]
    assert (one["bufnr"], one["hidden"], one["modified"], one["current"]) == (
        hidden,
        True,
        True,
        False,
    )
    assert one["changedtick"] == editor.eval(f"getbufvar({hidden}, 'changedtick')")
    assert buffers[str(paths[1])]["loaded"] is False
    other = buffers[str(paths[2])]
    assert (other["bufnr"], other["current"], other["loaded"]) == (shown, True, True)
    assert other["filetype"] == "python"


def test_directory_and_project_are_told(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    inner = sandbox.project() / "src"
    inner.mkdir()
    editor.command(f"cd {inner}")
    state = done(assistant, "vim_get_state")
    assert (state["cwd"], state["root"]) == (str(inner), str(sandbox.project()))


def test_looking_changes_nothing(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "a.txt", "one two", "three"))
    editor.command("split | tabnew | tabprevious")
    editor.type("jvk")
    facts = "[mode(), getpos('v'), getpos('.'), winnr(), winnr('#'), tabpagenr(), b:changedtick]"
    before = editor.eval(facts)
    for _ in range(3):
        done(assistant, "vim_get_state")
        done(assistant, "vim_read")
    assert editor.eval(facts) == before
    assert editor.messages() == ""
