"""`vim-mcp`: pumps MCP lines between a client's stdio and the hub.

Standard library only and no asyncio: it is up in milliseconds. Nothing but MCP goes to stdout.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time

from vim_mcp import PROTOCOL, __version__
from vim_mcp.client.connect import connect
from vim_mcp.client.journal import Journal
from vim_mcp.errors import VimMcpError
from vim_mcp.limits import MAX_SESSION_LINE
from vim_mcp.wire.framing import LineBuffer

# `typing` costs the forwarder's start 3 ms; type checkers know this name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from typing import Any

_CHUNK = 65536
#: A pipe that select calls writable takes this much without blocking (PIPE_BUF).
_PIPE_CHUNK = 4096
#: Above this one side is not read from until the other has taken what is there.
_HIGH_WATER = 4 * 1024 * 1024
#: After the client closed our stdin: how long answers under way are waited for.
_LINGER_S = 10.0
#: A hub that dies this often in so many seconds is not started again.
_DEATHS, _DEATHS_S = 5, 10.0
#: How long the socket of a hub that was killed may go on taking connections.
_DYING_S = 0.25
#: A hub that was told to leave, or that nobody used, is not started again before it is needed.
_ON_PURPOSE = ("stopped", "idle")


class Forwarder:
    """One assistant's stdio, one connection to the hub at a time."""

    def __init__(self, stdin: int, stdout: int) -> None:
        self._in, self._out = stdin, stdout
        self._journal = Journal()
        self._session = os.urandom(16).hex()
        self._from_client = LineBuffer(MAX_SESSION_LINE)
        self._from_hub = LineBuffer(MAX_SESSION_LINE)
        self._to_client = bytearray()
        self._to_hub = bytearray()
        self._deaths: list[float] = []
        self._client_left: float | None = None
        self._hub: socket

    def run(self) -> int:
        """Pump until the client leaves.

        Returns:
            The exit status: 0 when the client left, 1 when no hub can be had.
        """
        self._hub = connect()
        self._greet([])
        while True:
            if (
                self._client_left is not None
                and (not self._journal.waiting or time.monotonic() > self._client_left + _LINGER_S)
                and not self._to_client
            ):
                return 0
            readable, writable = self._select()
            if self._hub in writable:
                self._write_hub()
            if self._hub in readable and not self._read_hub() and not self._next_hub():
                return 1
            if self._out in writable and not self._write_client():
                return 0
            if self._in in readable:
                self._read_client()

    def _select(self) -> tuple[list[Any], list[Any]]:
        reading: list[Any] = []
        if len(self._to_client) < _HIGH_WATER and self._hub.fileno() >= 0:
            reading.append(self._hub)
        if self._client_left is None and len(self._to_hub) < _HIGH_WATER:
            reading.append(self._in)
        writing: list[Any] = []
        if self._to_hub:
            writing.append(self._hub)
        if self._to_client:
            writing.append(self._out)
        timeout = None if self._client_left is None else 0.5
        readable, writable, _ = select.select(reading, writing, [], timeout)
        return readable, writable

    # --- the client ---------------------------------------------------------------------------

    def _read_client(self) -> None:
        try:
            data = os.read(self._in, _CHUNK)
        except OSError:
            data = b""
        if not data:
            self._client_left = time.monotonic()
            return
        if self._hub.fileno() < 0:
            self._hub = connect()
            self._greet(self._journal.replay())
        for line in self._from_client.feed(data):
            # A line beginning with # is private between hub and forwarder, never a client's.
            if not line.startswith(b"#"):
                self._journal.from_client(line)
                self._to_hub += line + b"\n"
        if self._to_hub:
            self._write_hub()

    def _write_client(self) -> bool:
        """Write what the client takes without blocking us; False when it is gone."""
        try:
            written = os.write(self._out, self._to_client[:_PIPE_CHUNK])
        except OSError:
            return False
        del self._to_client[:written]
        return True

    # --- the hub ------------------------------------------------------------------------------

    def _greet(self, replay: list[bytes]) -> None:
        hello = {
            "protocol": PROTOCOL,
            "version": __version__,
            "session": self._session,
            "cwd": os.environ.get("CLAUDE_PROJECT_DIR") or _cwd(),
            "instance": os.environ.get("VIM_MCP_INSTANCE", ""),
            "state": self._journal.state,
            "again": self._journal.taken(),
        }
        self._hub.setblocking(False)
        lines = [b"#hello " + json.dumps(hello).encode(), *replay]
        # What was on its way to the dead hub is in the journal.
        self._to_hub = bytearray(b"\n".join(lines) + b"\n")
        self._from_hub = LineBuffer(MAX_SESSION_LINE)
        self._write_hub()

    def _write_hub(self) -> None:
        try:
            sent = self._hub.send(self._to_hub)
        except BlockingIOError:
            return
        except OSError:
            # Dead: reading from it says so next, and the journal has what it did not take.
            self._to_hub.clear()
            return
        del self._to_hub[:sent]

    def _read_hub(self) -> bool:
        """Read and pass on; False when the hub is gone."""
        try:
            data = self._hub.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not data:
            return False
        for line in self._from_hub.feed(data):
            if self._journal.from_hub(line):
                self._to_client += line + b"\n"
        if self._journal.renegotiated:
            raise VimMcpError("the hub changed under the session; start vim-mcp again")
        if self._to_client:
            # Most answers fit a pipe; select has not been asked yet, so ask it without waiting.
            while self._to_client and select.select([], [self._out], [], 0)[1]:
                if not self._write_client():
                    return True
        return True

    def _next_hub(self) -> bool:
        """Find or start the next hub and replay; False when hubs die as they come."""
        self._hub.close()
        self._to_client += b"".join(line + b"\n" for line in self._journal.withdrawn())
        now = time.monotonic()
        welcomed, self._journal.welcomed = self._journal.welcomed, False
        if welcomed or not self._deaths or now - self._deaths[-1] > _DYING_S:
            self._deaths = [t for t in self._deaths if now - t < _DEATHS_S] + [now]
        else:
            # Still the same death: the kernel closes a socket that listens after the others.
            time.sleep(0.005)
        if len(self._deaths) > _DEATHS:
            _say("the hub keeps dying; see its log (vim-mcp hub --status names it)")
            return False
        sleeps = self._client_left is not None or self._journal.goodbye in _ON_PURPOSE
        if sleeps and not self._journal.waiting:
            # The next line of the client wakes the next hub.
            self._to_hub.clear()
            return True
        self._hub = connect()
        self._greet(self._journal.replay())
        return True


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _say(message: str) -> None:
    sys.stderr.write(f"vim-mcp: {message}\n")


def main() -> int:
    """Serve one MCP client on stdin and stdout; returns the exit status."""
    if os.isatty(0) and os.isatty(2):
        _say("waiting for an MCP client on standard input; see vim-mcp --help (Ctrl-D ends this)")
    # Whatever a library might print must not reach the client: stdout is MCP alone.
    out = os.dup(1)
    os.dup2(2, 1)
    try:
        return Forwarder(0, out).run()
    except VimMcpError as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
