"""Tools that read, show, undo and save buffers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vim_mcp.editors.call import Call
from vim_mcp.editors.text import Text
from vim_mcp.errors import InvalidParams
from vim_mcp.limits import PAGE_CHARS
from vim_mcp.tools.base import FILE, BufferFacts, target, tool

FileArgument = Annotated[str | None, Field(description=FILE)]
BufnrArgument = Annotated[int | None, Field(ge=1, description="Buffer number instead of file.")]


class OpenResult(BufferFacts):
    """The file that is shown now, and the cursor in it (1-based, column in characters)."""

    line: int
    column: int


class UndoResult(BufferFacts):
    """The buffer after `undone` changes were taken back."""

    undone: int


class SaveResult(BufferFacts):
    """The buffer after it was written."""

    saved: bool


@tool(title="Read a buffer", idempotent=True, always_load=True)
async def vim_read(
    call: Call,
    file: FileArgument = None,
    bufnr: BufnrArgument = None,
    first_line: Annotated[int, Field(ge=1, description="First line, 1-based.")] = 1,
    last_line: Annotated[int | None, Field(ge=1, description="Last line, inclusive.")] = None,
    first_column: Annotated[
        int, Field(ge=1, description="Where to go on in first_line, a very long one.")
    ] = 1,
) -> str:
    """Read text as the user has it in Vim, with unsaved changes, from any open buffer.

    Without file and bufnr it reads the current buffer. Lines are numbered ("12<Tab>text"). Long
    texts come in pages; the last line says how to get the next. The first line gives the
    changedtick for vim_edit's expected_changedtick.
    """
    if last_line is not None and last_line < first_line:
        raise InvalidParams(f"last_line {last_line} is before first_line {first_line}")
    text = await call.text(target(file, bufnr), first_line, last_line, max_chars=PAGE_CHARS)
    wanted_last = text.line_count if last_line is None else min(last_line, text.line_count)
    body, more = _page(text, first_column, wanted_last)
    state = "unsaved changes" if text.modified else "no unsaved changes"
    top = (
        f"{text.file or '[No Name]'} (buffer {text.bufnr}, "
        f"lines {text.first}-{text.first + len(body) - 1} of {text.line_count}, "
        f"changedtick {text.changedtick}, {state})"
    )
    return "\n".join([top, *body, *([f"[more: call again with {more}]"] if more else [])])


def _page(text: Text, first_column: int, wanted_last: int) -> tuple[list[str], str]:
    """Return numbered lines of one page, and the arguments that give the next, if there is one."""
    body: list[str] = []
    left = PAGE_CHARS
    for number, line in enumerate(text.lines, text.first):
        column = first_column if number == text.first else 1
        row = f"{number}\t{line[column - 1 :]}"
        if len(row) > left and body:
            return body, f"first_line={number}"
        if len(row) > PAGE_CHARS:
            following = column + PAGE_CHARS - len(f"{number}\t")
            return [row[:PAGE_CHARS]], f"first_line={number}, first_column={following}"
        body.append(row)
        left -= len(row) + 1
    last = text.first + len(body) - 1
    return body, f"first_line={last + 1}" if last < wanted_last else ""


@tool(title="Open a file", acts=True, idempotent=True, always_load=True)
async def vim_open(
    call: Call,
    file: Annotated[str, Field(description=FILE)],
    line: Annotated[int | None, Field(ge=1, description="Line to show, 1-based.")] = None,
    column: Annotated[int | None, Field(ge=1, description="Column in characters.")] = None,
) -> OpenResult:
    """Show a file to the user in their Vim, at a line and column. No unsaved text is lost."""
    return await open_file(call, file, line, column)


async def open_file(call: Call, file: str, line: int | None, column: int | None) -> OpenResult:
    """Show a file; also what `vim_edit` does without content."""
    place = {k: v for k, v in (("line", line), ("column", column)) if v is not None}
    return OpenResult.model_validate(await call.act("open", {"file": file, **place}))


@tool(title="Undo changes", acts=True, destructive=True)
async def vim_undo(
    call: Call,
    count: Annotated[int, Field(ge=1, le=1000, description="How many changes.")] = 1,
    file: FileArgument = None,
    bufnr: BufnrArgument = None,
) -> UndoResult:
    """Undo the last changes of the current buffer (or of file or bufnr), the user's or yours."""
    done = await call.act("undo", {**target(file, bufnr), "count": count})
    return UndoResult.model_validate(done)


@tool(title="Save a buffer", acts=True, destructive=True, idempotent=True)
async def vim_save(
    call: Call, file: FileArgument = None, bufnr: BufnrArgument = None
) -> SaveResult:
    """Write the current buffer (or file or bufnr) to its file, as :write does.

    Refused if the file changed on disk since Vim read it.
    """
    return SaveResult.model_validate(await call.act("save", target(file, bufnr)))
