"""How far a long call is, for a caller that wants to hear of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

#: Takes how far, out of how much (None: not known), and a sentence.
Tell = Callable[[float, float | None, str], Awaitable[None]]


class Progress:
    """Tells how far a call is. MCP wants numbers that only grow, whatever the call does in turn."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._base = self._last = 0.0

    def next_phase(self) -> None:
        """Count from here: what was told before is done."""
        self._base = self._last

    async def tell(self, done: float, total: float | None, words: str) -> None:
        """Tell that `done` of `total` is done in this phase; nothing when that is no news."""
        if self._base + done > self._last:
            self._last = self._base + done
            await self._tell(self._last, None if total is None else self._base + total, words)
