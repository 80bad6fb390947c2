"""The tool that moves the user's cursor, as keys of theirs would."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vim_mcp.editors.call import Call
from vim_mcp.errors import InvalidParams
from vim_mcp.tools.base import BufferFacts, tool

Direction = Literal[
    "left",
    "right",
    "up",
    "down",
    "line",
    "line_start",
    "first_nonblank",
    "line_end",
    "word_forward",
    "word_back",
    "word_end",
    "paragraph_forward",
    "paragraph_back",
    "matching_bracket",
    "page_up",
    "page_down",
    "half_page_up",
    "half_page_down",
    "top",
    "bottom",
    "next_change",
    "previous_change",
    "older_position",
    "newer_position",
    "next_diagnostic",
    "previous_diagnostic",
    "next_error",
    "previous_error",
    "next_buffer",
    "previous_buffer",
    "next_window",
    "previous_window",
    "window_left",
    "window_right",
    "window_up",
    "window_down",
    "next_tab",
    "previous_tab",
]
#: The editor's own bound, except for a line number.
_MOST = 10_000


class Place(BufferFacts):
    """Where the cursor is now, 1-based, column in characters; `text` is its line.

    `topline` to `botline` are the lines that the window shows.
    """

    moved: bool
    line: int
    column: int
    text: str
    winid: int
    tabnr: int
    topline: int
    botline: int


@tool(title="Move the cursor", acts=True)
async def vim_navigate(
    call: Call,
    direction: Annotated[Direction, Field(description="Where to, as a user of Vim would name it.")],
    count: Annotated[
        int, Field(ge=1, description="How many times; for line, the line number.")
    ] = 1,
) -> Place:
    """Move the user's cursor: by characters, words, lines, pages, or to other places.

    next_change and previous_change go through the differences in diff mode, else through the
    places the user changed (previous: older). older_position and newer_position are the jump
    list, next_error and previous_error the quickfix list. Only in Normal mode: what the user is
    typing is not disturbed. vim_open goes to a file and line in one step.
    """
    if count > _MOST and direction != "line":
        raise InvalidParams(f"count {count} is over the limit of {_MOST}")
    return Place.model_validate(
        await call.act("navigate", {"direction": direction, "count": count})
    )
