"""The tool that tells what linters, compilers and language servers say."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pydantic import Field

from vim_mcp.editors.call import Call
from vim_mcp.limits import READ_S
from vim_mcp.tools.base import Answer, target, tool
from vim_mcp.tools.buffers import FileArgument
from vim_mcp.wire.messages import Json

Severity = Literal["error", "warning", "info", "hint", "other"]
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info", "hint", "other")
#: How often, and how long, to ask again for what the editor itself is waiting for.
_AGAIN_S = 0.03
_PATIENCE_S = READ_S * 0.5


class Diagnostic(Answer):
    """One message; lines and columns 1-based, in characters, ends included, null if unknown.

    `provider` is where the editor has it from (vim.diagnostic, ale, coc, loclist, quickfix),
    `source` who said it. Severity "other": a list entry without a type, a search result perhaps.
    """

    file: str
    bufnr: int | None
    line: int
    column: int | None
    end_line: int | None
    end_column: int | None
    severity: Severity
    message: str
    code: str
    source: str
    provider: str


class Counts(Answer):
    """How many there are of each severity, whether shown or not."""

    error: int
    warning: int
    info: int
    hint: int
    other: int


class Diagnostics(Answer):
    """Diagnostics by file and line. `omitted` more (the least severe) did not fit."""

    diagnostics: list[Diagnostic]
    counts: Counts
    omitted: int
    notes: list[str]


@tool(title="Get diagnostics", idempotent=True)
async def vim_get_diagnostics(
    call: Call,
    buffer: Annotated[
        int | None, Field(ge=1, description="Buffer number; without it and file, all buffers.")
    ] = None,
    file: FileArgument = None,
    severity: Annotated[
        Severity, Field(description="The least severe to return; counts tell of all.")
    ] = "other",
    max_results: Annotated[int, Field(ge=1, le=1000, description="Most to return.")] = 200,
) -> Diagnostics:
    """See errors and warnings that the user's editor knows: language servers, linters, :make.

    From Neovim's vim.diagnostic, ALE, coc.nvim, and the quickfix and location lists.
    """
    return await gather(call, target(file, buffer), severity, max_results)


async def gather(
    call: Call, where: Json, severity: Severity = "other", max_results: int = 1000
) -> Diagnostics:
    """Ask an editor for its diagnostics; an asynchronous provider of it gets a moment."""
    wanted = _SEVERITIES[: _SEVERITIES.index(severity) + 1]
    ask: Json = {**where, "severities": wanted, "max": max_results}
    loop = asyncio.get_running_loop()
    until = loop.time() + _PATIENCE_S
    answer = await call.read("diagnostics", ask)
    while answer.get("pending") and loop.time() < until:
        await asyncio.sleep(_AGAIN_S)
        answer = await call.read("diagnostics", {**ask, "after": answer["round"]})
    notes = list(answer.get("notes", []))
    if answer.get("pending"):
        notes.append("coc.nvim did not answer in time: what it said before is shown.")
    rows = [Diagnostic.model_validate(row) for row in answer["rows"]]
    rows.sort(key=lambda row: (row.file, row.line, row.column or 0))
    return Diagnostics(
        diagnostics=rows, counts=answer["counts"], omitted=answer["omitted"], notes=notes
    )
