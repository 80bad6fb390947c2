"""How much text may be on its way from editors to assistants at a time.

A text is held from its first slice until the assistant has taken the answer. Without bounds a few
assistants that ask for much and read nothing would fill the memory of the user's only hub.
"""

from __future__ import annotations

import asyncio
import enum

from vim_mcp.limits import (
    BIG_ANSWER,
    MAX_BIG_ANSWERS,
    MAX_SESSION_TEXT,
    MAX_TEXT,
    SMALL_ANSWER,
)


class Phase(enum.Enum):
    """Where a text is: still growing, waiting to, in an answer on its way, or gone."""

    PULLED, WAITING, SENT, FREE = range(4)


class Share:
    """The text of one request. Duties of the holder: `sent` and, always, `free`."""

    def __init__(self, budget: Budget, session: str) -> None:
        self.session = session
        self.size = 0
        self.phase = Phase.PULLED
        self._budget = budget

    async def grow(self, size: int) -> None:
        """Count `size` bytes more, waiting for room. A small text never waits."""
        while not self._budget.has_room(self, size):
            self._become(Phase.WAITING)
            await self._budget.changed()
        if self.phase is Phase.WAITING:
            self.phase = Phase.PULLED
        self.size += size

    def shrink(self, size: int) -> None:
        """Count what was pulled since the share held `size` no more: it is pulled anew."""
        if size < self.size:
            self.size = size
            self._budget.moved(self)

    def sent(self) -> None:
        """The answer is made and waits only for its reader."""
        if self.phase is not Phase.FREE:
            self._become(Phase.SENT)

    def free(self) -> None:
        """The answer is with its reader, or there will be none."""
        if self.phase is not Phase.FREE:
            self._become(Phase.FREE)

    def _become(self, phase: Phase) -> None:
        if self.phase is not phase:
            self.phase = phase
            self._budget.moved(self)


class Budget:
    """All texts on their way, the oldest first.

    The oldest that still grows may always go on, among those of a session and among all: so the
    bounds are passed by one text at most, and nobody waits for ever.
    """

    def __init__(self) -> None:
        self._shares: list[Share] = []
        self._change = asyncio.Event()

    def open(self, session: str) -> Share:
        """Return the share of a new request."""
        share = Share(self, session)
        self._shares.append(share)
        return share

    def held(self, session: str) -> int:
        """Return the bytes that are on their way to a session."""
        return sum(s.size for s in self._shares if s.session == session)

    def has_room(self, share: Share, size: int) -> bool:
        """Tell whether a text may grow now."""
        if share.phase is Phase.FREE or share.size + size <= SMALL_ANSWER:
            return True
        if share.size + size > BIG_ANSWER and self._big_beside(share) >= MAX_BIG_ANSWERS:
            return False
        return self._session_has_room(share) and self._has_room(share)

    async def changed(self) -> None:
        """Wait until something was sent, freed, or gave way."""
        await self._change.wait()

    def moved(self, share: Share) -> None:
        """A share is in another phase: who waits looks again."""
        if share.phase is Phase.FREE:
            self._shares.remove(share)
        change, self._change = self._change, asyncio.Event()
        change.set()

    def _big_beside(self, share: Share) -> int:
        """Count the big texts under way; one that waits has given way."""
        return sum(
            other.size > BIG_ANSWER and other.phase is Phase.PULLED
            for other in self._shares
            if other is not share
        )

    def _session_has_room(self, share: Share) -> bool:
        own = [s for s in self._shares if s.session == share.session]
        if sum(s.size for s in own) < MAX_SESSION_TEXT:
            return True
        if sum(s.size for s in own if s.phase is Phase.SENT) >= MAX_SESSION_TEXT:
            return False
        return next(s for s in own if s.phase is not Phase.SENT) is share

    def _has_room(self, share: Share) -> bool:
        if sum(s.size for s in self._shares) < MAX_TEXT:
            return True
        if sum(s.size for s in self._shares if s.phase is Phase.SENT) >= MAX_TEXT:
            return False
        # The oldest of a session that reads nothing must not be the one for which all wait.
        full: set[str] = set()
        for other in self._shares:
            if other.phase is not Phase.SENT and other.session not in full:
                if self._session_has_room(other):
                    return other is share
                full.add(other.session)
        return False
