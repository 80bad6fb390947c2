"""A buffer's text, pulled in slices, and the edits that change it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from vim_mcp.wire.messages import Json

#: Above this product of line counts a changed middle part is one hunk: a diff would cost more
#: than it saves in marks kept.
_DIFF_CELLS = 1_000_000


@dataclass
class Text:
    """Lines of a buffer as they were at one `changedtick`; `first` is 1-based."""

    bufnr: int
    file: str
    changedtick: int
    line_count: int
    modified: bool
    filetype: str
    first: int
    lines: list[str] = field(default_factory=list)

    @property
    def last(self) -> int:
        """Number of the last line held; `first - 1` when there is none."""
        return self.first + len(self.lines) - 1

    def facts(self) -> Json:
        """What every answer with text tells beside it."""
        return {
            "bufnr": self.bufnr,
            "file": self.file,
            "changedtick": self.changedtick,
            "line_count": self.line_count,
            "modified": self.modified,
        }


def from_vim(line: str) -> str:
    """Vim keeps a NUL in a line as a newline."""
    return line.replace("\n", "\0")


def to_vim(line: str) -> str:
    """The reverse of `from_vim`."""
    return line.replace("\0", "\n")


def split_content(content: str) -> list[str]:
    """Return the lines that a tool's `content` stands for; one final newline is no line."""
    lines = content.replace("\r\n", "\n").split("\n")
    if len(lines) > 1 and lines[-1] == "":
        lines.pop()
    return lines


def hunk(first: int, last: int, lines: list[str]) -> Json:
    """Return one change: old lines `first`..`last` become `lines`; last = first - 1 inserts."""
    return {"first": first, "last": last, "lines": [to_vim(line) for line in lines]}


def minimal_hunks(old: list[str], new: list[str], first: int = 1) -> list[Json]:
    """Return the hunks that turn `old`, which starts at line `first`, into `new`."""
    start = 0
    limit = min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    end = 0
    while end < limit - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    if not old_middle and not new_middle:
        return []
    base = first + start
    if len(old_middle) * len(new_middle) > _DIFF_CELLS:
        return [hunk(base, base + len(old_middle) - 1, new_middle)]
    matcher = difflib.SequenceMatcher(None, old_middle, new_middle, autojunk=False)
    return [
        hunk(base + i1, base + i2 - 1, new_middle[j1:j2])
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]
