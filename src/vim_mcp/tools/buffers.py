"""Tools that read and edit buffers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vim_mcp.editors.call import Call
from vim_mcp.editors.text import Text, from_vim, hunk, minimal_hunks, split_content
from vim_mcp.errors import EditorError, InvalidParams
from vim_mcp.limits import MAX_BUFFER_BYTES, PAGE_CHARS
from vim_mcp.tools.base import FILE, Answer, BufferFacts, target, tool
from vim_mcp.wire.messages import Json

File = Annotated[str | None, Field(description=FILE)]
Bufnr = Annotated[int | None, Field(ge=1, description="Buffer number instead of file.")]

#: Lines shown before and after an edit.
_CONTEXT = 2
#: How often an edit that was worked out on an older text is worked out anew.
_ATTEMPTS = 5


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
    file: File = None,
    bufnr: Bufnr = None,
    first_line: Annotated[int, Field(ge=1, description="First line, 1-based.")] = 1,
    last_line: Annotated[int | None, Field(ge=1, description="Last line, inclusive.")] = None,
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
    body, shown, size = [], 0, 0
    note = ""
    for number, line in enumerate(text.lines, text.first):
        if shown and size + len(line) > PAGE_CHARS:
            break
        if len(line) > PAGE_CHARS:
            note = f" [line {number} has {len(line)} characters, the first {PAGE_CHARS} are shown]"
            line = line[:PAGE_CHARS]
        body.append(f"{number}\t{line}")
        shown += 1
        size += len(line) + 1
    last = text.first + shown - 1
    name = text.file or "[No Name]"
    state = "unsaved changes" if text.modified else "no unsaved changes"
    top = (
        f"{name} (buffer {text.bufnr}, lines {text.first}-{last} of {text.line_count}, "
        f"changedtick {text.changedtick}, {state}){note}"
    )
    if last < wanted_last:
        body.append(f"[more: call again with first_line={last + 1}]")
    return "\n".join([top, *body])


@tool(title="Open a file", acts=True, idempotent=True)
async def vim_open(
    call: Call,
    file: Annotated[str, Field(description=FILE)],
    line: Annotated[int | None, Field(ge=1, description="Line to show, 1-based.")] = None,
    column: Annotated[int | None, Field(ge=1, description="Column in characters.")] = None,
) -> OpenResult:
    """Show a file to the user in their Vim, at a line and column. No unsaved text is lost."""
    return await _open(call, file, line, column)


async def _open(call: Call, file: str, line: int | None, column: int | None) -> OpenResult:
    place = {k: v for k, v in (("line", line), ("column", column)) if v is not None}
    return OpenResult.model_validate(await call.act("open", {"file": file, **place}))


@tool(title="Edit a buffer", acts=True, destructive=True, always_load=True)
async def vim_edit(
    call: Call,
    file: File = None,
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
    bufnr: Bufnr = None,
) -> EditResult:
    """Edit a buffer in the user's Vim: live, as one undo step, only the lines that differ.

    Say where in one of four ways: old_text (safest); line with end_line (replaces these lines;
    end_line defaults to line); line with column (inserts there); or none of them (content replaces the
    whole buffer). Without content it opens the file at line and column instead. Edits are not
    written to disk unless save is true. Give file or bufnr.
    """
    if file is None and bufnr is None:
        raise InvalidParams("give file or bufnr: an edit needs to say which buffer it is for")
    where = target(file, bufnr)
    if content is None:
        if file is None or any(x is not None for x in (end_line, old_text, expected_changedtick)):
            raise InvalidParams("content is missing; an empty string deletes")
        shown = await _open(call, file, line, column)
        return EditResult(**dict(shown), changed=[], saved=False, context="")
    _check_place(line, end_line, column, old_text)
    if len(content.encode("utf-8", "replace")) > MAX_BUFFER_BYTES:
        raise InvalidParams(
            f"content is over the limit of {MAX_BUFFER_BYTES} bytes; edit in parts by line",
            limit=MAX_BUFFER_BYTES,
        )
    extra: Json = {"context": _CONTEXT, **({"save": True} if save else {})}
    for attempt in range(1, _ATTEMPTS + 1):
        hunks, tick = await _plan(call, where, line, end_line, column, content, old_text)
        if expected_changedtick is not None:
            tick = expected_changedtick
        if tick is not None:
            extra["changedtick"] = tick
        try:
            done = await call.act("edit", {**where, "hunks": hunks, **extra})
        except EditorError as error:
            # The user typed between our reading and the edit: work it out on the new text.
            again = error.reason == "stale" and expected_changedtick is None
            if not again or attempt == _ATTEMPTS:
                raise
            continue
        return EditResult.model_validate({**done, "context": _context(done)})
    raise AssertionError("unreachable")


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


async def _plan(
    call: Call,
    where: Json,
    line: int | None,
    end_line: int | None,
    column: int | None,
    content: str,
    old_text: str | None,
) -> tuple[list[Json], int | None]:
    """Return the hunks of an edit and the changedtick that they were worked out on.

    A line range needs no look at the text: the editor leaves equal lines alone by itself.
    """
    if line is not None and column is None:
        last = line if end_line is None else end_line
        # No content for a range deletes it; an empty line is written as "\n".
        lines = [] if content == "" else split_content(content)
        return [hunk(line, last, lines)], None
    if line is not None and column is not None:
        text = await call.text(where, line, line)
        old = text.lines[0]
        if column > len(old) + 1:
            raise InvalidParams(
                f"line {line} has {len(old)} characters, column {column} is past it"
            )
        inserted = content.replace("\r\n", "\n")
        joined = old[: column - 1] + inserted + old[column - 1 :]
        return [hunk(line, line, joined.split("\n"))], text.changedtick
    text = await _text_or_new(call, where)
    if old_text is None:
        return minimal_hunks(text.lines, split_content(content)), text.changedtick
    return _replace(text, old_text, content), text.changedtick


async def _text_or_new(call: Call, where: Json) -> Text:
    """Return the buffer's text; a file that is not open here is opened by the edit itself."""
    try:
        return await call.text(where)
    except EditorError as error:
        if error.reason != "not_open" or "file" not in where:
            raise
    await call.act("edit", {**where, "hunks": []})
    return await call.text(where)


