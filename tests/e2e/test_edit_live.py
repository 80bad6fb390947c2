"""vim_edit in a Vim that its user works in: undo steps, marks, cursors, registers, typing."""

from __future__ import annotations

import pytest

from harness import Assistant, Editor, Sandbox, wait_until
from tests.e2e.support import done, hide, show, write

THREE = ("one", "two", "three")


def test_edit_is_one_undo_step_apart_from_the_users_typing(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    editor.type("Auser<Esc>")
    before = editor.lines()
    done(assistant, "vim_edit", file=str(path), content="oneuser\n2\nthree\n4\n")
    edited = editor.lines()
    editor.type("Amore<Esc>")
    assert editor.lines() == ["oneusermore", "2", "three", "4"]
    editor.type("u")
    assert editor.lines() == edited
    editor.type("u")
    assert editor.lines() == before
    editor.type("u")
    assert editor.lines() == list(THREE)


def test_two_edits_are_two_undo_steps(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    done(assistant, "vim_edit", file=str(path), line=1, content="ONE")
    done(assistant, "vim_edit", file=str(path), line=3, content="THREE")
    editor.type("u")
    assert editor.lines() == ["ONE", "two", "three"]
    editor.type("u")
    assert editor.lines() == list(THREE)
    editor.type("<C-r><C-r>")
    assert editor.lines() == ["ONE", "two", "THREE"]


def test_undo_steps_of_a_hidden_buffer_are_its_own_too(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    editor.command("set hidden")
    hidden = show(editor, path)
    editor.type("Auser<Esc>:enew<CR>")
    done(assistant, "vim_edit", file=str(path), line=2, content="TWO")
    done(assistant, "vim_edit", file=str(path), content="ONE\nTWO\nTHREE\n")
    editor.type(f":buffer {hidden}<CR>u")
    assert editor.lines() == ["oneuser", "TWO", "three"]
    editor.type("u")
    assert editor.lines() == ["oneuser", "two", "three"]
    editor.type("u")
    assert editor.lines() == list(THREE)


def test_undo_level_settings_stay(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    path = write(sandbox, "a.txt", *THREE)
    hidden = hide(editor, path)
    there = f"getbufvar({hidden}, '&undolevels')"
    levels = f"[&undolevels, &g:undolevels, &l:undolevels, {there}]"
    before = editor.eval(levels)
    done(assistant, "vim_edit", file=str(path), line=1, content="ONE")
    done(assistant, "vim_edit", bufnr=editor.eval("bufnr()"), line=1, content="x")
    assert editor.eval(levels) == before


def test_marks_on_untouched_lines_stay(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    lines = [f"line {n}" for n in range(1, 31)]
    path = write(sandbox, "a.txt", *lines)
    show(editor, path)
    editor.type("5Gma20Gmb25Gmc")
    new = [*lines[:9], "new 1", "new 2", *lines[11:14], *lines[16:]]
    done(assistant, "vim_edit", file=str(path), content="\n".join(new) + "\n")
    assert editor.lines() == new
    marks = editor.eval("map(['a', 'b', 'c'], 'getpos(\"''\" . v:val)[1:2]')")
    assert marks == [[5, 1], [18, 1], [23, 1]]
    assert editor.eval('getline("\'b")') == "line 20"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"line": 2, "content": "changed"}, 10),
        ({"line": 1, "end_line": 0, "content": "a\nb\n"}, 12),
        ({"line": 3, "end_line": 5, "content": ""}, 7),
        ({"line": 15, "end_line": 20, "content": ""}, 10),
    ],
    ids=["changed above", "inserted above", "deleted above", "deleted below"],
)
def test_cursor_stays_on_its_text(
    editor: Editor,
    assistant: Assistant,
    sandbox: Sandbox,
    where: dict[str, object],
    expected: int,
) -> None:
    path = write(sandbox, "a.txt", *[f"line {n}" for n in range(1, 31)])
    show(editor, path)
    editor.type("10G4|")
    done(assistant, "vim_edit", file=str(path), **where)
    assert editor.eval("[getpos('.')[1:2], getline('.')]") == [[expected, 4], "line 10"]


@pytest.mark.parametrize(("line", "top"), [(5, 19), (45, 20), (20, 20)])
def test_view_stays_when_lines_are_deleted(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, line: int, top: int
) -> None:
    path = write(sandbox, "a.txt", *[f"line {n}" for n in range(1, 101)])
    show(editor, path)
    # The cursor in the top line is what makes Vim's own deletebufline() scroll.
    editor.type("20Gzt")
    done(assistant, "vim_edit", file=str(path), line=line, content="")
    assert editor.eval("line('w0')") == top


def test_cursor_in_a_rewritten_line_keeps_its_column(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "one", "the second line")
    show(editor, path)
    editor.type("2G5|")
    done(assistant, "vim_edit", file=str(path), old_text="line", content="row")
    assert editor.eval("getpos('.')[1:2]") == [2, 5]


def test_folds_of_untouched_lines_stay(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *[f"line {n}" for n in range(1, 21)])
    show(editor, path)
    editor.type(":set foldmethod=manual<CR>5Gzf2j12Gzf3j1G")
    done(assistant, "vim_edit", file=str(path), line=2, content="x\ny")
    assert editor.eval("[foldclosed(6), foldclosedend(6)]") == [6, 8]
    assert editor.eval("[foldclosed(13), foldclosedend(13)]") == [13, 16]


def test_nothing_of_the_users_is_touched(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *[f"line {n}" for n in range(1, 41)])
    show(editor, path)
    # Registers, a search pattern, a jump, a last change and a last visual selection.
    editor.type('"ayy10Gyiw/line 2<CR>ggVjj<Esc>30GA!<Esc>5G')
    facts = """[getreg('"'), getreg('a'), getreg('0'), getreg('1'), getreg('-'), getreg('.'),
        @/, getjumplist()[1], map(copy(getjumplist()[0]), 'v:val.lnum'), getpos("'<"), getpos("'>"),
        getpos("''"), getpos("'."), getpos("'^"), winsaveview(), v:hlsearch, winnr(), bufnr('#'),
        histget('cmd'), histnr(':'), histnr('/'), v:errmsg, @:]"""
    before = editor.eval(facts.replace("\n", " "))
    done(assistant, "vim_edit", file=str(path), line=38, content="")
    done(assistant, "vim_edit", file=str(path), line=25, content="new")
    done(assistant, "vim_edit", file=str(path), old_text="line 35\n", content="a\nb\n")
    after = editor.eval(facts.replace("\n", " "))
    # The place of the last change is the edit's now, and follows what moves above.
    before[12] = after[12] = None
    before[8] = after[8] = None
    before[13] = after[13] = None
    assert after == before
    assert editor.messages() == ""
    assert editor.eval("winnr('$')") == 1


def test_dot_repeats_the_users_own_change(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    editor.type("A!<Esc>")
    done(assistant, "vim_edit", file=str(path), line=3, content="THREE")
    editor.type("j.")
    assert editor.lines() == ["one!", "two!", "THREE"]


def test_edit_shows_on_the_screen_at_once(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    done(assistant, "vim_edit", file=str(path), line=2, content="seen by the user")
    editor.wait_screen("seen by the user")


def test_two_windows_on_the_buffer_keep_their_cursors(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *[f"line {n}" for n in range(1, 31)])
    show(editor, path)
    editor.type("20G:split<CR>5G")
    done(assistant, "vim_edit", file=str(path), line=10, end_line=9, content="new")
    assert editor.eval("[line('.'), line('.', win_getid(2))]") == [5, 21]


def test_user_typing_at_the_same_time_loses_nothing(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "top", "count 0", "end")
    show(editor, path)
    editor.type("G")
    typed = [f"user {n}" for n in range(150)]
    applied = 0
    # Keys of about a screenful at a time, so that edits come between any two of them.
    for start in range(0, len(typed), 5):
        keys = "".join(f"o{line}<Esc>" for line in typed[start : start + 5])
        editor.type(keys, sync=False)
        answer = assistant.call(
            "vim_edit",
            file=str(path),
            old_text=f"count {applied}\n",
            content=f"count {applied + 1}\n",
        )
        if not answer.is_error:
            applied += 1
    wait_until(lambda: editor.mode() == "n", what="the user to be done")
    editor.type("<Esc>")
    assert applied > 0
    assert editor.lines() == ["top", f"count {applied}", "end", *typed]


def test_whole_buffer_edit_never_wipes_what_was_typed_meanwhile(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *[f"line {n}" for n in range(400)])
    show(editor, path)
    tick = editor.eval("b:changedtick")
    editor.type("Gotyped<Esc>")
    whole = "\n".join(f"row {n}" for n in range(400)) + "\n"
    answer = assistant.call("vim_edit", file=str(path), content=whole, expected_changedtick=tick)
    assert answer.is_error
    assert answer.error["data"]["reason"] == "stale"
    assert editor.lines()[-1] == "typed"
    assert editor.lines()[0] == "line 0"
