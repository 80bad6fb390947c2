"""Real editors on pseudo-terminals, a private hub, and a scripted assistant, for tests.

The names are imported when they are used: the pytest plugin is found by every pytest run where the
package is installed, and must cost nothing, and need nothing, where no test uses it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .assistant import Answer, Assistant
    from .editor import Editor
    from .editors import KINDS, make_editor
    from .errors import (
        AssistantGone,
        EditorBlocked,
        EditorDied,
        EditorError,
        EditorNotFound,
        HarnessError,
        HubFailed,
        ProcessesLeft,
        ResetFailed,
    )
    from .hub import Hub, hub_status
    from .neovim import Neovim
    from .raw import RawAssistant
    from .sandbox import Sandbox
    from .screen import Screen
    from .stage import Stage
    from .vim import Vim
    from .wait import WaitTimeout, slow, wait_until

_MODULES = {
    "assistant": ("Answer", "Assistant"),
    "editor": ("Editor",),
    "editors": ("KINDS", "make_editor"),
    "errors": (
        "AssistantGone",
        "EditorBlocked",
        "EditorDied",
        "EditorError",
        "EditorNotFound",
        "HarnessError",
        "HubFailed",
        "ProcessesLeft",
        "ResetFailed",
    ),
    "hub": ("Hub", "hub_status"),
    "neovim": ("Neovim",),
    "raw": ("RawAssistant",),
    "sandbox": ("Sandbox",),
    "screen": ("Screen",),
    "stage": ("Stage",),
    "vim": ("Vim",),
    "wait": ("WaitTimeout", "slow", "wait_until"),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "KINDS",
    "Answer",
    "Assistant",
    "AssistantGone",
    "Editor",
    "EditorBlocked",
    "EditorDied",
    "EditorError",
    "EditorNotFound",
    "HarnessError",
    "Hub",
    "HubFailed",
    "Neovim",
    "ProcessesLeft",
    "RawAssistant",
    "ResetFailed",
    "Sandbox",
    "Screen",
    "Stage",
    "Vim",
    "WaitTimeout",
    "hub_status",
    "make_editor",
    "slow",
    "wait_until",
]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
