"""vim_read: text as the user has it, whole or in parts, from any open buffer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import done, hide, reason, refused, show, write

PAGE = 50_000


def body(text: str) -> list[str]:
    """Return the lines of an answer without their numbers, the first and the note left out."""
    lines = text.split("\n")[1:]
    if lines and lines[-1].startswith("[more:"):
        lines.pop()
    return [line.split("\t", 1)[1] for line in lines]


def test_unsaved_text_is_read(editor: Editor, assistant: Assistant) -> None:
    editor.type("ihello<CR>there<Esc>")
    text = done(assistant, "vim_read")
    assert text.split("\n")[1:] == ["1\thello", "2\tthere"]
    assert "unsaved changes" in text


def test_text_is_read_while_it_is_typed(editor: Editor, assistant: Assistant) -> None:
    editor.type("ihalf a wor")
    assert body(done(assistant, "vim_read")) == ["half a wor"]
    assert editor.mode() == "i"
    editor.type("d<Esc>")
    assert editor.lines() == ["half a word"]


def test_first_line_tells_what_an_edit_needs(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "one", "two")
    number = show(editor, path)
    tick = editor.eval("b:changedtick")
    assert done(assistant, "vim_read").split("\n")[0] == (
        f"{path} (buffer {number}, lines 1-2 of 2, changedtick {tick}, no unsaved changes)"
    )
    done(assistant, "vim_edit", file=str(path), line=1, content="ONE", expected_changedtick=tick)
    assert editor.lines() == ["ONE", "two"]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (3, 5, [3, 4, 5]),
        (1, 1, [1]),
        (9, 10, [9, 10]),
        (9, 4000, [9, 10]),
        (8, None, [8, 9, 10]),
        (None, 2, [1, 2]),
    ],
)
def test_range_of_lines(
    editor: Editor,
    assistant: Assistant,
    sandbox: Sandbox,
    first: int | None,
    last: int | None,
    expected: list[int],
) -> None:
    show(editor, write(sandbox, "a.txt", *[f"line {n}" for n in range(1, 11)]))
    given = {"first_line": first, "last_line": last}
    text = done(assistant, "vim_read", **{k: v for k, v in given.items() if v is not None})
    assert text.split("\n")[1:] == [f"{n}\tline {n}" for n in expected]
    assert f"lines {expected[0]}-{expected[-1]} of 10," in text


def test_long_text_comes_in_pages_that_join_to_all_of_it(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    lines = [f"{n} " + "x" * (n * 7 % 190) for n in range(1, 3001)]
    show(editor, write(sandbox, "a.txt", *lines))
    got: list[str] = []
    first: int | None = 1
    pages = 0
    while first is not None:
        text = done(assistant, "vim_read", first_line=first)
        assert len(text) <= PAGE + 300
        got += body(text)
        more = re.search(r"\n\[more: call again with first_line=(\d+)\]$", text)
        first = int(more[1]) if more else None
        pages += 1
    assert got == lines
    assert pages > 4


def test_page_ends_within_the_wanted_range(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *["x" * 999] * 60))
    text = done(assistant, "vim_read", last_line=55)
    following = len(body(text)) + 1
    assert 45 < following <= 51
    assert text.endswith(f"\n[more: call again with first_line={following}]")
    rest = done(assistant, "vim_read", first_line=following, last_line=55)
    assert "[more" not in rest
    assert len(body(text)) + len(body(rest)) == 55


def test_very_long_line_comes_in_pages_that_join_to_all_of_it(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    long = "ä日🙂" * 60_000
    show(editor, write(sandbox, "a.txt", "before", long, "after"))
    assert body(done(assistant, "vim_read")) == ["before"]
    place = {"first_line": 2}
    parts = []
    while place.get("first_line") == 2:
        text = done(assistant, "vim_read", **place)
        assert len(text) <= PAGE + 300
        parts.append(body(text))
        more = re.search(r"\[more: call again with (.*)\]$", text)
        place = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", more[1])} if more else {}
    # The last part has room for the line after it.
    assert parts[-1][1:] == ["after"]
    assert "".join(part[0] for part in parts) == long


def test_very_long_line_is_edited_without_loss(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    long = "ä日🙂" * 100_000 + "end"
    path = write(sandbox, "a.txt", "before", long)
    show(editor, path)
    done(assistant, "vim_edit", file=str(path), old_text="🙂end", content="END", save=True)
    assert path.read_text() == f"before\n{long[:-4]}END\n"


@pytest.mark.parametrize("spelling", ["absolute", "file URL", "escaped URL", "relative", "dotted"])
def test_file_is_named_in_any_way(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, spelling: str
) -> None:
    path = write(sandbox, "sub dir/ä b.txt", "hello")
    show(editor, Path(str(path).replace(" ", "\\ ")))
    editor.command("set hidden")
    editor.command("enew")
    file = {
        "absolute": str(path),
        "file URL": f"file://{path}",
        "escaped URL": path.as_uri(),
        "relative": "sub dir/ä b.txt",
        "dotted": "./sub dir/../sub dir/ä b.txt",
    }[spelling]
    assert body(done(assistant, "vim_read", file=file)) == ["hello"]


def test_file_is_found_through_a_link(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "hello")
    link = path.with_name("link.txt")
    link.symlink_to(path)
    show(editor, path)
    editor.type("ccunsaved<Esc>")
    assert body(done(assistant, "vim_read", file=str(link))) == ["unsaved"]


def test_name_is_no_pattern(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    show(editor, write(sandbox, "abc.txt", "hello"))
    for file in ("a*.txt", "ab", "abc", "abc.tx?", "[a]bc.txt", "bc.txt"):
        error = refused(assistant, "vim_read", file=file)
        assert (error["code"], reason(error)) == (1004, "not_open"), file


def test_names_full_of_special_characters_are_exact(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    names = ["[x].txt", "x.txt", "a*b.txt", "aXb.txt", "{a,b}.txt", "a.txt", "$HOME.txt", "%.txt"]
    editor.command("set hidden")
    for name in names:
        path = write(sandbox, name, f"this is {name}")
        editor.eval(f"execute('edit ' . fnameescape('{path}'))")
    for name in names:
        assert body(done(assistant, "vim_read", file=name)) == [f"this is {name}"]


def test_buffer_is_read_by_its_number(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    hidden = hide(editor, write(sandbox, "a.txt", "hidden text"))
    assert body(done(assistant, "vim_read", bufnr=hidden)) == ["hidden text"]
    assert body(done(assistant, "vim_read")) == [""]


def test_unsaved_text_of_a_hidden_buffer_is_read(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "on disk")
    editor.command("set hidden")
    show(editor, path)
    editor.type("ccunsaved<Esc>:enew<CR>")
    assert body(done(assistant, "vim_read", file=str(path))) == ["unsaved"]


def test_file_that_is_not_open_is_not_read_from_disk(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "text on disk")
    error = refused(assistant, "vim_read", file=str(path))
    assert (error["code"], reason(error)) == (1004, "not_open")
    assert "text on disk" not in str(error)
    assert editor.eval("len(getbufinfo())") == 1


def test_help_and_quickfix_are_read_too(editor: Editor, assistant: Assistant) -> None:
    editor.command("call setqflist([{'text': 'a problem', 'lnum': 3}])")
    editor.command("copen")
    assert "a problem" in done(assistant, "vim_read")


def test_non_ascii_text_is_read_as_it_is(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    lines = [
        "äöü ß é é",
        "日本語 中文 한국어",
        "🙂👨‍👩‍👧 \u200b\ufeff",
        "\u2028 \x85 \t \x01\x1b \x7f",
        "a\rb",
    ]
    path = sandbox.project() / "a.txt"
    path.write_bytes("\n".join([*lines, ""]).encode())
    show(editor, path)
    assert done(assistant, "vim_read").split("\n")[1:] == [
        f"{n}\t{line}" for n, line in enumerate(lines, 1)
    ]


def test_nul_is_read_as_nul(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    path = sandbox.project() / "a.txt"
    path.write_bytes(b"a\0b\0\nc\n")
    show(editor, path)
    assert body(done(assistant, "vim_read")) == ["a\0b\0", "c"]


def test_invalid_bytes_do_no_harm(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    path = sandbox.project() / "a.bin"
    data = b"ok\n\xff\xfe\x80 \xc3\n\xed\xa0\x80 end\nlast\n"
    path.write_bytes(data)
    editor.command(f"edit ++enc=utf-8 ++bad=keep {path}")
    lines = body(done(assistant, "vim_read"))
    assert (lines[0], lines[3]) == ("ok", "last")
    assert "\ufffd" in lines[1]
    # Editing another line leaves the bytes that could not be shown as they are.
    done(assistant, "vim_edit", file=str(path), line=1, content="OK", save=True)
    assert path.read_bytes() == data.replace(b"ok", b"OK")
    done(assistant, "vim_edit", file=str(path), content="\n".join(["1", *lines[1:]]), save=True)
    assert path.read_bytes() == data.replace(b"ok", b"1")


def test_empty_buffer_is_one_empty_line(editor: Editor, assistant: Assistant) -> None:
    text = done(assistant, "vim_read")
    assert text.split("\n")[1:] == ["1\t"]
    assert "lines 1-1 of 1" in text


def test_text_over_ten_megabytes_names_the_limit(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    line = "x" * 1023
    path = write(sandbox, "big.txt", *[line] * (10 * 1024 + 1))
    show(editor, path)
    error = refused(assistant, "vim_edit", file=str(path), old_text="nothing", content="x")
    assert error["code"] == -32602
    assert error["data"]["limit"] == 10 * 1024 * 1024
    assert "first_line" in error["message"]
    # In parts it is read and edited all the same.
    assert body(done(assistant, "vim_read", first_line=10_240)) == [line, line]
    done(assistant, "vim_edit", file=str(path), line=10_241, content="last")
    assert editor.eval("[line('$'), getline('$')]") == [10_241, "last"]


def test_content_over_two_megabytes_names_the_limit(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "one")
    show(editor, path)
    error = refused(assistant, "vim_edit", file=str(path), content="x" * (2 * 1024 * 1024 + 1))
    assert error["code"] == -32602
    assert error["data"]["limit"] == 2 * 1024 * 1024
    assert editor.lines() == ["one"]


def test_megabyte_goes_both_ways_unharmed(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    lines = [f"{n} äöü " + "x" * (n % 97) for n in range(15_000)]
    path = write(sandbox, "a.txt", "start")
    show(editor, path)
    done(assistant, "vim_edit", file=str(path), content="\n".join(lines) + "\n", save=True)
    assert path.read_text().splitlines() == lines
    (content,) = assistant.read("vim://buffer/current")
    assert getattr(content, "text", "").splitlines() == lines
