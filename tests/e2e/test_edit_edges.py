"""Edits at the edges of a text: its last newline, an empty buffer, CRs of its own, many at once."""

from __future__ import annotations

from concurrent.futures import wait

import pytest

from harness import Assistant, Editor, Sandbox

Case = tuple[str, dict[str, object], list[str]]

CASES: dict[str, Case] = {
    "the last line goes with its newline": (
        "l1\nl2\n",
        {"old_text": "l2\n", "content": ""},
        ["l1"],
    ),
    "the first line goes with its newline": (
        "l1\nl2\n",
        {"old_text": "l1\n", "content": ""},
        ["l2"],
    ),
    "a newline is taken away": ("l1\nl2\n", {"old_text": "1\nl", "content": "+"}, ["l+2"]),
    "the last newline is content of the match": (
        "l1\nl2\n",
        {"old_text": "l2\n", "content": "x\ny\n"},
        ["l1", "x", "y"],
    ),
    "all of it goes": ("l1\n", {"old_text": "l1\n", "content": ""}, [""]),
    "an insert before the line of an empty file": (
        "",
        {"line": 1, "end_line": 0, "content": "a\n"},
        ["a"],
    ),
    "an insert after the line of an empty file": (
        "",
        {"line": 2, "end_line": 1, "content": "a\n"},
        ["a"],
    ),
    "an insert into a file of one newline": (
        "\n",
        {"line": 1, "end_line": 0, "content": "a\n"},
        ["a", ""],
    ),
    "CRs of the lines, as they were read": (
        "a\r\nb\nc\r\n",
        {"old_text": "a\r\nb", "content": "a\r\nB"},
        ["a\r", "B", "c\r"],
    ),
    "the whole text, with CRs of its own": (
        "a\r\nb\nc\r\n",
        {"content": "a\r\nB\nc\r\n"},
        ["a\r", "B", "c\r"],
    ),
    "lines with CRs of their own": (
        "a\r\nb\nc\r\n",
        {"line": 1, "end_line": 2, "content": "a\r\nB\n"},
        ["a\r", "B", "c\r"],
    ),
    "CR LF where the lines have none": (
        "a\nb\n",
        {"old_text": "a\r\nb", "content": "x\r\ny"},
        ["x", "y"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_at_the_edge(name: str, editor: Editor, sandbox: Sandbox, assistant: Assistant) -> None:
    before, arguments, after = CASES[name]
    file = sandbox.project() / "edge.txt"
    file.write_bytes(before.encode())
    editor.command(f"edit ++ff=unix {file}")
    answer = assistant.call("vim_edit", file=str(file), **arguments)
    assert not answer.is_error, answer.text
    assert editor.lines() == after


def test_a_match_at_the_end_counts_too(
    editor: Editor, sandbox: Sandbox, assistant: Assistant
) -> None:
    file = sandbox.project() / "twice.txt"
    file.write_text("foo\nbar\nfoo\n")
    editor.command(f"edit {file}")
    answer = assistant.call("vim_edit", file=str(file), old_text="foo\n", content="x\n")
    assert answer.error["data"]["lines"] == [1, 3]
    assert editor.lines() == ["foo", "bar", "foo"]


def test_many_edits_of_one_buffer_at_once_are_all_done(
    editor: Editor, sandbox: Sandbox, assistant: Assistant
) -> None:
    file = sandbox.project() / "many.txt"
    file.write_text("".join(f"<line {n}>\n" for n in range(20)))
    editor.command(f"edit {file}")
    calls = [
        assistant.call_async(
            "vim_edit", file=str(file), old_text=f"<line {n}>", content=f"<done {n}>"
        )
        for n in range(20)
    ]
    wait(calls)
    assert [c.result().text for c in calls if c.result().is_error] == []
    assert editor.lines() == [f"<done {n}>" for n in range(20)]


def test_an_insert_at_a_column_opens_the_file(
    editor: Editor, sandbox: Sandbox, assistant: Assistant
) -> None:
    file = sandbox.project() / "closed.txt"
    file.write_text("ab\n")
    answer = assistant.call("vim_edit", file=str(file), line=1, column=2, content="-")
    assert not answer.is_error, answer.text
    assert editor.lines(answer.data["bufnr"]) == ["a-b"]


def test_an_edit_longer_than_an_editor_takes_is_refused_with_the_limit(
    editor: Editor, sandbox: Sandbox, assistant: Assistant
) -> None:
    file = sandbox.project() / "long.txt"
    file.write_text("short\n")
    editor.command(f"edit {file}")
    answer = assistant.call("vim_edit", file=str(file), content="x" * 3_000_000)
    assert answer.error["code"] == -32602
    assert answer.error["data"]["limit"] == 2 * 1024 * 1024
    assert editor.lines() == ["short"]


def test_a_page_is_never_longer_than_a_page_and_all_of_a_text_can_be_had(
    editor: Editor, sandbox: Sandbox, assistant: Assistant
) -> None:
    file = sandbox.project() / "pages.txt"
    long = "".join(f"{n:06}" for n in range(20_000))
    file.write_text("\n" * 30_000 + long + "\n")
    editor.command(f"edit {file}")
    seen: dict[int, str] = {}
    place: dict[str, int] = {}
    while True:
        answer = assistant.call("vim_read", **place)
        assert not answer.is_error, answer.text
        assert len(answer.text) < 51_000
        *rows, last = answer.text.split("\n")[1:]
        more = last.startswith("[more: ")
        for row in rows if more else [*rows, last]:
            number, _, text = row.partition("\t")
            seen[int(number)] = seen.get(int(number), "") + text
        if not more:
            break
        arguments = last.removeprefix("[more: call again with ").removesuffix("]").split(", ")
        place = {name: int(value) for name, value in (a.split("=") for a in arguments)}
    assert len(seen) == 30_001
    assert seen[30_001] == long
