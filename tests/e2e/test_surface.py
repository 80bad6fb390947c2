"""What an assistant sees of vim-mcp, word for word. A changed snapshot is a changed interface."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from syrupy.assertion import SnapshotAssertion

from harness import Answer, Assistant, Editor, Hub, Sandbox, wait_until
from harness.assistant import Era
from tests.e2e.support import masked, show, write

NewAssistant = Callable[..., Assistant]

THREE = ("one", "two", "three")


def shown(answer: Answer, sandbox: Sandbox) -> Any:
    """Return an answer as the assistant has it, once: the text and the data say the same.

    What a person is to read first comes as a text of its own.
    """
    if answer.is_error:
        assert answer.data is None
        return {"error": masked(json.loads(answer.text), sandbox)}
    if answer.data is None:
        return masked(answer.text, sandbox)
    *first, last = (block.text for block in answer.raw.content if block.type == "text")
    assert json.loads(last) == answer.data
    data = masked(answer.data, sandbox)
    return {"read first": masked(first, sandbox), "data": data} if first else data


@pytest.fixture
def file(editor: Editor, hub: Hub, sandbox: Sandbox) -> str:
    """A file of three lines that the user has open, as the hub has heard."""
    path = str(write(sandbox, "a.txt", *THREE))
    show(editor, Path(path))
    wait_until(
        lambda: any(one["main_file"] == path for one in hub.instances()),
        what="the hub to hear of the file",
    )
    return path


def test_6_1_tools(assistant: Assistant, snapshot: SnapshotAssertion) -> None:
    tools = {tool.name: tool for tool in assistant.tools()}
    for name, tool in tools.items():
        assert snapshot(name=name) == tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert sorted(tools) == snapshot(name="all")


def test_5_1_resources(assistant: Assistant, snapshot: SnapshotAssertion) -> None:
    listed = [
        one.model_dump(mode="json", by_alias=True, exclude_none=True)
        for one in assistant.resources()
    ]
    assert listed == snapshot


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_server_says_what_it_is(
    new_assistant: NewAssistant, snapshot: SnapshotAssertion, era: Era
) -> None:
    assistant = new_assistant(era=era)
    capabilities = assistant.client.server_capabilities
    assert assistant.instructions == snapshot(name="instructions")
    assert capabilities.model_dump(mode="json", exclude_none=True) == snapshot(name="capabilities")
    assert assistant.protocol_version == snapshot(name="protocol version")


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_both_eras_show_the_same_tools(new_assistant: NewAssistant, era: Era) -> None:
    def seen(assistant: Assistant) -> dict[str, Any]:
        return {tool.name: (tool.description, tool.input_schema) for tool in assistant.tools()}

    assert seen(new_assistant(era=era)) == seen(new_assistant())


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "list_vim_instances": ("list_vim_instances", {}),
    "vim_get_state": ("vim_get_state", {}),
    "vim_read": ("vim_read", {}),
    "vim_read of a range": ("vim_read", {"first_line": 2, "last_line": 2}),
    "vim_open": ("vim_open", {"file": "a.txt", "line": 2, "column": 2}),
    "vim_edit of a line": ("vim_edit", {"file": "a.txt", "line": 2, "content": "TWO"}),
    "vim_edit by old_text": ("vim_edit", {"file": "a.txt", "old_text": "wo", "content": "WO"}),
    "vim_edit that saves": ("vim_edit", {"file": "a.txt", "content": "x\n", "save": True}),
    "vim_edit that opens": ("vim_edit", {"file": "a.txt", "line": 3}),
    "vim_save": ("vim_save", {}),
    "vim_execute": ("vim_execute", {"command": "echo line('$')"}),
    "vim_search": ("vim_search", {"pattern": "t", "max_results": 1}),
    "vim_navigate": ("vim_navigate", {"direction": "bottom"}),
    "vim_get_diagnostics": ("vim_get_diagnostics", {}),
    "vim_get_selection": ("vim_get_selection", {}),
    "vim_execute without output": ("vim_execute", {"command": "2move 0"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_answers(
    editor: Editor,
    assistant: Assistant,
    sandbox: Sandbox,
    snapshot: SnapshotAssertion,
    file: str,
    name: str,
) -> None:
    tool, arguments = CALLS[name]
    assert shown(assistant.call(tool, **arguments), sandbox) == snapshot


def test_answer_of_undo(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion, file: str
) -> None:
    editor.type("Ax<Esc>")
    assert shown(assistant.call("vim_undo"), sandbox) == snapshot


def test_answer_of_select(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion, file: str
) -> None:
    answer = assistant.call("select_vim_instance", instance_id=editor.instance_id)
    assert shown(answer, sandbox) == snapshot


ERRORS: dict[str, tuple[str, dict[str, Any]]] = {
    "unknown instance": ("vim_read", {"instance_id": "nobody-nowhere-1"}),
    "unknown workspace": ("vim_read", {"workspace_path": "/nowhere"}),
    "unknown argument": ("vim_read", {"lines": 3}),
    "wrong type": ("vim_read", {"first_line": "first"}),
    "missing argument": ("vim_open", {}),
    "range upside down": ("vim_read", {"first_line": 3, "last_line": 2}),
    "range past the end": ("vim_read", {"first_line": 30}),
    "no such buffer": ("vim_read", {"bufnr": 4711}),
    "not open": ("vim_read", {"file": "other.txt"}),
    "file and bufnr": ("vim_read", {"file": "a.txt", "bufnr": 1}),
    "not a file URL": ("vim_read", {"file": "https://localhost/a.txt"}),
    "edit of nothing": ("vim_edit", {"content": "x"}),
    "edit without content": ("vim_edit", {"file": "a.txt", "old_text": "two"}),
    "edit past the end": ("vim_edit", {"file": "a.txt", "line": 30, "content": "x"}),
    "column past the end": ("vim_edit", {"file": "a.txt", "line": 1, "column": 9, "content": "x"}),
    "two ways to say where": (
        "vim_edit",
        {"file": "a.txt", "line": 1, "old_text": "one", "content": "x"},
    ),
    "old_text not found": ("vim_edit", {"file": "a.txt", "old_text": "four", "content": "x"}),
    "old_text twice": ("vim_edit", {"file": "a.txt", "old_text": "o", "content": "x"}),
    "stale": ("vim_edit", {"file": "a.txt", "content": "x", "expected_changedtick": 1}),
    "outside the project": ("vim_edit", {"file": "/etc/hostname", "content": "x"}),
    "private": ("vim_open", {"file": "id_rsa"}),
    "nothing to undo": ("vim_undo", {}),
    "bad pattern": ("vim_search", {"pattern": "\\("}),
    "no such direction": ("vim_navigate", {"direction": "sideways"}),
    "no jumps": ("vim_navigate", {"direction": "newer_position"}),
    "diagnostics of no buffer": ("vim_get_diagnostics", {"buffer": 4711}),
    "command denied": ("vim_execute", {"command": "!ls"}),
    "command with a tool of its own": ("vim_execute", {"command": "write"}),
    "command that fails": ("vim_execute", {"command": "%s/nothing here/x/"}),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(
    editor: Editor,
    assistant: Assistant,
    sandbox: Sandbox,
    snapshot: SnapshotAssertion,
    file: str,
    name: str,
) -> None:
    tool, arguments = ERRORS[name]
    answer = assistant.call(tool, **arguments)
    assert answer.is_error
    assert shown(answer, sandbox) == snapshot
    assert editor.lines() == list(THREE)


@pytest.mark.private
def test_error_without_an_editor(
    assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion
) -> None:
    assert shown(assistant.call("vim_read"), sandbox) == snapshot


@pytest.mark.private
def test_error_with_several_editors(
    new_editor: Callable[..., Editor],
    assistant: Assistant,
    sandbox: Sandbox,
    snapshot: SnapshotAssertion,
) -> None:
    for name in ("first.txt", "second.txt"):
        new_editor(files=[write(sandbox, name, "text")])
    assert shown(assistant.call("vim_read"), sandbox) == snapshot
    assert shown(assistant.call("list_vim_instances"), sandbox) == snapshot(name="list")


@pytest.mark.private
def test_error_of_an_editor_that_is_stopped(
    hub: Hub,
    new_editor: Callable[..., Editor],
    new_assistant: NewAssistant,
    sandbox: Sandbox,
    snapshot: SnapshotAssertion,
) -> None:
    hub.restart(VIM_MCP_TIMEOUT_SCALE="0.2")
    editor = new_editor(files=[write(sandbox, "a.txt", *THREE)])
    # Not before: an assistant starts a hub itself when there is none.
    assistant = new_assistant()
    editor.freeze()
    try:
        assert shown(assistant.call("vim_read"), sandbox) == snapshot(name="read")
        edit = assistant.call("vim_edit", bufnr=1, line=1, content="x")
        assert shown(edit, sandbox) == snapshot(name="edit")
    finally:
        editor.thaw()
    assert not assistant.call("vim_execute", command="echo 1").is_error
    assert editor.lines() == list(THREE)


def test_unknown_tool_is_a_protocol_error(
    assistant: Assistant, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(MCPError) as caught:
        assistant.call("vim_dance")
    assert caught.value.error.model_dump(mode="json") == snapshot


def test_unknown_resource_is_a_protocol_error(
    assistant: Assistant, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(MCPError) as caught:
        assistant.read("vim://nothing")
    assert caught.value.error.model_dump(mode="json") == snapshot
