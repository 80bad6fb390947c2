"""`vim-mcp install --hooks`: Claude Code's settings, in which all else stays."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import Sandbox
from tests.integration.shell import Shell, tree

pytestmark = pytest.mark.private

THEIRS: dict[str, Any] = {
    "theme": "dark",
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard ä"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "bell"}]}],
    },
}


@pytest.fixture
def shell(sandbox: Sandbox) -> Shell:
    return Shell(sandbox)


@pytest.fixture
def settings(sandbox: Sandbox) -> Path:
    return sandbox.home / ".claude" / "settings.json"


def commands(settings: Path, event: str) -> list[str]:
    groups = json.loads(settings.read_text())["hooks"][event]
    return [hook["command"] for group in groups for hook in group["hooks"]]


def test_hooks_are_added_once_and_taken_back(shell: Shell, settings: Path) -> None:
    settings.parent.mkdir()
    before = json.dumps(THEIRS, indent=2, ensure_ascii=False) + "\n"
    settings.write_text(before)
    settings.chmod(0o600)
    assert shell.run("install", "--hooks").code == 0
    assert commands(settings, "PreToolUse") == ["guard ä", f"{shell.program} hook unsaved"]
    assert commands(settings, "PostToolUse") == [f"{shell.program} hook changed"]
    assert json.loads(settings.read_text())["hooks"]["Stop"] == THEIRS["hooks"]["Stop"]
    assert settings.stat().st_mode & 0o777 == 0o600
    once = settings.read_text()
    assert "already" in shell.run("install", "--hooks").out
    assert settings.read_text() == once
    assert shell.run("install", "--hooks", "--uninstall").code == 0
    assert settings.read_text() == before


def test_a_file_of_ours_alone_comes_and_goes(shell: Shell, settings: Path) -> None:
    assert shell.run("install", "--hooks").code == 0
    assert set(json.loads(settings.read_text())["hooks"]) == {"PreToolUse", "PostToolUse"}
    assert shell.run("install", "--uninstall").code == 0
    assert not settings.parent.exists()
    assert "not there" in shell.run("install", "--hooks", "--uninstall").out


def test_an_older_program_is_replaced(shell: Shell, settings: Path) -> None:
    settings.parent.mkdir()
    old = {"type": "command", "command": "'/old place/vim-mcp' hook changed"}
    settings.write_text(json.dumps({"hooks": {"PostToolUse": [{"matcher": "X", "hooks": [old]}]}}))
    assert shell.run("install", "--hooks").code == 0
    assert commands(settings, "PostToolUse") == [f"{shell.program} hook changed"]


def test_a_dry_run_changes_nothing(shell: Shell, sandbox: Sandbox) -> None:
    before = tree(sandbox.home)
    done = shell.run("install", "--hooks", "--dry-run")
    assert "would write" in done.out
    assert tree(sandbox.home) == before


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{broken", "is not JSON"),
        ('{"hooks": []}', '"hooks" is not an object'),
        ('{"hooks": {"PreToolUse": {}}}', '"PreToolUse" is not a list'),
    ],
)
def test_settings_that_cannot_be_joined_are_left(
    shell: Shell, settings: Path, text: str, why: str
) -> None:
    settings.parent.mkdir()
    settings.write_text(text)
    done = shell.run("install", "--hooks")
    assert done.code == 1
    assert why in done.err
    assert settings.read_text() == text


def test_what_is_written_runs_as_a_shell_runs_it(shell: Shell, settings: Path) -> None:
    shell.run("install", "--hooks")
    call = json.dumps({"tool_input": {"file_path": "/nowhere/a.txt"}})
    for event in ("PreToolUse", "PostToolUse"):
        (command,) = commands(settings, event)
        done = subprocess.run(
            command, shell=True, input=call, env=shell.env(), capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_registering_with_claude_offers_the_hooks(shell: Shell, settings: Path) -> None:
    shell.offer_claude()
    assert "vim-mcp install --hooks" in shell.run("install", "--claude").out
    assert not settings.exists()
