"""The tool that searches buffers with the editor's own regular expressions."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pydantic import Field

from vim_mcp.editors.call import Call
from vim_mcp.editors.text import from_vim
from vim_mcp.limits import READ_S
from vim_mcp.tools.base import Answer, tool
from vim_mcp.wire.messages import Json

#: Part of the time for a read that a search may take in all its slices.
_SECONDS = READ_S * 0.75


class Found(Answer):
    """A line that matches: where its first match is, 1-based, in characters, end included.

    Of a very long line `text` is a part that begins at `text_column`.
    """

    file: str
    bufnr: int
    line: int
    column: int
    end_column: int
    text: str
    text_column: int
    changedtick: int


class SearchResult(Answer):
    """Matching lines. `truncated`: there may be more, `note` says why and what to do."""

    matches: list[Found]
    lines_searched: int
    truncated: bool
    note: str | None = None


@tool(title="Search buffers", idempotent=True)
async def vim_search(
    call: Call,
    pattern: Annotated[
        str,
        Field(min_length=1, max_length=1000, description="A Vim regex, as typed after /."),
    ],
    scope: Annotated[
        Literal["current", "all"],
        Field(description="The current buffer, or all loaded files."),
    ] = "current",
    max_results: Annotated[int, Field(ge=1, le=1000, description="Lines to return.")] = 100,
) -> SearchResult:
    """Search text as the user has it in Vim, with unsaved changes, by Vim's own regex.

    The user's 'ignorecase', 'smartcase' and 'magic' apply; \\c, \\C and \\v work. A match lies
    within one line (\\n matches nothing). Files that are not open are not searched. The user's
    cursor, search pattern and highlighting stay as they are. Scope all leaves out terminals and
    quickfix windows.
    """
    ask: Json = {"pattern": pattern, "scope": scope, "max": max_results}
    loop = asyncio.get_running_loop()
    until = loop.time() + _SECONDS
    rows: list[Json] = []
    lines = 0
    while True:
        part = await call.read("search", ask)
        rows += part["rows"]
        lines += int(part["lines"])
        following = part.get("next")
        if following is None:
            break
        if len(rows) >= max_results or loop.time() > until:
            break
        ask.update(following, max=max_results - len(rows))
    matches = [Found.model_validate({**row, "text": from_vim(row["text"])}) for row in rows]
    return SearchResult(
        matches=matches,
        lines_searched=lines,
        truncated=following is not None,
        note=_note(following, len(matches) >= max_results),
    )


def _note(following: Json | None, is_full: bool) -> str | None:
    if following is None:
        return None
    place = f"line {following['line']} of buffer {following['bufnr']}"
    if is_full:
        return f"max_results is reached before {place}: raise it or make the pattern narrower"
    return f"out of time before {place}: the pattern is slow or there is much text; make it simpler"
