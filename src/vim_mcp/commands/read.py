"""`vim-mcp read`: every resource from the shell."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import click

from vim_mcp.commands import show
from vim_mcp.commands.session import Session


@click.command()
@click.argument("uri", required=False)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the contents as the server tells them."
)
def read(uri: str | None, as_json: bool) -> None:
    """Print a resource; without URI, list the resources.

    Text is printed exactly as it is, JSON with indentation.

    \b
    Examples:
      vim-mcp read
      vim-mcp read vim://buffer/current > unsaved.txt
    """
    with Session() as session:
        if uri is None:
            _list(session, as_json)
            return
        contents = session.request("resources/read", uri=uri)["contents"]
    if as_json:
        show.as_json(contents)
        return
    for content in contents:
        _print(content)


def _print(content: dict[str, Any]) -> None:
    if "blob" in content:
        sys.stdout.flush()
        sys.stdout.buffer.write(base64.b64decode(content["blob"]))
    elif content.get("mimeType") == "application/json":
        show.as_json(json.loads(content["text"]))
    else:
        sys.stdout.write(content["text"])


def _list(session: Session, as_json: bool) -> None:
    resources = session.every("resources/list", "resources")
    templates = session.every("resources/templates/list", "resourceTemplates")
    if as_json:
        show.as_json({"resources": resources, "resourceTemplates": templates})
        return
    rows = [
        (one.get("uri") or one["uriTemplate"], one.get("mimeType", ""), one.get("description", ""))
        for one in [*resources, *templates]
    ]
    show.table(("uri", "type", "what it is"), rows)
