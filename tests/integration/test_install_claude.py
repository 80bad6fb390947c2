"""`vim-mcp install --claude` and `--project`: what is registered, and what of others stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import Sandbox
from tests.integration.shell import Shell

pytestmark = pytest.mark.private


@pytest.fixture
def shell(sandbox: Sandbox) -> Shell:
    """A shell without Claude Code."""
    return Shell(sandbox)


@pytest.fixture
def home(sandbox: Sandbox) -> Path:
    return sandbox.home


def test_without_claude_the_command_and_the_json_are_printed(shell: Shell) -> None:
    done = shell.run("install", "--claude")
    assert done.code == 0
    assert f"claude mcp add --scope user vim -- {shell.program}\n" in done.out
    (line,) = [line for line in done.out.splitlines() if "mcpServers" in line]
    entry = json.loads(line)["mcpServers"]["vim"]
    assert entry == {"type": "stdio", "command": str(shell.program), "args": []}


def test_an_older_registration_is_renewed(shell: Shell, home: Path) -> None:
    shell.offer_claude()
    servers = {"vim": {"command": "/gone/bin/vim-mcp", "args": []}, "x": {"command": "y"}}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": servers, "theme": "dark"}))
    assert shell.run("install", "--claude").code == 0
    found = json.loads((home / ".claude.json").read_text())
    assert found["mcpServers"]["vim"]["command"] == str(shell.program)
    assert found["mcpServers"]["x"] == {"command": "y"}
    assert [call[1] for call in shell.claude_calls()] == ["remove", "add"]


@pytest.mark.parametrize("more", [[], ["--uninstall"]])
def test_another_server_of_that_name_is_left(shell: Shell, home: Path, more: list[str]) -> None:
    shell.offer_claude()
    (home / ".claude.json").write_text('{"mcpServers": {"vim": {"command": "theirs"}}}')
    done = shell.run("install", "--claude", *more)
    assert done.code == 1
    assert "another server named vim" in done.err
    assert shell.claude_calls() == []


def test_what_claude_refuses_is_told(shell: Shell) -> None:
    shell.offer("claude", "#!/bin/sh\necho 'Invalid configuration: no' >&2\nexit 1\n")
    done = shell.run("install", "--claude")
    assert done.code == 1
    assert "failed: Invalid configuration: no\n" in done.err


def test_a_project_file_keeps_what_others_wrote(shell: Shell) -> None:
    path = shell.cwd / ".mcp.json"
    others = {"$schema": "x", "mcpServers": {"db": {"command": "dbhub", "env": {"A": "ä"}}}}
    path.write_text(json.dumps(others, ensure_ascii=False, indent=2) + "\n")
    path.chmod(0o640)
    before = path.read_bytes()
    assert shell.run("install", "--project").code == 0
    found = json.loads(path.read_text())
    assert found["mcpServers"]["db"] == others["mcpServers"]["db"]  # type: ignore[index]
    assert found["mcpServers"]["vim"] == {"type": "stdio", "command": "vim-mcp", "args": []}
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in shell.cwd.iterdir() if "mcp" in p.name] == [".mcp.json"]
    written = path.stat().st_mtime_ns
    assert "already" in shell.run("install", "--project").out
    assert path.stat().st_mtime_ns == written
    assert shell.run("install", "--project", "--uninstall").code == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{broken", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"mcpServers": []}', '"mcpServers" is not an object'),
        ('{"mcpServers": {"vim": {"command": "theirs"}}}', "another server named vim"),
    ],
)
def test_a_project_file_that_cannot_be_joined_is_left(shell: Shell, text: str, why: str) -> None:
    path = shell.cwd / ".mcp.json"
    path.write_text(text)
    done = shell.run("install", "--project")
    assert done.code == 1
    assert why in done.err
    assert path.read_text() == text
