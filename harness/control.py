"""The harness's end of its own line to an editor (the editor's end: control.vim, control.lua)."""

from __future__ import annotations

import contextlib
import json
import select
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .wait import Deadline, wait_until

# How long an answer may take before the editor is looked at: it may be unable to answer.
_PATIENCE_S = 0.03


class Mode(NamedTuple):
    """What an editor is doing: mode(1), whether it waits for the rest of something typed, and
    whether it has keys left to work on (known of Vim only)."""

    mode: str
    pending: bool
    typeahead: bool

    @property
    def waiting(self) -> bool:
        """Whether it is at a prompt or halfway a command, so that the next key answers that."""
        return self.pending or self.typeahead or self.mode.startswith(("r", "no"))


class Closed(ConnectionError):
    """The editor closed the line, or never opened it."""


class Control:
    """Requests to one editor, each waited for. Not for use by several threads at once.

    Duties of the caller: `accept()` once the editor was started, `close()`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(1)
        self._peer: socket.socket | None = None
        self._unread = b""
        self._answers: dict[int, Any] = {}
        self._last = 0

    def accept(self, seconds: float, alive: Callable[[], bool]) -> None:
        """Wait until the editor dials.

        Raises:
            WaitTimeout: it did not.
            Closed: it ended.
        """
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)

        def dialled() -> bool:
            if poll.poll(20):
                return True
            if not alive():
                raise Closed("the editor ended before it dialled")
            return False

        wait_until(dialled, seconds=seconds, what="the editor to open the harness's line")
        self._peer, _ = self._listener.accept()

    def send(self, line: Callable[[int], str]) -> int:
        """Send one request, made by `line` from its number, and return that number.

        Raises:
            Closed: the editor is gone.
        """
        self._last += 1
        try:
            if self._peer is None:
                raise Closed("the line is not open")
            self._peer.sendall(line(self._last).encode() + b"\n")
        except OSError as error:
            raise Closed(str(error)) from error
        return self._last

    def receive(self, number: int, seconds: float = _PATIENCE_S) -> Any:
        """Return the answer to a request, or None when there is none within `seconds`, unscaled.

        Raises:
            Closed: the editor is gone.
        """
        deadline = Deadline(seconds, scaled=False)
        while number not in self._answers:
            if not self._readable(deadline.left):
                return None
            self._read()
        return self._answers.pop(number)

    def _readable(self, seconds: float) -> bool:
        if self._peer is None:
            raise Closed("the line is not open")
        return bool(select.select([self._peer], [], [], seconds)[0])

    def _read(self) -> None:
        assert self._peer is not None
        try:
            data = self._peer.recv(1 << 20)
        except OSError as error:
            raise Closed(str(error)) from error
        if not data:
            raise Closed("the editor closed the line")
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in filter(None, lines):
            # Text in an editor need not be valid UTF-8.
            number, answer = json.loads(line.decode(errors="surrogateescape"))
            self._answers[abs(number)] = answer

    def close(self) -> None:
        """Let go of the line and its socket."""
        for one in (self._peer, self._listener):
            if one is not None:
                one.close()
        self._peer = None
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
