"""From the hub's death to the first good answer, with editors connected and a session under way."""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack
from typing import Any

from ..assistant import Assistant, Era
from ..editors import KINDS, make_editor
from ..hub import Hub, hub_status
from ..sandbox import Sandbox
from ..wait import wait_until

Figure = dict[str, Any]

_ERAS: tuple[Era, ...] = ("modern", "legacy")


def measure(editors: int, kills: int) -> list[Figure]:
    """Return for each era the seconds after a kill: era, editors, n, p50 and max."""
    kinds = list(KINDS)
    with ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox())
        stack.enter_context(Hub(sandbox).start())
        started = [
            stack.enter_context(make_editor(kinds[n % len(kinds)], sandbox).start())
            for n in range(editors)
        ]
        figures = []
        # In turn with a Vim and a Neovim: either may be the slower to come back.
        chosen = [one.instance_id for one in started[: len(kinds)]]
        for era in _ERAS:
            seconds = [
                _recover(sandbox, era, editors, chosen[n % len(chosen)]) for n in range(kills)
            ]
            ordered = sorted(seconds)
            figures.append(
                {
                    "what": "hub killed to first answer",
                    "era": era,
                    "editors": editors,
                    "n": kills,
                    "p50": ordered[len(ordered) // 2],
                    "max": ordered[-1],
                }
            )
        return figures


def _recover(sandbox: Sandbox, era: Era, editors: int, instance_id: str) -> float:
    def complete() -> dict[str, Any] | None:
        status = hub_status(sandbox)
        return status if status is not None and len(status["instances"]) == editors else None

    # An assistant for each: one whose hubs die as they come gives up.
    with Assistant(sandbox, era=era).start() as assistant:
        answer = assistant.call("select_vim_instance", instance_id=instance_id)
        assert not answer.is_error, answer.text
        status = wait_until(complete, seconds=30, what=f"{editors} editors to be connected")
        os.kill(status["pid"], signal.SIGKILL)
        began = time.perf_counter()
        # An assistant that is told of a failure asks again.
        while assistant.call("vim_read").is_error:
            assert time.perf_counter() - began < 30, "no good answer"
        return time.perf_counter() - began
