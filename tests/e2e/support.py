"""What the end-to-end tests share: files, buffers, and masks for what differs from run to run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import mcp.types as t
from mcp import MCPError

from harness import Assistant, Editor, Sandbox


def write(sandbox: Sandbox, name: str, *lines: str, project: str = "work") -> Path:
    """Write a file of these lines into a project and return its path."""
    path = sandbox.project(project) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def show(editor: Editor, path: Path) -> int:
    """Show a file in the editor, as its user would, and return its buffer number."""
    editor.command(f"edit {path}")
    return int(editor.eval("bufnr()"))


def hide(editor: Editor, path: Path) -> int:
    """Load a file into a hidden buffer, another one being shown, and return its number."""
    editor.command("set hidden")
    number = show(editor, path)
    editor.command("enew")
    return number


def done(assistant: Assistant, tool: str, /, **arguments: Any) -> Any:
    """Call a tool that has to succeed; return its data, or its text when it has no other."""
    answer = assistant.call(tool, **arguments)
    assert not answer.is_error, answer.text
    return answer.text if answer.data is None else answer.data


def refused(assistant: Assistant, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool that has to fail; return its {code, message, data}."""
    answer = assistant.call(tool, **arguments)
    assert answer.is_error, f"this was not refused: {answer.text}"
    return {"data": {}, **answer.error}


def reason(error: dict[str, Any]) -> Any:
    """Return the reason word of an error."""
    return error["data"].get("reason")


#: Facts that no two runs, or no two kinds of editor, share.
_VOLATILE = {
    "pid": 0,
    "version": "<version>",
    "editor": "<editor>",
    "winid": 1000,
    "height": 0,
    "botline": 0,
    "changedtick": 0,
    "bufnr": 0,
    "id": 0,
}


def masked(value: Any, sandbox: Sandbox) -> Any:
    """Return `value` with what differs from run to run, and between editors, made the same."""
    if isinstance(value, dict):
        return {
            key: _VOLATILE[key] if key in _VOLATILE and item is not None else masked(item, sandbox)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [masked(item, sandbox) for item in value]
    if not isinstance(value, str):
        return value
    text = value.replace(str(sandbox.root), "<sandbox>")
    text = re.sub(r"\b([\w.]+-\w+)-\d+\b", r"\1-<pid>", text)
    text = re.sub(r"changedtick (is )?\d+", r"changedtick \1<tick>", text)
    text = re.sub(r": (Neovim|Vim) in ", ": <editor> in ", text)
    return re.sub(r"\bbuffer \d+", "buffer <bufnr>", text)


def everything(assistant: Assistant) -> str:
    """Return all that an assistant can see without naming anything, as one text."""
    seen = [
        assistant.call("list_vim_instances").text,
        assistant.call("vim_get_state").text,
        assistant.call("vim_read").text,
        assistant.call("vim_search", pattern=".", scope="all").text,
        assistant.call("vim_search", pattern=".").text,
        assistant.call("vim_get_diagnostics").text,
        assistant.call("vim_get_selection").text,
    ]
    for resource in assistant.resources():
        try:
            seen += [
                json.dumps(one.model_dump(mode="json")) for one in assistant.read(resource.uri)
            ]
        except Exception as error:
            seen.append(str(error))
    return "\n".join(seen)


def resource(assistant: Assistant, uri: str) -> str:
    """Read a resource that is one text."""
    (content,) = assistant.read(uri)
    assert isinstance(content, t.TextResourceContents)
    return content.text


def no_resource(assistant: Assistant, uri: str) -> dict[str, Any]:
    """Read a resource that has to fail; return its {code, message, data}."""
    try:
        found = assistant.read(uri)
    except MCPError as caught:
        return {"data": {}, **caught.error.model_dump(mode="json", exclude_none=True)}
    raise AssertionError(f"this was not refused: {found}")


#: What looking must leave alone, as one Vimscript expression.
UNTOUCHED = (
    "[mode(1), getpos('v'), getcurpos(), winsaveview(), win_getid(), winnr('#'), tabpagenr(),"
    " bufnr('%'), bufnr('#'), b:changedtick, @/, v:searchforward, &hlsearch, getreg('\"'),"
    " getjumplist(), getmarklist(bufnr('%')), v:errmsg, histnr('/'), histnr(':')]"
)
