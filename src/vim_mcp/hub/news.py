"""Which resources may read differently after an editor's events (first seed, section 7.3)."""

from __future__ import annotations

from vim_mcp.wire.messages import Update

# Kinds of resources, as `assistants.uris` names them.
_STATE, _TEXT, _CURSOR = "state", "text", "cursor"
_BUFFERS, _WINDOWS, _DIAGNOSTICS = "buffers", "windows", "diagnostics"
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
    "diagnostics": frozenset({_DIAGNOSTICS}),
    "quickfixcmdpost": frozenset({_DIAGNOSTICS}),
}
#: Events after which the text of their own buffer is another.
_OF_TEXT = {name for name, uris in _CHANGES.items() if uris is _TYPED} | {"bufenter", "refresh"}


def changed(update: Update) -> tuple[frozenset[str], frozenset[int] | None]:
    """Return the kinds of resources that may read differently now, and the buffers whose text may.

    None: any buffer's, when the editor had more to tell than it told.
    """
    kinds: set[str] = set()
    buffers: set[int] = set()
    for event in update.events:
        name = str(event.get("event", "")).lower()
        kinds |= _CHANGES.get(name, _ALL)
        number = event.get("bufnr")
        if (name in _OF_TEXT or name not in _CHANGES) and isinstance(number, int) and number > 0:
            buffers.add(number)
    any_buffer = any(event.get("event") == "More" for event in update.events)
    return frozenset(kinds), None if any_buffer else frozenset(buffers)
