"""vim_search: the editor's own regex over what is open, with nothing of the user's disturbed."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from harness import Assistant, Editor, Hub, Sandbox
from tests.e2e.support import UNTOUCHED, done, hide, masked, reason, refused, show, write

TEXT = ("Foo bar", "foo Bar", "größe foo", "日本foo", "", "a.b a+b a\\b", "x" * 10)


def places(answer: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Return (line, column, end column) of what was found."""
    return [(one["line"], one["column"], one["end_column"]) for one in answer["matches"]]


@pytest.mark.parametrize(
    ("pattern", "options", "expected"),
    [
        ("foo", "", [(2, 1, 3), (3, 7, 9), (4, 3, 5)]),
        ("foo", "ignorecase", [(1, 1, 3), (2, 1, 3), (3, 7, 9), (4, 3, 5)]),
        ("Foo", "ignorecase", [(1, 1, 3), (2, 1, 3), (3, 7, 9), (4, 3, 5)]),
        ("Foo", "ignorecase smartcase", [(1, 1, 3)]),
        (r"foo\W", "ignorecase smartcase", [(1, 1, 4), (2, 1, 4)]),
        (r"Foo\c", "", [(1, 1, 3), (2, 1, 3), (3, 7, 9), (4, 3, 5)]),
        (r"foo\C", "ignorecase", [(2, 1, 3), (3, 7, 9), (4, 3, 5)]),
        ("^foo", "", [(2, 1, 3)]),
        ("foo$", "", [(3, 7, 9), (4, 3, 5)]),
        (r"\vfoo|bar", "", [(1, 5, 7), (2, 1, 3), (3, 7, 9), (4, 3, 5)]),
        (r"\<b", "", [(1, 5, 5), (6, 3, 3)]),
        ("a.b", "", [(6, 1, 3)]),
        (r"a\.b", "nomagic", [(6, 1, 3)]),
        (r"a+b", "", [(6, 5, 7)]),
        (r"a\\b", "", [(6, 9, 11)]),
        (r"x\{10}", "", [(7, 1, 10)]),
        ("^$", "", [(5, 1, 1)]),
        ("本", "", [(4, 2, 2)]),
        (r"\zsBar", "", [(2, 5, 7)]),
        (r"bar\nfoo", "", []),
        ("nowhere", "", []),
    ],
)
def test_pattern_is_what_slash_takes(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, pattern: str, options: str,
    expected: list[tuple[int, int, int]],
) -> None:  # fmt: skip
    show(editor, write(sandbox, "a.txt", *TEXT))
    if options:
        editor.command(f"set {options}")
    editor.type("/bar<CR>")
    before = editor.eval(UNTOUCHED)
    answer = done(assistant, "vim_search", pattern=pattern)
    assert editor.eval(UNTOUCHED) == before
    assert places(answer) == expected
    assert (answer["truncated"], answer["lines_searched"]) == (False, len(TEXT))


def test_answer(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion
) -> None:
    hide(editor, write(sandbox, "hidden.txt", "one needle"))
    show(editor, write(sandbox, "shown.txt", "two", "a needle"))
    editor.type("Ganeedle<Esc>")
    answer = done(assistant, "vim_search", pattern="needle", scope="all")
    assert masked(answer, sandbox) == snapshot


def test_all_is_every_loaded_buffer_and_no_other(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    hidden, shown = write(sandbox, "hidden.txt", "foo"), write(sandbox, "shown.txt", "foo")
    hide(editor, hidden)
    editor.command(f"badd {write(sandbox, 'unloaded.txt', 'foo')}")
    show(editor, shown)
    show(editor, write(sandbox, "id_canary", "foo hunter2"))
    show(editor, write(sandbox, "current.txt", "nothing"))
    editor.command("call setqflist([{'bufnr': bufnr(), 'lnum': 1, 'text': 'foo hunter2'}])")
    editor.command("copen | wincmd p")
    answer = done(assistant, "vim_search", pattern="foo", scope="all")
    assert {one["file"] for one in answer["matches"]} == {str(hidden), str(shown)}
    assert done(assistant, "vim_search", pattern="foo")["matches"] == []


def test_private_buffer_is_refused(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "id_canary", "hunter2"))
    error = refused(assistant, "vim_search", pattern="hunter")
    assert (error["code"], reason(error)) == (1004, "private")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [(r"\(a", "E54:"), ("a**\\{", "E"), (r"\%[", "E69:"), (r"\v(a", "E54:"), ("[a-", "")],
)
def test_bad_pattern_gets_the_editor_s_own_message(
    editor: Editor, assistant: Assistant, pattern: str, message: str
) -> None:
    editor.type("i[a-<Esc>")
    if not message:
        # No error to Vim: a bracket without its partner is itself.
        assert len(done(assistant, "vim_search", pattern=pattern)["matches"]) == 1
        return
    error = refused(assistant, "vim_search", pattern=pattern)
    assert error["code"] == 1004
    assert error["message"].startswith(message)
    assert editor.eval("v:errmsg") == ""


@pytest.mark.parametrize("pattern", ["", "\\%#=1a"])
def test_pattern_that_is_none_is_refused(
    editor: Editor, assistant: Assistant, pattern: str
) -> None:
    assert refused(assistant, "vim_search", pattern=pattern)["code"] == -32602


def test_cap_is_kept_and_told(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "a.txt", *["foo"] * 150))
    full = done(assistant, "vim_search", pattern="foo")
    assert (len(full["matches"]), full["truncated"], full["lines_searched"]) == (100, True, 100)
    assert "line 101" in full["note"]
    exact = done(assistant, "vim_search", pattern="foo", max_results=150)
    assert (len(exact["matches"]), exact["truncated"], exact["note"]) == (150, False, None)


def test_long_line_is_shown_around_its_match(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", "ä" * 3000 + "needle" + "ö" * 3000))
    (found,) = done(assistant, "vim_search", pattern="needle")["matches"]
    assert (found["column"], len(found["text"])) == (3001, 500)
    at = found["column"] - found["text_column"]
    assert found["text"][at : at + 6] == "needle"


def test_long_text_is_searched_whole_in_slices(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    lines = [f"line {n} of a long text" for n in range(1, 60_001)]
    lines[59_998] = "the needle"
    show(editor, write(sandbox, "a.txt", *lines))
    answer = done(assistant, "vim_search", pattern="needle$")
    assert places(answer) == [(59_999, 5, 10)]
    assert answer["lines_searched"] == 60_000


@pytest.mark.private
def test_slow_search_ends_in_time_and_says_where(
    hub: Hub, editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *["a" * 400] * 20_000))
    answer = done(assistant, "vim_search", pattern=r"\v(a*)*(a*)*(a*)*b")
    assert answer["truncated"] is True
    assert "out of time" in answer["note"]
    assert 0 < answer["lines_searched"] < 20_000


def test_zero_byte_in_a_line(editor: Editor, assistant: Assistant) -> None:
    editor.type("ia<C-v>000b<Esc>")
    (found,) = done(assistant, "vim_search", pattern="b")["matches"]
    assert (found["text"], found["column"]) == ("a\0b", 3)
