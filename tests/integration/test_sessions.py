"""Several assistants at once, calls that are taken back, and big texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from harness import (
    Assistant,
    Editor,
    Hub,
    RawAssistant,
    Stage,
    WaitTimeout,
    slow,
    wait_until,
)


def pending_acts(editor: Editor) -> int:
    """How many acts are parked in an editor."""
    return int(editor.eval("vim_mcp#acts#Pending()"))


def wait_taken_back(editor: Editor) -> None:
    """Wait until no act is parked, not so long that its own deadline ends it."""
    wait_until(lambda: pending_acts(editor) == 0, seconds=2, what="the edit to be taken back")


def current(editor: Editor) -> int:
    """The number of an editor's current buffer."""
    return int(editor.eval("bufnr()"))


def send_call(raw: RawAssistant, tool: str, **arguments: Any) -> int:
    """Call a tool without waiting; return the request's id."""
    return raw.send_request("tools/call", {"name": tool, "arguments": arguments})


def content(response: dict[str, Any]) -> str:
    """The text of a tool's answer."""
    return str(response["result"]["content"][0]["text"])


# --- who means which editor ---------------------------------------------------------------------


def test_two_assistants_have_each_their_own_selection(
    editor: Editor,
    new_editor: Callable[..., Editor],
    new_assistant: Callable[..., Assistant],
) -> None:
    other = new_editor()
    editors = {"first": editor, "second": other}
    assistants = {name: new_assistant(name=name) for name in editors}
    for name, one in editors.items():
        one.type(f"iin the {name}<Esc>")
        answer = assistants[name].call("select_vim_instance", instance_id=one.instance_id)
        assert answer.data["instance_id"] == one.instance_id
    calls = [(name, assistants[name].call_async("vim_read")) for name in ["first", "second"] * 5]
    for name, call in calls:
        assert call.result(30 * slow()).text.endswith(f"1\tin the {name}")
    for name, one in editors.items():
        assert (
            not assistants[name].call("vim_edit", bufnr=current(one), line=1, content=name).is_error
        )
        assert one.lines() == [name]
        listed = assistants[name].call("list_vim_instances").data
        assert listed["selected"] == one.instance_id
    assert editor.lines() == ["first"]


def test_without_a_selection_nothing_is_guessed(
    editor: Editor, new_editor: Callable[..., Editor], assistant: Assistant
) -> None:
    other = new_editor()
    error = assistant.call("vim_execute", command="s/^/x/").error
    assert error["code"] == 1001
    assert {i["instance_id"] for i in error["data"]["instances"]} == {
        editor.instance_id,
        other.instance_id,
    }
    assert editor.lines() == other.lines() == [""]


def test_the_selected_editor_that_left_is_not_replaced_by_another(
    editor: Editor, new_editor: Callable[..., Editor], assistant: Assistant
) -> None:
    other = new_editor()
    left = other.instance_id
    assistant.call("select_vim_instance", instance_id=left)
    other.kill()
    wait_until(
        lambda: assistant.call("list_vim_instances").data["selected"] != left,
        what="the hub to drop the dead editor",
    )
    answer = assistant.call("vim_execute", command="echo 1", instance_id=left)
    assert answer.error["code"] == 1002
    assert editor.lines() == [""]


# --- taken back ---------------------------------------------------------------------------------


def test_a_cancelled_call_is_taken_back(editor: Editor, raw_assistant: RawAssistant) -> None:
    raw_assistant.initialize()
    editor.type("iabc")
    request = send_call(
        raw_assistant, "vim_edit", bufnr=current(editor), line=1, content="cancelled"
    )
    wait_until(lambda: pending_acts(editor) == 1, what="the edit to be parked")
    raw_assistant.send(
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": request, "reason": "changed my mind"},
        }
    )
    wait_taken_back(editor)
    editor.type("<Esc>")
    assert "result" in raw_assistant.call("vim_execute", command="s/abc/def/")
    assert editor.lines() == ["def"]
    with pytest.raises(WaitTimeout):
        raw_assistant.answer(request, 0.1)


