"""What an assistant is told of an act that an earlier hub may have had done."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from harness import Hub, Sandbox
from tests.integration.peer import Peer

pytestmark = pytest.mark.private

EDIT = {"instance_id": "a-b-1", "bufnr": 1, "line": 1, "end_line": 0, "content": "once"}


def ask(assistant: Peer, *, again: list[int]) -> None:
    """Do as a forwarder whose hub died with an edit in flight; `again`: it had been taken."""
    hello = {"session": "s", "cwd": "/", "again": again}
    assistant.send(b"#hello " + json.dumps(hello).encode())
    shake = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "peer", "version": "1"},
    }
    assistant.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": shake})
    assistant.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    edit = {"name": "vim_edit", "arguments": EDIT}
    assistant.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": edit})


def told(assistant: Peer) -> dict[str, Any]:
    """Return the error with which the edit is answered."""
    while True:
        line = assistant.recv_line()
        message = {} if line.startswith(b"#") else json.loads(line)
        if message.get("id") == 7:
            return dict(json.loads(message["result"]["content"][0]["text"]))


@pytest.mark.parametrize(
    ("again", "knows", "in_doubt"),
    [
        pytest.param([7], None, True, id="it-does-not-say"),
        pytest.param([7], False, False, id="it-says-no-and-does-not-begin-it"),
        pytest.param([], None, False, id="no-hub-had-it"),
    ],
)
def test_the_effect_of_a_repeated_act_is_unknown_until_its_editor_tells(
    quick_hub: Hub, sandbox: Sandbox, again: list[int], knows: bool | None, in_doubt: bool
) -> None:
    with Peer(sandbox) as editor, Peer(sandbox) as assistant:
        editor.register("a-b-1", pid=os.getpid())
        ask(assistant, again=again)
        if knows is not None:
            request = editor.recv()
            assert request["method"] == "outcome"
            editor.send({"id": request["id"], "result": {"known": knows}})
        error = told(assistant)
        assert error["code"] == 1003
        assert error["data"]["effect_unknown"] is in_doubt


@pytest.mark.parametrize(("again", "code"), [([7], 1003), ([], 1002)], ids=["again", "new"])
def test_the_effect_of_a_repeated_act_is_unknown_when_its_editor_is_not_back(
    quick_hub: Hub, sandbox: Sandbox, again: list[int], code: int
) -> None:
    with Peer(sandbox) as assistant:
        ask(assistant, again=again)
        error = told(assistant)
        assert error["code"] == code
        assert error["data"].get("effect_unknown", False) is (code == 1003)
