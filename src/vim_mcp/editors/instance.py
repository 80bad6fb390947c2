"""One connected editor: requests to it, with deadlines, and what it tells of itself."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from vim_mcp import PROTOCOL, __version__
from vim_mcp.editors.process import process_state
from vim_mcp.errors import REMEDY, EditorError, InstanceBlocked, InstanceGone, InvalidParams
from vim_mcp.limits import ASIDE_S, GRACE_S, MAX_RUN_S, MAX_TO_EDITOR
from vim_mcp.wire.messages import EditorInfo, Json, Reply, Started, encode

log = logging.getLogger(__name__)

#: How long a Neovim in trouble has to tell its mode from the fast context.
_HEALTH_S = 0.25
#: Turns of the loop in which what an editor has said is read, before it is called silent.
_LOOKS = 8


def hub_clock_ms() -> float:
    """Return the clock that deadlines are told by: monotonic milliseconds of this machine."""
    return time.monotonic() * 1000


class Transport(Protocol):
    """What an instance needs of its connection."""

    def write(self, data: bytes) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Actor:
    """For whom a request is made: shown to the user, written to the log."""

    assistant: str
    session: str

    def as_json(self) -> Json:
        return {"assistant": self.assistant, "session": self.session}


@dataclass
class _Pending:
    method: str
    seconds: float
    acts: bool
    answer: asyncio.Future[Json]
    timer: asyncio.TimerHandle | None = None
    started: bool = False
    probe: asyncio.Task[None] | None = field(default=None, repr=False)


class Instance:
    """The hub's side of one editor's connection.

    `peer_pid` is the pid that the kernel says is at the other end, 0 when it can't say; the pid
    in `info` is only the editor's claim.
    """

    def __init__(
        self, instance_id: str, info: EditorInfo, transport: Transport, peer_pid: int = 0
    ) -> None:
        self.id = instance_id
        self.info = info
        self.peer_pid = peer_pid
        self.connected_at = time.time()
        self.gone = False
        self.on_gone: Callable[[Instance], None] = lambda _: None
        self._transport = transport
        self._ids = itertools.count(1)
        self._pending: dict[int, _Pending] = {}

    def __repr__(self) -> str:
        return f"<Instance {self.id}>"

    def greet(self) -> None:
        """Tell the editor that it is registered, under which id, and the hub's clock."""
        self._send(
            {
                "type": "registered",
                "instance_id": self.id,
                "protocol": min(PROTOCOL, max(self.info.protocol, 1)),
                "hub": {"version": __version__, "pid": os.getpid()},
                "t": hub_clock_ms(),
            }
        )

    def goodbye(self, reason: str) -> None:
        """Say why the hub leaves; the editor redials by itself."""
        self._send({"type": "goodbye", "reason": reason})

    def acknowledge(self, seq: int) -> None:
        """Let the editor send its next batch of events."""
        self._send({"type": "ack", "seq": seq})

    def answer(self, call_id: int | str, result: Json) -> None:
        """Answer a request that the editor made."""
        self._send({"id": call_id, "result": result})

    def refuse(self, call_id: int | str, code: int, message: str) -> None:
        """Answer a request of the editor with an error."""
        self._send({"id": call_id, "error": {"code": code, "message": message}})

    async def request(
        self,
        method: str,
        params: Json,
        *,
        seconds: float,
        actor: Actor,
        op: str | None = None,
        grace: float = GRACE_S,
    ) -> Json:
        """Ask the editor and return its result. With `op` the request is an act.

        The editor does not begin after `seconds`; the hub gives up `grace` seconds later.

        Raises:
            EditorError: The editor answered with an error.
            InvalidParams: The request is longer than an editor takes in at once.
            InstanceBlocked: No answer within `seconds` and a grace; the request is taken back,
                so an act that had not begun never happens.
            InstanceGone: The connection ended before the answer.
        """
        if self.gone:
            raise InstanceGone(self.id)
        loop = asyncio.get_running_loop()
        request_id = next(self._ids)
        pending = _Pending(method, seconds, op is not None, loop.create_future())
        self._pending[request_id] = pending
        message: Json = {
            "id": request_id,
            "method": method,
            "params": params,
            "deadline_ms": round(seconds * 1000),
            "t": hub_clock_ms(),
            "actor": actor.as_json(),
        }
        if op is not None:
            message["op"] = op
        line = encode(message)
        if len(line) > MAX_TO_EDITOR:
            self._pending.pop(request_id)
            raise InvalidParams(
                f"{method} has {len(line)} bytes, an editor takes {MAX_TO_EDITOR} at once; "
                "do it in parts, by line",
                limit=MAX_TO_EDITOR,
            )
        self._transport.write(line)
        pending.timer = loop.call_later(seconds + grace, self._expire, request_id)
        try:
            return await pending.answer
        except asyncio.CancelledError:
            self._take_back(request_id)
            raise
        finally:
            self._forget(request_id)

    async def why_waiting(self, actor: Actor) -> str:
        """Return a sentence that says what an act under way waits for, as far as it can be known."""
        try:
            found = await self.request("waiting", {}, seconds=ASIDE_S, grace=0, actor=actor)
            why = found.get("why")
        except InstanceBlocked as blocked:
            why = REMEDY.get(blocked.reason, "")
        except (EditorError, InstanceGone):
            # An older plugin; or the act itself fails next.
            why = ""
        return why if isinstance(why, str) and why else "it is under way"

    def replied(self, reply: Reply) -> None:
        """Hand a reply to the call that waits for it; late ones are dropped."""
        pending = self._pending.get(reply.id)
        if pending is None or pending.answer.done():
            return
        if reply.error is None:
            pending.answer.set_result(reply.result or {})
            return
        code, message, data = (reply.error.get(k) for k in ("code", "message", "data"))
        pending.answer.set_exception(
            EditorError(
                code if isinstance(code, int) else -32603,
                message if isinstance(message, str) else "the editor gave no reason",
                data if isinstance(data, dict) else {},
                self.id,
            )
        )

    def began(self, started: Started) -> None:
        """An act has begun: its deadline is met, now it may take its time, within bounds."""
        pending = self._pending.get(started.id)
        if pending is None or pending.started:
            return
        pending.started = True
        if pending.timer is not None:
            pending.timer.cancel()
        loop = asyncio.get_running_loop()
        pending.timer = loop.call_later(MAX_RUN_S, self._expire, started.id)

    def closed(self) -> None:
        """The connection ended: every waiting call fails, once."""
        if self.gone:
            return
        self.gone = True
        waiting, self._pending = self._pending, {}
        for pending in waiting.values():
            if pending.timer is not None:
                pending.timer.cancel()
            if not pending.answer.done():
                pending.answer.set_exception(InstanceGone(self.id, pending.acts))
        self.on_gone(self)

    def drop(self) -> None:
        """End the connection from this side."""
        self._transport.close()
        self.closed()

    def answers(self) -> list[asyncio.Future[Json]]:
        """Return what the calls in flight wait for."""
        return [p.answer for p in self._pending.values()]

    def _send(self, message: Json) -> None:
        if not self.gone:
            self._transport.write(encode(message))

    def _take_back(self, request_id: int) -> None:
        if request_id in self._pending:
            self._send({"type": "cancel", "id": request_id})

    def _forget(self, request_id: int) -> None:
        pending = self._pending.pop(request_id, None)
        if pending is not None and pending.timer is not None:
            pending.timer.cancel()

    def _expire(self, request_id: int) -> None:
        if (pending := self._pending.get(request_id)) is not None:
            self._look_first(request_id, pending.timer, _LOOKS)

    def _look_first(self, request_id: int, timer: asyncio.TimerHandle | None, looks: int) -> None:
        """Let the loop read the sockets before a deadline that passed is acted upon.

        A process that was stopped in epoll_wait comes out of it without a look at them when the
        timeout is over by then: its editors may have answered long ago.
        """
        pending = self._pending.get(request_id)
        if pending is None or pending.answer.done() or pending.timer is not timer:
            return
        if looks:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._look_first, request_id, timer, looks - 1)
            return
        self._take_back(request_id)
        if (
            "fast_health" in self.info.features
            and pending.method != "health"
            and not pending.started
        ):
            pending.probe = asyncio.ensure_future(self._fail_with_health(pending))
        else:
            self._fail(pending, self._process_reason())

    async def _fail_with_health(self, pending: _Pending) -> None:
        """Ask an editor that answers from its fast context what it is doing, then fail."""
        reason = self._process_reason()
        if reason == "busy":
            try:
                health = await self.request(
                    "health", {}, seconds=_HEALTH_S, grace=0, actor=Actor("hub", "")
                )
                if health.get("blocking"):
                    mode = str(health.get("mode", ""))
                    reason = "hit_enter" if mode.startswith("r") else "pending_key"
            except (EditorError, InstanceBlocked, InstanceGone):
                log.debug("%s: no health either", self.id)
        self._fail(pending, reason)

    def _fail(self, pending: _Pending, reason: str) -> None:
        if not pending.answer.done():
            pending.answer.set_exception(
                InstanceBlocked(self.id, pending.method, pending.seconds, reason, pending.started)
            )

    def _process_reason(self) -> str:
        return "suspended" if process_state(self.peer_pid) == "T" else "busy"
