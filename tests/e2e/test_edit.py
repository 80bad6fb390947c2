"""vim_edit: the ways to say where, and what it makes of the text."""

from __future__ import annotations

import pytest

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import done, hide, refused, show, write

THREE = ("one", "two", "three")


#: Text before, arguments, text after, and the changed ranges as the answer has them.
EDITS: dict[str, tuple[list[str], dict[str, object], list[str], list[list[int]]]] = {
    "a line range": (
        [*THREE], {"line": 2, "end_line": 3, "content": "2\n3\n4\n"}, ["one", "2", "3", "4"], [[2, 4]],
    ),
    "one line": ([*THREE], {"line": 2, "content": "TWO"}, ["one", "TWO", "three"], [[2, 2]]),
    "end_line before line inserts": (
        [*THREE], {"line": 2, "end_line": 1, "content": "x\ny\n"},
        ["one", "x", "y", "two", "three"], [[2, 3]],
    ),
    "after the last line": (
        [*THREE], {"line": 4, "end_line": 3, "content": "four\n"}, [*THREE, "four"], [[4, 4]],
    ),
    "no content deletes lines": (
        [*THREE], {"line": 1, "end_line": 2, "content": ""}, ["three"], [[1, 0]],
    ),
    "a newline is an empty line": (
        [*THREE], {"line": 2, "content": "\n"}, ["one", "", "three"], [[2, 2]],
    ),
    "several lines at a column": (
        ["one two"], {"line": 1, "column": 5, "content": "and\na half "},
        ["one and", "a half two"], [[1, 2]],
    ),
    "old text inside a line": (
        ["x = f(1)", "y = g(1)"], {"old_text": "g(1", "content": "g(2, 3"},
        ["x = f(1)", "y = g(2, 3)"], [[2, 2]],
    ),
    "old text over several lines": (
        [*THREE, "four"], {"old_text": "wo\nthree\nf", "content": "ea\nc"},
        ["one", "tea", "cour"], [[2, 3]],
    ),
    "old text with its newline takes the line away": (
        [*THREE], {"old_text": "two\n", "content": ""}, ["one", "three"], [[2, 1]],
    ),
    "old text may end with the last newline": (
        [*THREE], {"old_text": "two\nthree\n", "content": "2\n3\n"}, ["one", "2", "3"], [[2, 3]],
    ),
    "old text is no pattern": (
        ["axb", r"a.b & \1 ~"], {"old_text": r"a.b & \1 ~", "content": r"\0 & ~ \n"},
        ["axb", r"\0 & ~ \n"], [[2, 2]],
    ),
    "the whole buffer": (
        [*THREE], {"content": "zero\none\ntwo\nTHREE\n"},
        ["zero", "one", "two", "THREE"], [[1, 1], [4, 4]],
    ),
    "nothing in the whole buffer": ([*THREE], {"content": ""}, [""], [[1, 1]]),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_text_becomes_what_was_asked_for(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, name: str
) -> None:
    before, arguments, after, changed = EDITS[name]
    path = write(sandbox, "a.txt", *before)
    show(editor, path)
    answer = done(assistant, "vim_edit", file=str(path), **arguments)
    assert editor.lines() == after
    assert [[one["first"], one["last"]] for one in answer["changed"]] == changed


def test_an_edit_is_told_and_not_saved(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    answer = done(assistant, "vim_edit", file=str(path), line=2, end_line=3, content="2\n3\n4\n")
    assert editor.lines() == ["one", "2", "3", "4"]
    assert answer["changed"] == [{"first": 2, "last": 4}]
    assert answer["line_count"] == 4
    assert answer["modified"] is True
    assert answer["saved"] is False
    assert answer["changedtick"] == editor.eval("b:changedtick")
    assert path.read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("column", "expected"),
    [(1, "+äöü日本"), (3, "äö+ü日本"), (5, "äöü日+本"), (6, "äöü日本+")],
)
def test_column_inserts_before_that_character(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, column: int, expected: str
) -> None:
    path = write(sandbox, "a.txt", "one", "äöü日本")
    show(editor, path)
    done(assistant, "vim_edit", file=str(path), line=2, column=column, content="+")
    assert editor.lines() == ["one", expected]


def test_old_text_is_looked_for_in_unsaved_text(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    editor.type("jccunsaved<Esc>")
    done(assistant, "vim_edit", file=str(path), old_text="unsaved", content="edited")
    assert editor.lines() == ["one", "edited", "three"]


def test_old_text_that_is_not_there_changes_nothing(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    error = refused(assistant, "vim_edit", file=str(path), old_text="Two", content="x")
    assert error["code"] == -32602
    assert "not found" in error["message"]
    assert editor.lines() == list(THREE)


@pytest.mark.parametrize(
    ("twice", "old"), [(("a", "b", "a"), "a"), (("aXa", "b", "c"), "a"), (("ababa",), "aba")]
)
def test_old_text_that_occurs_twice_changes_nothing(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, twice: tuple[str, ...], old: str
) -> None:
    path = write(sandbox, "a.txt", *twice)
    show(editor, path)
    error = refused(assistant, "vim_edit", file=str(path), old_text=old, content="x")
    assert error["code"] == -32602
    assert "more than once" in error["message"]
    assert editor.lines() == list(twice)


def test_whole_buffer_with_the_same_text_changes_nothing(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    tick = editor.eval("b:changedtick")
    answer = done(assistant, "vim_edit", file=str(path), content="one\ntwo\nthree\n")
    assert answer["changed"] == []
    assert answer["modified"] is False
    assert editor.eval("b:changedtick") == tick


def test_unnamed_buffer_is_edited_by_its_number(editor: Editor, assistant: Assistant) -> None:
    editor.type("ihello<Esc>")
    done(assistant, "vim_edit", bufnr=editor.eval("bufnr()"), old_text="hello", content="bye")
    assert editor.lines() == ["bye"]


def test_hidden_buffer_is_edited_where_it_is(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    hidden = hide(editor, path)
    editor.type("iin front<Esc>")
    answer = done(assistant, "vim_edit", file=str(path), line=1, content="ONE")
    assert answer["bufnr"] == hidden
    assert editor.lines(hidden) == ["ONE", "two", "three"]
    assert editor.lines() == ["in front"]
    assert editor.eval("winnr('$')") == 1


def test_file_not_open_yet_is_loaded_and_edited(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "sub/a.txt", *THREE)
    before = editor.eval("bufnr()")
    answer = done(assistant, "vim_edit", file="sub/a.txt", old_text="two", content="TWO")
    assert answer["file"] == str(path)
    assert editor.lines(answer["bufnr"]) == ["one", "TWO", "three"]
    assert editor.eval(f"buflisted({answer['bufnr']})")
    assert editor.eval("[bufnr(), winnr('$')]") == [before, 1]
    assert path.read_text() == "one\ntwo\nthree\n"


def test_new_file_is_made_when_it_is_saved(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = sandbox.project() / "new.txt"
    done(assistant, "vim_edit", file=str(path), content="hello\n")
    assert not path.exists()
    answer = done(assistant, "vim_edit", file=str(path), content="hello\nthere\n", save=True)
    assert answer["saved"] is True
    assert path.read_text() == "hello\nthere\n"


def test_save_writes_the_file(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    answer = done(assistant, "vim_edit", file=str(path), line=1, content="ONE", save=True)
    assert answer["saved"] is True
    assert answer["modified"] is False
    assert path.read_text() == "ONE\ntwo\nthree\n"
    assert editor.eval("&modified") == 0


def test_without_content_the_file_is_opened_there(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    answer = done(assistant, "vim_edit", file=str(path), line=2, column=3)
    assert answer["changed"] == []
    assert editor.eval("expand('%:p')") == str(path)
    assert editor.eval("getpos('.')[1:2]") == [2, 3]
    assert editor.lines() == list(THREE)


def test_answer_has_the_context_of_the_change(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *[f"line {n}" for n in range(1, 10)])
    show(editor, path)
    answer = done(assistant, "vim_edit", file=str(path), line=5, content="FIVE")
    assert answer["context"] == "3\tline 3\n4\tline 4\n5\tFIVE\n6\tline 6\n7\tline 7"


def test_nul_and_wide_characters_arrive_unharmed(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    done(assistant, "vim_edit", file=str(path), line=2, content="a\0b 日本 🙂 é", save=True)
    assert path.read_bytes().decode() == "one\na\0b 日本 🙂 é\nthree\n"


def test_windows_line_ends_in_content_are_line_ends(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    done(assistant, "vim_edit", file=str(path), line=2, content="x\r\ny\r\n")
    assert editor.lines() == ["one", "x", "y", "three"]
    done(assistant, "vim_edit", file=str(path), line=1, column=4, content="\r\nand\r\n")
    assert editor.lines() == ["one", "and", "", "x", "y", "three"]
