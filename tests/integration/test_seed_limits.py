"""Section 9 of the first seed: its limits, at, below and above each of them."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from mcp import MCPError

from harness import Assistant, Editor, Hub, Sandbox, wait_until
from tests.integration.conftest import ALONE
from tests.integration.fake_hub import FakeHub
from tests.integration.peer import Peer
from tests.integration.test_connect import status
from tests.integration.test_hub import registry

pytestmark = pytest.mark.private

LIMIT = 10 * 1024 * 1024


# --- 9.3 buffer content: 10 MB as UTF-8, one byte for each line's end ---------------------------

#: Makes a text of LIMIT bytes, less those of its last line's.
TEXTS = {
    "lines": "repeat([repeat('x', 1023)], 10239)",
    "letters of two bytes": "repeat([repeat('é', 511) .. 'x'], 10239)",
    "one long line": f"[repeat('x', {LIMIT - 1024 - 1})]",
}


@pytest.mark.parametrize("over", [-1, 0, 1])
@pytest.mark.parametrize("text", TEXTS)
def test_9_3_a_text_of_ten_megabytes_is_read_and_no_byte_more(
    editor: Editor, assistant: Assistant, text: str, over: int
) -> None:
    editor.command(f"call setline(1, {TEXTS[text]} + [repeat('y', {1023 + over})])")
    assert editor.eval("line2byte(line('$') + 1) - 1") == LIMIT + over
    uri = "vim://buffer/current"
    if over <= 0:
        (content,) = assistant.read(uri)
        assert len(content.text.encode()) == LIMIT + over  # type: ignore[union-attr]
        return
    with pytest.raises(MCPError) as caught:
        assistant.read(uri)
    assert caught.value.error.code == -32602
    assert caught.value.error.data["limit"] == LIMIT
    assert "read it in parts" in caught.value.error.message
    # In parts it is to be had.
    last = editor.eval("line('$')")
    assert "yyy" in assistant.call("vim_read", first_line=last).text


# --- 9.3 instances: 100 -------------------------------------------------------------------------


def test_9_3_a_hundred_instances_are_taken_and_the_next_is_told_the_limit(
    hub: Hub, sandbox: Sandbox
) -> None:
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(sandbox)) for _ in range(100)]
        for n, peer in enumerate(peers):
            assert peer.register(f"x-work-{n}", nonce=f"nonce {n}")["type"] == "registered"
        with Peer(sandbox) as one_more:
            refused = one_more.register("x-work-100")
            assert (refused["type"], refused["retry"]) == ("rejected", True)
            assert "100 Vim instances are connected, which is the limit" in refused["reason"]
            assert one_more.closed()
        # Nobody else notices.
        for peer in peers:
            peer.send({"type": "update", "seq": 7})
            assert peer.recv() == {"type": "ack", "seq": 7}
        assert len(hub.instances()) == 100
        wait_until(lambda: len(registry(sandbox)) == 100, what="all in the registry")
        # One that is back before its old connection ended is none more.
        again = stack.enter_context(Peer(sandbox))
        assert again.register("x-work-5", nonce="nonce 5")["instance_id"] == "x-work-5"
        peers[7].close()
        wait_until(lambda: len(hub.instances()) == 99, what="one to be gone")
        later = stack.enter_context(Peer(sandbox))
        assert later.register("x-work-100")["type"] == "registered"


def test_9_3_an_editor_past_the_limit_says_so_and_gets_the_next_free_place(
    hub: Hub, sandbox: Sandbox, new_editor: Callable[..., Editor]
) -> None:
    with contextlib.ExitStack() as stack:
        for n in range(100):
            peer = stack.enter_context(Peer(sandbox))
            assert peer.register(f"x-work-{n}")["type"] == "registered"
        editor = new_editor(wait="started", rc_extra="let g:vim_mcp_reconnect_interval = 100")
        wait_until(
            lambda: "100 Vim instances are connected" in status(editor),
            what="the refusal to be told",
            detail=lambda: status(editor),
        )
        assert editor.messages() == ""
        peer.close()
        editor.wait_registered()


# --- 9.3 connection timeout: 5 seconds ----------------------------------------------------------


def test_9_3_an_editor_leaves_a_hub_that_does_not_answer_and_dials_again(
    fake_hub: FakeHub, new_editor: Callable[..., Editor]
) -> None:
    editor = new_editor(**ALONE)
    line = fake_hub.accept()
    assert line.recv()["type"] == "register"
    assert line.recv() == {"type": "bye"}
    with pytest.raises(EOFError):
        line.recv()
    # Not in vain.
    assert fake_hub.greet()[1]["type"] == "register"
    assert editor.messages() == ""


@pytest.mark.parametrize("said", [b"", b'{"type": "register", ', b"#hello {"])
def test_9_3_a_hub_drops_a_connection_that_does_not_say_who_it_is(
    sandbox: Sandbox, said: bytes
) -> None:
    with (
        Hub(sandbox).start(VIM_MCP_TIMEOUT_SCALE="0.1") as hub,
        Peer(sandbox) as silent,
        Peer(sandbox) as quick,
    ):
        silent.socket.sendall(said)
        assert quick.register("x-work-1")["type"] == "registered"
        assert silent.closed()
        # Who has said it may be silent for as long as it likes.
        assert len(hub.instances()) == 1


# --- 9.3 registry entries: 24 hours -------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "known"), [(-600, True), (0, True), (86_300, True), (86_401, False), (10**7, False)]
)
def test_9_3_an_entry_of_the_registry_counts_for_24_hours(
    hub: Hub, sandbox: Sandbox, assistant: Assistant, seconds: int, known: bool
) -> None:
    seen = datetime.now(timezone.utc) - timedelta(seconds=seconds)
    entry: dict[str, Any] = {"pid": os.getpid(), "cwd": "/", "last_seen": seen.isoformat()}
    hub.stop()
    (sandbox.run / "vim-mcp-registry.json").write_text(json.dumps({"x-work-1": entry}))
    # With that scale an editor that is known is waited for long enough.
    hub.start(VIM_MCP_TIMEOUT_SCALE="30")
    with Peer(sandbox) as other, Peer(sandbox) as back:
        other.register("y-work-1")
        call = assistant.call_async("vim_read")
        if known:
            # On its way back, so the one that is there may not be the one that is meant.
            back.register("x-work-1")
            assert call.result(60).error["code"] == 1001
        else:
            request = other.recv()
            other.send({"id": request["id"], "error": {"code": 1004, "message": "asked"}})
            assert call.result(60).error["message"] == "asked"
    wait_until(lambda: registry(sandbox) == {}, what="a tidy registry")


# --- 9.1 files ----------------------------------------------------------------------------------


def test_9_1_socket_and_files_are_the_users_alone(editor: Editor, sandbox: Sandbox) -> None:
    state = sandbox.run / f"vim-mcp-{editor.instance_id}-state.json"
    wait_until(state.exists, what="the state file")
    modes = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in sandbox.run.iterdir()}
    assert {"vim-mcp-server.sock", "vim-mcp-registry.json", state.name} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(sandbox.run.stat().st_mode) == 0o700
