"""`vim-mcp tools` and `vim-mcp call`: every tool from the shell."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from vim_mcp.commands import arguments, show
from vim_mcp.commands.session import Session
from vim_mcp.errors import CommandFailed


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print names, schemas and annotations.")
def tools(as_json: bool) -> None:
    """List the tools and their arguments.

    \b
    Example:
      vim-mcp tools
    """
    with Session() as session:
        found = session.every("tools/list", "tools")
    if as_json:
        show.as_json(found)
        return
    rows = [(tool["name"], _signature(tool), _summary(tool)) for tool in found]
    show.table(("tool", "arguments", "what it does"), rows)


def _signature(tool: dict[str, Any]) -> str:
    schema = tool["inputSchema"]
    required = schema.get("required", ())
    # The same everywhere, and options of `call`.
    known = [k for k in schema.get("properties", {}) if k not in ("instance_id", "workspace_path")]
    return " ".join(key if key in required else f"[{key}]" for key in known)


def _summary(tool: dict[str, Any]) -> str:
    return str(tool.get("description", "")).strip().split("\n")[0]


@click.command()
@click.argument("tool")
@click.argument("words", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.option("--instance", metavar="ID", help="The editor to use, see vim-mcp status.")
@click.option(
    "--workspace", metavar="PATH", type=click.Path(), help="Use the editor that works there."
)
def call(
    tool: str, words: tuple[str, ...], as_json: bool, instance: str | None, workspace: str | None
) -> None:
    """Call a tool and print its answer, what an assistant would see.

    KEY=VALUE becomes the number, boolean or text that the tool wants (see vim-mcp tools); of a
    list, each KEY=VALUE is one entry. KEY:=JSON is taken as JSON, KEY=@FILE is the content of a
    file, KEY=- standard input. As the text "-" or "@x" write KEY:='"-"'. An error that the tool
    answers goes to stderr, the exit status is 3.

    \b
    Examples:
      vim-mcp call vim_open file=README.md line=12
      git diff | vim-mcp call vim_edit file=notes.txt content=-
      vim-mcp call vim_get_state --json | jq .mode
    """
    with Session() as session:
        known = {one["name"]: one for one in session.every("tools/list", "tools")}
        if tool not in known:
            names = "".join(f"\n  {name}" for name in known)
            raise CommandFailed(f"there is no tool {tool!r}; there are{names}", status=2)
        schema = known[tool]["inputSchema"]
        given = [*words]
        if instance is not None:
            given.append(f"instance_id:={json.dumps(instance)}")
        if workspace is not None:
            given.append(f"workspace_path:={json.dumps(os.path.abspath(workspace))}")
        params = arguments.parse(given, schema, _content)
        answer = session.request("tools/call", name=tool, arguments=params)
    if answer.get("isError"):
        raise CommandFailed(_message(_text(answer)), status=3)
    if as_json:
        show.as_json(answer.get("structuredContent", {"content": answer["content"]}))
    elif answer.get("structuredContent") is not None:
        show.as_json(answer["structuredContent"])
    else:
        show.write(_text(answer))


def _content(name: str) -> str:
    """Return the text of a file, of "-" that of standard input."""
    try:
        if name == "-":
            return sys.stdin.read()
        with open(name, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"cannot read {name}: {error}", status=2) from None


def _text(answer: dict[str, Any]) -> str:
    """Return the answer's text; what is no text by the name of its kind."""
    parts = [one.get("text") or f"[{one['type']}]" for one in answer["content"]]
    return "\n".join(parts)


def _message(text: str) -> str:
    """Return the sentence in an error answer ({"code", "message", "data"})."""
    try:
        error = json.loads(text)
        return f"{error['message']} (code {error['code']})"
    except (ValueError, KeyError, TypeError):
        return text
