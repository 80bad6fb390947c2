"""`vim-mcp doctor` finds what is spoilt here, one thing a time, and its remedy."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness import Sandbox, Stage, hub_status, wait_until
from harness.binary import find as find_binary
from harness.screen import Terminal
from tests.integration.shell import Shell, tree
from vim_mcp import paths

Findings = list[dict[str, str]]


@pytest.fixture
def shell(sandbox: Sandbox) -> Shell:
    """A shell where everything was installed, and nothing runs."""
    shell = Shell(sandbox)
    shell.offer_editors("vim", "nvim")
    shell.offer_claude()
    assert shell.run("install").code == 0
    return shell


def examine(shell: Shell, **env: str) -> Findings:
    """What the doctor finds."""
    done = shell.run("doctor", "--json", **env)
    assert done.err == ""
    found: Findings = json.loads(done.out)
    assert done.code == int(any(one["level"] == "error" for one in found))
    return found


def bad(found: Findings) -> Findings:
    """What is not ok."""
    return [one for one in found if one["level"] != "ok"]


def topics(found: Findings) -> set[str]:
    return {one["topic"] for one in found}


# --- all is well ------------------------------------------------------------------------------


@pytest.mark.private
def test_all_is_well_after_install(stage: Stage, shell: Shell) -> None:
    stage.need_hub()
    editor = stage.new_editor("vim", plugin=False)
    editor.wait_registered()
    before = tree(shell.sandbox.home)
    found = examine(shell)
    assert bad(found) == []
    assert {"editor", "plugin", "program", "runtime directory", "hub", "handshake"} <= topics(found)
    assert any(one["topic"] == "connected" and editor.instance_id in one["what"] for one in found)
    assert any(
        one["topic"] == "Claude Code" and "vim in ~/.claude.json" in one["what"] for one in found
    )
    assert all(bool(one["remedy"]) == (one["level"] != "ok") for one in found)
    # It only looks.
    assert tree(shell.sandbox.home) == before
    plain = shell.run("doctor").out.splitlines()
    assert len(plain) == len(found)
    assert all(line.startswith("ok       ") for line in plain)


@pytest.mark.private
def test_the_handshake_alone_starts_a_hub_and_says_so(shell: Shell) -> None:
    found = examine(shell)
    assert bad(found) == []
    told = {one["topic"]: one["what"] for one in found}
    assert told["hub"] == "none runs; it starts when one is needed"
    assert told["handshake"].endswith("; this has started a hub")
    assert hub_status(shell.sandbox) is not None


@pytest.mark.private
def test_in_a_terminal_it_is_a_table(shell: Shell) -> None:
    (shell.sandbox.home / ".claude.json").write_text("{}")
    argv = [sys.executable, "-m", "vim_mcp", "doctor"]
    terminal = Terminal(argv, env=shell.env(), cwd=shell.cwd, rows=50, columns=100)
    try:
        wait_until(
            lambda: "→ vim-mcp install --claude" in terminal.look(),
            seconds=20,
            what="the table",
            detail=lambda: terminal.look().framed(),
        )
    finally:
        terminal.close()


# --- one thing spoilt -------------------------------------------------------------------------

PLACE = ".vim/pack/vim-mcp/start/vim-mcp"

Spoil = Callable[[Shell, Path], Any]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def older_plugin(shell: Shell, home: Path) -> None:
    shell.run("install", "--vim", "--copy")
    info = home / PLACE / "autoload/vim_mcp/info.vim"
    info.write_text(info.read_text().replace("'0.1.0'", "'0.0.9'"))


def by_manager(shell: Shell, home: Path) -> None:
    clone = home / ".vim/plugged/vim-mcp"
    clone.mkdir(parents=True)
    (clone / "vim").symlink_to(paths.plugin_dir())


def lead_nowhere(shell: Shell, home: Path) -> None:
    for link in (home / PLACE).iterdir():
        if link.is_symlink():
            link.unlink()
            link.symlink_to(home / "gone")


def half_removed(shell: Shell, home: Path) -> None:
    (home / PLACE / "lua").unlink()


def replace_vim(text: str) -> Spoil:
    def spoil(shell: Shell, home: Path) -> None:
        (shell.bin / "vim").unlink()
        shell.offer("vim", text)

    return spoil


TINY = "#!/bin/sh\necho 'VIM - Vi IMproved 9.0 (2022)\nIncluded patches: 1-1378\n-channel -eval'\n"
OLD = "#!/bin/sh\necho 'VIM - Vi IMproved 8.2 (2019)\nIncluded patches: 1-2434\n+eval +channel'\n"
#: Its child keeps its output open for longer than anybody waits.
HANGING = "#!/bin/sh\n/bin/sleep 1000 & wait\n"

#: By name: what is spoilt, and then the level, topic, words and remedy of the one finding.
SPOILT: dict[str, tuple[Spoil, str, str, str, str]] = {
    "vim-tiny": (replace_vim(TINY), "warning", "editor", "no +eval +channel", "vim-nox"),
    "old Vim": (replace_vim(OLD), "warning", "editor", "older than 8.2.4684", "vim-nox"),
    "hanging Vim": (
        replace_vim(HANGING), "warning", "editor", "does not answer to --version", "install Vim",
    ),
    "no plugin": (
        lambda shell, home: shell.run("install", "--uninstall", "--vim"),
        "warning", "plugin", "neither as a package nor", "vim-mcp install --vim",
    ),
    "older plugin": (
        older_plugin, "warning", "plugin", "is 0.0.9, vim-mcp is 0.1.0", "vim-mcp install --vim",
    ),
    "two plugins": (by_manager, "warning", "plugin", "Vim has it 2 times", "keep one"),
    "links to nowhere": (lead_nowhere, "error", "plugin", "lead nowhere", "install --vim"),
    "half a plugin": (half_removed, "warning", "plugin", "differs from", "install --vim"),
    "program gone": (
        lambda shell, home: write(home / ".state/vim-mcp/command", "/gone/vim-mcp\n"),
        "error", "program", "/gone/vim-mcp, which is gone", "vim-mcp install",
    ),
    "no program": (
        lambda shell, home: (home / ".state/vim-mcp/command").unlink(),
        "warning", "program", "not on PATH: editors cannot start the hub", "vim-mcp install",
    ),
    "another program": (
        lambda shell, home: shell.offer("vim-mcp", "#!/bin/sh\n"),
        "warning", "program", "on PATH is another", "remove one",
    ),
    "not registered": (
        lambda shell, home: write(home / ".claude.json", "{}"),
        "warning", "Claude Code", "not registered", "vim-mcp install --claude",
    ),
    "registered and gone": (
        lambda shell, home: write(
            home / ".claude.json", '{"mcpServers": {"vim": {"command": "/gone/vim-mcp"}}}'
        ),
        "error", "Claude Code", "/gone/vim-mcp, which is not there", "vim-mcp install --claude",
    ),
    "broken registration": (
        lambda shell, home: write(home / ".claude.json", "{"),
        "error", "Claude Code", "is not JSON", "mend that file",
    ),
    "runtime directory for all": (
        lambda shell, home: shell.sandbox.run.chmod(0o755),
        "error", "runtime directory", "its mode is 755", "chmod 700",
    ),
}  # fmt: skip


@pytest.mark.private
@pytest.mark.parametrize("name", SPOILT)
def test_what_is_spoilt_is_found(shell: Shell, name: str) -> None:
    spoil, level, topic, words, remedy = SPOILT[name]
    spoil(shell, shell.sandbox.home)
    # Half a second for Vim's version; the rest is quick, but for a hub's start.
    env = {"VIM_MCP_TIMEOUT_SCALE": "0.5"} if name == "hanging Vim" else {}
    found = [one for one in bad(examine(shell, **env)) if one["topic"] == topic]
    assert [one["level"] for one in found] == [level], found
    assert words in found[0]["what"]
    assert remedy in found[0]["remedy"]


@pytest.mark.private
def test_nothing_found_is_told_as_such(sandbox: Sandbox) -> None:
    found = examine(Shell(sandbox))
    assert topics(bad(found)) == {"editor", "program"}


@pytest.mark.private
def test_a_project_file_registers_too(shell: Shell) -> None:
    shell.run("install", "--uninstall", "--claude")
    shell.run("install", "--project")
    found = [one for one in examine(shell) if one["topic"] == "Claude Code"]
    # The name in the file is looked for on PATH, where it is not.
    assert [(one["level"], one["remedy"]) for one in found] == [("error", "put vim-mcp on PATH")]
    (shell.bin / "vim-mcp").symlink_to(shell.program)
    (found,) = [[one for one in examine(shell) if one["topic"] == "Claude Code"]]
    assert [one["level"] for one in found] == ["ok"]
    assert ".mcp.json starts vim-mcp" in found[0]["what"]


@pytest.mark.private
def test_a_path_too_long_for_a_socket_is_found(shell: Shell) -> None:
    found = bad(examine(shell, VIM_MCP_RUNTIME_DIR="/tmp/" + "d" * 100))
    assert {"runtime directory", "hub"} == topics(found)
    assert "103 bytes at most" in found[0]["what"]


@pytest.mark.private
def test_a_hub_that_is_stopped_is_found_and_not_waited_for(stage: Stage, shell: Shell) -> None:
    hub = stage.need_hub()
    hub.freeze()
    try:
        found = examine(shell, VIM_MCP_TIMEOUT_SCALE="0.3")
    finally:
        hub.thaw()
    (finding,) = bad(found)
    assert finding["topic"] == "hub"
    assert f"(pid {hub.pid}) takes connections and does not answer" in finding["what"]
    assert f"kill -CONT {hub.pid}" in finding["remedy"]
    assert "handshake" not in topics(found)


@contextmanager
def hub_that_says(sandbox: Sandbox, answer: dict[str, Any]) -> Iterator[None]:
    """A listener that gives one answer to whoever comes."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(sandbox.socket))
        listener.listen()

        def serve() -> None:
            while True:
                connection, _ = listener.accept()
                with connection:
                    if connection.recv(1000).startswith(b"#quit"):
                        return
                    connection.sendall(json.dumps(answer).encode() + b"\n")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            with socket.socket(socket.AF_UNIX) as last:
                last.connect(str(sandbox.socket))
                last.sendall(b"#quit")
            thread.join()


