"""Edits as few lines as can be, and the lines that a text stands for."""

from __future__ import annotations

import random

import pytest

from vim_mcp.editors.text import from_vim, hunk, minimal_hunks, split_content, to_vim
from vim_mcp.wire.messages import Json


def applied(old: list[str], hunks: list[Json]) -> list[str]:
    """Apply hunks as the plugin does: from the last to the first, in old numbers."""
    lines = list(old)
    for change in reversed(hunks):
        lines[change["first"] - 1 : change["last"]] = change["lines"]
    return lines


def test_equal_texts_need_no_hunk() -> None:
    assert minimal_hunks(["a", "b"], ["a", "b"]) == []


def test_only_what_differs_is_sent() -> None:
    old, new = list("abcdefgh"), list("aXcdefYZh")
    assert minimal_hunks(old, new) == [hunk(2, 2, ["X"]), hunk(7, 7, ["Y", "Z"])]


def test_insertions_and_deletions() -> None:
    assert minimal_hunks(["a", "b"], ["a", "n", "b"]) == [hunk(2, 1, ["n"])]
    assert minimal_hunks(["a", "b", "c"], ["a", "c"]) == [hunk(2, 2, [])]
    assert minimal_hunks(["a"], ["a", "b"]) == [hunk(2, 1, ["b"])]


def test_hunks_count_from_the_first_line_given() -> None:
    assert minimal_hunks(["x"], ["y"], first=10) == [hunk(10, 10, ["y"])]


@pytest.mark.parametrize("seed", range(50))
def test_hunks_turn_the_old_text_into_the_new(seed: int) -> None:
    chance = random.Random(seed)
    old = [chance.choice("abcde") for _ in range(chance.randrange(30))]
    new = [chance.choice("abcde") for _ in range(chance.randrange(30))]
    hunks = minimal_hunks(old, new)
    assert applied(old, hunks) == new
    ends = [h["last"] for h in hunks]
    assert all(a < h["first"] for a, h in zip(ends, hunks[1:], strict=False)), "they overlap"


def test_a_huge_change_is_one_hunk() -> None:
    old, new = [f"o{i}" for i in range(2000)], [f"n{i}" for i in range(2000)]
    assert [(h["first"], h["last"]) for h in minimal_hunks(old, new)] == [(1, 2000)]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("\n", [""]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\nb", ["a", "b"]),
    ],
)
def test_content_is_lines(content: str, lines: list[str]) -> None:
    assert split_content(content) == lines


def test_a_nul_in_a_line_is_a_newline_in_vim() -> None:
    assert to_vim("a\0b") == "a\nb"
    assert from_vim(to_vim("a\0b")) == "a\0b"
