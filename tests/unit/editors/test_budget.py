"""How much text may be on its way: bounds that hold, and nobody who waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from vim_mcp.editors.budget import Budget, Share
from vim_mcp.limits import (
    BIG_ANSWER,
    MAX_BIG_ANSWERS,
    MAX_BUFFER_BYTES,
    MAX_SESSION_TEXT,
    MAX_TEXT,
    SLICE_BYTES,
    SMALL_ANSWER,
)

Scene = Callable[[Budget], Awaitable[None]]


async def pull(share: Share, size: int) -> None:
    """What a call does that pulls so much."""
    while share.size < size:
        await share.grow(min(SLICE_BYTES, size - share.size))
        await asyncio.sleep(0)
    share.whole()


async def turns(n: int = 3000) -> None:
    for _ in range(n):
        await asyncio.sleep(0)


async def big_ones_go_two_at_a_time(budget: Budget) -> None:
    shares = [budget.open(f"s{n}") for n in range(4)]
    for share in shares[:MAX_BIG_ANSWERS]:
        await share.grow(2 * BIG_ANSWER)
    third, fourth = (asyncio.ensure_future(s.grow(2 * BIG_ANSWER)) for s in shares[2:])
    await turns(10)
    assert not third.done()
    shares[0].whole()
    await turns(10)
    assert third.done()
    assert not fourth.done()
    shares[1].free()
    await turns(10)
    assert fourth.done()


async def small_ones_never_wait(budget: Budget) -> None:
    for n in range(8):
        share = budget.open(f"s{n}")
        share.size = MAX_TEXT
        share.whole()
    await asyncio.wait_for(budget.open("s0").grow(SMALL_ANSWER), 1)


async def a_session_that_reads_nothing_stops_at_its_bound(budget: Budget) -> None:
    shares = [budget.open("deaf") for _ in range(20)]
    pulls = [asyncio.ensure_future(pull(s, MAX_BUFFER_BYTES)) for s in shares]
    await turns()
    held = budget.held("deaf")
    assert MAX_SESSION_TEXT <= held < MAX_SESSION_TEXT + MAX_BUFFER_BYTES
    # Another is served all the same.
    other = budget.open("other")
    await asyncio.wait_for(pull(other, MAX_BUFFER_BYTES), 5)
    # It reads in the end, and gets all of it.
    while not all(p.done() for p in pulls):
        for share, done in zip(shares, pulls, strict=True):
            if done.done():
                share.free()
        await turns(100)


async def all_together_stop_at_theirs(budget: Budget) -> None:
    names = [f"s{n}" for n in range(12)]
    pulls = {budget.open(name): name for name in names for _ in range(3)}
    tasks = {s: asyncio.ensure_future(pull(s, MAX_BUFFER_BYTES)) for s in pulls}
    await turns(20_000)
    held = sum(budget.held(name) for name in names)
    under_way = MAX_BIG_ANSWERS * MAX_BUFFER_BYTES + len(names) * BIG_ANSWER
    assert MAX_TEXT <= held < MAX_TEXT + under_way
    while tasks:
        for share, task in list(tasks.items()):
            if task.done():
                share.free()
                del tasks[share]
        await turns(50)
    assert sum(budget.held(name) for name in names) == 0


async def who_gave_up_holds_nothing(budget: Budget) -> None:
    shares = [budget.open("s") for _ in range(3)]
    await shares[0].grow(2 * BIG_ANSWER)
    waiting = asyncio.ensure_future(shares[2].grow(2 * BIG_ANSWER))
    await turns(10)
    waiting.cancel()
    for share in shares:
        share.free()
        share.free()
    assert budget.held("s") == 0
    await asyncio.wait_for(pull(budget.open("s"), MAX_BUFFER_BYTES), 5)


@pytest.mark.parametrize(
    "scene",
    [
        big_ones_go_two_at_a_time,
        small_ones_never_wait,
        a_session_that_reads_nothing_stops_at_its_bound,
        all_together_stop_at_theirs,
        who_gave_up_holds_nothing,
    ],
    ids=lambda scene: scene.__name__,
)
def test_the_budget(scene: Scene) -> None:
    async def main() -> None:
        await scene(Budget())

    asyncio.run(main())
