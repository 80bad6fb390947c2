"""vim://cursor: where the user is and what is around."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import UNTOUCHED, masked, no_resource, show, write

CURSOR = "vim://cursor"


def test_place_and_surroundings(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion
) -> None:
    show(editor, write(sandbox, "a.txt", *(f"line {n} größer 日本" for n in range(1, 31))))
    editor.type("10Gfrl")
    before = editor.eval(UNTOUCHED)
    told = assistant.read_json(CURSOR)
    assert editor.eval(UNTOUCHED) == before
    assert (told["line"], told["column"], told["byte"]) == (10, 11, 11)
    assert (told["first"], len(told["lines"])) == (5, 11)
    told["winid"] = 0
    assert masked(told, sandbox) == snapshot


@pytest.mark.parametrize(
    ("keys", "word", "before", "after"),
    [
        ("gg0", "one", "", "one two"),
        ("ggwl", "two", "one t", "wo"),
        ("jwh", "wide", "日本", " wide"),
        ("ggwi", "two", "one ", "two"),
        ("ggA", "", "one two", ""),
    ],
)
def test_word_and_the_parts_of_the_line(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, keys: str, word: str, before: str,
    after: str,
) -> None:  # fmt: skip
    show(editor, write(sandbox, "a.txt", "one two", "日本 wide", "x"))
    editor.type(keys)
    told = assistant.read_json(CURSOR)
    assert (told["before"], told["after"]) == (before, after)
    assert told["word"] == word


def test_empty_buffer_without_a_name(editor: Editor, assistant: Assistant) -> None:
    told = assistant.read_json(CURSOR)
    assert (told["file"], told["line"], told["column"], told["word"]) == ("", 1, 1, "")
    assert (told["lines"], told["before"], told["after"], told["syntax"]) == ([""], "", "", [])


def test_syntax_is_named(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    editor.command("syntax on")
    show(editor, write(sandbox, "a.py", "x = 'text'  # comment"))
    editor.type("0ft")
    assert assistant.read_json(CURSOR)["syntax"] == ["pythonString", "Constant"]
    editor.type("$")
    assert assistant.read_json(CURSOR)["syntax"][0] == "pythonComment"
    editor.type("0l")
    assert assistant.read_json(CURSOR)["syntax"] == []


def test_selection_and_mode_are_told(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", "one", "two"))
    editor.type("vj")
    told = assistant.read_json(CURSOR)
    assert told["mode"] == "v"
    assert told["selection"] == {"mode": "char", "start": [1, 1], "end": [2, 1]}


def test_long_lines_are_cut(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "a.txt", "a" * 2000 + "b" * 2000))
    editor.type("02000l")
    told = assistant.read_json(CURSOR)
    assert (told["before"], told["after"]) == ("a" * 500, "b" * 500)
    assert told["lines"] == ["a" * 500]


def test_private_buffer_is_refused(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "id_canary", "hunter2"))
    error = no_resource(assistant, CURSOR)
    assert (error["code"], error["data"]["reason"]) == (1004, "private")
    assert "canary" not in str(error)
