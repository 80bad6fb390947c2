"""The tool that reads what the user has selected."""

from __future__ import annotations

from typing import Literal

from vim_mcp.editors.call import Call
from vim_mcp.editors.text import from_vim
from vim_mcp.tools.base import BufferFacts, tool


class Selection(BufferFacts):
    """A selection of the current buffer, ends included; positions are [line, column in characters].

    `active`: it is selected now; otherwise it is the last one, and `mode` is null if there was
    none. `truncated`: the text is cut, read its lines with vim_read.
    """

    active: bool
    mode: Literal["char", "line", "block"] | None
    start: list[int] | None
    end: list[int] | None
    text: str
    truncated: bool


@tool(title="Get the selection", idempotent=True)
async def vim_get_selection(call: Call) -> Selection:
    """Read the text that the user has selected in Vim, or had selected last, unsaved text too.

    For "this", "the selected code" and the like. No register is touched.
    """
    raw = await call.read("selection")
    text = "\n".join(from_vim(line) for line in raw["lines"])
    return Selection.model_validate({**raw, "text": text + ("\n" if raw.get("newline") else "")})
