"""`vim-mcp doctor`: what is wrong between editors, hub and assistants, with the remedy."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vim_mcp.commands import check_around, check_editors, check_hub, places, show
from vim_mcp.commands.findings import ERROR, OK, WARNING, Finding, error

_COLOURS = {OK: "green", WARNING: "yellow", ERROR: "bold red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> int:
    """Look for what is wrong, with the remedy.

    Each line is ok, a warning, or an error; with an error the exit status is 1. Nothing is changed.
    Where no hub runs, the handshake starts one, as an assistant would. In an editor,
    :VimMCPDoctor tells its side.

    \b
    Examples:
      vim-mcp doctor
      vim-mcp doctor --json | jq -r '.[] | select(.level == "error").remedy'
    """
    found = []
    for finding in examine():
        found.append(finding)
        if not as_json and not show.is_terminal():
            show.write(str(finding))
    if as_json:
        show.as_json([finding._asdict() for finding in found])
    elif show.is_terminal():
        _draw(found)
    return 1 if any(finding.level == ERROR for finding in found) else 0


def examine() -> Iterator[Finding]:
    """Yield what all checks find. Each has a deadline, and none that fails keeps others back."""
    editors = {kind: places.find(kind) for kind in places.NAMES}
    hub, told, can_serve = check_hub.hub()
    yield from safely(check_editors.editors(editors))
    yield from safely(check_editors.plugins(editors, told["instances"] if told else []))
    yield from safely(check_editors.program())
    yield from safely(check_hub.directory())
    yield hub
    if can_serve:
        yield from safely(check_hub.handshake(told is not None))
        yield from safely(check_hub.instances(told is not None))
    yield from safely(check_around.registration())
    yield from safely(check_around.tmux())
    yield from safely(check_around.containers())


def safely(check: Iterator[Finding]) -> Iterator[Finding]:
    """Yield what a check finds, and that it failed if it does."""
    try:
        yield from check
    except Exception as problem:
        # Of all commands this one must come to its end where something is strange.
        name = getattr(check, "__name__", "check")
        yield error(name, f"the check itself failed: {problem!r}", "please report this")


def _draw(found: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in found:
        what = Text(finding.what)
        if finding.remedy:
            what.append(f"\n→ {finding.remedy}", style="bold")
        table.add_row(Text(finding.level, style=_COLOURS[finding.level]), finding.topic, what)
    Console().print(table)
