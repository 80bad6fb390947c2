"""The vim:// resources of the first seed, section 5, and templates of the same."""

from __future__ import annotations

import json
from collections.abc import Callable

import mcp.types as t

from vim_mcp.assistants.uris import Address, next_page, parse
from vim_mcp.editors.call import Call, sensible
from vim_mcp.editors.instance import Instance
from vim_mcp.editors.state import date_buffers, whole_state
from vim_mcp.editors.text import from_vim
from vim_mcp.errors import InvalidParams
from vim_mcp.limits import MAX_BUFFER_BYTES
from vim_mcp.tools.base import Desk
from vim_mcp.tools.diagnostics import gather
from vim_mcp.tools.instances import listing as list_instances
from vim_mcp.wire.messages import Json

_JSON, _TEXT = "application/json", "text/plain"

_RESOURCES = (
    ("vim://instances", "instances", "All connected Vim and Neovim instances", _JSON),
    ("vim://state", "state", "Complete state of the selected instance", _JSON),
    ("vim://buffer/current", "current buffer", "Text of the current buffer, unsaved too", _TEXT),
    (
        "vim://buffers",
        "buffers",
        "All buffers with their flags, 200 a page; `next` is the URI of the following page",
        _JSON,
    ),
    (
        "vim://windows",
        "windows",
        "Tab pages with their layout trees; windows with cursor and visible lines",
        _JSON,
    ),
    (
        "vim://diagnostics",
        "diagnostics",
        "What language servers, linters and :make say, each with its source",
        _JSON,
    ),
    (
        "vim://cursor",
        "cursor",
        "The cursor, the word under it, its syntax, the lines around, the selection",
        _JSON,
    ),
)
_INSTANCE = "vim://instance/{instance_id}/"
_LINES = "/lines/{first}-{last}"
_TEMPLATES = (
    ("vim://buffer/{bufnr}", "buffer", "Text of any open buffer, unsaved too", _TEXT),
    (f"vim://buffer/{{bufnr}}{_LINES}", "lines", "Lines of a buffer, 1-based, inclusive", _TEXT),
    ("vim://buffers{?from}", "buffers, paged", "Buffers with numbers from `from` on", _JSON),
    *(
        (f"{_INSTANCE}{uri.removeprefix('vim://')}", f"{name} of an instance", description, mime)
        for uri, name, description, mime in _RESOURCES[1:]
    ),
    (
        f"{_INSTANCE}buffer/{{bufnr}}",
        "buffer of an instance",
        "Text of any open buffer, unsaved too",
        _TEXT,
    ),
    (
        f"{_INSTANCE}buffer/{{bufnr}}{_LINES}",
        "lines of an instance",
        "Lines of a buffer, 1-based, inclusive",
        _TEXT,
    ),
)


def listing() -> list[t.Resource]:
    """Return the resources as a client lists them."""
    return [
        t.Resource(uri=uri, name=name, description=description, mime_type=mime)
        for uri, name, description, mime in _RESOURCES
    ]


def templates() -> list[t.ResourceTemplate]:
    """Return the templates as a client lists them."""
    return [
        t.ResourceTemplate(uri_template=uri, name=name, description=description, mime_type=mime)
        for uri, name, description, mime in _TEMPLATES
    ]


async def read(uri: str, desk: Desk, call_on: Callable[[Instance], Call]) -> t.ReadResourceResult:
    """Return a resource's contents, read by the `Call` that is made for the editor it is of.

    Raises:
        VimMcpError: There is no such resource, no editor is meant, or it did not answer.
    """
    address = parse(uri)
    if address.kind == "instances":
        return _json(uri, (await list_instances(desk)).model_dump(mode="json"))
    instance = await desk.fleet.choose(desk.session, instance_id=address.instance_id)
    call = call_on(instance)
    with sensible(instance, uri):
        if address.kind == "text":
            return _contents(uri, _TEXT, await _text(call, address))
        found = await _SERVE[address.kind](call, address)
        return _json(uri, {"instance_id": instance.id, **found})


async def _text(call: Call, address: Address) -> str:
    where: Json = {} if address.bufnr is None else {"bufnr": address.bufnr}
    try:
        text = await call.text(where, address.first, address.last)
    except InvalidParams as error:
        if "limit" not in error.facts:
            raise
        raise InvalidParams(
            f"the text is over the limit of {MAX_BUFFER_BYTES} bytes; read it in parts: "
            f"vim://buffer/{address.bufnr or 'current'}{_LINES}",
            **error.facts,
        ) from None
    return "\n".join([*text.lines, ""])


async def _state(call: Call, address: Address) -> Json:
    return await whole_state(call)


async def _buffers(call: Call, address: Address) -> Json:
    """Return a page of buffers; `next` is the URI of the following one, null after the last."""
    page = await call.read("buffers", {"from": address.start})
    date_buffers(page["buffers"])
    following = page.get("next")
    page["next"] = None if following is None else next_page(address, following)
    return page


async def _diagnostics(call: Call, address: Address) -> Json:
    return (await gather(call, {})).model_dump(mode="json")


async def _windows(call: Call, address: Address) -> Json:
    return await call.read("windows")


async def _cursor(call: Call, address: Address) -> Json:
    cursor = await call.read("cursor")
    for part in ("before", "after", "word"):
        cursor[part] = from_vim(cursor[part])
    cursor["lines"] = [from_vim(line) for line in cursor["lines"]]
    return cursor


_SERVE = {
    "state": _state,
    "buffers": _buffers,
    "windows": _windows,
    "diagnostics": _diagnostics,
    "cursor": _cursor,
}


def _json(uri: str, data: Json) -> t.ReadResourceResult:
    return _contents(uri, _JSON, json.dumps(data, ensure_ascii=False))


def _contents(uri: str, mime: str, text: str) -> t.ReadResourceResult:
    return t.ReadResourceResult(
        contents=[t.TextResourceContents(uri=uri, mime_type=mime, text=text)]
    )
