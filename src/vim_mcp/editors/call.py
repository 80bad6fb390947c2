"""One tool call on one editor: its reads, its acts, their deadlines and op names."""

from __future__ import annotations

from vim_mcp.editors.instance import Actor, Instance
from vim_mcp.editors.text import Text, from_vim
from vim_mcp.errors import (
    METHOD_NOT_FOUND,
    EditorError,
    InstanceBlocked,
    InstanceGone,
    InvalidParams,
)
from vim_mcp.limits import ACT_S, MAX_BUFFER_BYTES, READ_S, SLICE_BYTES
from vim_mcp.wire.messages import Json

#: How often a text that changes while it is pulled is begun anew.
_RESTARTS = 5


class Call:
    """What a tool sees of the editor it works on.

    Acts are named `<session>:<request>:<name>`, so the same call asked again after a hub's death
    names the same acts, and the editor answers those it has done from memory. `again` says that
    this call may have been made before.
    """

    def __init__(
        self, instance: Instance, actor: Actor, request_id: str, again: bool = False
    ) -> None:
        self.instance = instance
        self._actor = actor
        self._op = f"{actor.session}:{request_id}"
        self._again = again

    async def read(self, method: str, params: Json | None = None) -> Json:
        """Ask for something that changes nothing.

        Raises:
            EditorError, InstanceBlocked, InstanceGone: As `Instance.request`.
        """
        return await self.instance.request(method, params or {}, seconds=READ_S, actor=self._actor)

    async def act(self, method: str, params: Json, name: str = "") -> Json:
        """Ask for something that the user sees happen.

        `name` tells the acts of one call apart: by their purpose, never by a count, which depends
        on what had been done before. It is the method's if left out.

        Raises:
            EditorError, InstanceBlocked, InstanceGone: As `Instance.request`.
        """
        op = f"{self._op}:{name or method}"
        try:
            return await self.instance.request(
                method, params, seconds=ACT_S, actor=self._actor, op=op
            )
        except (InstanceBlocked, InstanceGone) as error:
            raise self._in_doubt(error) from None

    async def remembered(self, name: str) -> Json | None:
        """Return what an act of this call, made on another hub, had come to; None if nothing.

        Raises:
            EditorError: It had been refused or failed.
        """
        if not self._again:
            return None
        try:
            found = await self.read("outcome", {"op": f"{self._op}:{name}"})
        except EditorError as error:
            if error.code == METHOD_NOT_FOUND:
                return None
            raise
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
        for attempt in range(1, _RESTARTS + 1):
            try:
                return await self._pull(target, first, last, max_chars)
            except EditorError as error:
                if error.reason != "stale" or attempt == _RESTARTS:
                    raise
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
        size = 0
        cut: list[str] = []  # pieces of a line longer than a slice
        while True:
            lines = [from_vim(str(line)) for line in part["lines"]]
            size += sum(map(len, lines)) + len(lines)
            if size > MAX_BUFFER_BYTES:
                raise InvalidParams(
                    f"the text is over the limit of {MAX_BUFFER_BYTES} bytes; "
                    "read it in parts with first_line and last_line",
                    limit=MAX_BUFFER_BYTES,
                )
            following = part.get("next")
            if cut and lines:
                lines[0] = "".join([*cut, lines[0]])
                cut = []
            if following and following.get("byte"):
                cut = [lines.pop()]
            text.lines += lines
            if not following:
                return text
            if max_chars is not None and size > max_chars and not cut:
                return text
            ask.update(
                bufnr=text.bufnr,
                first=following["line"],
                byte=following.get("byte", 0),
                changedtick=text.changedtick,
            )
            ask.pop("file", None)
            part = await self.read("get_lines", ask)
