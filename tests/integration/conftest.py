"""Fixtures with a hub whose every line is in the test's hands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import Editor, Hub, Sandbox, Stage, slow
from tests.integration.fake_hub import FakeHub, Line
from vim_mcp import paths


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
    # Named, the plugin's directory is nothing for which the harness starts a hub.
    return new_editor(plugin=Path(paths.plugin_dir()))


@pytest.fixture
def wired(fake_hub: FakeHub, unwired: Editor) -> Wired:
    """An editor registered with the fake hub."""
    line = fake_hub.accept()
    line.greet()
    line.fence()
    return Wired(unwired, line, fake_hub)
