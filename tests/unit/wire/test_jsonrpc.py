"""Ids and methods of messages, read from their ends when they are big."""

from __future__ import annotations

import json

import pytest

from vim_mcp.wire.jsonrpc import NOTHING, SMALL, Head, head

BIG = "x" * (SMALL * 2)


def test_small_messages_are_decoded() -> None:
    assert head(b'{"jsonrpc":"2.0","id":7,"method":"ping"}') == Head(7, "ping")
    assert head(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') == Head(
        None, "notifications/initialized"
    )
    assert head(b'{"jsonrpc":"2.0","id":"a","result":{}}') == Head("a", None)


def test_a_cancellation_names_its_request() -> None:
    line = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}'
    assert head(line) == Head(None, "notifications/cancelled", 3)


@pytest.mark.parametrize("line", [b"garbage", b"[1]", b"7", b'"x"', b"", b"\xff\xfe", b"[" * 5000])
def test_what_is_no_message_has_no_head(line: bytes) -> None:
    assert head(line) == NOTHING


@pytest.mark.parametrize("call_id", [0, 12, -3, "abc", 'with "quotes"'])
@pytest.mark.parametrize(
    "order",
    [
        ("jsonrpc", "id", "method", "params"),
        ("method", "params", "jsonrpc", "id"),
        ("jsonrpc", "method", "id", "params"),
        ("params", "method", "id", "jsonrpc"),
    ],
)
def test_a_big_request_is_read_from_its_ends(call_id: int | str, order: tuple[str, ...]) -> None:
    parts = {
        "jsonrpc": "2.0",
        "id": call_id,
        "method": "tools/call",
        # What stands inside the arguments must not be taken for the message's own parts.
        "params": {"arguments": {"content": BIG, "id": 99, "method": "no"}, "name": "vim_edit"},
    }
    line = json.dumps({k: parts[k] for k in order}).encode()
    assert head(line).id == call_id
    assert head(line).method == "tools/call"


def test_a_big_answer_has_an_id_and_no_method() -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 5, "result": {"text": BIG}}).encode()
    assert head(line) == Head(5, None)


@pytest.mark.parametrize("raw", [b"007", b'"\\q"'])
def test_an_id_that_is_no_json_is_no_id(raw: bytes) -> None:
    line = b'{"jsonrpc":"2.0","id":' + raw + b',"result":{"t":"' + BIG.encode() + b'"}}'
    assert head(line).id is None
