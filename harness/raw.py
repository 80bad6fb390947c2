"""An assistant made of bare lines, for tests of the protocol itself, of crashes, and for timing."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from . import process
from .errors import AssistantGone
from .sandbox import Sandbox
from .wait import Deadline, WaitTimeout, slow, wait_until

PROTOCOL = "2025-11-25"

_numbers = itertools.count(1)


class RawAssistant:
    """The server process an MCP client would start, its pipes in the caller's hands.

    Nothing reads in the background: `recv()` does. Duties of the caller: `start()`, then `stop()`.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        name: str = "harness-raw",
    ) -> None:
        self.sandbox = sandbox
        self.cwd = cwd or sandbox.project()
        self.env = env or {}
        self.name = name
        self.notifications: list[dict[str, Any]] = []
        self._answers: dict[Any, dict[str, Any]] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._errors = sandbox.root / f"raw-{next(_numbers)}.err"
        self._unread = bytearray()
        self._ids = itertools.count(1)

    def start(self, *args: str) -> RawAssistant:
        """Start the server with the arguments given, none by default; do not wait for anything."""
        with self._errors.open("ab") as errors:
            self._child = process.start(
                lambda: subprocess.Popen(
                    [sys.executable, "-m", "vim_mcp", *args],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=self.sandbox.env(**self.env),
                    cwd=self.cwd,
                    bufsize=0,
                    start_new_session=True,
                    preexec_fn=process.die_with_parent,
                )
            )
        return self

    @property
    def pid(self) -> int:
        """The process id of the server process."""
        return self._running().pid

    @property
    def returncode(self) -> int | None:
        """The exit status, None while it runs."""
        return self._running().poll()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            raise AssistantGone("the assistant was not started, or was stopped")
        return self._child

    def send(self, message: dict[str, Any] | str | bytes) -> None:
        """Send a message as one line; text and bytes go as they are, with a newline if none is there.

        Raises:
            AssistantGone: the server closed its input.
        """
        if isinstance(message, dict):
            message = json.dumps(message, ensure_ascii=False)
        data = message.encode() if isinstance(message, str) else message
        self.send_bytes(data if data.endswith(b"\n") else data + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Send bytes exactly as they are, however they cut a line.

        Raises:
            AssistantGone: the server closed its input.
        """
        pipe = self._running().stdin
        assert pipe is not None
        view = memoryview(data)
        try:
            while view:
                view = view[pipe.write(view) :]
        except BrokenPipeError as error:
            raise AssistantGone("the server closed its input", self.stderr()) from error

    def recv_line(self, seconds: float = 5.0) -> bytes:
        """Return the next line the server writes, without its newline.

        Raises:
            WaitTimeout: none came.
            AssistantGone: the server closed its output.
        """
        deadline = Deadline(seconds)
        pipe = self._running().stdout
        assert pipe is not None
        looked = 0
        while (stop := self._unread.find(b"\n", looked)) < 0:
            looked = len(self._unread)
            if not select.select([pipe], [], [], deadline.left)[0]:
                raise WaitTimeout("a line from the server", deadline.seconds, self.stderr())
            data = os.read(pipe.fileno(), 1 << 20)
            if not data:
                raise AssistantGone("the server closed its output", self.stderr())
            self._unread += data
        line = bytes(self._unread[:stop])
        del self._unread[: stop + 1]
        return line

    def recv(self, seconds: float = 5.0) -> dict[str, Any]:
        """Return the next message the server writes. Raises as `recv_line()`, or ValueError."""
        return dict(json.loads(self.recv_line(seconds)))

    def answer(self, number: Any, seconds: float = 5.0) -> dict[str, Any]:
        """Return the response to a request, putting aside what comes before it.

        Other responses are kept for their own `answer()`, the rest goes to `notifications`.
        Raises as `recv()`.
        """
        deadline = Deadline(seconds)
        while number not in self._answers:
            message = self.recv(deadline.left / slow())
            if "method" not in message and "id" in message:
                self._answers[message["id"]] = message
            else:
                self.notifications.append(message)
        return self._answers.pop(number)

    def send_request(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a request without waiting for its answer; return its id."""
        number = next(self._ids)
        request: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            request["params"] = params
        self.send(request)
        return number

    def request(
        self, method: str, params: dict[str, Any] | None = None, *, seconds: float = 5.0
    ) -> dict[str, Any]:
        """Send a request and return its response, error responses too. Raises as `answer()`."""
        return self.answer(self.send_request(method, params), seconds)

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the whole response."""
        return self.request("tools/call", {"name": tool, "arguments": arguments}, seconds=30)

    def initialize(self, protocol: str = PROTOCOL) -> dict[str, Any]:
        """Do the handshake of the first era and return the response to `initialize`."""
        params = {
            "protocolVersion": protocol,
            "capabilities": {},
            "clientInfo": {"name": self.name, "version": "1"},
        }
        response = self.request("initialize", params, seconds=10)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return response

    def stderr(self) -> str:
        """Return what the server wrote to its standard error."""
        with contextlib.suppress(FileNotFoundError):
            return self._errors.read_text(errors="replace")
        return ""

    def close_stdin(self) -> None:
        """Close the server's input, as a client that leaves does."""
        pipe = self._running().stdin
        assert pipe is not None
        pipe.close()

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to the server process; after SIGKILL, wait until it is gone."""
        child = self._running()
        child.send_signal(number)
        if number == signal.SIGKILL:
            child.wait()

    def wait(self, seconds: float = 5.0) -> int:
        """Wait until the server process ends, and return its exit status.

        Raises:
            WaitTimeout: it runs on.
        """
        child = self._running()
        wait_until(lambda: child.poll() is not None, seconds=seconds, what="the server to end")
        return int(child.returncode)

    def stop(self) -> None:
        """Close the pipes and end the server process, politely, then not."""
        child = self._child
        if child is None:
            return
        self._child = None
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        child.send_signal(signal.SIGCONT)
        try:
            child.wait(2 * slow())
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def __enter__(self) -> RawAssistant:
        return self if self._child is not None else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
