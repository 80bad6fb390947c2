"""Bringing a used editor back to a blank state (the larger part: reset.vim)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import EditorBlocked, ResetFailed

if TYPE_CHECKING:
    from .editor import Editor

# What gets an editor out of where it may be, in this order: prompts that take only some answers
# (confirm(), the swap file dialog) come last, with what says no, and last of all Ex mode.
_WAYS_OUT = ("<C-\\><C-n>", "<Esc>", "<C-c>", "<CR>", "q", "<Esc><C-\\><C-n>", "<C-u>visual<CR>")


def reset(editor: Editor) -> None:
    """Bring an editor back to the state it had after its start.

    Raises:
        ResetFailed: something is left of its earlier use.
    """
    _to_normal_mode(editor)
    if editor.eval("getcmdwintype()"):
        editor.type(":quit<CR>")
    if editor.eval("reg_recording()"):
        editor.type("q")
    problems = editor.eval("HarnessReset()")
    if problems:
        raise ResetFailed(editor.name, problems)


def _to_normal_mode(editor: Editor) -> None:
    for keys in _WAYS_OUT:
        try:
            editor.type(keys)
        except EditorBlocked as blocked:
            if blocked.mode == "stopped":
                raise
        # "nt" is a terminal's window: reset.vim closes it.
        if not editor.waiting and editor.mode() in ("n", "nt"):
            return
    raise ResetFailed(editor.name, [f"mode is {editor.mode()!r}, and no key gets it out"])
