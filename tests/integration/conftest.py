"""Fixtures with a hub whose every line is in the test's hands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import Editor, Hub, Sandbox, Stage, slow, wait_until
from tests.integration.fake_hub import FakeHub, Line
from vim_mcp import paths


def wait_for_timers(editor: Editor, milliseconds: int = 200) -> None:
    """Return when timers of the editor that were due within so long have run.

    For what must not happen, or happens unseen: the plugin gathers events for 50 ms, and starts a
    hub after a second.
    """
    editor.command("let g:timers_ran = 0")
    editor.eval(f"timer_start({milliseconds}, {{-> execute('let g:timers_ran = 1')}})")
    wait_until(lambda: editor.eval("g:timers_ran") == 1, what="the editor's timers to run")


#: Options of an editor that starts no hub, and for which the harness starts none: named, the
#: plugin's directory could be anyone's.
ALONE = {
    "plugin": Path(paths.plugin_dir()),
    "wait": "started",
    "rc_extra": "let g:vim_mcp_autostart = 0",
}


class Wired(NamedTuple):
    """An editor, and its connection to a hub made of bare lines, registered."""

    editor: Editor
    line: Line
    hub: FakeHub


@pytest.fixture
def quick_hub(stage: Stage) -> Hub:
    """A hub with short deadlines, for tests that see one pass; ask for it first, and `private`."""
    return stage.need_hub().restart(VIM_MCP_TIMEOUT_SCALE=f"{0.2 * slow():g}")


@pytest.fixture
def fake_hub(sandbox: Sandbox) -> Iterator[FakeHub]:
    """A listener in the hub's place; the test has to be a `private` one."""
    with FakeHub(sandbox) as fake:
        yield fake


@pytest.fixture
def unwired(fake_hub: FakeHub, new_editor: Callable[..., Editor]) -> Editor:
    """An editor that dials the fake hub and has not been accepted yet."""
    return new_editor(**ALONE)


@pytest.fixture
def wired(fake_hub: FakeHub, unwired: Editor) -> Wired:
    """An editor registered with the fake hub."""
    return Wired(unwired, fake_hub.greet()[0], fake_hub)
