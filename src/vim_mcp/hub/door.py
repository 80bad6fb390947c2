"""The hub's side of one accepted connection: the first line says who it is."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections import deque
from typing import TYPE_CHECKING, Protocol

from vim_mcp.errors import LineTooLong
from vim_mcp.limits import (
    CONNECT_S,
    MAX_EDITOR_LINE,
    MAX_FIRST_LINE,
    MAX_SESSION_LINE,
    UNREAD_S,
)
from vim_mcp.peer import credentials
from vim_mcp.wire.framing import LineBuffer
from vim_mcp.wire.messages import Control, Json, Nonsense, Register, encode, parse

if TYPE_CHECKING:
    from vim_mcp.hub.daemon import Hub

log = logging.getLogger(__name__)

HELLO = b"#hello "

_LAZY_S = 0.05
#: So many bytes of lines are handed on in one turn of the loop, or one line that is longer: an
#: editor's slices of text are not all decoded before others are served.
_TURN_BYTES = 64 * 1024


class Role(Protocol):
    """What a connection is once its first line has been read."""

    def line(self, line: bytes) -> None: ...
    def closed(self) -> None: ...


class Door(asyncio.Protocol):
    """Cuts the stream into lines and hands them to the peer's role."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._buffer = LineBuffer(MAX_FIRST_LINE)
        self._role: Role | None = None
        self._transport: asyncio.Transport | None = None
        self._greeting: asyncio.TimerHandle | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._unread: asyncio.TimerHandle | None = None
        self._written = 0
        self._lines: deque[bytes] = deque()
        self._turn: asyncio.Handle | None = None
        self._held = False
        self._lazy: list[bytes] = []
        self._lazy_timer: asyncio.TimerHandle | None = None
        self.peer_pid = 0

    # --- asyncio.Protocol ---------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        connection: socket.socket = transport.get_extra_info("socket")
        self.peer_pid, uid = credentials(connection)
        if uid not in (os.getuid(), -1):
            log.warning("a connection of uid %d is refused", uid)
            transport.abort()
            return
        self._hub.doors.add(self)
        loop = asyncio.get_running_loop()
        self._greeting = loop.call_later(CONNECT_S, self._no_greeting)

    def data_received(self, data: bytes) -> None:
        try:
            self._lines += self._buffer.feed(data)
        except LineTooLong as error:
            self.drop(f"{error}")
            return
        if self._turn is None:
            self._hand_on()

    def _hand_on(self) -> None:
        """Hand lines to the role, for one turn; what is left over keeps the peer from sending."""
        self._turn = None
        size = 0
        while self._lines and not self._held and size < _TURN_BYTES:
            if self._transport is None or self._transport.is_closing():
                return
            line = self._lines.popleft()
            size += len(line)
            if self._role is None:
                self._first(line)
            else:
                self._role.line(line)
        if self._lines and not self._held:
            self._turn = asyncio.get_running_loop().call_soon(self._hand_on)
        if self._transport is not None and not self._transport.is_closing():
            if self._lines or self._held:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._hub.doors.discard(self)
        for timer in (self._greeting, self._unread, self._lazy_timer, self._turn):
            if timer is not None:
                timer.cancel()
        self._transport = None
        self._writable.set()
        role, self._role = self._role, None
        if role is not None:
            role.closed()

    def pause_writing(self) -> None:
        self._writable.clear()
        self._mind_reading(-1)

    def _mind_reading(self, sent_before: int) -> None:
        """Drop the peer if it has taken nothing for a while; slowly is well enough."""
        sent = self._written - self.unsent
        if sent == sent_before:
            self.drop("it does not read")
            return
        loop = asyncio.get_running_loop()
        self._unread = loop.call_later(UNREAD_S, self._mind_reading, sent)

    def resume_writing(self) -> None:
        self._writable.set()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    # --- for the roles ------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes; nothing happens when the peer is gone."""
        if self._transport is not None and not self._transport.is_closing():
            if self._lazy:
                data = b"".join([*self._lazy, data])
                self._lazy.clear()
            self._written += len(data)
            self._transport.write(data)

    def write_lazily(self, data: bytes) -> None:
        """Send bytes with what is sent next, or a little later: they wake nobody by themselves."""
        if not self._lazy:
            if self._lazy_timer is not None:
                self._lazy_timer.cancel()
            loop = asyncio.get_running_loop()
            self._lazy_timer = loop.call_later(_LAZY_S, self.write, b"")
        self._lazy.append(data)

    async def drained(self) -> None:
        """Wait until the peer has read enough of what was sent."""
        if not self._writable.is_set():
            await self._writable.wait()

    def close(self) -> None:
        """End the connection after what was written has been sent."""
        if self._transport is not None:
            self._transport.close()

    def drop(self, why: str) -> None:
        """End the connection at once: this peer does harm or no good."""
        if self._transport is not None:
            log.warning("connection of pid %d dropped: %s", self.peer_pid, why)
            self._transport.abort()

    def flow(self, on: bool) -> None:
        """Go on or stop reading from the peer, lines that are here already too."""
        self._held = not on
        if on and self._turn is None:
            self._turn = asyncio.get_running_loop().call_soon(self._hand_on)

    @property
    def unsent(self) -> int:
        """Bytes written that the kernel has not taken yet, because the peer reads too little."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    # --- the first line -----------------------------------------------------------------------

    def _no_greeting(self) -> None:
        if self._role is None:
            self.drop("it did not say who it is")

    def _answer_control(self, task: asyncio.Task[Json]) -> None:
        if not task.cancelled() and task.exception() is None:
            self.write(encode(task.result()))
        self.close()

    def _first(self, line: bytes) -> None:
        if self._greeting is not None:
            self._greeting.cancel()
        if line.startswith(HELLO):
            self._buffer.limit = MAX_SESSION_LINE
            self._role = self._hub.open_session(self, line[len(HELLO) :])
            return
        message = parse(line)
        if isinstance(message, Control):
            task = asyncio.ensure_future(self._hub.control(message))
            task.add_done_callback(self._answer_control)
        elif isinstance(message, Register):
            self._buffer.limit = MAX_EDITOR_LINE
            self._role = self._hub.open_editor(self, message)
        else:
            why = message.why if isinstance(message, Nonsense) else "not a first line"
            self.write(encode({"type": "rejected", "reason": why, "retry": False}))
            self.drop(f"its first line is not understood: {why}")
