"""What must not be left when all have gone: descriptors, sessions, processes, sockets, files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from .. import process
from ..hub import ask_hub, hub_status
from ..raw import RawAssistant
from ..sandbox import Sandbox
from ..wait import WaitTimeout, wait_until
from .model import Violation

#: What a hub leaves in the runtime directory for the next one.
_STAYS = {"hub.lock", "hub.log", "vim-mcp-registry.json", "vim-mcp-preference.txt"}

#: At the intervals of wait_until these take a tenth of a second.
_LOOKS = 10


def hub_pid(sandbox: Sandbox) -> int | None:
    """Return the process id of the sandbox's hub, also when it is stopped; None without one.

    A hub that is stopped answers nobody, so it is the lock that says who it is.
    """
    try:
        pid = int((sandbox.run / "hub.lock").read_text())
    except (OSError, ValueError):
        return None
    process.reap(pid)
    # Of a hub that died the lock's file still holds the id, which may be in use again.
    return pid if any(one.pid == pid for one in sandbox.processes()) else None


def descriptors(pid: int) -> list[str]:
    """Return what a process's open descriptors refer to, in order. Linux only, else nothing."""
    try:
        names = sorted(os.listdir(f"/proc/{pid}/fd"), key=int)
    except OSError:
        return []
    found = []
    for name in names:
        # One may be closed while we look.
        with contextlib.suppress(OSError):
            found += [f"{name} {os.readlink(f'/proc/{pid}/fd/{name}')}"]
    return found


def sockets(pid: int) -> int:
    """Return how many sockets a process has open."""
    return sum(" socket:" in link for link in descriptors(pid))


def idle_descriptors(sandbox: Sandbox, env: dict[str, str]) -> int:
    """Start a hub as an assistant does, let that one leave, and return what the hub keeps open."""
    with RawAssistant(sandbox, env=env).start() as assistant:
        assistant.initialize()
        assistant.request("tools/list")
    wait_until(lambda: _peers(sandbox) == (0, 0), what="the hub to be alone")
    pid = hub_pid(sandbox)
    assert pid is not None
    return settled(lambda: len(descriptors(pid)))


def settled(count: Callable[[], int]) -> int:
    """Return a count once it has been the same for a tenth of a second of looks."""
    seen: list[int] = []

    def same() -> bool:
        seen.append(count())
        return len(seen) >= _LOOKS and len(set(seen[-_LOOKS:])) == 1

    wait_until(same, what="descriptors to settle")
    return seen[-1]


def check_hub(sandbox: Sandbox, editors: int, expected: int) -> list[Violation]:
    """Look for sessions, instances and descriptors that nobody uses any more."""
    pid = hub_pid(sandbox)
    if pid is None:
        return [Violation("no hub", "none runs at the end")]
    try:
        wait_until(
            lambda: _peers(sandbox) == (editors, 0) and len(descriptors(pid)) == expected,
            seconds=10,
        )
    except WaitTimeout:
        status = hub_status(sandbox) or {}
        about = (
            f"{_peers(sandbox)} instances and sessions, {(editors, 0)} expected; "
            f"{len(descriptors(pid))} descriptors, {expected} expected"
        )
        detail = f"{status}\n" + "\n".join(descriptors(pid))
        return [Violation("the hub keeps what nobody uses", about, ((0.0, detail),))]
    return []


def check_end(sandbox: Sandbox) -> list[Violation]:
    """Stop the hub; look for processes, sockets and files that are left."""
    ask_hub(sandbox, {"type": "stop"}, 2.0)

    def gone() -> bool:
        for one in sandbox.processes():
            process.reap(one.pid)
        return not sandbox.processes()

    violations = []
    try:
        wait_until(gone, seconds=10)
    except WaitTimeout:
        left = [f"{one.pid} {process.command_line(one.pid)}" for one in sandbox.processes()]
        violations.append(Violation("processes are left", "; ".join(left)))
    files = sorted({path.name for path in sandbox.run.iterdir()} - _STAYS)
    if files:
        violations.append(Violation("files are left", ", ".join(files)))
    return violations


def _peers(sandbox: Sandbox) -> tuple[int, int]:
    status: dict[str, Any] = hub_status(sandbox) or {}
    return len(status.get("instances", [0])), len(status.get("sessions", [0]))
