"""One assistant's byte stream between the hub's socket and the SDK's serving loop."""

from __future__ import annotations

import json
import logging
import math
import os
from typing import Any, Protocol

import anyio
import mcp.types as t
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage

from vim_mcp.assistants.encoding import encode
from vim_mcp.assistants.mcp import AssistantServer
from vim_mcp.tools.base import TOOLS

log = logging.getLogger(__name__)

_CANCELLED = "notifications/cancelled"


class Outlet(Protocol):
    """Where lines for the assistant go."""

    def write(self, data: bytes) -> None: ...
    def write_lazily(self, data: bytes) -> None: ...
    async def drained(self) -> None: ...
    def answered(self) -> None: ...


class _Writer:
    """The SDK's write stream: one line a message, straight to the socket.

    Ids of our own requests get a prefix that no other hub uses: what a client answers to a hub
    that has died must not be taken for the answer to another question.
    """

    def __init__(self, stream: SessionStream, outlet: Outlet, prefix: str) -> None:
        self._stream, self._outlet, self._prefix = stream, outlet, prefix

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, t.JSONRPCRequest):
            message = message.model_copy(update={"id": f"{self._prefix}{message.id}"})
        elif isinstance(message, t.JSONRPCNotification) and message.method == _CANCELLED:
            params = dict(message.params or {})
            params["requestId"] = f"{self._prefix}{params.get('requestId')}"
            message = message.model_copy(update={"params": params})
        if not isinstance(message, t.JSONRPCResponse | t.JSONRPCError):
            self._outlet.write(await encode(message))
            await self._outlet.drained()
            return
        try:
            line = await encode(message)
            self._stream.answered(message.id)
            self._outlet.write(line)
            await self._outlet.drained()
        finally:
            self._stream.taken(message.id)

    async def aclose(self) -> None:
        """The socket outlives a serving loop; see `SessionStream.serve`."""

    async def __aenter__(self) -> _Writer:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class SessionStream:
    """Feeds an assistant's lines to the SDK and acknowledges requests before they are served.

    `#ack <id> r|w` lets the forwarder know, should the hub die, that a request had been taken
    and whether it acts.
    """

    def __init__(self, assistant: AssistantServer, outlet: Outlet) -> None:
        self.assistant = assistant
        self._outlet = outlet
        self._in_flight: set[object] = set()
        self._prefix = f"{os.urandom(4).hex()}-"
        self._opened_with: str | None = None
        self._next: list[SessionMessage] = []
        self._send, self._receive = self._streams()

    def line(self, line: bytes) -> None:
        """Take one line of the assistant; a line that is no JSON-RPC is answered as such."""
        try:
            message = t.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._outlet.write(_not_understood(line))
            return
        if isinstance(message, t.JSONRPCNotification) and b'"id"' in line and _has_id(line):
            # An id that is none makes a notification of a request, for the SDK.
            self._outlet.write(_not_understood(line))
            return
        if isinstance(message, t.JSONRPCResponse | t.JSONRPCError):
            prefix, dash, number = str(message.id).rpartition("-")
            if prefix + dash != self._prefix or not number.isdecimal():
                log.debug("an answer to a question of an earlier hub is dropped")
                return
            # The SDK counts its requests.
            message = message.model_copy(update={"id": int(number)})
        item = SessionMessage(message)
        if isinstance(message, t.JSONRPCRequest):
            acts = message.method == "tools/call" and _acts(message.params)
            ack = f"#ack {json.dumps(message.id, ensure_ascii=False)} {'w' if acts else 'r'}\n"
            if acts:
                self._outlet.write(ack.encode())
            else:
                # A read may be asked for again whether it was acknowledged or not.
                self._outlet.write_lazily(ack.encode())
            self._in_flight.add(message.id)
            if self._opened_with is None:
                self._opened_with = message.method
            elif message.method == "initialize" and self._opened_with != "initialize":
                # A client may look with server/discover first and then shake hands; the SDK's
                # loop has settled on the other era by then, so it is begun anew.
                self._opened_with = "initialize"
                self._next.append(item)
                self._send.close()
                return
        elif getattr(message, "method", "") == _CANCELLED:
            # Never answered, so no longer in flight.
            taken_back = (getattr(message, "params", None) or {}).get("requestId")
            if isinstance(taken_back, int | str):
                self.taken(taken_back)
        if self._next:
            self._next.append(item)
            return
        try:
            self._send.send_nowait(item)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("a message after the end of the session is dropped")

    def answered(self, request_id: object) -> None:
        """The answer to a request is made."""
        self._in_flight.discard(request_id)

    def taken(self, request_id: object) -> None:
        """The assistant has taken an answer, or will not get it."""
        self._in_flight.discard(request_id)
        self.assistant.settled(request_id)
        self._outlet.answered()

    @property
    def in_flight(self) -> int:
        """Requests not answered yet."""
        return len(self._in_flight)

    def close(self) -> None:
        """The assistant is gone: its calls are cancelled and `serve` returns."""
        self._next.clear()
        self._send.close()
        self.assistant.close()

    async def serve(self) -> None:
        """Serve the session until `close`."""
        while True:
            await serve_dual_era_loop(
                self.assistant.server,
                self._receive,
                _Writer(self, self._outlet, self._prefix),
                lifespan_state=self.assistant.session,
                init_options=self.assistant.options,
            )
            if not self._next:
                return
            self._send, self._receive = self._streams()
            held, self._next = self._next, []
            for item in held:
                self._send.send_nowait(item)

    @staticmethod
    def _streams() -> tuple[
        MemoryObjectSendStream[SessionMessage | Exception],
        MemoryObjectReceiveStream[SessionMessage | Exception],
    ]:
        return anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)


def _acts(params: Any) -> bool:
    tool = TOOLS.get(str(params.get("name"))) if params else None
    return tool is not None and tool.acts


def _has_id(line: bytes) -> bool:
    return "id" in json.loads(line)


def _not_understood(line: bytes) -> bytes:
    """Return JSON-RPC's answer to a line that is not a message."""
    call_id: object = None
    code, message = -32700, "Parse error: not JSON"
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        pass
    else:
        code, message = -32600, "Invalid request: not a JSON-RPC message"
        found = raw.get("id") if isinstance(raw, dict) else None
        call_id = found if isinstance(found, int | str) else None
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": call_id, "error": error}).encode() + b"\n"
