"""Pictures of screens: what is drawn is what was shown, in its colours."""

from __future__ import annotations

from xml.etree import ElementTree

from harness.picture import Panel, Run, plain, shortened, svg
from harness.screen import Display


def rows(data: bytes, lines: int = 3, columns: int = 10) -> list[tuple[Run, ...]]:
    display = Display(lines, columns, lambda _: None)
    # The cursor, which is a cell of its own, goes out of the way.
    display.feed(data + b"\x1b[%d;%dH" % (lines, columns))
    return display.rows()


def texts(picture: str) -> list[str]:
    return [
        element.text or ""
        for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    ]


def test_cells_that_look_the_same_are_one_run() -> None:
    (first, *_) = rows(b"ab\x1b[1;31mcd\x1b[0m")
    assert [run.text for run in first] == ["ab", "cd", " " * 6]
    assert (first[1].fg, first[1].bold, first[1].cells) == ("#f14c4c", True, 2)
    assert first[0].fg is None


def test_reverse_and_the_cursor_swap_the_colours() -> None:
    shown = rows(b"\x1b[7mx\x1b[0m")
    assert (shown[0][0].fg, shown[0][0].bg) == ("#1e1e1e", "#d4d4d4")
    assert shown[2][-1] == Run(" ", "#1e1e1e", "#d4d4d4", False, 1)


def test_a_colour_of_the_256_is_drawn_as_it_is() -> None:
    assert rows(b"\x1b[38;5;208mx")[0][0].fg == "#ff8700"


def test_a_wide_character_takes_two_cells() -> None:
    run = rows("漢a".encode())[0][0]
    assert (run.text.rstrip(), run.cells) == ("漢a", 10)


def test_a_picture_holds_titles_and_text() -> None:
    picture = svg(
        [Panel("<one>", rows(b"a < b & c")), Panel("two", plain([("said", "#fff"), ("", None)]))]
    )
    assert texts(picture) == ["<one>", "a < b & c ", "two", "said"]


def test_the_empty_middle_is_left_out() -> None:
    assert [row[0].text for row in shortened(rows(b"a\r\n~", lines=2))] == ["a" + " " * 9]
