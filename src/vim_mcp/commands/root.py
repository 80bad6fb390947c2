"""Where every command of this package begins and ends: how it is found, and its exit status."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from vim_mcp.errors import CommandFailed, VimMcpError

#: The exit statuses, as `vim-mcp --help` tells them.
FAILED, USAGE, ANSWERED_ERROR, INTERRUPTED, READER_GONE = 1, 2, 3, 130, 141

#: Where each command is, as module:function.
WHERE = {
    "install": "install:install",
    "doctor": "doctor:doctor",
    "status": "status:status",
    "tools": "call:tools",
    "call": "call:call",
    "read": "read:read",
}


class _Commands(click.Group):
    """Loads a command's module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(WHERE)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in WHERE:
            return None
        module, _, function = WHERE[name].partition(":")
        found = getattr(importlib.import_module(f"vim_mcp.commands.{module}"), function)
        assert isinstance(found, click.Command)
        return found

    def invoke(self, ctx: click.Context) -> Any:
        # Before click sees it, which would end the process with the status of a failure.
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
            return status
        except BrokenPipeError:
            # What is still buffered has nowhere to go; the interpreter flushes it when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(READER_GONE) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def commands() -> None:
    """vim-mcp joins running Vims and Neovims with AI assistants."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    try:
        status = commands.main(list(arguments), prog_name="vim-mcp", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except VimMcpError as error:
        sys.stderr.write(f"vim-mcp: {error}\n")
        return error.status if isinstance(error, CommandFailed) else FAILED