def test_calls_of_an_assistant_that_left_are_taken_back(
    editor: Editor, raw_assistant: RawAssistant, assistant: Assistant
) -> None:
    raw_assistant.initialize()
    editor.type("iabc")
    send_call(raw_assistant, "vim_edit", bufnr=current(editor), line=1, content="of nobody")
    wait_until(lambda: pending_acts(editor) == 1, what="the edit to be parked")
    raw_assistant.kill()
    wait_taken_back(editor)
    editor.type("<Esc>")
    assert not assistant.call("vim_execute", command="s/abc/def/").is_error
    assert editor.lines() == ["def"]


def test_acts_of_two_assistants_are_done_in_the_order_they_came(
    editor: Editor, new_assistant: Callable[..., Assistant]
) -> None:
    one, two = new_assistant(), new_assistant()
    editor.type("iabc")
    calls = []
    for n in range(6):
        assistant = (one, two)[n % 2]
        insert = {"bufnr": current(editor), "line": 1, "end_line": 0, "content": str(n)}
        calls.append(assistant.call_async("vim_edit", **insert))
        wait_until(lambda: pending_acts(editor) == len(calls), what="the edit to be parked")
    editor.type("<Esc>")
    assert not any(call.result(30 * slow()).is_error for call in calls)
    assert editor.lines() == ["5", "4", "3", "2", "1", "0", "abc"]


# --- much at once -------------------------------------------------------------------------------


def test_900_kb_go_in_one_message_both_ways(editor: Editor, assistant: Assistant) -> None:
    lines = [f"{n:06} é " + "x" * 80 for n in range(10_000)]
    text = "\n".join(lines) + "\n"
    assert len(text.encode()) > 900_000
    answer = assistant.call("vim_edit", bufnr=current(editor), content=text)
    assert not answer.is_error, answer.text
    assert answer.data["line_count"] == len(lines)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert editor.eval("sha256(join(getline(1, '$'), \"\\n\"))") == digest
    (read,) = assistant.read("vim://buffer/current")
    assert getattr(read, "text", "") == text
    assert editor.messages() == ""


def test_one_line_of_900_kb_goes_both_ways(editor: Editor, assistant: Assistant) -> None:
    line = "é0123456" * 100_000
    assert not assistant.call("vim_edit", bufnr=current(editor), line=1, content=line).is_error
    assert editor.eval("[line('$'), strlen(getline(1))]") == [1, len(line.encode())]
    (read,) = assistant.read("vim://buffer/current")
    assert getattr(read, "text", "") == line + "\n"


def test_an_assistant_that_does_not_read_its_answers_does_not_slow_others(
    editor: Editor, raw_assistant: RawAssistant, assistant: Assistant
) -> None:
    raw_assistant.initialize()
    editor.command("call setline(1, repeat([repeat('x', 99)], 10000))")
    requests = [
        raw_assistant.send_request("resources/read", {"uri": "vim://buffer/current"})
        for _ in range(30)
    ]
    # What it was sent does not fit any pipe; answers to others come all the same.
    for n in range(50):
        assert assistant.call("vim_execute", command=f"echo {n}").text == str(n)
    for request in requests:
        answer = raw_assistant.answer(request, 30)
        # A hub that could not send the slices in time says so rather than waiting for ever.
        assert len(answer["result"]["contents"][0]["text"]) == 1_000_000


def test_a_hub_with_many_sessions_answers_each(
    editor: Editor, hub: Hub, new_assistant: Callable[..., Assistant], stage: Stage
) -> None:
    raws = [stage.new_raw_assistant(name=f"raw {n}") for n in range(12)]
    for raw in raws:
        raw.send(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": "hand",
                    "method": "initialize",
                    "params": {
                        "protocolVersion": "2025-06-18",
                        "capabilities": {},
                        "clientInfo": {"name": raw.name, "version": "1"},
                    },
                }
            )
        )
    for raw in raws:
        assert raw.answer("hand", 30)["result"]["serverInfo"]["name"] == "vim-mcp"
        raw.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    for n, raw in enumerate(raws):
        assert content(raw.call("vim_execute", command=f"echo {n}")) == str(n)
    status = hub.status()
    assert status is not None
    assert {s["client"] for s in status["sessions"]} == {f"raw {n} 1" for n in range(12)}


def test_a_client_is_known_by_its_handshake(hub: Hub, raw_assistant: RawAssistant) -> None:
    raw_assistant.initialize()
    status = hub.status()
    assert status is not None
    (session,) = status["sessions"]
    assert session["client"] == f"{raw_assistant.name} 1"
