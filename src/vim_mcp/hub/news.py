"""Which resources may read differently after an editor's events (first seed, section 7.3)."""

from __future__ import annotations

from vim_mcp.wire.messages import Json, Update

_STATE, _TEXT, _CURSOR = "vim://state", "vim://buffer/current", "vim://cursor"
_BUFFERS, _WINDOWS, _DIAGNOSTICS = "vim://buffers", "vim://windows", "vim://diagnostics"
_ALL = frozenset({_STATE, _TEXT, _CURSOR, _BUFFERS, _WINDOWS, _DIAGNOSTICS})

_TYPED = frozenset({_STATE, _TEXT, _CURSOR, _BUFFERS, _WINDOWS})
_MOVED = frozenset({_STATE, _CURSOR, _WINDOWS})
_LISTED = frozenset({_STATE, _BUFFERS, _WINDOWS})
#: Autocommand events are named in any case. One that is not here may mean anything.
_CHANGES: dict[str, frozenset[str]] = {
    "textchanged": _TYPED,
    "textchangedi": _TYPED,
    "textchangedp": _TYPED,
    "textchangedt": _TYPED,
    "cursorhold": _MOVED,
    "cursorholdi": _MOVED,
    "cursormoved": _MOVED,
    "cursormovedi": _MOVED,
    "insertenter": _MOVED,
    "insertleave": _MOVED,
    "modechanged": _MOVED,
    "cmdlineenter": _MOVED,
    "cmdlineleave": _MOVED,
    "bufadd": _LISTED,
    "bufcreate": _LISTED,
    "bufdelete": _LISTED,
    "bufwipeout": _LISTED,
    "buffilepost": _LISTED,
    "bufwrite": _LISTED,
    "bufwritepre": _LISTED,
    "bufwritepost": _LISTED,
    "bufenter": _ALL,
    "winenter": _ALL,
    "winclosed": frozenset({_STATE, _WINDOWS}),
    "refresh": _ALL,
    "dirchanged": frozenset({_STATE}),
    "diagnosticchanged": frozenset({_DIAGNOSTICS}),
    "quickfixcmdpost": frozenset({_DIAGNOSTICS}),
}
#: Events after which the text of their own buffer is another.
_OF_TEXT = {name for name, uris in _CHANGES.items() if uris is _TYPED} | {"bufenter", "refresh"}


def changed(update: Update) -> set[str]:
    """Return the resources of the editor that may read differently now.

    Those of a single buffer among them, by its number, but not those of a range of its lines.
    """
    uris: set[str] = set()
    for event in update.events:
        name = str(event.get("event", "")).lower()
        uris |= _CHANGES.get(name, _ALL)
        if name in _OF_TEXT or name not in _CHANGES:
            uris |= _of_buffer(event)
    return uris


def _of_buffer(event: Json) -> set[str]:
    number = event.get("bufnr")
    return {f"vim://buffer/{number}"} if isinstance(number, int) and number > 0 else set()


def of_instance(uri: str, instance_id: str) -> str:
    """Return the name of an editor's resource that says which editor."""
    return uri.replace("vim://", f"vim://instance/{instance_id}/", 1)
