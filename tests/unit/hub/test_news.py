"""Which resources an editor's events concern."""

from __future__ import annotations

import pytest

from vim_mcp.hub.news import changed, of_instance
from vim_mcp.wire.messages import Update

ALL = {"state", "buffer/current", "cursor", "buffers", "windows", "diagnostics"}
TYPED = ALL - {"diagnostics"}
LISTED = {"state", "buffers", "windows"}
MOVED = {"state", "cursor", "windows"}


@pytest.mark.parametrize(
    ("event", "resources"),
    [
        ("BufEnter", ALL | {"buffer/7"}),
        ("WinEnter", ALL),
        ("WinClosed", {"state", "windows"}),
        ("TextChanged", TYPED | {"buffer/7"}),
        ("TextChangedI", TYPED | {"buffer/7"}),
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
        ("Refresh", ALL | {"buffer/7"}),
        ("SomethingOfALaterEditor", ALL | {"buffer/7"}),
    ],
)
def test_7_3_an_event_concerns_these_resources(event: str, resources: set[str]) -> None:
    told = changed(Update(1, events=({"event": event, "bufnr": 7},)))
    assert told == {f"vim://{name}" for name in resources}


@pytest.mark.parametrize("event", [{}, {"event": 5}, {"event": "More", "bufnr": 0}, {"bufnr": "x"}])
def test_7_3_what_is_not_understood_may_concern_all(event: dict[str, object]) -> None:
    assert changed(Update(1, events=(event,))) == {f"vim://{name}" for name in ALL}


def test_7_3_no_event_concerns_nothing() -> None:
    assert changed(Update(1, {"cwd": "/"})) == set()


def test_a_resource_may_be_named_with_its_editor() -> None:
    assert of_instance("vim://buffer/3", "a-b-1") == "vim://instance/a-b-1/buffer/3"
