"""What the assistants and the user did, what they were told, and whether the buffers agree.

Every edit puts one line of its own, a token, into a buffer. Afterwards each token is looked for in
what the living editors hold.
"""

from __future__ import annotations

import enum
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class Fate(enum.Enum):
    """What an edit's caller knows of it."""

    WAITING = "waiting"
    ACKNOWLEDGED = "acknowledged"
    #: Told that it failed, for certain.
    REFUSED = "refused"
    #: Told that nobody knows, or it died before it was told.
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"
    #: By the user, with keys: as good as acknowledged.
    TYPED = "typed"


_MUST_BE_THERE = {Fate.ACKNOWLEDGED, Fate.TYPED}


@dataclass
class Edit:
    """One token: where it went, what became of it, and its history as (seconds, what)."""

    token: str
    editor: str
    fate: Fate = Fate.WAITING
    history: list[tuple[float, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Violation:
    """A promise that was broken: what, about which token (or process), and how it came to it."""

    what: str
    about: str
    history: tuple[tuple[float, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it for a report."""
        return {"what": self.what, "about": self.about, "history": [list(h) for h in self.history]}


class Model:
    """All edits of a run, by token. Its methods may be called from several threads."""

    def __init__(self) -> None:
        self.edits: dict[str, Edit] = {}
        self._lock = threading.Lock()

    def sent(self, token: str, editor: str, at: float, what: str) -> None:
        """Note that an edit is on its way to an editor; each token is sent once."""
        with self._lock:
            if token in self.edits:
                raise ValueError(f"token {token} is used already")
            self.edits[token] = Edit(token, editor, history=[(at, what)])

    def became(self, token: str, fate: Fate, at: float, what: str) -> None:
        """Note what the caller knows now: an answer that crossed a cancellation counts."""
        with self._lock:
            edit = self.edits[token]
            edit.fate = fate
            edit.history.append((at, what))

    def counts(self) -> dict[str, int]:
        """Return how many edits met which fate."""
        with self._lock:
            found = Counter(edit.fate for edit in self.edits.values())
        return {fate.value: found[fate] for fate in Fate}

    def check(
        self, buffers: Mapping[str, Sequence[str]], others: Sequence[str] = ()
    ) -> list[Violation]:
        """Compare with what the editors that live hold; `others` are lines that are no tokens."""
        violations = []
        seen = {name: Counter(lines) for name, lines in buffers.items()}
        for edit in self.edits.values():
            history = tuple(edit.history)
            if edit.fate is Fate.WAITING:
                violations.append(Violation("never answered", edit.token, history))
            for name, lines in seen.items():
                times = lines.pop(edit.token, 0)
                if what := _wrong(edit, name, times):
                    violations.append(Violation(what, edit.token, history))
        violations += [
            Violation("a line that nobody wrote", f"{name}: {line[:200]!r}")
            for name, lines in seen.items()
            for line in lines
            if line not in others
        ]
        return violations


def _wrong(edit: Edit, name: str, times: int) -> str:
    """Say what is wrong with finding an edit's token so many times in the editor `name`."""
    if name != edit.editor:
        return f"applied in {name}, meant for {edit.editor}" if times else ""
    if times > 1:
        return f"applied {times} times"
    if times and edit.fate is Fate.REFUSED:
        return "applied though its caller was told that it failed"
    if not times and edit.fate in _MUST_BE_THERE:
        return f"lost: {edit.fate.value}, and not there"
    return ""