@pytest.mark.private
def test_another_version_is_found_in_hub_and_editors(shell: Shell) -> None:
    editor = {
        "instance_id": "a-b-1", "editor": "vim", "version": "9.0.1", "plugin_version": "0.0.9",
        "cwd": "/w", "paused": False,
    }  # fmt: skip
    status = {
        "status": "CONNECTED", "version": "0.0.9", "pid": 1, "uptime_s": 5.0, "socket": "/s",
        "instances": [editor], "sessions": [],
    }  # fmt: skip
    with hub_that_says(shell.sandbox, status):
        found = {one["topic"]: one for one in bad(examine(shell))}
    assert "it is 0.0.9, pid 1" in found["hub"]["what"]
    assert "vim-mcp hub --stop" in found["hub"]["remedy"]
    assert "a-b-1, Vim 9.0.1, /w, with a plugin of 0.0.9" in found["connected"]["what"]


# --- around -----------------------------------------------------------------------------------


@pytest.mark.private
def test_a_tmux_with_another_directory_is_found(shell: Shell, sandbox: Sandbox) -> None:
    real = find_binary("tmux", ("tmux",), "HARNESS_TMUX", "tmux", lambda path: True)
    (shell.bin / "tmux").symlink_to(real)
    mine = {"TMUX_TMPDIR": str(sandbox.tmp)}
    assert "tmux" not in topics(examine(shell, **mine))
    start = [real, "-f", "/dev/null", "new-session", "-d", "/bin/cat"]
    subprocess.run(start, env=shell.env(**mine), check=True, timeout=30)
    (finding,) = [one for one in examine(shell, **mine) if one["topic"] == "tmux"]
    assert finding["level"] == "ok"
    theirs = {"VIM_MCP_RUNTIME_DIR": "/elsewhere", "VIM_MCP_INSTANCE": "a-b-1"}
    for name, value in theirs.items():
        change = [real, "set-environment", "-g", name, value]
        subprocess.run(change, env=shell.env(**mine), check=True, timeout=30)
    first, second = [one for one in bad(examine(shell, **mine)) if one["topic"] == "tmux"]
    assert f"VIM_MCP_RUNTIME_DIR /elsewhere, here it is {sandbox.run}" in first["what"]
    assert f"tmux set-environment -g VIM_MCP_RUNTIME_DIR {sandbox.run}" in first["remedy"]
    assert "take that Vim for theirs" in second["what"]
    subprocess.run([real, "kill-server"], env=shell.env(**mine), check=True, timeout=30)


@pytest.mark.private
def test_a_container_is_told_what_to_share(shell: Shell) -> None:
    (finding,) = [one for one in examine(shell, container="podman") if one["topic"] == "container"]
    assert f"share {shell.sandbox.run}" in finding["what"]
