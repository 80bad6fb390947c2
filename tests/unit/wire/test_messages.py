"""What editors say, taken tolerantly: one protocol version apart is understood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vim_mcp.wire.messages import (
    Ask,
    Bye,
    Control,
    EditorInfo,
    Nonsense,
    Register,
    Reply,
    Started,
    Unknown,
    Update,
    encode,
    parse,
)


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def test_a_registration_of_the_seed_alone_is_enough() -> None:
    info = {"pid": 7, "cwd": "/w", "main_file": "/w/a.c", "buffers": ["/w/a.c"], "version": "9.0"}
    message = parse(line(type="register", instance_id="a-w-7", info=info))
    assert message == Register(
        "a-w-7",
        EditorInfo(pid=7, cwd="/w", main_file="/w/a.c", buffers=("/w/a.c",), version="9.0"),
    )


def test_unknown_fields_and_types_are_ignored() -> None:
    message = parse(line(type="register", instance_id="a", info={"pid": 1, "shoe_size": 43}))
    assert message == Register("a", EditorInfo(pid=1))
    assert parse(line(type="greet", what=1)) == Unknown("greet")


def test_fields_of_a_wrong_type_are_ignored_one_by_one() -> None:
    info = {"pid": "7", "cwd": 3, "buffers": ["a", 1, None], "readonly": 1, "nonce": "n"}
    message = parse(line(type="register", instance_id="a", info=info))
    assert message == Register("a", EditorInfo(buffers=("a",), readonly=True, nonce="n"))


def test_an_update_changes_what_it_names() -> None:
    info = EditorInfo(pid=1, cwd="/a", paused=False)
    assert info.updated({"cwd": "/b", "paused": True}) == EditorInfo(pid=1, cwd="/b", paused=True)


@pytest.mark.parametrize(
    "instance_id", ["", 5, None, "../../etc/x", "a\nb", "a\x00b", "x" * 256, "a\\b"]
)
def test_an_id_that_is_no_plain_name_is_refused(instance_id: object) -> None:
    assert isinstance(parse(line(type="register", instance_id=instance_id)), Nonsense)


def test_the_other_messages() -> None:
    assert parse(line(type="update", seq=3, events=[{"event": "BufEnter"}, 5])) == Update(
        3, {}, ({"event": "BufEnter"},)
    )
    assert parse(line(type="started", id=4)) == Started(4)
    assert parse(line(type="bye")) == Bye()
    assert parse(line(type="status")) == Control("status")
    assert parse(line(id=1, result={"a": 1})) == Reply(1, {"a": 1})
    assert parse(line(id=1, error={"code": 1004})) == Reply(1, None, {"code": 1004})
    assert parse(line(id=1, error="broken")) == Reply(1, None, {"message": "broken"})
    assert parse(line(id="e1", method="status")) == Ask("e1", "status", {})


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"not json",
        b"[1,2]",
        b"{}",
        b'{"id":true,"result":{}}',
        b'{"id":1,"result":5}',
        b'{"id":1}',
        b'{"type":5}',
        b'{"type":"started"}',
        b'{"type":"register","instance_id":"a","info":[]}',
        b"\x00\xff\xfe" * 10,
        b"[" * 100_000,
    ],
)
def test_nonsense_is_a_message_and_never_an_exception(raw: bytes) -> None:
    assert isinstance(parse(raw), Nonsense)


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert parse(b'{"id":1,"result":{"lines":["a\xffb"]}}') == Reply(1, {"lines": ["a�b"]})


def test_an_encoded_message_is_one_line() -> None:
    assert encode({"text": "a\nb ü"}) == '{"text":"a\\nb ü"}\n'.encode()


def test_lone_surrogates_and_numbers_no_system_knows_are_mended() -> None:
    raw = b'{"type":"register","instance_id":"a","info":{"cwd":"/\\ud800x","pid":%d}}' % 10**30
    assert parse(raw) == Register("a", EditorInfo(cwd="/\ufffdx", pid=0))
    assert parse(b'{"id":1,"result":{"t":"\\u00e4\\ud83d\\ude00"}}') == Reply(1, {"t": "ä😀"})
