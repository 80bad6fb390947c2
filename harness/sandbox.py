"""A private place for editors, hub and assistants: files, environment, and an end to all of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from . import process
from .errors import ProcessesLeft
from .wait import slow

_PREFIX = "h-"
_OWNER = "owner"
_MARK = "HARNESS_SANDBOX"


class Sandbox:
    """A directory with a short path that holds a home, a runtime directory and projects.

    `root/home` is HOME, `root/run` the runtime directory (0700), `root/work` the first project.
    What is started with `env()` belongs to the sandbox and ends with it, also when it was started
    by an editor or an assistant and detached itself. Duties of the caller: `close()`, or `with`.
    """

    def __init__(self) -> None:
        process.adopt_orphans()
        # Not below $TMPDIR: macOS's is so long that a socket's path would pass 103 bytes.
        self.root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp")).resolve()
        (self.root / _OWNER).write_text(f"{_identity(os.getpid())}\n{_namespace()}\n")
        self.home = self._directory("home")
        self.run = self._directory("run")
        self.tmp = self._directory("tmp")
        self.socket = self.run / "vim-mcp-server.sock"
        self.closed = False
        self.project()

    def _directory(self, name: str) -> Path:
        path = self.root / name
        path.mkdir(mode=0o700, exist_ok=True)
        return path

    def project(self, name: str = "work") -> Path:
        """Return the directory of a project, made on first use with a `.git` that marks its root."""
        path = self._directory(name)
        (path / ".git").mkdir(exist_ok=True)
        return path

    def clear_projects(self) -> None:
        """Empty every project, keeping the directories (an editor may stand in one)."""
        for path in self.root.iterdir():
            if not (path / ".git").is_dir() or path in (self.home, self.run, self.tmp):
                continue
            for entry in path.iterdir():
                if entry.name == ".git":
                    continue
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()

    def env(self, **extra: str) -> dict[str, str]:
        """Return a small clean environment that belongs to this sandbox, with `extra` on top."""
        scripts = sysconfig.get_path("scripts")
        environment = {
            "PATH": os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)]),
            "HOME": str(self.home),
            "SHELL": "/bin/sh",
            "TERM": "xterm-256color",
            "LANG": "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8",
            "VIM_MCP_RUNTIME_DIR": str(self.run),
            "VIM_MCP_TIMEOUT_SCALE": f"{slow():g}",
            _MARK: str(self.root),
        }
        for name in ("config", "data", "state", "cache"):
            environment[f"XDG_{name.upper()}_HOME"] = str(self.home / f".{name}")
        # System-wide editor configuration must not leak in.
        for name in ("CONFIG", "DATA"):
            environment[f"XDG_{name}_DIRS"] = str(self.home / ".none")
        # Editors keep sockets and swap text there; a killed one cannot tidy up, we can.
        environment["XDG_RUNTIME_DIR"] = environment["TMPDIR"] = str(self.tmp)
        if path := os.environ.get("PYTHONPATH"):
            environment["PYTHONPATH"] = path
        return environment | extra

    def processes(self) -> list[process.Stat]:
        """Return the live processes that belong to this sandbox. Linux only, else none are seen."""
        return list(process.with_environment(f"{_MARK}={self.root}"))

    def end_processes(self) -> list[str]:
        """Kill what still runs here, each by its id, and say what it was."""
        ended = []
        # Again until none is found: one may have been starting another.
        while found := [one for one in self.processes() if one.pid != os.getpid()]:
            for one in found:
                ended.append(f"{one.pid} {process.command_line(one.pid)}".strip())
                process.end(one.pid)
        return ended

    def close(self, *, strict: bool = False) -> None:
        """End all that runs here and delete everything. May be called again.

        Raises:
            ProcessesLeft: with `strict`, when something still ran. It is killed and all is deleted
                all the same.
        """
        if self.closed:
            return
        self.closed = True
        left = self.end_processes()
        shutil.rmtree(self.root, ignore_errors=True)
        if strict and left:
            raise ProcessesLeft(left)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sweep() -> list[str]:
    """Remove the sandboxes of processes that were killed before they could, and say what went.

    Only directories of this user, marked by a Sandbox whose owner is gone, and only processes
    started with that sandbox's environment.
    """
    removed = []
    for root in Path("/tmp").resolve().glob(f"{_PREFIX}*"):
        try:
            if root.is_symlink() or root.stat().st_uid != os.getuid():
                continue
            owner, namespace = (root / _OWNER).read_text().splitlines()
        except (OSError, ValueError):
            continue
        pid, _, _ = owner.partition(" ")
        if namespace != _namespace() or not pid.isdigit() or _identity(int(pid)) == owner:
            continue
        for one in process.with_environment(f"{_MARK}={root}"):
            with contextlib.suppress(PermissionError):
                process.end(one.pid)
        shutil.rmtree(root, ignore_errors=True)
        removed.append(str(root))
    return removed


def _identity(pid: int) -> str:
    """Name a process so that a later one with the same id differs; "" when it is gone."""
    seen = process.stat(pid)
    if seen is not None and seen.state not in "ZX":
        return f"{pid} {seen.started}"
    return f"{pid} -" if process.exists(pid) else ""


def _namespace() -> str:
    """Name the process namespace: in another one, an owner that lives looks gone."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "-"
