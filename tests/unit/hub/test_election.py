"""One hub: the lock's holder, as long as the path names the locked file."""

from __future__ import annotations

import os
from pathlib import Path

from vim_mcp.hub.daemon import newer
from vim_mcp.hub.election import HubLock
from vim_mcp.hub.idle import STARTUP_GRACE_S, IdleTimer


def test_the_second_does_not_get_the_lock_until_the_first_gives_it_up(tmp_path: Path) -> None:
    path = str(tmp_path / "hub.lock")
    first, second = HubLock(path), HubLock(path)
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()
    assert os.path.exists(path), "the lock file is never deleted"


def test_a_re_created_lock_file_ends_the_claim(tmp_path: Path) -> None:
    path = str(tmp_path / "hub.lock")
    lock = HubLock(path)
    assert lock.acquire()
    assert lock.held()
    os.unlink(path)
    assert not lock.held()
    Path(path).touch()
    assert not lock.held()
    lock.release()


def test_the_idle_timer_waits_out_the_grace_and_counts_from_the_last_peer() -> None:
    now = 0.0
    timer = IdleTimer(lambda: now, seconds=5)
    now = STARTUP_GRACE_S - 1
    assert not timer.check(peers=0)
    now = STARTUP_GRACE_S
    assert timer.check(peers=0)
    assert not timer.check(peers=1)
    now += 4
    assert not timer.check(peers=0)
    now += 1
    assert timer.check(peers=0)


def test_only_a_later_version_is_newer() -> None:
    assert newer("0.2.0", "0.1.9")
    assert newer("0.1.10", "0.1.9")
    assert not newer("0.1.9", "0.1.9")
    assert not newer("0.1.8", "0.1.9")
    assert not newer("", "0.1.9")
    assert not newer("dev", "0.1.9")
