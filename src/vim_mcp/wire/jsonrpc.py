"""The head of an MCP message: its id and method, without decoding a big one.

A forwarder keeps requests until they are answered, so it needs their ids; a 10 MB edit must not
be decoded for that. Clients write the id first (Python) or last (TypeScript), so a big line is
looked at from both ends.
"""

from __future__ import annotations

import json
import re

#: Below this a message is simply decoded.
SMALL = 16 * 1024
_END = 512

_HEAD_ID = (
    rb'^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*'
    rb'"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")'
)
_TAIL_ID = rb'"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
_HEAD_METHOD = (
    rb'^\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*(?:-?\d+|"(?:[^"\\]|\\.)*")\s*,\s*)*'
    rb'"method"\s*:\s*"([^"\\]*)"'
)
_TAIL_METHOD = rb'"method"\s*:\s*"([^"\\]*)"\s*(?:,\s*"(?:jsonrpc|id)"[^{}]*)?\}\s*$'

MessageId = int | str


class Head:
    """What a forwarder needs of a message; None where the message has no such part.

    `cancels` is the id of the request that a `notifications/cancelled` takes back.
    """

    __slots__ = ("cancels", "id", "method")

    def __init__(
        self, id: MessageId | None, method: str | None, cancels: MessageId | None = None
    ) -> None:
        self.id, self.method, self.cancels = id, method, cancels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Head) and (self.id, self.method, self.cancels) == (
            other.id,
            other.method,
            other.cancels,
        )

    def __repr__(self) -> str:
        return f"Head({self.id!r}, {self.method!r}, {self.cancels!r})"


NOTHING = Head(None, None)


def head(line: bytes) -> Head:
    """Return id and method of one JSON-RPC line; `NOTHING` for what is not an object."""
    if len(line) <= SMALL:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return NOTHING
        if not isinstance(message, dict):
            return NOTHING
        method = message.get("method")
        cancels = None
        if method == "notifications/cancelled":
            params = message.get("params")
            cancels = _as_id(params.get("requestId")) if isinstance(params, dict) else None
        return Head(_as_id(message.get("id")), method if isinstance(method, str) else None, cancels)
    found_id = re.match(_HEAD_ID, line[:_END]) or re.search(_TAIL_ID, line[-_END:])
    found_method = re.match(_HEAD_METHOD, line[:_END]) or re.search(_TAIL_METHOD, line[-_END:])
    return Head(
        _parse_id(found_id[1]) if found_id else None,
        found_method[1].decode("utf-8", "replace") if found_method else None,
    )


def _as_id(value: object) -> MessageId | None:
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def _parse_id(raw: bytes) -> MessageId | None:
    try:
        return _as_id(json.loads(raw))
    except ValueError:
        return None
