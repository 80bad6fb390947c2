"""Processes: who started what, what state it is in, and ending it by its id.

Linux only where it says so; elsewhere those functions answer "not known" and the callers fall back
to the processes they started themselves.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from .wait import wait_until

_T = TypeVar("_T")

LINUX = sys.platform.startswith("linux")

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_prctl = ctypes.CDLL(None).prctl if LINUX else None

# PR_SET_PDEATHSIG fires when the thread that forked ends, not the process. So every child is
# started from this one thread, which lives as long as the process.
_starter = ThreadPoolExecutor(1, thread_name_prefix="harness-starter")


def adopt_orphans() -> None:
    """Make this process the parent of orphaned descendants (a double-forked hub), on Linux."""
    if _prctl is not None:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Ask, in a child before its exec, to be killed when its parent dies. Linux only."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def start(make: Callable[[], _T]) -> _T:
    """Call `make`, which forks a child, in the thread that lives as long as the process."""

    def quietly() -> _T:
        with warnings.catch_warnings():
            # Python 3.12 warns of any fork beside threads. Between our forks and execs runs
            # nothing but a prctl, bound above, and what pexpect itself does.
            warnings.simplefilter("ignore", DeprecationWarning)
            return make()

    return _starter.submit(quietly).result()


class Stat(NamedTuple):
    """One process: its parent, its state letter as in proc(5), and its start in clock ticks."""

    pid: int
    ppid: int
    state: str
    started: int


def stat(pid: int) -> Stat | None:
    """Look at a process; None when it is gone, or where there is no /proc."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The name in parentheses may hold anything, parentheses too.
    fields = text[text.rindex(")") + 2 :].split()
    return Stat(pid, int(fields[1]), fields[0], int(fields[19]))


def exists(pid: int) -> bool:
    """Whether a process of that id runs; a zombie does not."""
    seen = stat(pid)
    if seen is not None:
        return seen.state not in "ZX"
    if LINUX:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal. Linux only, else False."""
    seen = stat(pid)
    return seen is not None and seen.state in "Tt"


def command_line(pid: int) -> str:
    """Return a process's arguments joined by spaces, or "" when it is gone."""
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return raw.replace(b"\0", b" ").decode(errors="replace").strip()


def with_environment(entry: str) -> Iterator[Stat]:
    """Yield the live processes of ours that were started with `entry` ("NAME=value"). Linux only."""
    wanted = entry.encode()
    for name in os.listdir("/proc") if LINUX else ():
        if not name.isdigit():
            continue
        try:
            # Another user's process, or one that just ended.
            environment = Path(f"/proc/{name}/environ").read_bytes()
        except OSError:
            continue
        if wanted in environment.split(b"\0") and (seen := stat(int(name))):
            if seen.state not in "ZX":
                yield seen


def asleep(pid: int) -> dict[str, str] | None:
    """Return, thread by thread, how often each slept, or None when one of them is running.

    Two equal answers mean that no thread ran between them. Linux only: elsewhere always None.
    """
    counts = {}
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            status = Path(f"/proc/{pid}/task/{thread}/status").read_text(errors="replace")
            if "\nState:\tS" not in status:
                return None
            counts[thread] = status[status.rindex("\nvoluntary_ctxt_switches") :]
    except (OSError, ValueError):
        return None
    return counts


def reap(pid: int) -> None:
    """Collect an ended child; nothing happens when it is not ours or still runs."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def end(pid: int, *, seconds: float = 5.0) -> None:
    """Kill one process and wait until it is gone.

    Raises:
        WaitTimeout: the system did not end it within `seconds`.
    """
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)

    def gone() -> bool:
        reap(pid)
        return not exists(pid)

    wait_until(gone, seconds=seconds, what=f"process {pid} to end")
