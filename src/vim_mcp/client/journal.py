"""What a forwarder remembers so that the assistant's session survives the hub's death. No I/O.

The MCP handshake and every request not answered yet are kept as the client sent them. After a
crash they are sent again to the next hub: a request that was not acknowledged never ran, a read
does no harm twice, and an act is named by `op`, which the editor answers from memory if it had
done it. What the client has already had an answer to is not given to it again.
"""

from __future__ import annotations

import json

from vim_mcp.wire.jsonrpc import head

# `typing` costs the forwarder's start 3 ms; type checkers know this name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vim_mcp.wire.jsonrpc import MessageId

ACK, STATE, WELCOME, GOODBYE = b"#ack ", b"#state ", b"#welcome ", b"#goodbye "
_SUBSCRIBED = b'"notifications/subscriptions/acknowledged"'


class Journal:
    """Sees every line of both directions; says what to pass on and what to send again."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}
        self.welcomed = False
        self.renegotiated = False
        #: Why the hub leaves on purpose, as it said; empty when it did not.
        self.goodbye = ""
        self._initialize: bytes | None = None
        self._initialize_id: MessageId | None = None
        self._initialize_result: Any = None
        self._initialized: bytes | None = None
        self._open: dict[MessageId, bytes] = {}
        #: Open requests that a hub has taken, this one or one before: True for acts.
        self._taken: dict[MessageId, bool] = {}
        self._listening: set[MessageId] = set()
        #: Questions of the hub (elicitation) that the client has not answered yet.
        self._questions: set[MessageId] = set()
        self._swallow_answer: MessageId | None = None
        self._swallow_listening: set[MessageId] = set()

    @property
    def waiting(self) -> int:
        """Requests of the client that it still waits for; endless subscriptions do not count."""
        return len(self._open) - len(self._listening & self._open.keys())

    def taken(self) -> list[MessageId]:
        """Return the open requests that a hub had acknowledged: it may have begun them."""
        return [call_id for call_id in self._open if call_id in self._taken]

    def from_client(self, line: bytes) -> None:
        """Note a line of the client on its way to the hub."""
        seen = head(line)
        if seen.method is None:
            if seen.id is not None:
                self._questions.discard(seen.id)
            return
        if seen.id is None:
            if seen.method == "notifications/initialized":
                self._initialized = line
            elif seen.cancels is not None:
                self._forget(seen.cancels)
            return
        self._open[seen.id] = line
        if seen.method == "initialize":
            self._initialize, self._initialize_id = line, seen.id
        elif seen.method == "subscriptions/listen":
            self._listening.add(seen.id)

    def from_hub(self, line: bytes) -> bool:
        """Note a line of the hub; True if it is for the client."""
        if line.startswith(b"#"):
            self._private(line)
            return False
        if self._listening and _SUBSCRIBED in line[:200] and self._seen_before(line):
            return False
        seen = head(line)
        if seen.id is None:
            return True
        if seen.method is not None:
            self._questions.add(seen.id)
            return True
        self._forget(seen.id)
        if seen.id == self._swallow_answer:
            self._swallow_answer = None
            self.renegotiated = _negotiated(line) != self._initialize_result
            return False
        if seen.id == self._initialize_id:
            self._initialize_result = _negotiated(line)
        return True

    def replay(self) -> list[bytes]:
        """Return what to send to a new hub, after `#hello`, in the place of a dead one."""
        self.welcomed = False
        lines = []
        if self._initialize is not None and self._initialize_id not in self._open:
            lines.append(self._initialize)
            self._swallow_answer = self._initialize_id
        if self._initialized is not None:
            lines.append(self._initialized)
        self._swallow_listening = self._listening & self._open.keys()
        return [*lines, *self._open.values()]

    def withdrawn(self) -> list[bytes]:
        """Return what tells the client that the questions of a dead hub need no answer."""
        lines = [
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/cancelled",
                    "params": {"requestId": call_id, "reason": "the hub was restarted"},
                }
            ).encode()
            for call_id in self._questions
        ]
        self._questions.clear()
        return lines

    def _private(self, line: bytes) -> None:
        if line.startswith(ACK):
            call_id, _, kind = line[len(ACK) :].rpartition(b" ")
            try:
                self._taken[json.loads(call_id)] = kind == b"w"
            except (ValueError, TypeError):
                return
        elif line.startswith(STATE):
            try:
                state = json.loads(line[len(STATE) :])
            except ValueError:
                return
            if isinstance(state, dict):
                self.state = state
        elif line.startswith(WELCOME):
            self.welcomed = True
            self.goodbye = ""
        elif line.startswith(GOODBYE):
            self.goodbye = line[len(GOODBYE) :].decode("utf-8", "replace")

    def _forget(self, call_id: MessageId) -> None:
        self._open.pop(call_id, None)
        self._taken.pop(call_id, None)
        self._listening.discard(call_id)

    def _seen_before(self, line: bytes) -> bool:
        """Tell whether a subscription's acknowledgement repeats one that the client has had."""
        try:
            meta = json.loads(line)["params"]["_meta"]
            call_id = meta["io.modelcontextprotocol/subscriptionId"]
        except (ValueError, KeyError, TypeError):
            return False
        if call_id not in self._swallow_listening:
            return False
        self._swallow_listening.discard(call_id)
        return True


def _negotiated(line: bytes) -> Any:
    """Return what of an `initialize` answer must not change under a client."""
    try:
        result = json.loads(line).get("result") or {}
    except (ValueError, AttributeError):
        return None
    return result.get("protocolVersion"), result.get("capabilities")
