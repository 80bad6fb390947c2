"""What a check of the doctor found."""

from __future__ import annotations

from typing import NamedTuple

OK, WARNING, ERROR = "ok", "warning", "error"


class Finding(NamedTuple):
    """One line of the doctor's: how it is, and what to do about it unless it is ok."""

    level: str
    topic: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f" — {self.remedy}" if self.remedy else ""
        return f"{self.level:<8} {self.topic}: {self.what}{remedy}"


def ok(topic: str, what: str) -> Finding:
    """Say that something is as it should be."""
    return Finding(OK, topic, what)


def warning(topic: str, what: str, remedy: str) -> Finding:
    """Say what may be in the way."""
    return Finding(WARNING, topic, what, remedy)


def error(topic: str, what: str, remedy: str) -> Finding:
    """Say what is in the way."""
    return Finding(ERROR, topic, what, remedy)
