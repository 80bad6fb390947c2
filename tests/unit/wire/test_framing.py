"""Lines out of a byte stream, however it was cut."""

from __future__ import annotations

import pytest

from vim_mcp.errors import LineTooLong
from vim_mcp.wire.framing import LineBuffer

STREAM = '{"a":1}\n\n{"text":"höß 😀"}\r\n{"b":2}\n'.encode()
LINES = [b'{"a":1}', '{"text":"höß 😀"}\r'.encode(), b'{"b":2}']


@pytest.mark.parametrize("cut", range(len(STREAM) + 1))
def test_a_stream_cut_anywhere_gives_the_same_lines(cut: int) -> None:
    buffer = LineBuffer(1000)
    assert buffer.feed(STREAM[:cut]) + buffer.feed(STREAM[cut:]) == LINES
    assert buffer.partial == 0


def test_bytes_one_by_one_give_the_same_lines() -> None:
    buffer = LineBuffer(1000)
    assert [line for byte in STREAM for line in buffer.feed(bytes([byte]))] == LINES


def test_an_unfinished_line_is_held_back() -> None:
    buffer = LineBuffer(1000)
    assert buffer.feed(b"abc") == []
    assert buffer.partial == 3
    assert buffer.feed(b"def\nx") == [b"abcdef"]
    assert buffer.partial == 1


@pytest.mark.parametrize("data", [b"12345678901", b"12345678901\n", b"ok\n12345678901\n"])
def test_a_line_over_the_limit_is_refused_finished_or_not(data: bytes) -> None:
    with pytest.raises(LineTooLong, match="10 bytes"):
        LineBuffer(10).feed(data)


def test_a_line_at_the_limit_passes_also_in_pieces() -> None:
    buffer = LineBuffer(10)
    assert buffer.feed(b"12345") == []
    assert buffer.feed(b"67890\n") == [b"1234567890"]


def test_a_joined_line_over_the_limit_is_refused() -> None:
    buffer = LineBuffer(10)
    buffer.feed(b"12345678")
    with pytest.raises(LineTooLong):
        buffer.feed(b"901\n")
