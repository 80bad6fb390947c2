"""vim://buffers: every buffer with its flags, in pages."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from syrupy.assertion import SnapshotAssertion

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import UNTOUCHED, done, hide, masked, no_resource, show, write

BUFFERS = "vim://buffers"


def rows(assistant: Assistant, uri: str = BUFFERS) -> dict[int, dict[str, Any]]:
    """Return the buffers of one page by their numbers."""
    return {row["bufnr"]: row for row in assistant.read_json(uri)["buffers"]}


def test_flags_of_buffers(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion
) -> None:
    hidden = hide(editor, write(sandbox, "hidden.py", "one", "two"))
    editor.command(f"call setbufline({hidden}, 1, 'changed')")
    editor.command(f"badd {write(sandbox, 'unloaded.txt', 'x')}")
    show(editor, write(sandbox, "alternate.md", "x"))
    editor.command(f"view {write(sandbox, 'shown.c', 'a', 'b', 'c')}")
    before = editor.eval(UNTOUCHED)
    told = assistant.read_json(BUFFERS)
    assert editor.eval(UNTOUCHED) == before
    for row in told["buffers"]:
        assert row["changedtick"] == editor.eval(f"getbufvar({row['bufnr']}, 'changedtick')")
        row["windows"] = len(row["windows"])
        row.pop("last_used", None)
    told["buffers"] = [row for row in told["buffers"] if row["name"]]
    assert masked(told, sandbox) == snapshot


def test_last_use_is_a_time(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    number = hide(editor, write(sandbox, "a.txt", "one"))
    used = datetime.fromisoformat(rows(assistant)[number]["last_used"])
    assert abs(datetime.now().astimezone() - used) < timedelta(minutes=5)
    told = {row["bufnr"]: row for row in assistant.read_json("vim://state")["buffers"]}
    assert told[number]["last_used"] == rows(assistant)[number]["last_used"]


def test_private_buffer_is_its_number_alone(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    number = hide(editor, write(sandbox, "id_canary", "hunter2"))
    assert rows(assistant)[number] == {"bufnr": number, "private": True}


def test_hundreds_of_buffers_come_in_pages(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    names = [str(sandbox.project() / f"file{n}.txt") for n in range(430)]
    editor.command(f"call map({names}, 'setbufvar(bufadd(v:val), \"&buflisted\", 1)')")
    seen: list[str] = []
    uri: str | None = BUFFERS
    sizes = []
    while uri is not None:
        page = assistant.read_json(uri)
        sizes.append(len(page["buffers"]))
        seen += [row["name"] for row in page["buffers"]]
        assert page["total"] == 431
        uri = page["next"]
    assert sizes == [200, 200, 31]
    assert sorted(filter(None, seen)) == sorted(names)
    # The tool says where its cut list goes on.
    state = done(assistant, "vim_get_state")
    assert len(state["buffers"]) == 200
    assert len(rows(assistant, state["more_buffers"])) == 200


def test_page_that_is_no_number_is_refused(editor: Editor, assistant: Assistant) -> None:
    for query in ("from=x", "from=0", "from=", "page=2"):
        assert no_resource(assistant, f"{BUFFERS}?{query}")["code"] == -32602
