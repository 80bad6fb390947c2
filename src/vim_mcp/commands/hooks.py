"""Claude Code's hooks around its own file tools, in its settings file (its hooks reference).

Before an edit `vim-mcp hook unsaved` says whether an editor has unsaved text of the file, after it
`vim-mcp hook changed` lets buffers follow at once.
"""

from __future__ import annotations

import copy
import os
import shlex
from typing import Any

from vim_mcp.commands import files
from vim_mcp.errors import CommandFailed

_TOOLS = "Edit|MultiEdit|Write|NotebookEdit"
_VERBS = {"PreToolUse": "unsaved", "PostToolUse": "changed"}
_SECONDS = 10


def settings_file() -> str:
    """Return the file of the user's settings in Claude Code."""
    directory = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    return os.path.join(directory, "settings.json")


def with_hooks(path: str, program: str | None) -> str | None:
    """Return the settings with our hooks in them, None for `program`: without; None: no change.

    An empty text means that nothing would be left. All else stays as it is.

    Raises:
        CommandFailed: The file cannot be understood.
    """
    old = files.load(path)
    whole = copy.deepcopy(old)
    hooks = whole.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise CommandFailed(f'{path}: "hooks" is not an object; mend it first')
    for event, verb in _VERBS.items():
        groups = hooks.get(event, [])
        if not isinstance(groups, list):
            raise CommandFailed(f'{path}: "{event}" is not a list; mend it first')
        kept = [group for group in map(_without_ours, groups) if group is not None]
        if program is not None:
            kept.append(_group(f"{shlex.quote(program)} hook {verb}"))
        if kept or event not in hooks:
            hooks[event] = kept
        if not hooks[event] or not kept:
            del hooks[event]
    if not hooks:
        del whole["hooks"]
    if whole == old:
        return None
    return files.dump(whole) if whole else ""


def _group(command: str) -> dict[str, Any]:
    hook = {"type": "command", "command": command, "timeout": _SECONDS}
    return {"matcher": _TOOLS, "hooks": [hook]}


def _without_ours(group: Any) -> Any:
    """Return a group of hooks without ours, None when no other is in it."""
    found = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(found, list) or not any(map(_is_ours, found)):
        return group
    others = [hook for hook in found if not _is_ours(hook)]
    return {**group, "hooks": others} if others else None


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    return (
        len(words) == 3
        and os.path.basename(words[0]) == "vim-mcp"
        and words[1] == "hook"
        and words[2] in _VERBS.values()
    )
