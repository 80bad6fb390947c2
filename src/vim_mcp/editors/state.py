"""An editor's state as one object: what vim://state and the state files hold."""

from __future__ import annotations

from datetime import datetime

from vim_mcp.editors.call import Call
from vim_mcp.errors import EditorError, InvalidParams
from vim_mcp.wire.messages import Json

#: A text up to this many characters travels inside the state.
_MAX_CHARS = 1_000_000


async def whole_state(call: Call, *, with_text: bool = True) -> Json:
    """Return the seed's state: everything, and the current buffer's text unless it is huge.

    Raises:
        EditorError, InstanceBlocked, InstanceGone: As `Call.read`; not for the text alone.
    """
    state = await call.read("get_state")
    state["instance_id"] = call.instance.id
    date_buffers(state.get("buffers", []))
    current = state.get("current_buffer")
    if with_text and isinstance(current, dict) and not current.get("private"):
        await _add_text(call, current)
    return state


def date_buffers(rows: list[Json]) -> None:
    """Make times of the seconds that Vim counts in; a buffer never used has none."""
    for row in rows:
        if seconds := row.pop("last_used", 0):
            row["last_used"] = datetime.fromtimestamp(seconds).astimezone().isoformat()


async def _add_text(call: Call, current: Json) -> None:
    try:
        text = await call.text({"bufnr": current["id"]}, max_chars=_MAX_CHARS)
    except (EditorError, InvalidParams) as error:
        current["content_omitted"] = str(error)
        return
    if text.last >= text.line_count:
        current["content"] = text.lines
        current["changedtick"] = text.changedtick
    else:
        current["content_omitted"] = "too long here; read vim://buffer/current or vim_read"
