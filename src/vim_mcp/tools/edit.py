"""The tool that edits a buffer: what is asked for becomes hunks, the editor applies them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from vim_mcp.editors.call import Call
from vim_mcp.editors.text import (
    Text,
    from_vim,
    has_returns,
    hunk,
    minimal_hunks,
    replacement,
    split_content,
)
from vim_mcp.errors import EditorError, InvalidParams
from vim_mcp.limits import ACT_S
from vim_mcp.tools.base import Answer, BufferFacts, target, tool
from vim_mcp.tools.buffers import BufnrArgument, FileArgument, open_file
from vim_mcp.wire.messages import Json

#: Lines shown before and after an edit.
_CONTEXT = 2
#: Texts with more lines are compared in a thread: the hub has others to serve.
_LONG = 200


class ChangedRange(Answer):
    """Lines after the edit, 1-based, end-inclusive; last = first - 1 where lines were removed."""

    first: int
    last: int


class EditResult(BufferFacts):
    """What an edit did. `context` are numbered lines around the first change.

    `save_error` says why the edited buffer could not be written; the edit stands all the same.
    """

    changed: list[ChangedRange]
    saved: bool
    save_error: str | None = None
    context: str


@dataclass(frozen=True)
class _Wish:
    """One edit as it was asked for."""

    where: Json
    content: str
    line: int | None
    end_line: int | None
    column: int | None
    old_text: str | None


@tool(title="Edit a buffer", acts=True, destructive=True, always_load=True)
async def vim_edit(
    call: Call,
    file: FileArgument = None,
    line: Annotated[
        int | None,
        Field(ge=1, description="First line to replace, or where to insert. 1-based."),
    ] = None,
    end_line: Annotated[
        int | None,
        Field(ge=0, description="Last line to replace, inclusive; line - 1 inserts before line."),
    ] = None,
    column: Annotated[
        int | None,
        Field(ge=1, description="Insert content before this character of line, 1-based."),
    ] = None,
    content: Annotated[str | None, Field(description="The new text.")] = None,
    old_text: Annotated[
        str | None,
        Field(description="Exact text to replace by content; must occur once."),
    ] = None,
    expected_changedtick: Annotated[
        int | None,
        Field(description="Refuse if the buffer changed since it had this changedtick."),
    ] = None,
    save: Annotated[bool, Field(description="Write the file afterwards.")] = False,
    bufnr: BufnrArgument = None,
) -> EditResult:
    """Edit a buffer in the user's Vim: live, as one undo step, only the lines that differ.

    Say where in one of four ways: old_text (safest); line with end_line (replaces these lines;
    end_line defaults to line); line with column (inserts there); or none of them (content replaces
    the whole buffer). Without content it opens the file at line and column instead. Edits are not
    written to disk unless save is true. Give file or bufnr.
    """
    if file is None and bufnr is None:
        raise InvalidParams("give file or bufnr: an edit needs to say which buffer it is for")
    where = target(file, bufnr)
    if content is None:
        if file is None or any(x is not None for x in (end_line, old_text, expected_changedtick)):
            raise InvalidParams("content is missing; an empty string deletes")
        shown = await open_file(call, file, line, column)
        return EditResult(**dict(shown), changed=[], saved=False, context="")
    _check_place(line, end_line, column, old_text)
    wish = _Wish(where, content, line, end_line, column, old_text)
    done = await call.remembered("edit")
    if done is None:
        done = await _edit(call, wish, expected_changedtick, save)
    return EditResult.model_validate({**done, "context": _context(done)})


async def _edit(call: Call, wish: _Wish, expected: int | None, save: bool) -> Json:
    """Work the edit out and have it applied; again while the text changes in between."""
    loop = asyncio.get_running_loop()
    until = loop.time() + ACT_S
    extra: Json = {"context": _CONTEXT, **({"save": True} if save else {})}
    while True:
        hunks, tick = await _plan(call, wish)
        tick = tick if expected is None else expected
        if tick is not None:
            extra["changedtick"] = tick
        try:
            return await call.act("edit", {**wish.where, "hunks": hunks, **extra})
        except EditorError as error:
            # Somebody typed, or another edit came, between our reading and the act.
            if error.reason != "stale" or expected is not None or loop.time() > until:
                raise


def _check_place(
    line: int | None, end_line: int | None, column: int | None, old_text: str | None
) -> None:
    if old_text is not None and (line, end_line, column) != (None, None, None):
        raise InvalidParams("old_text says where; leave out line, end_line and column")
    if old_text == "":
        raise InvalidParams("old_text is empty; use line and column to insert")
    if line is None and (end_line is not None or column is not None):
        raise InvalidParams("end_line and column need line")
    if column is not None and end_line is not None:
        raise InvalidParams("column inserts, end_line replaces: give one of them")
    if line is not None and end_line is not None and end_line < line - 1:
        raise InvalidParams(f"end_line {end_line} is before line {line}")


async def _plan(call: Call, wish: _Wish) -> tuple[list[Json], int | None]:
    """Return the hunks of an edit and the changedtick that they were worked out on."""
    content, line = wish.content, wish.line
    if line is not None and wish.column is not None:
        return await _insertion(call, wish, line, wish.column)
    if line is not None:
        last = line if wish.end_line is None else wish.end_line
        if content == "":
            # No content deletes the range; an empty line is written as "\n".
            return [hunk(line, last, [])], None
        if "\r\n" not in content:
            # No look at the text is needed: the editor leaves equal lines alone by itself.
            return [hunk(line, last, split_content(content))], None
        # Whether CRs belong to the lines is seen in the lines that are there.
        text = await _text_or_new(call, wish.where)
        return [hunk(line, last, split_content(content, has_returns(text.lines)))], None
    text = await _text_or_new(call, wish.where)
    if wish.old_text is None:
        new = split_content(content, has_returns(text.lines))
        return await _compared(text.lines, new, 1), text.changedtick
    first, last, new = replacement(text, wish.old_text, content)
    return await _compared(text.lines[first - 1 : last], new, first), text.changedtick


async def _insertion(
    call: Call, wish: _Wish, line: int, column: int
) -> tuple[list[Json], int | None]:
    text = await _text_or_new(call, wish.where, line)
    old = text.lines[0]
    if column > len(old) + 1:
        raise InvalidParams(f"line {line} has {len(old)} characters, column {column} is past it")
    content = wish.content if has_returns([old]) else wish.content.replace("\r\n", "\n")
    joined = old[: column - 1] + content + old[column - 1 :]
    return [hunk(line, line, joined.split("\n"))], text.changedtick


async def _compared(old: list[str], new: list[str], first: int) -> list[Json]:
    if len(old) + len(new) < _LONG:
        return minimal_hunks(old, new, first)
    return await asyncio.to_thread(minimal_hunks, old, new, first)


async def _text_or_new(call: Call, where: Json, line: int | None = None) -> Text:
    """Return the text, or its one `line`; a file that is not open is opened by an empty edit."""
    first = 1 if line is None else line
    try:
        return await call.text(where, first, line)
    except EditorError as error:
        if error.reason != "not_open" or "file" not in where:
            raise
    await call.act("edit", {**where, "hunks": []}, name="load")
    return await call.text(where, first, line)


def _context(done: Json) -> str:
    """Return numbered lines around the first change, as the editor saw them right after it."""
    around = done.get("context")
    if not isinstance(around, dict):
        return ""
    return "\n".join(
        f"{number}\t{from_vim(line)}"
        for number, line in enumerate(around["lines"], around["first"])
    )
