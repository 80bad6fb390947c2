"""vim_get_selection: the text that the user has selected, or had last."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import UNTOUCHED, done, masked, reason, refused, show, write

LINES = ("abc def", "äöüßx", "日本語中文", "\tx\ty")

SELECTIONS = [
    ("gg0lvj", "char", [1, 2], [2, 2], "bc def\näö"),
    ("ggj0vj", "char", [2, 1], [3, 1], "äöüßx\n日"),
    ("G0vk0", "char", [3, 1], [4, 1], "日本語中文\n\t"),
    ("gg0v$", "char", [1, 1], [1, 8], "abc def\n"),
    ("ggjlV", "line", [2, 1], [2, 5], "äöüßx\n"),
    ("ggVj", "line", [1, 1], [2, 5], "abc def\näöüßx\n"),
    ("gg0l<C-v>jl", "block", [1, 2], [2, 3], "bc\nöü"),
    ("gg0ll<C-v>jh", "block", [1, 2], [2, 3], "bc\nöü"),
    ("gg0<C-v>jj", "block", [1, 1], [3, 1], "ab\näö\n日"),
    ("gg04l<C-v>j$", "block", [1, 5], [2, 5], "def\nx"),
]


@pytest.mark.parametrize(("keys", "mode", "start", "end", "text"), SELECTIONS)
def test_what_is_selected_is_told_now_and_afterwards(
    editor: Editor, assistant: Assistant, sandbox: Sandbox,
    keys: str, mode: str, start: list[int], end: list[int], text: str,
) -> None:  # fmt: skip
    show(editor, write(sandbox, "a.txt", *LINES))
    editor.type(keys)
    before = editor.eval(UNTOUCHED)
    told = done(assistant, "vim_get_selection")
    assert editor.eval(UNTOUCHED) == before
    assert (told["active"], told["mode"], told["text"]) == (True, mode, text)
    assert (told["start"], told["end"]) == (start, end)
    editor.type("<Esc>")
    later = done(assistant, "vim_get_selection")
    assert later["active"] is False
    if "$" not in keys:
        assert (later["text"], later["start"], later["end"]) == (text, start, end)


def test_answer(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion
) -> None:
    show(editor, write(sandbox, "a.txt", *LINES))
    editor.type("Aunsaved<Esc>0vee")
    assert masked(done(assistant, "vim_get_selection"), sandbox) == snapshot


def test_exclusive_selection_leaves_its_last_character_out(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *LINES))
    editor.command("set selection=exclusive")
    editor.type("gg0vll")
    told = done(assistant, "vim_get_selection")
    assert (told["text"], told["end"]) == ("ab", [1, 2])
    editor.type("<Esc>gg0<C-v>jll")
    assert done(assistant, "vim_get_selection")["text"] == "ab\näö"


def test_nothing_was_ever_selected(editor: Editor, assistant: Assistant) -> None:
    told = done(assistant, "vim_get_selection")
    facts: dict[str, Any] = {"active": False, "mode": None, "start": None, "end": None, "text": ""}
    assert {key: told[key] for key in facts} == facts


def test_long_selection_is_cut_and_says_so(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *["x" * 99] * 2000))
    editor.type("ggVG")
    told = done(assistant, "vim_get_selection")
    assert told["truncated"] is True
    assert (told["start"], told["end"]) == ([1, 1], [2000, 99])
    assert 60_000 < len(told["text"]) <= 65_536


def test_private_buffer_is_refused(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "id_canary", "hunter2"))
    editor.type("ggV")
    error = refused(assistant, "vim_get_selection")
    assert (error["code"], reason(error)) == (1004, "private")
