"""A small MCP client over `vim-mcp serve`: the very way that assistants come, without the SDK.

The SDK takes 0.4 s to import; all that is needed here is one question after the other.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from typing import IO, Any

from vim_mcp import __version__, paths
from vim_mcp.errors import CommandFailed, ServerFailed
from vim_mcp.limits import MAX_SESSION_LINE, SCALE
from vim_mcp.wire.framing import LineBuffer

_PROTOCOL = "2025-11-25"
#: Longer than the hub takes to start, and than the longest deadline of an act.
ANSWER_S = 90.0 * SCALE
_CHUNK = 1 << 20


class Session:
    """One MCP session. Its directory is that of the shell, so that calls reach its project's editor.

    Duties of the caller: `with Session() as session`.
    """

    def __init__(self, seconds: float = ANSWER_S) -> None:
        self._seconds = seconds
        self._lines = LineBuffer(MAX_SESSION_LINE)
        self._ready: list[bytes] = []
        self._last_id = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        #: What the server answered to `initialize`.
        self.server: dict[str, Any] = {}

    def __enter__(self) -> Session:
        environment = dict(os.environ)
        # Claude Code's directory for servers that it starts; this one was started in a shell.
        environment.pop("CLAUDE_PROJECT_DIR", None)
        self._errors = tempfile.TemporaryFile()
        self._child = subprocess.Popen(
            [*paths.program(), "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            bufsize=0,
            # A Ctrl-C is ours to handle.
            start_new_session=True,
        )
        try:
            me = {"name": "vim-mcp shell", "version": __version__}
            params = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": me}
            self.server = self.request("initialize", **params)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session and its process. May be called again."""
        child, self._child = self._child, None
        if child is None:
            return
        # Its work is done: what has no answer yet is not waited for.
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout, self._errors):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask and return the result.

        Raises:
            CommandFailed: The server answered with an error.
            ServerFailed: It did not answer.
        """
        self._last_id += 1
        number = self._last_id
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        until = time.monotonic() + self._seconds
        while True:
            message = json.loads(self._line(method, until))
            if message.get("id") != number or "method" in message:
                continue
            if error := message.get("error"):
                raise CommandFailed(str(error.get("message")), status=3)
            return dict(message["result"])

    def every(self, method: str, key: str) -> list[dict[str, Any]]:
        """Return a whole list that the server may tell in pages. Raises as `request()`."""
        found: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            page = self.request(method, **cursor)
            found += page[key]
            if not page.get("nextCursor"):
                return found
            cursor = {"cursor": page["nextCursor"]}

    def _send(self, message: dict[str, Any]) -> None:
        assert self._child is not None
        assert self._child.stdin is not None
        data = memoryview(json.dumps(message).encode() + b"\n")
        try:
            while data:
                data = data[self._child.stdin.write(data) :]
        except BrokenPipeError:
            raise ServerFailed(str(message["method"]), self._why()) from None

    def _line(self, method: str, until: float) -> bytes:
        assert self._child is not None
        assert self._child.stdout is not None
        while not self._ready:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._child.stdout], [], [], left)[0]:
                raise ServerFailed(method, f"none came within {self._seconds:g} s")
            data = os.read(self._child.stdout.fileno(), _CHUNK)
            if not data:
                raise ServerFailed(method, self._why())
            self._ready = self._lines.feed(data)
        return self._ready.pop(0)

    def _why(self) -> str:
        """Return what the server said before it ended."""
        assert self._errors is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._child is not None:
                self._child.wait(1.0)
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        return said[-1].removeprefix("vim-mcp: ") if said else "the server ended"
