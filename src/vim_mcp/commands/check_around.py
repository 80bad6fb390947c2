"""The doctor's look at what is around: Claude Code, tmux, containers, a private /tmp."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from vim_mcp import paths
from vim_mcp.commands import claude, places, probe
from vim_mcp.commands.findings import Finding, error, ok, warning
from vim_mcp.errors import CommandFailed

#: What must be the same for editors and assistants.
_SHARED = ("VIM_MCP_RUNTIME_DIR", "VIM_MCP_SOCKET")


def registration() -> Iterator[Finding]:
    """Tell whether Claude Code knows vim-mcp, and whether what it would start is there."""
    is_read = True
    servers: dict[str, dict[str, claude.Server]] = {}
    user, project = claude.user_file(), os.path.abspath(claude.PROJECT_FILE)
    try:
        servers[places.short(user)] = claude.servers(user)
        servers[f"{places.short(user)} for this directory"] = claude.local_servers(
            user, os.getcwd()
        )
        servers[places.short(project)] = claude.servers(project)
    except CommandFailed as problem:
        yield error("Claude Code", str(problem), "mend that file")
        is_read = False
    ours = [
        (where, name, server)
        for where, known in servers.items()
        for name, server in known.items()
        if claude.is_ours(server)
    ]
    for where, name, server in ours:
        yield _started(where, name, server)
    if ours or not is_read:
        return
    if shutil.which("claude"):
        yield warning(
            "Claude Code", "vim-mcp is not registered with it", "vim-mcp install --claude"
        )
    else:
        yield ok("Claude Code", "not found; other MCP clients start `vim-mcp`")


def _started(where: str, name: str, server: claude.Server) -> Finding:
    command = str(server.get("command"))
    # It may be started with more on its PATH than there is here.
    found = shutil.which(command)
    if found is None:
        # A file that is shared names no place.
        again = "vim-mcp install --claude" if "/" in command else f"put {command} on PATH"
        return error(
            "Claude Code", f"{name} in {where} starts {command}, which is not there", again
        )
    mine = places.program()
    if os.path.basename(found) == "vim-mcp" and mine:
        if os.path.realpath(found) != os.path.realpath(mine):
            what = f"{name} in {where} starts another vim-mcp: {found}; this is {mine}"
            return warning("Claude Code", what, "remove one of them, or vim-mcp install --claude")
    return ok("Claude Code", f"{name} in {where} starts {command}")


def tmux() -> Iterator[Finding]:
    """Tell whether tmux gives new windows other directories than there are here."""
    if shutil.which("tmux") is None:
        return
    # Without a server this fails, and starts none.
    told = probe.ask(["tmux", "show-environment", "-g"], 2.0)
    if told is None or told.status:
        return
    lines = told.text.splitlines()
    if os.environ.get("TMUX"):
        session = probe.ask(["tmux", "show-environment"], 2.0)
        lines += session.text.splitlines() if session and not session.status else []
    given: dict[str, str] = {}
    for line in lines:
        name, equals, value = line.removeprefix("-").partition("=")
        given[name] = value if equals else ""
    differing = [name for name in _SHARED if given.get(name, "") != os.environ.get(name, "")]
    for name in differing:
        mine, theirs = os.environ.get(name) or "not set", given.get(name) or "not set"
        verb = f"-g {name} {mine}" if os.environ.get(name) else f"-gu {name}"
        yield warning(
            "tmux",
            f"it gives new windows {name} {theirs}, here it is {mine}: they use another hub",
            f"tmux set-environment {verb}, and open new windows",
        )
    if given.get("VIM_MCP_INSTANCE"):
        yield warning(
            "tmux",
            "it was started in a Vim: assistants in its windows take that Vim for theirs",
            "tmux set-environment -gu VIM_MCP_INSTANCE, and open new windows",
        )
    elif not differing:
        yield ok("tmux", "its windows use the same hub")


def containers() -> Iterator[Finding]:
    """Tell what keeps this process from seeing the editors' socket."""
    path = paths.runtime_dir()
    marks = [mark for mark in ("/.dockerenv", "/run/.containerenv") if os.path.exists(mark)]
    # systemd and podman set it, in small letters.
    if marks or os.environ.get("container"):  # noqa: SIM112
        yield ok(
            "container",
            f"this is one: for editors and assistants outside of it, share {path} "
            f"(-v {path}:{path}) and the uid (--user)",
        )
    if path.startswith("/tmp/") and has_private_tmp():
        yield warning(
            "/tmp",
            "this process has a /tmp of its own (PrivateTmp of systemd)",
            "set VIM_MCP_RUNTIME_DIR to a directory in your home (mode 0700) for all",
        )


def has_private_tmp(mounts: str = "/proc/self/mountinfo") -> bool:
    """Tell whether /tmp is one that systemd made for a service alone."""
    try:
        with open(mounts, encoding="utf-8", errors="replace") as file:
            fields = [line.split() for line in file]
    except OSError:
        return False
    return any(len(f) > 4 and f[4] == "/tmp" and "systemd-private-" in f[3] for f in fields)
