"""A private hub, and what the hub of a sandbox says of itself."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from typing import IO, Any

from . import process
from .errors import HubFailed
from .sandbox import Sandbox
from .wait import slow, wait_until


def hub_status(sandbox: Sandbox, *, seconds: float = 2.0) -> dict[str, Any] | None:
    """Return the status of the hub that answers in a sandbox, or None when none does."""
    return ask_hub(sandbox, {"type": "status"}, seconds)


def find_instance(sandbox: Sandbox, pid: int) -> dict[str, Any] | None:
    """Return what the sandbox's hub knows of the editor with that process id, or None."""
    status = hub_status(sandbox) or {}
    for instance in status.get("instances", ()):
        if instance.get("pid") == pid:
            return dict(instance)
    return None


def ask_hub(sandbox: Sandbox, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """Send a control request to the hub of a sandbox; return its answer, or None without one."""
    with socket.socket(socket.AF_UNIX) as dialled:
        dialled.settimeout(seconds * slow())
        try:
            dialled.connect(str(sandbox.socket))
            dialled.sendall(json.dumps(request).encode() + b"\n")
            with dialled.makefile("rb") as answers:
                line = answers.readline()
            return dict(json.loads(line)) if line.endswith(b"\n") else None
        except (OSError, ValueError):
            return None


class Hub:
    """The hub of a sandbox, run in the foreground as a child of the harness.

    Duties of the caller: `start()`, then `stop()`; or `with Hub(sandbox) as hub`.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._child: subprocess.Popen[bytes] | None = None
        self._output = sandbox.root / "hub-output.txt"

    def start(self, **env: str) -> Hub:
        """Start the hub, with `env` on top of the sandbox's, and wait until it answers.

        Raises:
            HubFailed: it ended, or another hub answers here.
            WaitTimeout: it does not answer.
        """
        with self._output.open("ab") as output:
            child = self._spawn(output, env)
        self._child = child

        def answers() -> bool:
            if child.poll() is not None:
                raise HubFailed(f"the hub ended with status {child.returncode}", self.log_text())
            status = self.status()
            return status is not None and status.get("pid") == child.pid

        try:
            wait_until(answers, seconds=10, what="the hub to answer", detail=self.log_text)
        except BaseException:
            self.stop()
            raise
        return self

    def _spawn(self, output: IO[bytes], env: dict[str, str]) -> subprocess.Popen[bytes]:
        return process.start(
            lambda: subprocess.Popen(
                [sys.executable, "-m", "vim_mcp", "hub"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self.sandbox.env(**env),
                cwd="/",
                # A Ctrl-C is the harness's to handle: it stops its hub last.
                start_new_session=True,
                preexec_fn=process.die_with_parent,
            )
        )

    @property
    def pid(self) -> int:
        """The process id of the hub in this sandbox: the one started here, else the one that answers.

        Raises:
            HubFailed: there is none.
        """
        if self._child is not None and self._child.poll() is None:
            return self._child.pid
        status = self.status()
        if status is None:
            raise HubFailed("no hub answers in this sandbox", self.log_text())
        return int(status["pid"])

    @property
    def alive(self) -> bool:
        """Whether a hub answers, or the one started here runs (a frozen one does)."""
        return (self._child is not None and self._child.poll() is None) or bool(self.status())

    def status(self, *, seconds: float = 2.0) -> dict[str, Any] | None:
        """Return the status of the hub that answers in the sandbox (see hub --status --json)."""
        return hub_status(self.sandbox, seconds=seconds)

    def instances(self) -> list[dict[str, Any]]:
        """Return the editors the hub lists."""
        return list((self.status() or {}).get("instances", ()))

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to the hub; after SIGKILL, wait until it is gone."""
        pid = self.pid
        os.kill(pid, number)
        if number == signal.SIGKILL:
            wait_until(lambda: self._gone(pid), what=f"hub {pid} to be gone")

    def _gone(self, pid: int) -> bool:
        if self._child is not None and self._child.pid == pid:
            return self._child.poll() is not None
        process.reap(pid)
        return not process.exists(pid)

    def freeze(self) -> None:
        """Stop the hub (SIGSTOP), and wait until it is."""
        pid = self.pid
        os.kill(pid, signal.SIGSTOP)
        if process.LINUX:
            wait_until(lambda: process.stopped(pid), what=f"hub {pid} to be stopped")

    def thaw(self) -> None:
        """Let a frozen hub run on."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)

    def stop(self) -> None:
        """End the hub started here, politely, then not. A hub started by others ends with the sandbox."""
        child = self._child
        if child is None:
            return
        if child.poll() is None:
            # Stopped ones get their SIGTERM only when they run again.
            child.send_signal(signal.SIGTERM)
            child.send_signal(signal.SIGCONT)
            try:
                child.wait(2 * slow())
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._child = None

    def restart(self, **env: str) -> Hub:
        """Stop the hub and start another in its place."""
        self.stop()
        return self.start(**env)

    def log_text(self) -> str:
        """Return the hub's log, and what it wrote to its terminal."""
        parts = []
        for path in (self.sandbox.run / "hub.log", self._output):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                parts.append(path.read_text(errors="replace"))
        return "".join(parts)

    def __enter__(self) -> Hub:
        return self if self._child is not None else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
