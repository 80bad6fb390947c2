"""`vim-mcp status`, and `vim-mcp hub --status`: what the hub says of itself."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from vim_mcp.client.connect import ask
from vim_mcp.commands import show
from vim_mcp.errors import VimMcpError


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print all that the hub tells as JSON.")
def status(as_json: bool) -> int:
    """Show the hub, the editors and the assistants that are connected.

    The word in front is READY (nobody is connected), WAITING (an assistant without an editor) or
    CONNECTED. Without a hub the exit status is 1; no hub is started.

    \b
    Example:
      vim-mcp status --json | jq -r '.instances[].instance_id'
    """
    if as_json or not show.is_terminal():
        return hub_status(as_json)
    told = ask_hub()
    show.write(_head(told))
    if told["instances"]:
        show.write("")
        columns: tuple[str, ...] = ("editor", "version", "pid", "directory", "")
        show.table(("instance", *columns), [_editor_row(i) for i in told["instances"]])
    if told["sessions"]:
        show.write("")
        columns = ("pid", "directory", "selected")
        show.table(("assistant", *columns), [_session_row(s) for s in told["sessions"]])
    return 0


def ask_hub(seconds: float = 5.0) -> dict[str, Any]:
    """Return the status of the hub that runs. Raises as `ask()`."""
    return dict(json.loads(ask(b'{"type":"status"}', seconds)))


def hub_status(as_json: bool) -> int:
    """Print the status for programs: as JSON, or in lines whose form does not depend on a screen.

    Raises:
        VimMcpError: No hub answers; with `as_json` this is printed, too.
    """
    try:
        told = ask_hub()
    except VimMcpError as error:
        if not as_json:
            raise
        sys.stdout.write(json.dumps({"status": "ERROR", "error": str(error)}) + "\n")
        return 1
    if as_json:
        show.as_json(told)
        return 0
    show.write(_head(told))
    for i in told["instances"]:
        paused = ", paused" if i["paused"] else ""
        show.write(
            f"  {i['instance_id']}  {i['editor']} {i['version']}, pid {i['pid']}, "
            f"{i['cwd']}{paused}"
        )
    for s in told["sessions"]:
        selected = f" -> {s['selected']}" if s["selected"] else ""
        show.write(f"  assistant {s['client']}, pid {s['pid']}, {s['cwd']}{selected}")
    return 0


def _head(told: dict[str, Any]) -> str:
    return (
        f"{told['status']}  hub {told['version']}, pid {told['pid']}, "
        f"up {told['uptime_s']:.0f} s, {told['socket']}"
    )


def _editor_row(i: dict[str, Any]) -> tuple[str, ...]:
    paused = "paused" if i["paused"] else ""
    return i["instance_id"], i["editor"], i["version"], str(i["pid"]), i["cwd"], paused


def _session_row(s: dict[str, Any]) -> tuple[str, ...]:
    return s["client"], str(s["pid"]), s["cwd"], s["selected"] or ""
