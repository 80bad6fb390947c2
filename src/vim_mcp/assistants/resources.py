"""The vim:// resources of the first seed, section 5."""

from __future__ import annotations

import json

import mcp.types as t

from vim_mcp.editors.call import Call, sensible
from vim_mcp.editors.state import whole_state
from vim_mcp.errors import InvalidParams
from vim_mcp.tools.base import Desk
from vim_mcp.tools.instances import listing as list_instances
from vim_mcp.wire.messages import Json

_JSON, _TEXT = "application/json", "text/plain"

_RESOURCES = (
    ("vim://instances", "instances", "All connected Vim and Neovim instances", _JSON),
    ("vim://state", "state", "Complete state of the selected instance", _JSON),
    ("vim://buffer/current", "current buffer", "Text of the current buffer, unsaved too", _TEXT),
)
URIS = frozenset(uri for uri, *_ in _RESOURCES)


def listing() -> list[t.Resource]:
    """Return the resources as a client lists them."""
    return [
        t.Resource(uri=uri, name=name, description=description, mime_type=mime)
        for uri, name, description, mime in _RESOURCES
    ]


async def read(uri: str, desk: Desk, request_id: str) -> t.ReadResourceResult:
    """Return a resource's contents.

    Raises:
        VimMcpError: There is no such resource, no editor is meant, or it did not answer.
    """
    if uri not in URIS:
        raise InvalidParams(f"there is no resource {uri}; resources/list names them", uri=uri)
    if uri == "vim://instances":
        return _contents(uri, _JSON, _dump((await list_instances(desk)).model_dump(mode="json")))
    instance = await desk.fleet.choose(desk.session)
    call = Call(instance, desk.session.actor, request_id)
    with sensible(instance, uri):
        if uri == "vim://buffer/current":
            text = await call.text({})
            return _contents(uri, _TEXT, "\n".join(text.lines) + "\n")
        return _contents(uri, _JSON, _dump(await whole_state(call)))


def _dump(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False)


def _contents(uri: str, mime: str, text: str) -> t.ReadResourceResult:
    return t.ReadResourceResult(
        contents=[t.TextResourceContents(uri=uri, mime_type=mime, text=text)]
    )
