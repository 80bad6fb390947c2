"""vim_edit while the user is in the middle of something: it waits, and nothing lands elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple

import pytest

from harness import Answer, Assistant, Editor, EditorBlocked, Hub, Sandbox, wait_until
from tests.e2e.support import done, hide, reason, refused, show, write


class Moment(NamedTuple):
    """A state the user is in: the keys into it, the mode it is, why no edit, the keys out of it."""

    enter: str
    mode: str
    reason: str
    leave: str
    #: What the keys made of the text, beside the edit of line 1.
    text: tuple[str, ...] = ("two", "three", "throw")
    #: The reason where the editor cannot say more than that it waits for a key.
    blocked: str = ""


MOMENTS = {
    "insert": Moment("ix", "i", "insert_mode", "y<Esc>", ("xytwo", "three", "throw")),
    "replace": Moment("Rx", "R", "insert_mode", "y<Esc>", ("xyo", "three", "throw")),
    "one command in insert": Moment(
        "ix<C-o>", "niI", "insert_mode", "<Esc><Esc>", ("xtwo", "three", "throw")
    ),
    "insert with a register asked for": Moment(
        "i<C-r>", "i", "insert_mode", "<Esc><Esc>", blocked="pending_key"
    ),
    "completion popup": Moment(
        "othr<C-n>", "ic", "insert_mode", "<Esc>", ("two", "three", "three", "throw")
    ),
    "visual": Moment("vj", "v", "visual_mode", "<Esc>"),
    "visual lines": Moment("Vj", "V", "visual_mode", "d", ("throw",)),
    "visual block": Moment("<C-v>j", "\x16", "visual_mode", "<Esc>"),
    "select": Moment("gh", "s", "visual_mode", "<Esc>"),
    "operator": Moment("d", "no", "pending_key", "j", ("throw",)),
    "g": Moment("g", "n", "pending_key", "<Esc>"),
    "register": Moment('"', "n", "pending_key", "a<Esc>"),
    "character to find": Moment("f", "n", "pending_key", "<Esc>"),
    "command line": Moment(":2,3d", "c", "pending_key", "<CR>", ("throw",)),
    "search": Moment("/thr", "c", "pending_key", "<CR>"),
    "command-line window": Moment("q:", "n", "cmdwin", ":q<CR>"),
    "hit-enter prompt": Moment(":echo 1 | echo 2<CR>", "r", "hit_enter", "<CR>"),
    "more prompt": Moment(":set all<CR>", "rm", "hit_enter", "q"),
    "confirm": Moment(":call confirm('Sure?')<CR>", "r?", "hit_enter", "<CR>"),
    "input": Moment(":call input('? ')<CR>", "c", "pending_key", "<CR>"),
    "recording": Moment("qa", "n", "pending_key", "q"),
}

moments = pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)


def begin(editor: Editor, keys: str) -> None:
    """Type keys that leave a command unfinished, and wait until the editor has taken them in."""
    with contextlib.suppress(EditorBlocked):
        editor.type(keys)


def enter(editor: Editor, moment: Moment) -> None:
    """Type the keys into a moment and wait until the editor is there."""
    begin(editor, moment.enter)
    editor.wait_mode(moment.mode)


def assert_waits(editor: Editor, assistant: Assistant, act: Future[Answer]) -> None:
    """Wait until the act has come to the editor, which has looked at it and left it."""
    try:
        wait_until(
            lambda: act.done() or editor.eval("vim_mcp#acts#Pending()"),
            what="the act to reach the editor",
        )
        # By the time of these answers the queue has been looked at more than once.
        for _ in range(3):
            done(assistant, "vim_get_state")
    except EditorBlocked:
        # It reads nothing before the next key.
        pass
    assert not act.done(), act.result().text


@moments
def test_edit_waits_until_the_user_leaves(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, moment: Moment
) -> None:
    path = write(sandbox, "a.txt", "one", "two", "three", "throw")
    show(editor, path)
    editor.type("2G0")
    enter(editor, moment)
    edit = assistant.call_async("vim_edit", file=str(path), line=1, content="ONE")
    assert_waits(editor, assistant, edit)
    editor.type(moment.leave)
    assert not edit.result(30).is_error, edit.result().text
    assert editor.lines() == ["ONE", *moment.text]
    editor.type("u")
    assert editor.lines() == ["one", *moment.text]


@pytest.fixture
def impatient(hub: Hub) -> Hub:
    """A hub of this test's own whose acts wait for two seconds at most."""
    return hub.restart(VIM_MCP_TIMEOUT_SCALE="0.4")


@pytest.mark.private
@moments
def test_edit_is_refused_when_the_user_stays(
    impatient: Hub,
    editor: Editor,
    assistant: Assistant,
    sandbox: Sandbox,
    moment: Moment,
) -> None:
    path = write(sandbox, "a.txt", "one", "two", "three", "throw")
    show(editor, path)
    editor.type("2G0")
    enter(editor, moment)
    error = refused(assistant, "vim_edit", file=str(path), line=1, content="ONE")
    assert error["code"] == 1003
    assert reason(error) in {moment.reason, moment.blocked}, error
    editor.type(moment.leave)
    # An act that is done later than this one would have been done: they stand in one queue.
    done(assistant, "vim_execute", command="echo 1")
    assert editor.lines() == ["one", *moment.text]


