"""How answers are shown: tables in a terminal, plain lines in a pipe, JSON when asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


def is_terminal() -> bool:
    """Tell whether a person looks at stdout."""
    return sys.stdout.isatty()


def as_json(value: Any) -> None:
    """Write a value as JSON for people and programs."""
    write(json.dumps(value, indent=2, ensure_ascii=False))


def write(text: str) -> None:
    """Write text, with a newline if none is at its end."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write rows under the names of their columns; in a pipe, without lines and frames."""
    if is_terminal():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        drawn = Table(box=None, pad_edge=False, header_style="bold")
        for n, column in enumerate(columns):
            # The first tells what to type next, and is to be copied whole.
            drawn.add_column(column.upper(), overflow="fold", no_wrap=n == 0)
        for row in rows:
            # As text: what editors tell may look like rich's markup.
            drawn.add_row(*map(Text, row))
        Console().print(drawn)
        return
    cells = [[column.upper() for column in columns], *rows]
    widths = [max(len(row[n]) for row in cells) for n in range(len(columns))]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        write(line.rstrip())
