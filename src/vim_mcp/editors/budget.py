"""How much text may be on its way from editors to assistants at a time.

A text is held from its first slice until the assistant has taken the answer. Without bounds a few
assistants that ask for much and read nothing would fill the memory of the user's only hub.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable

from vim_mcp.limits import (
    BIG_ANSWER,
    MAX_BIG_ANSWERS,
    MAX_SESSION_TEXT,
    MAX_TEXT,
    SMALL_ANSWER,
)


class Phase(enum.Enum):
    """Where a text is: small so far, being pulled, whole (in use, on its way to its reader), gone."""

    SMALL, GROWING, HELD, FREE = range(4)


class Share:
    """The text of one request. Duties of the holder: `whole` after a pull, and `free`."""

    def __init__(self, budget: Budget, session: str) -> None:
        self.session = session
        self.size = 0
        self.phase = Phase.SMALL
        self._budget = budget

    async def grow(self, size: int) -> None:
        """Count `size` bytes more, after a wait for room where the text is no small one."""
        if self.phase in (Phase.SMALL, Phase.HELD) and self.size + size > SMALL_ANSWER:
            await self._budget.wait_for(lambda: self._budget.begin(self))
        if self.size <= BIG_ANSWER < self.size + size:
            await self._budget.wait_for(lambda: self._budget.enlarge(self, size))
        else:
            self.size += size

    def shrink(self, size: int) -> None:
        """Go back to an earlier size: what was pulled since is pulled anew."""
        self.size = size
        self._budget.look_again()

    def whole(self) -> None:
        """Nothing is pulled for now: others may, while this is used and sent."""
        self.become(Phase.HELD)

    def free(self) -> None:
        """The answer is with its reader, or there will be none."""
        self.become(Phase.FREE)

    def become(self, phase: Phase) -> None:
        """Go on to another phase; a share that is free stays so."""
        if phase is self.phase or self.phase is Phase.FREE:
            return
        self.phase = phase
        if phase is Phase.FREE:
            self._budget.forget(self)
        self._budget.look_again()


class Budget:
    """All texts on their way.

    A text that is no small one begins when there is room, of its session and of all; one of a
    session at a time, so that what stalls holds little. Once begun it is finished: the bounds are
    passed by what was under way, and nobody waits for one who waits.
    """

    def __init__(self) -> None:
        self._shares: list[Share] = []
        self._waiters: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    def open(self, session: str) -> Share:
        """Return the share of a new request."""
        share = Share(self, session)
        self._shares.append(share)
        return share

    def forget(self, share: Share) -> None:
        """A share is free."""
        self._shares.remove(share)

    def held(self, session: str) -> int:
        """Return the bytes that are on their way to a session."""
        return sum(s.size for s in self._shares if s.session == session)

    def begin(self, share: Share) -> bool:
        """Let a text become more than a small one, if there is room for it."""
        if share.phase is Phase.FREE:
            return True
        own = [s for s in self._shares if s.session == share.session and s is not share]
        if (
            any(s.phase is Phase.GROWING for s in own)
            or sum(s.size for s in own) >= MAX_SESSION_TEXT
            or self._total() >= MAX_TEXT
        ):
            return False
        share.phase = Phase.GROWING
        return True

    def enlarge(self, share: Share, size: int) -> bool:
        """Let a text that grows become a big one by `size` bytes more, if it may."""
        big = sum(s.phase is Phase.GROWING and s.size > BIG_ANSWER for s in self._shares)
        full = big >= MAX_BIG_ANSWERS or self._total() >= MAX_TEXT
        if full and share.phase is not Phase.FREE:
            return False
        share.size += size
        return True

    async def wait_for(self, take: Callable[[], bool]) -> None:
        """Wait until `take` says that it took what it wants; who waits longest is asked first."""
        if take():
            return
        taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter = (take, taken)
        self._waiters.append(waiter)
        try:
            await taken
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def look_again(self) -> None:
        """Something was given back: let those take who wait for it."""
        for waiter in list(self._waiters):
            take, taken = waiter
            if not taken.done() and take():
                self._waiters.remove(waiter)
                taken.set_result(None)

    def _total(self) -> int:
        return sum(s.size for s in self._shares)
