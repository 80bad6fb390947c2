"""Tools about what the user sees, and the Ex command."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vim_mcp.editors.call import Call
from vim_mcp.tools.base import Answer, tool


class CurrentBuffer(Answer):
    """The buffer of the user's current window, without its text."""

    id: int
    private: bool = False
    name: str = ""
    filetype: str = ""
    buftype: str = ""
    line_count: int = 0
    modified: bool = False
    changedtick: int = 0


class WindowRow(Answer):
    """One window; lines 1-based, cursor [line, column in characters].

    `kind` is normal, terminal, preview, quickfix, loclist, popup (floating) or command.
    """

    winid: int
    winnr: int = 0
    tabnr: int = 0
    bufnr: int = 0
    private: bool = False
    name: str = ""
    cursor: list[int] = Field(default_factory=list)
    topline: int = 0
    botline: int = 0
    width: int = 0
    height: int = 0
    kind: str = "normal"
    current: bool = False


class BufferRow(Answer):
    """One buffer; of a private one only the number is known."""

    bufnr: int
    private: bool = False
    name: str = ""
    listed: bool = False
    loaded: bool = False
    hidden: bool = False
    modified: bool = False
    filetype: str = ""
    buftype: str = ""
    line_count: int = 0
    changedtick: int = 0
    current: bool = False
    alternate: bool = False


class SelectionRange(Answer):
    """The visual selection, [line, column] 1-based, end-inclusive."""

    mode: str
    start: list[int]
    end: list[int]


class State(Answer):
    """Everything but the text.

    `cursor` is [line, column in characters], `byte` the byte column; both 1-based, and null while
    a private buffer is current. A long list of buffers is cut; `more_buffers` is then the resource
    that has the rest.
    """

    instance_id: str
    current_buffer: CurrentBuffer
    cursor: list[int] | None
    byte: int | None = None
    mode: str
    selection: SelectionRange | None = None
    windows: list[WindowRow]
    buffers: list[BufferRow]
    more_buffers: str | None = None
    tabpage: int = 1
    tabpages: int = 1
    cwd: str
    root: str = ""
    paused: bool = False


#: Longer lists are cut.
_MOST = 200


@tool(title="Get the editor's state", idempotent=True, always_load=True)
async def vim_get_state(call: Call) -> State:
    """See what the user sees, without text: current buffer, cursor, selection, windows, buffers."""
    raw = await call.read("get_state")
    state = State.model_validate({**raw, "instance_id": call.instance.id})
    if len(state.buffers) > _MOST:
        state.more_buffers = f"vim://buffers?from={state.buffers[_MOST].bufnr}"
        state.buffers = state.buffers[:_MOST]
    return state


@tool(title="Run an Ex command", acts=True, destructive=True)
async def vim_execute(
    call: Call,
    command: Annotated[str, Field(min_length=1, max_length=2000, description="One Ex command.")],
) -> str:
    """Run one Ex command in the current window and return its output.

    Only commands of a short list run: views (:echo of simple expressions, :print, :set option?),
    moves (:42, :bnext, :wincmd w) and edits (:substitute, :move, :copy, :join, :sort, :delete _).
    No shell, no files, no options, no scripts: vim_open, vim_save and vim_edit serve for those.
    """
    done = await call.act("execute", {"command": command})
    return str(done.get("output", ""))
