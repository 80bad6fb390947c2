"""The two lasting kinds of peer: an editor and an assistant's forwarder."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from typing import TYPE_CHECKING

from vim_mcp import PROTOCOL, __version__
from vim_mcp.editors.instance import Instance, hub_clock_ms
from vim_mcp.editors.session import Session
from vim_mcp.limits import MAX_IN_FLIGHT, MAX_SESSION_TEXT
from vim_mcp.wire.messages import (
    Ask,
    Bye,
    Json,
    Nonsense,
    Reply,
    Started,
    Unknown,
    Update,
    decode,
    parse,
)

if TYPE_CHECKING:
    from vim_mcp.assistants.stream import SessionStream
    from vim_mcp.hub.daemon import Hub
    from vim_mcp.hub.door import Door

log = logging.getLogger(__name__)

#: Lines without sense before a peer is dropped: one may be an accident.
_PATIENCE = 16


class EditorRole:
    """Hands an editor's lines to its `Instance`."""

    def __init__(self, hub: Hub, door: Door, instance: Instance) -> None:
        self._hub, self._door, self._instance = hub, door, instance
        self._nonsense = 0

    def line(self, line: bytes) -> None:
        message = parse(line)
        instance = self._instance
        if isinstance(message, Reply):
            instance.replied(message)
        elif isinstance(message, Started):
            instance.began(message)
        elif isinstance(message, Update):
            instance.acknowledge(message.seq)
            self._hub.fleet.updated(instance, message)
        elif isinstance(message, Ask):
            if message.method == "status":
                instance.answer(message.id, self._hub.status())
            elif message.method == "clock":
                instance.answer(message.id, {"t": hub_clock_ms()})
            else:
                instance.refuse(message.id, -32601, f"the hub has no method {message.method}")
        elif isinstance(message, Bye):
            self._door.close()
        elif isinstance(message, Nonsense):
            self._nonsense += 1
            log.warning("%s: %s", instance.id, message.why)
            if self._nonsense >= _PATIENCE:
                self._door.drop("it makes no sense")
        elif not isinstance(message, Unknown):
            log.debug("%s: %s is ignored here", instance.id, type(message).__name__)

    def closed(self) -> None:
        self._instance.closed()


class SessionRole:
    """Runs the MCP serving loop of one assistant.

    The SDK may still be loading when the first lines come; they wait for it.
    """

    def __init__(self, hub: Hub, door: Door, hello: Json) -> None:
        self._hub, self._door = hub, door
        state = hello.get("state") if isinstance(hello.get("state"), dict) else {}
        self.session = Session(
            id=_text(hello, "session") or str(uuid.uuid4()),
            cwd=_text(hello, "cwd"),
            started_in=_text(hello, "instance"),
            on_change=self._tell_state,
        )
        self.session.restore(state or {})
        again = hello.get("again")
        if isinstance(again, list):
            self.session.asked_again = frozenset(i for i in again if isinstance(i, int | str))
        self.forwarder_pid = door.peer_pid
        self.stream: SessionStream | None = None
        self._early: list[bytes] = []
        self._held_back = False
        self._closed = False
        welcome = {"version": __version__, "protocol": PROTOCOL}
        door.write(b"#welcome " + json.dumps(welcome).encode() + b"\n")
        self._tell_state(self.session)
        self._task = asyncio.ensure_future(self._serve())
        self._task.add_done_callback(self._ended)

    def line(self, line: bytes) -> None:
        if line.startswith(b"#"):
            log.debug("private line of a later protocol is ignored")
        elif self.stream is None:
            self._early.append(line)
        else:
            self.stream.line(line)
            if not self._held_back and (self.stream.in_flight >= MAX_IN_FLIGHT or self._is_full):
                self._held_back = True
                self._door.flow(False)

    def closed(self) -> None:
        self._closed = True
        if self.stream is not None:
            self.stream.close()
        self._hub.sessions.discard(self)

    @property
    def is_idle(self) -> bool:
        """Whether no request of it has been begun that is not answered yet."""
        return self.stream is None or self.stream.in_flight == 0

    def goodbye(self, reason: str) -> None:
        """Say why the hub leaves and end the connection; what is unanswered is asked again."""
        self.write(f"#goodbye {reason}\n".encode())
        self._door.close()

    # The outlet of the session's stream.

    def write(self, data: bytes) -> None:
        self._door.write(data)

    def write_lazily(self, data: bytes) -> None:
        self._door.write_lazily(data)

    async def drained(self) -> None:
        await self._door.drained()

    def answered(self) -> None:
        few = self.stream is not None and self.stream.in_flight < MAX_IN_FLIGHT // 2
        if self._held_back and few and not self._is_full:
            self._held_back = False
            self._door.flow(True)

    @property
    def _is_full(self) -> bool:
        """Whether so much is on its way to the assistant that it has to read first."""
        held = self._hub.budget.held(self.session.id)
        return max(held, self._door.unsent) >= MAX_SESSION_TEXT

    async def _serve(self) -> None:
        module = await self._hub.sdk()
        if self._closed:
            return
        stream: SessionStream = module.SessionStream(
            module.AssistantServer(self.session, self._hub.fleet, self._hub.budget), self
        )
        self.stream = stream
        early, self._early = self._early, []
        for line in early:
            stream.line(line)
        await stream.serve()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            log.error("session %s failed", self.session.id, exc_info=task.exception())
        self._door.close()

    def _tell_state(self, session: Session) -> None:
        # Escaped: a directory's name may have bytes that are no UTF-8.
        self._door.write(f"#state {json.dumps(session.state())}\n".encode())


def parse_hello(line: bytes) -> Json:
    """Return the object after `#hello`; an empty one when it is none."""
    return decode(line) or {}


def _text(raw: Json, key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""
