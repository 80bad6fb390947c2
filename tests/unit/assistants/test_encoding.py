"""Long answers are encoded in parts, and come out as if they had been encoded whole."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import mcp.types as t
import pytest

from vim_mcp.assistants.encoding import encode

LONG = 'é\t"\\\n\0\u2028😀' * 60_000

RESULTS: dict[str, dict[str, Any]] = {
    "short": {"text": 'é"\n'},
    "long": {"contents": [{"uri": "vim://x", "text": LONG}]},
    "two long ones": {"a": LONG, "b": [1, None, {"c": LONG + "x"}], "d": True},
    "long ascii": {"text": "x" * 3_000_000},
}


def response(result: dict[str, Any]) -> t.JSONRPCResponse:
    return t.JSONRPCResponse(jsonrpc="2.0", id="a", result=result)


@pytest.mark.parametrize("what", RESULTS)
def test_a_line_says_what_the_message_says(what: str) -> None:
    line = asyncio.run(encode(response(RESULTS[what])))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": "a", "result": RESULTS[what]}


def test_others_are_served_between_the_parts_of_a_long_one() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async def main() -> None:
        task = asyncio.ensure_future(count())
        await encode(response(RESULTS["long ascii"]))
        task.cancel()

    asyncio.run(main())
    assert turns >= 10
