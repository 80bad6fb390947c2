"""pytest fixtures with real editors. Loaded by its entry point wherever the package is installed.

Fixtures: `editor` (one test for each kind in --editors), `vim`, `nvim`, `new_editor`, `screen`,
`hub`, `sandbox`, `assistant`, `new_assistant`, `raw_assistant`, and `stage`, on which they all stand.
Editors and hub are kept from test to test, blank each time. A test that kills or freezes the hub, or
leaves it in a state of its own, is marked `@pytest.mark.private` and gets a stage to itself.

For another plugin's tests, override `plugin_under_test` with its directory: no hub is started then.

    @pytest.fixture(scope="session")
    def plugin_under_test() -> Path:
        return Path(__file__).parent.parent

    def test_it_counts_words(editor):
        editor.type("ione two<Esc>:CountWords<CR>")
        assert "2 words" in editor.screen()
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .assistant import Assistant
    from .editor import Editor
    from .hub import Hub
    from .raw import RawAssistant
    from .sandbox import Sandbox
    from .screen import Screen
    from .stage import Stage

# Imported inside the functions: see the package's docstring.

_STAGE = pytest.StashKey["Stage"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --editors."""
    parser.getgroup("harness").addoption(
        "--editors",
        default="vim,nvim",
        metavar="KINDS",
        help="editors that tests with the `editor` fixture run on, each once: vim,nvim",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Say what the marker means."""
    config.addinivalue_line(
        "markers", "private: run with a sandbox, hub and editors that no other test uses"
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what killed workers could not."""
    if not hasattr(config, "workerinput"):
        try:
            from .sandbox import sweep
        except ImportError:  # installed without the extra: nothing was started either
            return
        sweep()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each editor."""
    if "editor_kind" in metafunc.fixturenames:
        metafunc.parametrize("editor_kind", _kinds(metafunc.config), scope="session")


def _kinds(config: pytest.Config) -> list[str]:
    return [kind for kind in str(config.getoption("--editors")).split(",") if kind]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put screens, messages and logs into the report of what failed."""
    report = yield
    stage = item.stash.get(_STAGE, None)
    if stage is not None and report.failed and call.when != "teardown":
        report.sections.extend(stage.report())
    return report


@pytest.fixture(scope="session")
def plugin_under_test() -> bool | Path:
    """The directory that editors get on 'runtimepath'; True is vim-mcp's own, with a hub."""
    return True


@pytest.fixture(scope="session")
def _stages() -> Iterator[dict[tuple[str, ...], Stage]]:
    stages: dict[tuple[str, ...], Stage] = {}
    yield stages
    while stages:
        stages.popitem()[1].close()


@pytest.fixture
def stage(
    request: pytest.FixtureRequest,
    plugin_under_test: bool | Path,
    _stages: dict[tuple[str, ...], Stage],
) -> Iterator[Stage]:
    """The sandbox with its hub, editors and assistants on which this test's fixtures stand."""
    from .stage import Stage

    if request.node.get_closest_marker("private"):
        stage = Stage(plugin=plugin_under_test)
        request.node.stash[_STAGE] = stage
        yield stage
        stage.close()
        return
    # An editor kept for other tests would be one more instance on this test's hub.
    key = (str(plugin_under_test), *sorted(_used_kinds(request)))
    if key not in _stages:
        _stages[key] = Stage(plugin=plugin_under_test)
    stage = _stages[key]
    request.node.stash[_STAGE] = stage
    yield stage
    stage.tidy()


def _used_kinds(request: pytest.FixtureRequest) -> Iterator[str]:
    for kind in ("vim", "nvim"):
        if kind in request.fixturenames:
            yield kind
    if "editor" in request.fixturenames:
        yield request.getfixturevalue("editor_kind")


@pytest.fixture
def sandbox(stage: Stage) -> Sandbox:
    """The private directories and environment of this test."""
    return stage.sandbox


@pytest.fixture
def hub(stage: Stage) -> Hub:
    """A running private hub."""
    return stage.need_hub()


@pytest.fixture
def editor(stage: Stage, editor_kind: str) -> Editor:
    """A blank editor, registered with the private hub; the test runs once for each of --editors."""
    return stage.editor(editor_kind)


@pytest.fixture
def vim(stage: Stage) -> Editor:
    """A blank Vim."""
    return stage.editor("vim")


@pytest.fixture
def nvim(stage: Stage) -> Editor:
    """A blank Neovim."""
    return stage.editor("nvim")


@pytest.fixture
def new_editor(stage: Stage, editor_kind: str) -> Callable[..., Editor]:
    """Start one more editor: new_editor(files=…, rc_extra=…), see Editor.start().

    Of this test's kind unless `kind` says another. It ends with the test.
    """

    def start(kind: str = editor_kind, **options: Any) -> Editor:
        return stage.new_editor(kind, **options)

    return start


@pytest.fixture
def screen(editor: Editor) -> Callable[[], Screen]:
    """Call it for what the editor shows now."""
    return editor.screen


@pytest.fixture
def new_assistant(stage: Stage) -> Callable[..., Assistant]:
    """Start an assistant: new_assistant(name=…, era=…, cwd=…, env=…). It ends with the test."""
    stage.need_hub()
    return stage.new_assistant


@pytest.fixture
def assistant(new_assistant: Callable[..., Assistant]) -> Assistant:
    """An assistant, connected through the forwarder, in the directory of the project."""
    return new_assistant()


@pytest.fixture
def raw_assistant(stage: Stage) -> RawAssistant:
    """A forwarder with its pipes in the test's hands, started, no handshake done yet."""
    stage.need_hub()
    return stage.new_raw_assistant()
