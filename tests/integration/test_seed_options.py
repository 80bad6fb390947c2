"""Section 10 of the first seed: options of the editor and variables of the environment.

What enabled, autostart, command, socket_path, reconnect_interval do: test_startup.py;
state_push_events, refresh_interval: test_push_events.py; state_files, state_interval:
test_state_files.py; ignore: test_private.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import Editor, Hub, Sandbox, hub_status, wait_until
from harness.process import exists
from tests.integration.peer import Peer
from tests.integration.test_connect import status
from tests.integration.test_hub import mode, run
from tests.integration.test_state_files import Scripted
from vim_mcp import paths

pytestmark = pytest.mark.private

Start = Callable[..., Editor]

# --- 10.2 the editor's options ------------------------------------------------------------------

#: Values that no option can have, as Vimscript; with each the default counts.
BAD = {
    "enabled": ["'yes'", "2", "[]"],
    "autostart": ["[]", "-1", "{}"],
    "command": ["5", "''", "[]", "['']", "[1]"],
    "socket_path": ["[1]", "5", "{}"],
    "reconnect_interval": ["'soon'", "99", "-1", "[]", "5000.5"],
    "state_push_events": ["'BufEnter'", "[1]", "5", "{}"],
    "refresh_interval": ["'0'", "99", "-1", "[]", "0.5"],
    "state_files": ["'all'", "''", "1", "['meta']"],
    "state_interval": ["'1s'", "0", "99", "[]", "1.5"],
    "ignore": ["'*.key'", "['']", "5", "{}"],
}
#: Values that they can have, at the edges of what is allowed.
GOOD = {
    "enabled": ["v:true", "1"],
    "autostart": ["v:false", "0"],
    "command": ["'vim-mcp'", "['vim-mcp', '-x']"],
    "reconnect_interval": ["100", "86400000"],
    "state_push_events": ["[]", "['BufEnter', 'BufWrite', 'WinEnter']"],
    "refresh_interval": ["0", "100"],
    "state_files": ["'meta'", "'full'", "'off'"],
    "state_interval": ["100", "3600000"],
    "ignore": ["[]", "['*.key', '/secret/*']"],
}


def option_lines(editor: Editor) -> list[str]:
    """What :VimMCPStatus says of options."""
    return [line for line in status(editor).splitlines() if line.startswith("option:")]


@pytest.fixture
def value_of(new_editor: Start) -> Callable[..., object]:
    """Start an editor with one option; return what the plugin makes of it, and what it says."""

    def start(name: str, value: str | None) -> tuple[object, list[str]]:
        extra = "" if value is None else f"let g:vim_mcp_{name} = {value}"
        editor = new_editor(rc_extra=extra, wait="started")
        assert editor.messages() == ""
        assert editor.eval("v:errmsg") == ""
        found = editor.eval(f"vim_mcp#options#Get('{name}')"), option_lines(editor)
        editor.stop()
        return found

    return start


def test_10_2_every_option_is_tested_and_documented(editor: Editor) -> None:
    names = editor.eval("sort(keys(vim_mcp#options#Defaults()))")
    assert set(names) == BAD.keys() == GOOD.keys() | {"socket_path"}
    text = (Path(paths.plugin_dir()) / "doc" / "vim_mcp.txt").read_text()
    for name in names:
        assert f"*g:vim_mcp_{name}*" in text
    assert option_lines(editor) == []


@pytest.mark.parametrize("name", BAD)
def test_10_2_a_value_that_cannot_be_is_told_in_the_status_and_the_default_counts(
    value_of: Callable[..., tuple[object, list[str]]], name: str
) -> None:
    default, told = value_of(name, None)
    assert told == []
    for value in BAD[name]:
        found, told = value_of(name, value)
        assert found == default, value
        (line,) = told
        assert line.startswith(f"option:   g:vim_mcp_{name} must "), value
        assert line.endswith("; the default is used")


@pytest.mark.parametrize("name", GOOD)
def test_10_2_a_value_that_can_be_is_taken(
    value_of: Callable[..., tuple[object, list[str]]], name: str
) -> None:
    for value in GOOD[name]:
        found, told = value_of(name, value)
        assert told == [], value
        if name != "command":
            wanted = json.loads(value.replace("'", '"').replace("v:", ""))
            assert found == wanted, value


def test_10_2_options_count_as_they_were_at_the_start(editor: Editor) -> None:
    editor.command("let g:vim_mcp_state_files = 'full'")
    editor.command("let g:vim_mcp_ignore = []")
    editor.command("VimMCPReconnect")
    editor.wait_registered()
    assert editor.eval("vim_mcp#options#Get('state_files')") == "meta"
    assert "*.key" in editor.eval("vim_mcp#options#Get('ignore')")


# --- 10.1 the environment -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "debug", "info"),
    [
        ("debug", True, True),
        ("DEBUG", True, True),
        ("trace", True, True),
        ("info", False, True),
        ("", False, True),
        ("warn", False, False),
        ("warning", False, False),
        ("error", False, False),
    ],
)
def test_10_1_the_log_level_decides_what_is_logged(
    sandbox: Sandbox, word: str, debug: bool, info: bool
) -> None:
    with Hub(sandbox).start(VIM_MCP_LOG_LEVEL=word) as hub, Peer(sandbox) as peer:
        peer.register("x-work-1")
        # Ignored with a word at the level of debugging.
        peer.send({"type": "status"})
        peer.send({"type": "update", "seq": 1})
        assert peer.recv() == {"type": "ack", "seq": 1}
        text = hub.log_text()
    assert (" D vim_mcp." in text) == debug
    assert (" I vim_mcp." in text) == info
    assert "VIM_MCP_LOG_LEVEL" not in text


def test_10_1_a_log_level_that_is_none_is_told_and_info_counts(sandbox: Sandbox) -> None:
    with Hub(sandbox).start(VIM_MCP_LOG_LEVEL="loud") as hub:
        text = hub.log_text()
    assert "VIM_MCP_LOG_LEVEL is 'loud', which is none of debug, info," in text
    assert " I vim_mcp." in text


def test_10_1_the_runtime_directory_may_be_elsewhere_for_all(
    new_editor: Start, sandbox: Sandbox
) -> None:
    there = sandbox.root / "there"
    env = {"VIM_MCP_RUNTIME_DIR": str(there)}
    assert run(sandbox, "hub", "--ensure", **env) == (0, "", "")
    editor = new_editor(env=env, wait="started", plugin=Path(paths.plugin_dir()))
    wait_until(lambda: "vim-mcp: connected" in status(editor), what="the editor to connect")
    wait_until(lambda: list(there.glob("*-state.json")), what="its state file")
    assert mode(there) == 0o700
    assert {"vim-mcp-server.sock", "vim-mcp-registry.json", "hub.lock", "hub.log"} <= {
        path.name for path in there.iterdir()
    }
    assert list(sandbox.run.iterdir()) == []
    assert run(sandbox, "hub", "--stop", **env)[0] == 0


def test_10_1_the_socket_may_be_elsewhere_for_all(new_editor: Start, sandbox: Sandbox) -> None:
    path = sandbox.run / "own.sock"
    env = {"VIM_MCP_SOCKET": str(path)}
    assert run(sandbox, "hub", "--ensure", **env) == (0, "", "")
    assert hub_status(sandbox) is None
    editor = new_editor(env=env, wait="started", plugin=Path(paths.plugin_dir()))
    wait_until(lambda: "vim-mcp: connected" in status(editor), what="the editor to connect")
    assert f"socket:   {path}" in status(editor)
    assert mode(path) == 0o600
    assert run(sandbox, "hub", "--stop", **env)[0] == 0


@pytest.mark.parametrize("value", ["", "soon", "0", "-1", "nan", "inf"])
def test_10_1_numbers_that_are_none_harm_nothing(sandbox: Sandbox, value: str) -> None:
    env = {"VIM_MCP_IDLE_S": value, "VIM_MCP_TIMEOUT_SCALE": value}
    with Hub(sandbox).start(**env) as hub, Scripted(sandbox, "x-work-1") as peer:
        # A request, so a deadline that could be set.
        assert peer.asked()["deadline_ms"] == 2000
        assert len(hub.instances()) == 1
        assert "Traceback" not in hub.log_text()


def test_10_1_the_idle_time_decides_when_a_hub_leaves(sandbox: Sandbox) -> None:
    with Hub(sandbox) as hub:
        # The scale shortens the grace after the start.
        hub.restart(VIM_MCP_IDLE_S="1", VIM_MCP_TIMEOUT_SCALE="0.05")
        pid = hub.pid
        wait_until(lambda: not exists(pid), seconds=20, what="the idle hub to leave")
        assert "leaving: idle" in hub.log_text()
