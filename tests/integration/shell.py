"""A shell of its own for tests of the command line: what is on PATH, and what a command does there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from harness import Sandbox, slow
from harness.editors import KINDS

#: `claude`, as far as its documentation of `claude mcp` goes: it keeps the servers of the user in
#: ~/.claude.json, refuses a name twice, and notes here how it was called.
CLAUDE = f"""#!{sys.executable}
import json, os, pathlib, sys

words = sys.argv[1:]
with open(pathlib.Path(__file__).with_name("claude.calls"), "a") as calls:
    calls.write(json.dumps(words) + "\\n")
path = pathlib.Path(os.environ.get("CLAUDE_CONFIG_DIR") or os.environ["HOME"]) / ".claude.json"
config = json.loads(path.read_text()) if path.exists() else {{}}
servers = config.setdefault("mcpServers", {{}})
if words[:4] == ["mcp", "add", "--scope", "user"] and words[5] == "--":
    name, command = words[4], words[6:]
    if name in servers:
        sys.exit(f"MCP server {{name}} already exists in user config")
    servers[name] = {{"type": "stdio", "command": command[0], "args": command[1:], "env": {{}}}}
    print(f"Added stdio MCP server {{name}} with command: {{' '.join(command)}} to user config")
elif words[:4] == ["mcp", "remove", "--scope", "user"]:
    if words[4] not in servers:
        sys.exit(f"No user-scoped MCP server found with name: {{words[4]}}")
    del servers[words[4]]
    print(f"Removed MCP server {{words[4]}} from user config")
else:
    sys.exit(f"error: unknown command {{words}}")
path.write_text(json.dumps(config))
print(f"File modified: {{path}}")
"""


class Done(NamedTuple):
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


class Shell:
    """Runs vim-mcp in a sandbox, with nothing on PATH but what a test puts there."""

    def __init__(self, sandbox: Sandbox, cwd: Path | None = None) -> None:
        self.sandbox = sandbox
        self.cwd = cwd or sandbox.project()
        self.bin = sandbox.root / "bin"
        self.bin.mkdir(exist_ok=True)
        #: The program in the environment of the tests, as its user would find it.
        self.program = Path(sys.executable).with_name("vim-mcp")

    def offer(self, name: str, text: str) -> Path:
        """Put a program on PATH."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def offer_editors(self, *kinds: str) -> None:
        """Put the editors under test on PATH."""
        for kind in kinds:
            (self.bin / kind).symlink_to(KINDS[kind].find())

    def offer_claude(self) -> None:
        """Put the stand-in for Claude Code's command line on PATH."""
        self.offer("claude", CLAUDE)

    def claude_calls(self) -> list[list[str]]:
        """How the stand-in was called."""
        path = self.bin / "claude.calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def env(self, **env: str) -> dict[str, str]:
        """The environment of its commands."""
        return self.sandbox.env(PATH=str(self.bin)) | env

    def start(self, *args: str, **env: str) -> subprocess.Popen[str]:
        """Start vim-mcp with pipes."""
        return subprocess.Popen(
            [sys.executable, "-m", "vim_mcp", *args],
            env=self.env(**env),
            cwd=self.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *args: str, stdin: str = "", **env: str) -> Done:
        """Run vim-mcp to its end."""
        with self.start(*args, **env) as child:
            out, err = child.communicate(stdin, timeout=60 * slow())
            return Done(child.returncode, out, err)


def tree(*roots: Path) -> dict[str, object]:
    """All that is below some directories: links with their targets, files with content and rights."""
    found: dict[str, object] = {}
    for root in roots:
        for path in sorted(root.rglob("*")):
            mode = path.lstat().st_mode & 0o777
            found[str(path)] = (
                os.readlink(path)
                if path.is_symlink()
                else (mode, path.read_bytes())
                if path.is_file()
                else mode
            )
    return found
