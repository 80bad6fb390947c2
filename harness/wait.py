"""Waiting for a condition, with one scale for every bound. The only place that sleeps."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

_FIRST_INTERVAL_S = 0.001
_LONGEST_INTERVAL_S = 0.05


def slow() -> float:
    """Return how many times slower than a developer's machine this one is (env `HARNESS_SLOW`).

    Raises:
        ValueError: `HARNESS_SLOW` is not a positive number.
    """
    text = os.environ.get("HARNESS_SLOW") or "1"
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0 < factor < float("inf"):
        raise ValueError(f"HARNESS_SLOW is {text!r}; set it to a positive number such as 3")
    return factor


class WaitTimeout(AssertionError):
    """A condition did not come true within its bound.

    An AssertionError, because in a test it is one: the report shows it as a failure, not an error.
    """

    def __init__(self, what: str, seconds: float, detail: str = "") -> None:
        super().__init__(what, seconds, detail)
        self.what, self.seconds, self.detail = what, seconds, detail

    def __str__(self) -> str:
        tail = f"\n{self.detail}" if self.detail else ""
        return f"waited {self.seconds:g} s for {self.what}, in vain{tail}"


class Deadline:
    """A bound in seconds, scaled by `slow()` unless told not to, counted from its making."""

    def __init__(self, seconds: float, *, scaled: bool = True) -> None:
        self.seconds = seconds * slow() if scaled else seconds
        self._end = time.monotonic() + self.seconds

    @property
    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - time.monotonic())

    @property
    def passed(self) -> bool:
        """Whether the bound is over."""
        return time.monotonic() >= self._end


def wait_until(
    condition: Callable[[], _T | None],
    *,
    seconds: float = 5.0,
    what: str = "",
    detail: Callable[[], str] | None = None,
) -> _T:
    """Call `condition` until it answers something true, and return that answer.

    The first look is at once; later ones follow at growing intervals of 1 to 50 ms. `seconds` is
    multiplied by `slow()`. `detail` is asked once, after the bound, for what to add to the error.

    Raises:
        WaitTimeout: the bound passed; it names `what`.
    """
    deadline = Deadline(seconds)
    interval = _FIRST_INTERVAL_S
    while True:
        # Read before the look: a look that ends after the bound still counts.
        over = deadline.passed
        answer = condition()
        if answer:
            return answer
        if over:
            name = what or getattr(condition, "__name__", "a condition")
            raise WaitTimeout(name, deadline.seconds, detail() if detail else "")
        time.sleep(interval)
        interval = min(interval * 1.5, _LONGEST_INTERVAL_S)


def pause(seconds: float) -> None:
    """Do nothing for a while: for showing something again and again, never for waiting."""
    time.sleep(seconds)
