"""A hub made of bare lines: what an editor is told, and when, is in the test's hands."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import select
import socket
import struct
import termios
import time
from collections.abc import Callable
from typing import Any

from harness import Sandbox, slow, wait_until

Json = dict[str, Any]


def clock_ms() -> float:
    """The clock that deadlines are told by."""
    return time.monotonic() * 1000


def taken(connection: socket.socket) -> bool:
    """Whether the peer has read all that was sent to it (on Linux)."""
    left: int = struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0" * 4))[0]
    return left == 0


class Line:
    """The connection of one editor. Its updates are acknowledged unless `acknowledges` is off."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.socket.settimeout(10 * slow())
        self.updates: list[Json] = []
        self.started: list[int] = []
        self.acknowledges = True
        #: What an editor that asks for the hub's clock is told; None: that there is no such method.
        self.clock: Callable[[], float] | None = None
        self._answers: dict[str, Json] = {}
        self._file = connection.makefile("rb")
        self._ids = itertools.count(1)

    def send(self, message: Json | bytes) -> None:
        """Send one line."""
        self.socket.sendall(encode(message))

    def raw_line(self) -> bytes:
        """Return the peer's next line as it is, with its newline; empty when it closed."""
        return self._file.readline()

    def recv(self) -> Json:
        """Return the editor's next message.

        Raises:
            EOFError: The editor closed.
            TimeoutError: Nothing came.
        """
        while (line := self.raw_line()) == b"\n":
            continue
        if not line:
            raise EOFError("the editor closed the connection")
        return dict(json.loads(line))

    def greet(self, *, t: float | None = None, suffix: str = "") -> Json:
        """Read the editor's registration, accept it under its id with a suffix, return it."""
        register = self.recv()
        self.send(
            {
                "type": "registered",
                "instance_id": register["instance_id"] + suffix,
                "protocol": 1,
                "hub": {"version": "0.0.0", "pid": 1},
                "t": clock_ms() if t is None else t,
            }
        )
        return register

    def request(
        self,
        method: str,
        params: Json | None = None,
        *,
        deadline_ms: float = 10_000.0,
        t: float | None = None,
        op: str | None = None,
    ) -> Json:
        """Return a request that was not sent yet; acts need an `op`."""
        message: Json = {
            "id": next(self._ids),
            "method": method,
            "params": params or {},
            "deadline_ms": deadline_ms * slow(),
            "t": clock_ms() if t is None else t,
            "actor": {"assistant": "test 1", "session": "s"},
        }
        return message if op is None else message | {"op": op}

    def answer(self, request_id: int) -> Json:
        """Return the reply to a request; other replies are kept. Raises as `recv()`."""
        while (key := json.dumps(request_id)) not in self._answers:
            self._sort(self.recv())
        return self._answers.pop(key)

    def update(self, *, after: int) -> Json:
        """Return the first update with a later `seq`. Raises as `recv()`."""
        while not (later := [u for u in self.updates if u["seq"] > after]):
            self._sort(self.recv())
        return later[0]

    def _sort(self, message: Json) -> None:
        kind = message.get("type")
        if kind == "update":
            self.updates.append(message)
            if self.acknowledges:
                self.send({"type": "ack", "seq": message["seq"]})
        elif kind == "started":
            self.started.append(message["id"])
        elif message.get("method") == "clock" and self.clock is not None:
            self.send({"id": message["id"], "result": {"t": self.clock()}})
        elif "method" in message:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "not here"}})
        elif kind is None:
            # As text, because a test may use an id that is none.
            answered = json.dumps(message["id"])
            assert answered not in self._answers, f"a second reply: {message}"
            self._answers[answered] = message

    def ask(self, method: str, params: Json | None = None, **options: Any) -> Json:
        """Send a request and return its reply; `options` as for `request()`."""
        request = self.request(method, params, **options)
        self.send(request)
        return self.answer(request["id"])

    def fence(self, *, t: float | None = None) -> None:
        """Wait until the editor has taken in all lines sent so far, acts parked, not done.

        A `health` would not do: Neovim answers it past everything else.
        """
        self.ask("get_state", t=t)

    def wait_pending(self, count: int) -> None:
        """Wait until so many acts are parked in the editor."""
        wait_until(
            lambda: self.ask("health")["result"]["pending_acts"] == count,
            what=f"{count} acts to be parked",
        )

    def answered(self, request_id: int) -> bool:
        """Whether a request was answered, once the editor has worked off all that was sent to it."""
        self.fence()
        return json.dumps(request_id) in self._answers

    def send_split(self, message: Json | bytes, at: int) -> None:
        """Send one line in two pieces, the second when the first has been read."""
        data = encode(message)
        self.socket.sendall(data[:at])
        wait_until(lambda: taken(self.socket), what="the first piece to be read")
        self.socket.sendall(data[at:])

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self.socket.close()


def encode(message: Json | bytes) -> bytes:
    """One line with its newline."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    return data + b"\n"


class FakeHub:
    """Listens where a sandbox's hub would. Duties of the caller: `close()`, or `with`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._path = sandbox.socket
        self._lines: list[Line] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._path.chmod(0o600)
        self._listener.listen(16)
        self._listener.settimeout(10 * slow())

    def accept(self) -> Line:
        """Return the next connection, nothing said on it yet.

        Raises:
            TimeoutError: Nobody dials.
        """
        line = Line(self._listener.accept()[0])
        self._lines.append(line)
        return line

    def dialled(self) -> bool:
        """Whether somebody dialled since; the connection is closed without a word."""
        if not select.select([self._listener], [], [], 0)[0]:
            return False
        self.accept().close()
        return True

    def greet(self, *, t: float | None = None, suffix: str = "") -> tuple[Line, Json]:
        """Accept an editor as `Line.greet`; return its connection and its registration.

        An editor that was not greeted for a second, on a busy machine, hangs up and dials again.

        Raises:
            TimeoutError: Nobody dials, or who dials says nothing.
        """
        while True:
            line = self.accept()
            with contextlib.suppress(EOFError, ConnectionError):
                register = line.greet(t=t, suffix=suffix)
                line.fence(t=t)
                return line, register

    def close(self) -> None:
        """End all connections and remove the socket."""
        self._path.unlink(missing_ok=True)
        self._listener.close()
        for line in self._lines:
            line.close()

    def __enter__(self) -> FakeHub:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
