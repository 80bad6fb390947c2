"""A bare connection to a hub's socket: what no well-behaved editor would do, and many at once."""

from __future__ import annotations

import json
import os
import socket
from types import TracebackType
from typing import Any

from harness import Sandbox, slow


class Peer:
    """Lines by hand. Duties of the caller: `close()`, or `with`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(5 * slow())
        self.socket.connect(str(sandbox.socket))
        self._file = self.socket.makefile("rb")

    def send(self, message: dict[str, Any] | bytes) -> None:
        """Send one line."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.socket.sendall(data + b"\n")

    def recv(self) -> dict[str, Any]:
        """Return the next line's object. Raises as `recv_line()`."""
        return dict(json.loads(self.recv_line()))

    def recv_line(self) -> bytes:
        """Return the next line.

        Raises:
            EOFError: The hub closed.
            TimeoutError: Nothing came.
        """
        try:
            line = self._file.readline()
        except ConnectionError:
            line = b""
        if not line:
            raise EOFError("the hub closed the connection")
        return line

    def register(self, instance_id: str, **info: Any) -> dict[str, Any]:
        """Register as an editor and return the hub's answer."""
        facts = {"pid": os.getpid(), "cwd": "/", "main_file": "", "buffers": [], "version": "0"}
        self.send({"type": "register", "instance_id": instance_id, "info": facts | info})
        return self.recv()

    def closed(self) -> bool:
        """Read until the hub closes; True when it does, False when it is quiet instead."""
        try:
            while True:
                self.recv()
        except EOFError:
            return True
        except (TimeoutError, ValueError):
            return False

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self.socket.close()

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
