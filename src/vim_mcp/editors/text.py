"""A buffer's text, pulled in slices, and the edits that change it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from vim_mcp.errors import InvalidParams
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


def from_vim(line: str) -> str:
    """Vim keeps a NUL in a line as a newline."""
    return line.replace("\n", "\0")


def to_vim(line: str) -> str:
    """The reverse of `from_vim`."""
    return line.replace("\0", "\n")


def has_returns(lines: list[str]) -> bool:
    """Tell whether lines of a buffer end in CRs of their own (mixed line ends, mostly)."""
    return any(line.endswith("\r") for line in lines)


def split_content(content: str, returns: bool = False) -> list[str]:
    """Return the lines that a tool's `content` stands for; one final newline is no line.

    CR LF is one line end, unless the buffer's own lines have CRs (`returns`).
    """
    lines = (content if returns else content.replace("\r\n", "\n")).split("\n")
    if len(lines) > 1 and lines[-1] == "":
        lines.pop()
    return lines


def replacement(text: Text, old_text: str, content: str) -> tuple[int, int, list[str]]:
    """Return first and last line (1-based) around the one `old_text`, and what they become.

    Raises:
        InvalidParams: It is not there, or more than once.
    """
    whole = "\n".join(text.lines) + "\n"
    at = whole.find(old_text)
    if at < 0 and not has_returns(text.lines):
        old_text, content = old_text.replace("\r\n", "\n"), content.replace("\r\n", "\n")
        at = whole.find(old_text)
    if at < 0:
        raise InvalidParams("old_text was not found; vim_read shows the present text")
    second = whole.find(old_text, at + 1)
    if second >= 0:
        lines = [whole.count("\n", 0, at) + 1, whole.count("\n", 0, second) + 1]
        raise InvalidParams(
            f"old_text occurs more than once (lines {lines[0]} and {lines[1]} at least); "
            "make it longer",
            lines=lines,
        )
    first = whole.count("\n", 0, at) + 1
    start, stop = whole.rfind("\n", 0, at) + 1, at + len(old_text)
    # To the end of the line in which old_text ends, its newline too, so that a text which ends
    # in a newline, or takes one away, needs no case of its own.
    end = whole.find("\n", stop) + 1 or len(whole)
    new = whole[start:at] + content + whole[stop:end]
    last = first + whole.count("\n", start, end) - 1
    return first, last, new.removesuffix("\n").split("\n") if new else []


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
    matcher = difflib.SequenceMatcher(None, old_middle, new_middle)
    return [
        hunk(base + i1, base + i2 - 1, new_middle[j1:j2])
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]
