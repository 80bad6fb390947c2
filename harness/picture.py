"""Pictures of terminal screens: SVG, drawn from what a real editor wrote to its terminal."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import pyte

_CELL_W, _CELL_H, _FONT = 8.4, 18.0, 14.0
_MARGIN, _BAR = 12.0, 28.0
_FG, _BG, _FRAME = "#d4d4d4", "#1e1e1e", "#3a3a3a"

# What pyte calls the first sixteen colours; others it gives as six hexadecimal digits.
_COLOURS = {
    "black": "#1e1e1e", "red": "#f14c4c", "green": "#23d18b", "brown": "#e5c07b",
    "blue": "#3b8eea", "magenta": "#d670d6", "cyan": "#29b8db", "white": "#d4d4d4",
    "brightblack": "#808080", "brightred": "#f14c4c", "brightgreen": "#23d18b",
    "brightbrown": "#f5f543", "brightblue": "#6cb6ff", "brightmagenta": "#e29bff",
    "brightcyan": "#56d8f0", "brightwhite": "#ffffff", "bfightmagenta": "#e29bff",
}  # fmt: skip


@dataclass(frozen=True)
class Run:
    """Neighbouring cells that look the same; colours as in CSS, None for the terminal's own."""

    text: str
    fg: str | None = None
    bg: str | None = None
    bold: bool = False
    cells: int = 0


Row = tuple[Run, ...]


@dataclass(frozen=True)
class Panel:
    """One window of a picture: a title and the rows under it."""

    title: str
    rows: Sequence[Row]


def rows_of(screen: pyte.Screen) -> list[Row]:
    """Return what an emulator shows, row by row, its cursor as a cell in reverse."""
    rows = []
    for y in range(screen.lines):
        cells = []
        for x in range(screen.columns):
            char = screen.buffer[y][x]
            if not char.data:
                continue  # the second half of a wide character
            wide = x + 1 < screen.columns and not screen.buffer[y][x + 1].data
            fg, bg = _colour(char.fg), _colour(char.bg)
            if char.reverse != ((y, x) == (screen.cursor.y, screen.cursor.x)):
                fg, bg = bg or _BG, fg or _FG
            cells.append((char.data, fg, bg, char.bold, 2 if wide else 1))
        rows.append(
            tuple(
                Run("".join(c[0] for c in same), fg, bg, bold, sum(c[4] for c in same))
                for (fg, bg, bold), same in (
                    (key, list(group)) for key, group in itertools.groupby(cells, lambda c: c[1:4])
                )
            )
        )
    return rows


def plain(lines: Iterable[tuple[str, str | None]]) -> list[Row]:
    """Return rows of text in one colour each, None for the usual one."""
    return [(Run(text, fg, cells=len(text)),) for text, fg in lines]


def shortened(rows: Sequence[Row]) -> list[Row]:
    """Return a screen without the middle that is empty below a short file's end."""
    return [row for row in rows if "".join(run.text for run in row).strip() not in ("", "~")]


def svg(panels: Sequence[Panel]) -> str:
    """Return a picture of the panels, one below the other."""
    columns = max(sum(run.cells for run in row) for panel in panels for row in panel.rows)
    width = columns * _CELL_W + 2 * _MARGIN
    parts, top = [], 0.0
    for panel in panels:
        height = _BAR + len(panel.rows) * _CELL_H + _MARGIN
        parts.append(
            f'<g transform="translate(0 {top:g})">'
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{_BG}" stroke="{_FRAME}"/>'
            f'<text x="{width / 2:g}" y="18" fill="#9a9a9a" text-anchor="middle">'
            f"{escape(panel.title)}</text>"
        )
        for n, row in enumerate(panel.rows):
            parts.extend(_row(row, _BAR + n * _CELL_H))
        parts.append("</g>")
        top += height + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{top - _MARGIN:g}" '
        f'viewBox="-1 -1 {width + 2:g} {top - _MARGIN + 2:g}" font-size="{_FONT:g}" '
        "font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\">"
        "\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _row(row: Row, y: float) -> Iterable[str]:
    x = _MARGIN
    for run in row:
        width = run.cells * _CELL_W
        if run.bg is not None:
            yield (
                f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{_CELL_H:g}" fill="{run.bg}"/>'
            )
        if run.text.strip():
            bold = ' font-weight="bold"' if run.bold else ""
            yield (
                f'<text x="{x:g}" y="{y + 13:g}" fill="{run.fg or _FG}"{bold} xml:space="preserve" '
                f'textLength="{width:g}" lengthAdjust="spacingAndGlyphs">{escape(run.text)}</text>'
            )
        x += width


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    return _COLOURS.get(name) or f"#{name}"
