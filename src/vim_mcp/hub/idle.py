"""When a hub that nobody uses leaves."""

from __future__ import annotations

import os
from collections.abc import Callable

from vim_mcp.limits import SCALE

#: Longer than the longest backoff of an editor that redials, so that a fresh hub is not gone
#: before those on their way arrive.
STARTUP_GRACE_S = 30.0 * SCALE
_DEFAULT_S = 60.0


def idle_seconds() -> float:
    """Return how long a hub stays without peers (`VIM_MCP_IDLE_S`)."""
    try:
        value = float(os.environ.get("VIM_MCP_IDLE_S", _DEFAULT_S))
    except ValueError:
        return _DEFAULT_S
    return value if value > 0 else _DEFAULT_S


class IdleTimer:
    """Counts the time without peers; `check` is called every second or so."""

    def __init__(self, clock: Callable[[], float], seconds: float | None = None) -> None:
        self._clock = clock
        self._seconds = idle_seconds() if seconds is None else seconds
        self._since = clock() + max(0.0, STARTUP_GRACE_S - self._seconds)

    def check(self, peers: int) -> bool:
        """Tell whether the hub has been without peers for long enough to leave."""
        now = self._clock()
        if peers:
            self._since = now
        return now - self._since >= self._seconds
