"""The kinds of editors, by the names that --editors and --editor take."""

from __future__ import annotations

from .editor import Editor
from .errors import EditorNotFound
from .neovim import Neovim
from .sandbox import Sandbox
from .vim import Vim

KINDS: dict[str, type[Editor]] = {Vim.kind: Vim, Neovim.kind: Neovim}


def make_editor(kind: str, sandbox: Sandbox) -> Editor:
    """Return an editor of that kind in a sandbox, not yet started.

    Raises:
        EditorNotFound: no such kind, or none installed.
    """
    if kind not in KINDS:
        raise EditorNotFound(kind, f"the kinds are {', '.join(KINDS)}")
    return KINDS[kind](sandbox)
