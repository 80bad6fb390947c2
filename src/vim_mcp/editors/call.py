"""One tool call on one editor: its reads, its acts, their deadlines and op names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager

from vim_mcp.editors.budget import Share
from vim_mcp.editors.instance import Actor, Instance
from vim_mcp.editors.progress import Progress
from vim_mcp.editors.text import Text, from_vim
from vim_mcp.errors import (
    METHOD_NOT_FOUND,
    EditorError,
    InstanceBlocked,
    InstanceGone,
    InvalidParams,
    OutdatedPlugin,
    SenselessAnswer,
)
from vim_mcp.limits import ACT_S, MAX_BUFFER_BYTES, READ_S, SLICE_BYTES
from vim_mcp.wire.messages import Json

log = logging.getLogger(__name__)

#: How often a text that changes while it is pulled is begun anew.
_RESTARTS = 5
#: How often a caller hears of a long call: by bytes pulled, and by seconds waited.
_TELL_BYTES = 1024 * 1024
_TELL_S = 1.0


class Call:
    """What a tool sees of the editor it works on.

    Acts are named `<session>:<request>:<name>`, so the same call asked again after a hub's death
    names the same acts, and the editor answers those it has done from memory. `again` says that
    this call may have been made before. Text that it pulls counts on
    `share`; `progress` hears of it when the call takes long.
    """

    def __init__(
        self,
        instance: Instance,
        actor: Actor,
        request_id: str,
        again: bool = False,
        share: Share | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.instance = instance
        self._actor = actor
        self._op = f"{actor.session}:{request_id}"
        self._again = again
        self._share = share
        self._progress = progress

    async def read(self, method: str, params: Json | None = None) -> Json:
        """Ask for something that changes nothing.

        Raises:
            OutdatedPlugin: The editor's plugin does not know `method`.
            EditorError, InstanceBlocked, InstanceGone: As `Instance.request`.
        """
        return await self._request(method, params or {}, READ_S)

    async def act(self, method: str, params: Json, name: str = "") -> Json:
        """Ask for something that the user sees happen.

        `name` tells the acts of one call apart: by their purpose, never by a count, which depends
        on what had been done before. It is the method's if left out.

        Raises:
            OutdatedPlugin, EditorError, InstanceBlocked, InstanceGone: As `read`.
        """
        try:
            return await self._request(method, params, ACT_S, f"{self._op}:{name or method}")
        except (InstanceBlocked, InstanceGone) as error:
            raise self._in_doubt(error) from None

    async def _request(
        self, method: str, params: Json, seconds: float, op: str | None = None
    ) -> Json:
        work = self.instance.request(method, params, seconds=seconds, actor=self._actor, op=op)
        try:
            return await (work if op is None else self._accompanied(work, seconds))
        except EditorError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            version = self.instance.info.plugin_version
            raise OutdatedPlugin(self.instance.id, method, version) from None

    async def _accompanied(self, work: Coroutine[None, None, Json], seconds: float) -> Json:
        """Wait for an act, and tell meanwhile what it waits for."""
        if self._progress is None:
            return await work
        self._progress.next_phase()
        clock = asyncio.get_running_loop().time
        began = clock()
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=_TELL_S))[0]:
                why = await self.instance.why_waiting(self._actor)
                if not task.done():
                    # An act that has begun may take longer than it may wait.
                    waited = clock() - began
                    await self._progress.tell(waited, seconds if waited < seconds else None, why)
            return task.result()
        finally:
            task.cancel()

    async def remembered(self, name: str) -> Json | None:
        """Return what an act of this call, made on another hub, had come to; None if nothing.

        Raises:
            EditorError: It had been refused or failed.
        """
        if not self._again:
            return None
        try:
            found = await self.read("outcome", {"op": f"{self._op}:{name}"})
        except OutdatedPlugin:
            return None
        except (InstanceBlocked, InstanceGone) as error:
            raise self._in_doubt(error) from None
        if found.pop("known", False):
            return found
        # Nor will it be: when a connection ends, the editor forgets what waited there.
        self._again = False
        return None

    def _in_doubt(self, error: InstanceBlocked | InstanceGone) -> InstanceBlocked | InstanceGone:
        """Return the error; what an earlier hub may have had done is not known to be undone."""
        error.effect_unknown = error.effect_unknown or self._again
        return error

    async def text(
        self, target: Json, first: int = 1, last: int | None = None, max_chars: int | None = None
    ) -> Text:
        """Pull lines `first`..`last` (None: to the end) in slices, all of one changedtick.

        With `max_chars` it stops at the end of the line that passes so many characters.

        Raises:
            InvalidParams: The text is over the limit of 10 MB.
            EditorError: Refused; reason `stale` when the user typed through every attempt.
        """
        if self._progress is not None:
            self._progress.next_phase()
        held = 0 if self._share is None else self._share.size
        for attempt in range(1, _RESTARTS + 1):
            try:
                text = await self._pull(target, first, last, max_chars)
                if self._share is not None:
                    self._share.whole()
                return text
            except EditorError as error:
                if error.reason != "stale" or attempt == _RESTARTS:
                    raise
                if self._share is not None:
                    self._share.shrink(held)
        raise AssertionError("unreachable")

    async def _pull(
        self, target: Json, first: int, last: int | None, max_chars: int | None
    ) -> Text:
        ask: Json = {**target, "first": first, "last": last, "max_bytes": SLICE_BYTES}
        part = await self.read("get_lines", ask)
        text = Text(
            bufnr=int(part["bufnr"]),
            file=str(part.get("file", "")),
            changedtick=int(part["changedtick"]),
            line_count=int(part["line_count"]),
            modified=bool(part.get("modified")),
            filetype=str(part.get("filetype", "")),
            first=first,
        )
        size = counted = chars = 0
        cut: list[str] = []  # pieces of a line longer than a slice
        while True:
            lines = [from_vim(str(line)) for line in part["lines"]]
            following = part.get("next")
            is_cut = bool(following and following.get("byte"))
            chars += sum(map(len, lines)) + len(lines)
            size += sum(map(_bytes, lines)) + len(lines) - is_cut
            if size > MAX_BUFFER_BYTES:
                raise InvalidParams(
                    f"the text is over the limit of {MAX_BUFFER_BYTES} bytes; "
                    "read it in parts with first_line and last_line",
                    limit=MAX_BUFFER_BYTES,
                )
            if cut and lines:
                lines[0] = "".join([*cut, lines[0]])
                cut = []
            if is_cut:
                cut = [lines.pop()]
            text.lines += lines
            if not following:
                return text
            if max_chars is not None and chars > max_chars and not cut:
                return text
            ask.update(
                bufnr=text.bufnr,
                first=following["line"],
                byte=following.get("byte", 0),
                changedtick=text.changedtick,
            )
            ask.pop("file", None)
            if self._share is not None:
                await self._share.grow(size - counted)
            if self._progress is not None and size // _TELL_BYTES > counted // _TELL_BYTES:
                await self._progress.tell(
                    len(text.lines),
                    (last or text.line_count) - first + 1,
                    f"{text.last} of {text.line_count} lines are read",
                )
            counted = size
            part = await self.read("get_lines", ask)


def _bytes(line: str) -> int:
    return len(line) if line.isascii() else len(line.encode("utf-8", "replace"))


@contextmanager
def sensible(instance: Instance, what: str) -> Iterator[None]:
    """Turn what a senseless answer of an editor leads to into an error of its own.

    Raises:
        SenselessAnswer: The answer lacks something, or has it in another type.
    """
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # Without the exception's text, which may quote the buffer's.
        log.error("%s: %s failed: %s", instance.id, what, type(error).__name__)
        raise SenselessAnswer(instance.id, what) from error
