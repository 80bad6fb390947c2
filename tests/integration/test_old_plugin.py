"""An editor whose plugin is older than the hub: what it does not know is said, the rest works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mcp import MCPError

from harness import Assistant, Hub, Sandbox, slow
from tests.integration.peer import Peer

pytestmark = pytest.mark.private

CALLS: dict[str, dict[str, Any]] = {
    "vim_search": {"pattern": "x"},
    "vim_navigate": {"direction": "down"},
    "vim_get_diagnostics": {},
    "vim_get_selection": {},
}


def unknown(peer: Peer) -> str:
    """Take the next request as a plugin does that does not know it; return its method."""
    request = peer.recv()
    message = f"This editor knows no method {request['method']}."
    peer.send({"id": request["id"], "error": {"code": -32601, "message": message}})
    return str(request["method"])


@pytest.mark.parametrize("tool", CALLS)
def test_tool_says_that_the_plugin_is_too_old(
    hub: Hub, sandbox: Sandbox, new_assistant: Callable[..., Assistant], tool: str
) -> None:
    with Peer(sandbox) as peer:
        peer.register("old-x-1", plugin_version="0.0.9")
        call = new_assistant().call_async(tool, **CALLS[tool])
        method = unknown(peer)
        error = call.result(30 * slow()).error
    assert error["code"] == -32601
    assert error["data"] == {"instance_id": "old-x-1", "plugin_version": "0.0.9"}
    assert f"(version 0.0.9) knows no {method}" in error["message"]
    assert "update the plugin" in error["message"]


def test_resource_says_it_too(
    hub: Hub, sandbox: Sandbox, new_assistant: Callable[..., Assistant]
) -> None:
    assistant = new_assistant()
    with Peer(sandbox) as peer:
        peer.register("old-x-1", plugin_version="")
        read = assistant.read_async("vim://windows")
        unknown(peer)
        with pytest.raises(MCPError) as caught:
            read.result(30 * slow())
    assert caught.value.error.code == -32601
    assert "version unknown" in caught.value.error.message