def _replace(text: Text, old_text: str, content: str) -> list[Json]:
    whole = "\n".join(text.lines)
    old_text, content = old_text.replace("\r\n", "\n"), content.replace("\r\n", "\n")
    at = whole.find(old_text)
    if at < 0 and old_text.endswith("\n") and whole.endswith(old_text[:-1]):
        # The last line's newline is not part of the lines.
        old_text, content = old_text[:-1], content.removesuffix("\n")
        at = len(whole) - len(old_text)
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
    first = whole.count("\n", 0, at)
    last = first + old_text.count("\n")
    start = whole.rfind("\n", 0, at) + 1
    end = whole.find("\n", at + len(old_text))
    end = len(whole) if end < 0 else end
    new = whole[start:at] + content + whole[at + len(old_text) : end]
    return minimal_hunks(text.lines[first : last + 1], new.split("\n"), first + 1)


def _context(done: Json) -> str:
    """Return numbered lines around the first change, as the editor saw them right after it."""
    around = done.get("context")
    if not isinstance(around, dict):
        return ""
    return "\n".join(
        f"{number}\t{from_vim(line)}"
        for number, line in enumerate(around["lines"], around["first"])
    )


@tool(title="Undo changes", acts=True, destructive=True)
async def vim_undo(
    call: Call,
    count: Annotated[int, Field(ge=1, le=1000, description="How many changes.")] = 1,
    file: File = None,
    bufnr: Bufnr = None,
) -> UndoResult:
    """Undo the last changes of the current buffer (or of file or bufnr), the user's or yours."""
    done = await call.act("undo", {**target(file, bufnr), "count": count})
    return UndoResult.model_validate(done)


@tool(title="Save a buffer", acts=True, destructive=True, idempotent=True)
async def vim_save(call: Call, file: File = None, bufnr: Bufnr = None) -> SaveResult:
    """Write the current buffer (or file or bufnr) to its file, as :write does.

    Refused if the file changed on disk since Vim read it.
    """
    return SaveResult.model_validate(await call.act("save", target(file, bufnr)))