@pytest.mark.parametrize(
    ("keys", "mode"), [("ix", "i"), ("Rx", "R"), ("v", "v"), ("V", "V"), ("<C-v>", "\x16")]
)
def test_another_buffer_is_edited_while_the_user_types(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, keys: str, mode: str
) -> None:
    path = write(sandbox, "hidden.txt", "one", "two")
    hidden = hide(editor, path)
    editor.type("ifront<Esc>0")
    editor.type(keys)
    done(assistant, "vim_edit", file=str(path), line=1, content="ONE")
    assert editor.mode() == mode
    assert editor.lines(hidden) == ["ONE", "two"]
    editor.type("y<Esc>")
    assert editor.lines(hidden) == ["ONE", "two"]
    expected = {"i": "xyfront", "R": "xyont"}.get(mode, "front")
    assert editor.lines() == [expected]
    # The typing is one undo step, not cut by the edit of the other buffer.
    if mode in "iR":
        editor.type("u")
        assert editor.lines() == ["front"]


def test_edit_of_another_buffer_waits_for_the_completion_popup(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "hidden.txt", "one", "two")
    hidden = hide(editor, path)
    editor.type("ithree<CR>throw<CR>thr<C-n>", sync=False)
    editor.wait_mode("ic")
    edit = assistant.call_async("vim_edit", file=str(path), line=1, content="ONE")
    assert_waits(editor, assistant, edit)
    editor.type("<C-n><C-y><Esc>")
    assert not edit.result(30).is_error
    assert editor.lines(hidden) == ["ONE", "two"]
    assert editor.lines() == ["three", "throw", "throw"]


@pytest.mark.parametrize(
    ("keys", "rest", "expected"),
    [
        ("2Gd", "j", ["one"]),
        ("2Gc", "wx<Esc>", ["one", "x", "three"]),
        ("Ahello ", "there<Esc>", ["onehello there", "two", "three"]),
        ("vj", "d", ["wo", "three"]),
        ("gg2", "dd", ["three"]),
    ],
)
def test_command_half_typed_meets_the_file_it_was_begun_in(
    editor: Editor,
    assistant: Assistant,
    sandbox: Sandbox,
    keys: str,
    rest: str,
    expected: list[str],
) -> None:
    mine = write(sandbox, "mine.txt", "one", "two", "three")
    other = write(sandbox, "other.txt", "keep 1", "keep 2", "keep 3")
    editor.command("set hidden")
    number = show(editor, mine)
    editor.type("gg0")
    begin(editor, keys)
    opened = assistant.call_async("vim_open", file=str(other))
    assert_waits(editor, assistant, opened)
    editor.type(rest)
    assert not opened.result(30).is_error, opened.result().text
    assert editor.lines(number) == expected
    assert editor.lines() == ["keep 1", "keep 2", "keep 3"]


def test_acts_behind_a_waiting_one_keep_their_order(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "one")
    show(editor, path)
    editor.type("i")
    edits = [
        assistant.call_async("vim_edit", file=str(path), line=1, end_line=0, content=f"{n}")
        for n in range(5)
    ]
    wait_until(lambda: editor.eval("vim_mcp#acts#Pending()") == 5, what="five edits to wait")
    editor.type("<Esc>")
    assert all(not edit.result(30).is_error for edit in edits)
    assert sorted(editor.lines()[:-1]) == ["0", "1", "2", "3", "4"]
    assert editor.lines() == ["4", "3", "2", "1", "0", "one"]


def test_reading_works_while_an_edit_waits(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "one")
    show(editor, path)
    editor.type("Atyped")
    edit = assistant.call_async("vim_edit", file=str(path), line=1, end_line=0, content="new")
    assert_waits(editor, assistant, edit)
    assert done(assistant, "vim_read").endswith("1\tonetyped")
    assert done(assistant, "vim_get_state")["mode"] == "i"
    editor.type("<Esc>")
    assert not edit.result(30).is_error


def test_textlock_makes_an_edit_wait(
    new_editor: Callable[..., Editor], new_assistant: Callable[..., Assistant], sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "one")
    function = "function! Slow() abort\nsleep 300m\nreturn ''\nendfunction"
    editor = new_editor(files=[path], rc_extra=f"{function}\nnnoremap <expr> Q Slow()")
    assistant = new_assistant()
    editor.command("messages clear")
    editor.type("Q", sync=False)
    edit = assistant.call_async("vim_edit", file=str(path), line=1, content="ONE")
    # A mapping that gives no keys leaves the editor in the middle of it until the next key.
    editor.type("<Esc>", sync=False)
    assert not edit.result(30).is_error, edit.result().text
    assert editor.lines() == ["ONE"]
    assert editor.messages() == ""
