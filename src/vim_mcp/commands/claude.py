"""Claude Code's list of MCP servers: read from its files, changed by its own command line.

`claude mcp get` is not asked: it starts the server, and some versions do not see servers of the
user (2.1.77). Its files are documented.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

from vim_mcp.commands import files, probe
from vim_mcp.errors import CommandFailed

#: The name under which vim-mcp is registered.
NAME = "vim"
PROJECT_FILE = ".mcp.json"

Server = dict[str, Any]


def user_file() -> str:
    """Return the file in which Claude Code keeps the servers of the user."""
    directory = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~")
    return os.path.join(directory, ".claude.json")


def servers(path: str) -> dict[str, Server]:
    """Return the MCP servers that a file of Claude Code names; none when there is no file.

    Raises:
        CommandFailed: It is there and cannot be understood.
    """
    found = files.load(path).get("mcpServers")
    return found if isinstance(found, dict) else {}


def local_servers(path: str, directory: str) -> dict[str, Server]:
    """Return the servers that the user's file names for one directory. Raises as `servers()`."""
    projects = files.load(path).get("projects")
    project = projects.get(directory) if isinstance(projects, dict) else None
    found = project.get("mcpServers") if isinstance(project, dict) else None
    return found if isinstance(found, dict) else {}


def is_ours(server: Any) -> bool:
    """Tell whether a server is vim-mcp, however it is started."""
    if not isinstance(server, dict):
        return False
    words = [server.get("command"), *(server.get("args") or ())]
    names = [os.path.basename(word) for word in words if isinstance(word, str)]
    return "vim-mcp" in names or "vim_mcp" in names


def add_command(program: str) -> list[str]:
    """Return the command that registers a program for the user in all projects."""
    return ["claude", "mcp", "add", "--scope", "user", NAME, "--", program]


def remove_command() -> list[str]:
    """Return the command that takes it back."""
    return ["claude", "mcp", "remove", "--scope", "user", NAME]


def run(argv: list[str]) -> None:
    """Let Claude Code's command line do something.

    Raises:
        CommandFailed: It refused, with its words, or did not end.
    """
    told = probe.ask([shutil.which(argv[0]) or argv[0], *argv[1:]], 30.0)
    if told is None:
        raise CommandFailed(f"`{' '.join(argv)}` did not end within 30 s")
    if told.status:
        raise CommandFailed(f"`{' '.join(argv)}` failed: {told.last_line}")


def entry(program: str) -> Server:
    """Return what a file says of a server that is started as `program`."""
    return {"type": "stdio", "command": program, "args": []}


def with_server(path: str, server: Server | None) -> str | None:
    """Return a project's file with our server in it, or without it; None when nothing would change.

    An empty text means that nothing would be left. Other servers and settings stay as they are.

    Raises:
        CommandFailed: The file cannot be understood, or has another server of our name.
    """
    whole = files.load(path)
    known = whole.get("mcpServers", {})
    if not isinstance(known, dict):
        raise CommandFailed(f'{path}: "mcpServers" is not an object; mend it first')
    if NAME in known and not is_ours(known[NAME]):
        raise CommandFailed(f"{path} has another server named {NAME}; rename or remove it first")
    if known.get(NAME) == server:
        return None
    known = {name: one for name, one in known.items() if name != NAME}
    if server is not None:
        known[NAME] = server
    whole["mcpServers"] = known
    if whole == {"mcpServers": {}}:
        return ""
    return files.dump(whole)
