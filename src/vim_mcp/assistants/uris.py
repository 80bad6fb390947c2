"""The vim:// URIs: what each names, and which of them an editor's event concerns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from vim_mcp.errors import InvalidParams

#: Resources of an editor whose path is one word.
WORDS = ("state", "buffers", "windows", "diagnostics", "cursor")
_TEXT = re.compile(r"buffer/(current|[1-9]\d{0,8})(?:/lines/([1-9]\d{0,8})-([1-9]\d{0,8}))?")
_INSTANCE = re.compile(r"instance/([^/]+)/(.+)")


@dataclass(frozen=True)
class Address:
    """What a URI names: "instances", one of `WORDS`, or "text" of a buffer.

    `instance_id` None is the instance that calls of the session go to, `bufnr` None the current
    buffer, `last` None the end. `start` is the buffer number a page begins with.
    """

    kind: str
    instance_id: str | None = None
    bufnr: int | None = None
    first: int = 1
    last: int | None = None
    start: int = 1


def parse(uri: str) -> Address:
    """Return what a URI names.

    Raises:
        InvalidParams: Nothing here has such a URI.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise _unknown(uri) from None
    path = f"{parts.netloc}{parts.path}"
    if parts.scheme != "vim" or parts.fragment:
        raise _unknown(uri)
    instance_id = None
    if found := _INSTANCE.fullmatch(path):
        instance_id, path = unquote(found[1]), found[2]
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    start = query.pop("from", "1") if path == "buffers" else "1"
    if query or not re.fullmatch(r"[1-9]\d{0,8}", start):
        raise _unknown(uri)
    if path == "instances" and instance_id is None:
        return Address(path)
    if path in WORDS:
        return Address(path, instance_id, start=int(start))
    if text := _TEXT.fullmatch(path):
        first, last = int(text[2] or 1), int(text[3]) if text[3] else None
        if last is None or last >= first:
            bufnr = None if text[1] == "current" else int(text[1])
            return Address("text", instance_id, bufnr, first, last)
    raise _unknown(uri)


def next_page(address: Address, start: int) -> str:
    """Return the URI of a page of buffers."""
    head = f"instance/{quote(address.instance_id, safe='')}/" if address.instance_id else ""
    return f"vim://{head}buffers?from={start}"


def concerned(
    uris: Iterable[str],
    instance_id: str,
    selected: str | None,
    kinds: frozenset[str],
    buffers: frozenset[int] | None,
) -> list[str]:
    """Return those of `uris` that may read differently after something happened in an editor.

    `selected` is the session's choice, None: any editor may be meant. `kinds` of resources are
    concerned, and of single buffers these (None: all).
    """

    def is_concerned(uri: str) -> bool:
        try:
            address = parse(uri)
        except InvalidParams:
            return False
        if (address.instance_id or selected or instance_id) != instance_id:
            return False
        if address.bufnr is None:
            return address.kind in kinds
        return buffers is None or address.bufnr in buffers

    return sorted(filter(is_concerned, uris))


def _unknown(uri: str) -> InvalidParams:
    return InvalidParams(
        f"there is no resource {uri}; resources/list and resources/templates/list name them",
        uri=uri,
    )
