"""vim_undo and vim_save: taking changes back, and writing them where Vim would not have to ask."""

from __future__ import annotations

import pytest

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import done, hide, reason, refused, show, write

THREE = ("one", "two", "three")


def test_undo_takes_the_last_change_back(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    editor.type("Auser<Esc>")
    done(assistant, "vim_edit", file=str(path), line=3, content="edited")
    answer = done(assistant, "vim_undo")
    assert answer["undone"] == 1
    assert editor.lines() == ["oneuser", "two", "three"]
    assert answer["changedtick"] == editor.eval("b:changedtick")
    # The user's own, too, and they can have it again.
    done(assistant, "vim_undo")
    assert editor.lines() == list(THREE)
    editor.type("<C-r>")
    assert editor.lines() == ["oneuser", "two", "three"]


def test_undo_of_several_changes_says_how_many_there_were(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    for line in range(1, 4):
        done(assistant, "vim_edit", file=str(path), line=line, content="x")
    assert done(assistant, "vim_undo", count=2)["undone"] == 2
    assert editor.lines() == ["x", "two", "three"]
    assert done(assistant, "vim_undo", count=10)["undone"] == 1
    assert editor.lines() == list(THREE)
    assert refused(assistant, "vim_undo")["code"] == 1004


@pytest.mark.parametrize("place", ["hidden", "other window", "other tab page"])
def test_undo_in_a_buffer_that_is_not_current(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, place: str
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    editor.command("set hidden")
    number = show(editor, path)
    editor.command({"hidden": "enew", "other window": "new", "other tab page": "tabnew"}[place])
    editor.type("ihere<Esc>")
    layout = "[winlayout(), tabpagenr(), bufnr(), getpos('.'), bufnr('#'), winnr('#')]"
    before = editor.eval(layout)
    done(assistant, "vim_edit", file=str(path), line=1, content="ONE")
    answer = done(assistant, "vim_undo", file=str(path))
    assert answer["bufnr"] == number
    assert editor.lines(number) == list(THREE)
    assert editor.lines() == ["here"]
    assert editor.eval(layout) == before
    assert editor.messages() == ""


@pytest.mark.parametrize("count", [0, -1, 1001, "many"])
def test_undo_of_a_senseless_number_is_refused(
    editor: Editor, assistant: Assistant, count: object
) -> None:
    editor.type("ione<Esc>")
    assert refused(assistant, "vim_undo", count=count)["code"] == -32602
    assert editor.lines() == ["one"]


def test_undo_waits_while_the_user_types(editor: Editor, assistant: Assistant) -> None:
    editor.type("ione<Esc>otwo")
    undo = assistant.call_async("vim_undo")
    editor.type(" words")
    assert not undo.done()
    editor.type("<Esc>")
    assert not undo.result(30).is_error
    assert editor.lines() == ["one"]


@pytest.mark.parametrize("place", ["current", "hidden", "other window"])
def test_save_writes_the_buffer(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, place: str
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    editor.command("set hidden")
    number = show(editor, path)
    editor.type("Aunsaved<Esc>")
    if place != "current":
        editor.command({"hidden": "enew", "other window": "new"}[place])
    layout = "[winlayout(), bufnr(), getpos('.'), bufnr('#'), winnr('#'), getpos(\"'[\")]"
    before = editor.eval(layout)
    answer = done(assistant, "vim_save", **({} if place == "current" else {"file": str(path)}))
    assert answer["saved"] is True
    assert answer["modified"] is False
    assert path.read_text() == "oneunsaved\ntwo\nthree\n"
    assert editor.eval(f"getbufvar({number}, '&modified')") == 0
    assert editor.eval(layout) == before
    assert not editor.waiting


def test_save_makes_a_new_file(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    path = sandbox.project() / "new.txt"
    show(editor, path)
    editor.type("ihello<Esc>")
    done(assistant, "vim_save")
    assert path.read_text() == "hello\n"


def test_save_keeps_the_format_of_the_file(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = sandbox.project() / "dos.txt"
    path.write_bytes(b"one\r\ntwo\r\n")
    show(editor, path)
    done(assistant, "vim_edit", file=str(path), line=1, content="ONE")
    done(assistant, "vim_save")
    assert path.read_bytes() == b"ONE\r\ntwo\r\n"


def test_save_keeps_a_missing_last_newline(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = sandbox.project() / "a.txt"
    path.write_bytes(b"one\ntwo")
    show(editor, path)
    editor.command("setlocal nofixendofline")
    done(assistant, "vim_edit", file=str(path), line=1, content="ONE", save=True)
    assert path.read_bytes() == b"ONE\ntwo"


def test_save_runs_the_users_autocommands(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    editor.command("autocmd BufWritePre <buffer> call setline(1, 'formatted')")
    editor.type("Ax<Esc>")
    done(assistant, "vim_save")
    assert path.read_text() == "formatted\ntwo\nthree\n"


def test_unmodified_buffer_is_not_written_again(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    before = path.stat()
    assert done(assistant, "vim_save")["saved"] is True
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_buffer_without_a_name_is_not_saved(editor: Editor, assistant: Assistant) -> None:
    editor.type("ihello<Esc>")
    error = refused(assistant, "vim_save")
    assert error["code"] == 1004
    assert "no file name" in error["message"]
    assert not editor.waiting


@pytest.mark.parametrize("place", ["current", "hidden"])
def test_file_changed_on_disk_meanwhile_is_not_overwritten(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, place: str
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    number = show(editor, path)
    editor.command("set hidden")
    editor.type("Amine<Esc>")
    if place == "hidden":
        editor.command("enew")
    path.write_text("written by another program\n")
    error = refused(assistant, "vim_save", file=str(path))
    assert error["code"] == 1004
    assert "changed on disk" in error["message"]
    assert path.read_text() == "written by another program\n"
    assert editor.lines(number) == ["onemine", "two", "three"]
    # No question came up, and the user can still decide.
    assert not editor.waiting
    assert editor.eval(f"getbufvar({number}, '&modified')") == 1


def test_file_gone_meanwhile_is_written_anew_or_said_to_be_gone(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    editor.type("Ax<Esc>")
    path.unlink()
    answer = assistant.call("vim_save")
    assert path.exists() is not answer.is_error
    assert not editor.waiting


def test_read_only_buffer_is_not_saved(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    show(editor, path)
    editor.command("setlocal readonly")
    editor.command("call setline(1, 'x')")
    error = refused(assistant, "vim_save")
    assert (error["code"], reason(error)) == (1004, "readonly")
    assert path.read_text() == "one\ntwo\nthree\n"
    assert not editor.waiting


def test_directory_that_is_gone_is_vims_own_error(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "sub/a.txt", *THREE)
    show(editor, path)
    editor.type("Ax<Esc>")
    path.unlink()
    path.parent.rmdir()
    error = refused(assistant, "vim_save")
    assert error["code"] == 1004
    assert editor.eval("&modified") == 1
    assert not editor.waiting


def test_file_that_is_not_open_is_not_saved(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", *THREE)
    for tool in ("vim_save", "vim_undo"):
        error = refused(assistant, tool, file=str(path))
        assert (error["code"], reason(error)) == (1004, "not_open")
    hidden = hide(editor, path)
    editor.command(f"bunload {hidden}")
    assert reason(refused(assistant, "vim_save", bufnr=hidden)) == "not_open"
