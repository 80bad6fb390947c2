from __future__ import annotations

import pytest

from harness.screen import Display, Screen


def shown(*chunks: bytes) -> tuple[Screen, list[bytes]]:
    answers: list[bytes] = []
    display = Display(5, 20, answers.append)
    for chunk in chunks:
        display.feed(chunk)
    return display.look(), answers


def test_text_and_cursor_are_drawn() -> None:
    screen, _ = shown(b"one\r\n\x1b[1mtwo\x1b[m")
    assert screen.lines == ("one", "two", "", "", "")
    assert screen.cursor == (2, 4)
    assert str(screen) == "one\ntwo"
    assert "tw" in screen


@pytest.mark.parametrize(
    "sequence",
    [
        b"\x1b[>4;2m",
        b"\x1b[?4m",
        b"\x1bPzz\x1b\\",
        b"\x1b[0%m",
        b"\x1b[22;0;0t",
        b"\x1b]2;title\x07",
        b"\x1b[2 q",
        b"\x1b[?2004h",
        b"\x1b(B",
        b"\x1b=",
        b"\x1b_note\x1b\\",
    ],
)
def test_sequences_that_draw_nothing_leave_no_trace(sequence: bytes) -> None:
    whole = b"a" + sequence + b"b"
    assert str(shown(whole)[0]) == "ab"
    for cut in range(1, len(whole)):
        assert str(shown(whole[:cut], whole[cut:])[0]) == "ab", cut


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (b"\x1b]11;?\x07", b"\x1b]11;rgb:0000/0000/0000\x07"),
        (b"\x1b]11;?\x1b\\", b"\x1b]11;rgb:0000/0000/0000\x07"),
        (b"\x1b[5n", b"\x1b[0n"),
        (b"\x1b[c", b"\x1b[?62;22c"),
        (b"ab\r\nc\x1b[6n", b"\x1b[2;2R"),
    ],
)
def test_a_query_is_answered_once_however_it_is_cut(query: bytes, answer: bytes) -> None:
    for cut in range(len(query)):
        assert shown(query[:cut], query[cut:])[1] == [answer], cut


def test_an_escape_that_starts_nothing_is_dropped() -> None:
    assert str(shown(b"a\x1b\x01b\x1b[\x01c")[0]).endswith("c")


def test_characters_may_be_cut_anywhere() -> None:
    text = "→ä".encode()
    assert str(shown(text[:1], text[1:4], text[4:])[0]) == "→ä"


def test_the_framed_screen_tells_the_cursor() -> None:
    assert shown(b"hi")[0].framed().splitlines()[-1].endswith("cursor 1,3")
