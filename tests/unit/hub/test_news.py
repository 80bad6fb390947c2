"""Which resources an editor's events concern."""

from __future__ import annotations

import pytest

from vim_mcp.hub.news import changed
from vim_mcp.wire.messages import Update

ALL = {"state", "text", "cursor", "buffers", "windows", "diagnostics"}
TYPED = ALL - {"diagnostics"}
LISTED = {"state", "buffers", "windows"}
MOVED = {"state", "cursor", "windows"}


@pytest.mark.parametrize(
    ("event", "resources"),
    [
        ("BufEnter", ALL),
        ("WinEnter", ALL),
        ("WinClosed", {"state", "windows"}),
        ("TextChanged", TYPED),
        ("TextChangedI", TYPED),
        ("ModeChanged", MOVED),
        ("modechanged", MOVED),
        ("InsertLeave", MOVED),
        ("CursorHold", MOVED),
        ("BufWritePost", LISTED),
        ("BufWrite", LISTED),
        ("BufAdd", LISTED),
        ("BufDelete", LISTED),
        ("DirChanged", {"state"}),
        ("DiagnosticChanged", {"diagnostics"}),
        ("Refresh", ALL),
        ("SomethingOfALaterEditor", ALL),
    ],
)
def test_7_3_an_event_concerns_these_resources(event: str, resources: set[str]) -> None:
    kinds, _ = changed(Update(1, events=({"event": event, "bufnr": 7},)))
    assert kinds == resources


@pytest.mark.parametrize(
    ("event", "buffers"),
    [
        ("BufEnter", {7}), ("TextChanged", {7}), ("TextChangedI", {7}), ("Refresh", {7}),
        ("SomethingOfALaterEditor", {7}), ("WinEnter", set()), ("BufWritePost", set()),
        ("Diagnostics", set()),
    ],
)  # fmt: skip
def test_7_3_an_event_may_change_the_text_of_its_buffer(event: str, buffers: set[int]) -> None:
    _, found = changed(Update(1, events=({"event": event, "bufnr": 7},)))
    assert found == frozenset(buffers)


@pytest.mark.parametrize("event", [{}, {"event": 5}, {"bufnr": "x"}])
def test_7_3_what_is_not_understood_may_concern_all(event: dict[str, object]) -> None:
    assert changed(Update(1, events=(event,))) == (frozenset(ALL), frozenset())


def test_7_3_more_than_was_told_may_concern_every_buffer() -> None:
    told = changed(Update(1, events=({"event": "More", "bufnr": 0},)))
    assert told == (frozenset(ALL), None)


def test_7_3_no_event_concerns_nothing() -> None:
    assert changed(Update(1, {"cwd": "/"})) == (frozenset(), frozenset())
