"""`vim-mcp hook`: what Claude Code runs before and after it changes a file by its own tools.

Standard library only, and never a hub started: it runs at every edit. The formats are those of
Claude Code's hooks reference (PreToolUse and PostToolUse): the call on stdin as JSON, and for
PreToolUse a decision on stdout.
"""

from __future__ import annotations

import json
import os
import sys

from vim_mcp.client.connect import ask
from vim_mcp.errors import VimMcpError

_SECONDS = 2.0


def main(arguments: list[str]) -> int:
    """Run `hook changed [FILE]` or `hook unsaved [FILE]`; returns the exit status.

    Without FILE the call is read from stdin, as Claude Code gives it. Nothing that goes wrong
    here may stop the assistant, so the status is then always 0. With FILE, `unsaved` prints the
    editors that have unsaved text of it and returns 1 if there are any.
    """
    if not arguments or arguments[0] not in ("changed", "unsaved") or len(arguments) > 2:
        sys.stderr.write("vim-mcp: usage: vim-mcp hook changed|unsaved [FILE]\n")
        return 2
    verb, by_hand = arguments[0], len(arguments) == 2
    file = os.path.abspath(arguments[1]) if by_hand else _file_of_call()
    if not file:
        return 0
    try:
        answer = json.loads(ask(json.dumps({"type": verb, "file": file}).encode(), _SECONDS))
        found = [str(name) for name in answer.get("instances", [])]
    except (VimMcpError, ValueError, AttributeError, TypeError) as error:
        if by_hand:
            sys.stderr.write(f"vim-mcp: {error}\n")
            return 1
        return 0
    if verb == "changed" or not found:
        return 0
    if by_hand:
        sys.stdout.write("".join(f"{name}\n" for name in found))
        return 1
    json.dump(_denial(file, found), sys.stdout)
    return 0


def _file_of_call() -> str:
    """Return the absolute path in the tool call on stdin, empty when there is none."""
    try:
        call = json.load(sys.stdin)
        given = call["tool_input"]
        file = given.get("file_path") or given.get("notebook_path") or ""
        return os.path.normpath(os.path.join(call.get("cwd") or os.getcwd(), file)) if file else ""
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        return ""


def _denial(file: str, instances: list[str]) -> dict[str, object]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": (
                f"{file} has unsaved text in Vim ({', '.join(instances)}), which a change on disk "
                "would clash with. Read it with vim_read and change it with vim_edit, or ask the "
                "user to save it first."
            ),
        }
    }
