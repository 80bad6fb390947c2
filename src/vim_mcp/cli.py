"""The command line. `vim-mcp` alone is the forwarder, whose path imports nothing slow."""

from __future__ import annotations

import sys

#: The commands of the package `commands`, loaded when one of them is called.
COMMANDS = {
    "install": "let the editors and Claude Code found here use vim-mcp",
    "doctor": "look for what is wrong, with the remedy",
    "status": "show hub, editors and assistants",
    "tools": "list the tools",
    "call": "call a tool: vim-mcp call vim_read first_line=1 last_line=20",
    "read": "read a resource, or list them: vim-mcp read vim://buffer/current",
}

_HELP = """\
usage: vim-mcp [serve]             serve an MCP client on stdin and stdout
       vim-mcp COMMAND [OPTIONS]   see vim-mcp COMMAND --help

commands:
{commands}
  hub        run the hub in the foreground
  hub --ensure            start the hub in the background unless one answers
  hub --status [--json]
  hub --stop
  hook changed|unsaved [FILE]   for Claude Code's hooks PostToolUse and PreToolUse
                          (unsaved FILE: 1 when an editor has unsaved text of it)
  --help, --version

vim-mcp joins running Vims and Neovims with AI assistants. An MCP client starts
`vim-mcp`; it finds the hub of this user, or starts it, and the editors with the
plugin are there. Try: vim-mcp install

exit status:
  0    done
  1    failed: one line on stderr says why (doctor: something is wrong)
  2    the command line is wrong: no such command, tool or argument
  3    the tool or resource answered with an error
  130  interrupted
  141  whoever read the output is gone (vim-mcp tools | head -1)

environment:
  VIM_MCP_RUNTIME_DIR    directory of socket, registry and log (/tmp/vim-mcp-<uid>)
  VIM_MCP_SOCKET         path of the hub's socket, if not in that directory
  VIM_MCP_REGISTRY       path of the registry file, if not in that directory
  VIM_MCP_INSTANCE       the Vim instance that this assistant belongs to
  VIM_MCP_LOG_LEVEL      debug, info (default), warning or error
  VIM_MCP_IDLE_S         seconds after which a hub that nobody uses leaves (60)
  VIM_MCP_TIMEOUT_SCALE  factor on every deadline, for slow machines (1)
"""


def _help() -> str:
    return _HELP.format(commands="\n".join(f"  {n:<10} {what}" for n, what in COMMANDS.items()))


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments in ([], ["serve"]):
        from vim_mcp.client.forward import main as forward

        return forward()
    if arguments[0] == "hub":
        return _hub(arguments[1:])
    if arguments[0] == "hook":
        from vim_mcp.client.hook import main as hook

        return hook(arguments[1:])
    if arguments[0] in COMMANDS:
        from vim_mcp.commands.root import run

        return run(arguments)
    if arguments[0] in ("--help", "-h", "help"):
        sys.stdout.write(_help())
        return 0
    if arguments[0] == "--version":
        from vim_mcp import __version__

        sys.stdout.write(f"vim-mcp {__version__}\n")
        return 0
    return _usage(f"unknown argument {arguments[0]!r}")


def _usage(problem: str) -> int:
    sys.stderr.write(f"vim-mcp: {problem}\n\n{_help()}")
    return 2


def _hub(arguments: list[str]) -> int:
    from vim_mcp.errors import VimMcpError

    try:
        if arguments in ([], ["--for-assistant"]):
            return _run_hub(bool(arguments))
        if arguments == ["--ensure"]:
            from vim_mcp.client.connect import connect

            connect(for_assistant=False).close()
            return 0
        if arguments == ["--stop"]:
            return _stop()
        if arguments and arguments[0] == "--status" and arguments[1:] in ([], ["--json"]):
            from vim_mcp.commands.status import hub_status

            return hub_status(as_json=len(arguments) == 2)
    except VimMcpError as error:
        sys.stderr.write(f"vim-mcp: {error}\n")
        return 1
    return _usage(f"unknown argument for hub: {' '.join(arguments)!r}")


def _run_hub(for_assistant: bool) -> int:
    """Become the hub, or wait until the one that is answers."""
    import time

    from vim_mcp import paths
    from vim_mcp.client.connect import dial
    from vim_mcp.hub.election import HubLock

    paths.ensure_runtime_dir()
    lock = HubLock(paths.lock_path())
    until = time.monotonic() + 10
    while not lock.acquire():
        connection = dial(paths.socket_path())
        if connection is not None:
            connection.close()
            return 0
        if time.monotonic() > until:
            sys.stderr.write("vim-mcp: another hub holds the lock and does not answer\n")
            return 1
        time.sleep(0.02)
    from vim_mcp.hub.daemon import run

    return run(lock, for_assistant)


def _stop() -> int:
    import time

    from vim_mcp import paths
    from vim_mcp.client.connect import ask, dial

    ask(b'{"type":"stop"}')
    until = time.monotonic() + 10
    while (connection := dial(paths.socket_path())) is not None:
        connection.close()
        if time.monotonic() > until:
            sys.stderr.write("vim-mcp: the hub was told to stop and still answers\n")
            return 1
        time.sleep(0.02)
    return 0
