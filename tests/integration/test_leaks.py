"""Peers that come and go, politely or not, leave nothing behind in the hub."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import pytest

from harness import Hub, Sandbox, hub_status, wait_until
from harness.chaos.leftovers import descriptors, settled
from tests.integration.peer import Peer

pytestmark = [
    pytest.mark.private,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc"),
]

#: So many peers before the first look: caches fill, the SDK loads, the heap finds its size.
WARM_UP, PEERS = 500, 2000
#: What 2,000 peers may leave in kilobytes; a session that stayed would be 100 each.
GROWTH_KB = 4096

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "leaks", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "vim_get_state"}}
SUBSCRIBE = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "resources/subscribe",
    "params": {"uri": "vim://state"},
}


def session(peer: Peer, number: int) -> None:
    """Shake hands, subscribe, wait for the answer; then leave."""
    hello = {"session": f"s{number}", "cwd": "/"}
    peer.send(b"#hello " + json.dumps(hello).encode())
    peer.send(INITIALIZE)
    peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    peer.send(SUBSCRIBE)
    while b'"id":3' not in peer.recv_line():
        pass


def hurried_session(peer: Peer, number: int) -> None:
    """Leave with a call in flight, and with half a line said."""
    hello = {"session": f"s{number}", "cwd": "/"}
    peer.send(b"#hello " + json.dumps(hello).encode())
    peer.send(INITIALIZE)
    peer.send(LIST)
    peer.socket.sendall(b'{"jsonrpc": "2.0", "id": 4, "meth')


def editor(peer: Peer, number: int) -> None:
    """Register, tell something, leave without a word."""
    assert peer.register(f"leak-work-{number}", nonce=str(number))["type"] == "registered"
    peer.send({"type": "update", "seq": 1, "events": [{"type": "mode", "mode": "n"}]})


def polite_editor(peer: Peer, number: int) -> None:
    """Register and say goodbye."""
    peer.register(f"leak-work-{number}", nonce=str(number))
    peer.send({"type": "bye"})


def half_a_greeting(peer: Peer, number: int) -> None:
    """Leave in the middle of the first line."""
    peer.socket.sendall(b"#hello {" if number % 2 else b'{"type": "regis')


def garbage(peer: Peer, number: int) -> None:
    """Say what no peer says."""
    peer.send(os.urandom(64).replace(b"\n", b""))


def nothing(peer: Peer, number: int) -> None:
    """Come and go."""


KINDS = [session, hurried_session, editor, polite_editor, half_a_greeting, garbage, nothing]


def come_and_go(sandbox: Sandbox, numbers: range) -> None:
    """Let peers of all kinds connect and disconnect, one after another."""
    for number in numbers:
        # The hub may be the first to hang up.
        with contextlib.suppress(ConnectionError, EOFError), Peer(sandbox) as peer:
            KINDS[number % len(KINDS)](peer, number)


def alone(sandbox: Sandbox) -> bool:
    """Whether the hub has neither sessions nor editors."""
    status = hub_status(sandbox)
    return status is not None and status["sessions"] == status["instances"] == []


def memory_kb(pid: int) -> int:
    """The resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def tasks(sandbox: Sandbox) -> int:
    """How many tasks the hub's loop has, that of the asker apart."""
    status = hub_status(sandbox)
    assert status is not None
    return int(status["tasks"])


def test_2000_connects_and_disconnects_leave_descriptors_memory_and_tasks_where_they_were(
    hub: Hub, sandbox: Sandbox
) -> None:
    def settle() -> None:
        wait_until(lambda: alone(sandbox), seconds=20, what="the hub to be alone")

    before_any = tasks(sandbox)
    come_and_go(sandbox, range(WARM_UP))
    settle()
    wait_until(lambda: tasks(sandbox) == before_any, what="the tasks of the first ones to end")
    # The connection of the last question may be about to close.
    files, memory = settled(lambda: len(descriptors(hub.pid))), memory_kb(hub.pid)
    come_and_go(sandbox, range(WARM_UP, WARM_UP + PEERS))
    settle()
    wait_until(
        lambda: len(descriptors(hub.pid)) == files,
        what=f"{files} descriptors",
        detail=lambda: "\n".join(descriptors(hub.pid)),
    )
    wait_until(lambda: tasks(sandbox) == before_any, what=f"{before_any} tasks")
    assert memory_kb(hub.pid) - memory < GROWTH_KB
