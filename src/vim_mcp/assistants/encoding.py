"""A message as a line of JSON, made so that other sessions are served between its parts."""

from __future__ import annotations

import asyncio
import json
import os
import re
from typing import Any

import mcp.types as t
from pydantic_core import to_json

#: Characters encoded in one turn of the loop: less than a millisecond's work.
_PIECE = 256 * 1024
#: What stands for a long text meanwhile. Nobody can put it into a message: it is a secret.
_MARK = os.urandom(16).hex()
_MARKED = re.compile(rf'"{_MARK} (\d+)"')


async def encode(message: t.JSONRPCMessage) -> bytes:
    """Return a message's line. Only one that holds long texts takes more than one turn."""
    long: list[str] = []
    if isinstance(message, t.JSONRPCResponse):
        result = _without_long(message.result, long)
        if long:
            whole = {"jsonrpc": message.jsonrpc, "id": message.id, "result": result}
            outline = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
            return await _spliced(outline, long)
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _without_long(value: Any, long: list[str]) -> Any:
    """Return a copy in which marks stand for the long texts, which go to `long`."""
    if isinstance(value, str):
        if len(value) <= _PIECE:
            return value
        long.append(value)
        return f"{_MARK} {len(long) - 1}"
    if isinstance(value, dict):
        return {key: _without_long(item, long) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_long(item, long) for item in value]
    return value


async def _spliced(outline: str, long: list[str]) -> bytes:
    parts = []
    for index, between in enumerate(_MARKED.split(outline)):
        if index % 2 == 0:
            parts.append(between.encode("utf-8", "replace"))
            continue
        text = long[int(between)]
        parts.append(b'"')
        for at in range(0, len(text), _PIECE):
            # Four times as fast as json, and as model_dump_json, which makes a str first.
            parts.append(to_json(text[at : at + _PIECE])[1:-1])
            await asyncio.sleep(0)
        parts.append(b'"')
    return b"".join([*parts, b"\n"])
