"""The table of tests/README.md names tests that exist, and leaves no section of the seed out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS = re.findall(r"^\| (\S.*?) \| (.*) \|$", (TESTS / "README.md").read_text(), re.MULTILINE)[1:]

#: Those with something to test, of its parts 3 to 11.
SECTIONS = re.findall(
    r"[\d.]+",
    "3.1 3.2 3.2.1 4.1 4.2 4.3 4.4 5.1 6.1 7.1 7.2.1 7.2.2 7.2.3 7.3 "
    "8.1 8.2 8.3 9.1 9.2 9.3 10.1 10.2 11.1 11.2 11.3",
)


def named(cell: str) -> list[tuple[str, str]]:
    """The (file, test) pairs of a row; a name without a file is in the file named last."""
    found, file = [], ""
    for reference in re.findall(r"`([^`]+)`", cell):
        path, _, test = reference.partition("::")
        file = path or file
        if file.endswith(".py"):
            found.append((file, test))
    return found


@pytest.mark.parametrize(("row", "cell"), ROWS, ids=[row for row, _ in ROWS])
def test_every_test_of_the_table_exists(row: str, cell: str) -> None:
    for file, test in named(cell):
        text = (TESTS / file).read_text()
        assert not test or f"def {test}(" in text, f"{file}::{test}"


def test_every_section_has_a_row() -> None:
    told = {number for row, _ in ROWS for number in re.findall(r"\d+(?:\.\d+)+", row)}
    assert told == set(SECTIONS)


def test_every_section_has_a_test_of_its_number() -> None:
    tests = " ".join(test for _, cell in ROWS for _, test in named(cell))
    files = " ".join(cell for _, cell in ROWS)
    for section in SECTIONS:
        number = f"_{section.replace('.', '_')}_"
        assert number in tests or f"test{number}" in files, section
