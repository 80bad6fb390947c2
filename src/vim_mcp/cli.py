"""The command line. `vim-mcp` alone is the forwarder, whose path imports nothing slow."""

from __future__ import annotations

import sys

_HELP = """\
usage: vim-mcp [serve]             serve an MCP client on stdin and stdout
       vim-mcp hub                 run the hub in the foreground
       vim-mcp hub --ensure        start the hub in the background unless one answers
       vim-mcp hub --status [--json]
       vim-mcp hub --stop
       vim-mcp hook changed|unsaved [FILE]   for Claude Code's PostToolUse and PreToolUse
       vim-mcp --help | --version

vim-mcp joins running Vims and Neovims with AI assistants. An MCP client starts
`vim-mcp`; it finds the hub of this user, or starts it, and the editors with the
plugin are there. Try: claude mcp add vim -- vim-mcp

environment:
  VIM_MCP_RUNTIME_DIR    directory of socket, registry and log (/tmp/vim-mcp-<uid>)
  VIM_MCP_SOCKET         path of the hub's socket, if not in that directory
  VIM_MCP_REGISTRY       path of the registry file, if not in that directory
  VIM_MCP_INSTANCE       the Vim instance that this assistant belongs to
  VIM_MCP_LOG_LEVEL      debug, info (default), warning or error
  VIM_MCP_IDLE_S         seconds after which a hub that nobody uses leaves (300)
  VIM_MCP_TIMEOUT_SCALE  factor on every deadline, for slow machines (1)
"""


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
    if arguments[0] in ("--help", "-h", "help"):
        sys.stdout.write(_HELP)
        return 0
    if arguments[0] == "--version":
        from vim_mcp import __version__

        sys.stdout.write(f"vim-mcp {__version__}\n")
        return 0
    return _usage(f"unknown argument {arguments[0]!r}")


def _usage(problem: str) -> int:
    sys.stderr.write(f"vim-mcp: {problem}\n\n{_HELP}")
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
            return _status(as_json=len(arguments) == 2)
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


def _status(as_json: bool) -> int:
    import json

    from vim_mcp.client.connect import ask
    from vim_mcp.errors import VimMcpError

    try:
        status = json.loads(ask(b'{"type":"status"}'))
    except VimMcpError as error:
        if not as_json:
            raise
        sys.stdout.write(json.dumps({"status": "ERROR", "error": str(error)}) + "\n")
        return 1
    if as_json:
        sys.stdout.write(json.dumps(status, indent=2, ensure_ascii=False) + "\n")
        return 0
    sys.stdout.write(
        f"{status['status']}  hub {status['version']}, pid {status['pid']}, "
        f"up {status['uptime_s']:.0f} s, {status['socket']}\n"
    )
    for i in status["instances"]:
        paused = ", paused" if i["paused"] else ""
        sys.stdout.write(
            f"  {i['instance_id']}  {i['editor']} {i['version']}, pid {i['pid']}, "
            f"{i['cwd']}{paused}\n"
        )
    for s in status["sessions"]:
        selected = f" -> {s['selected']}" if s["selected"] else ""
        sys.stdout.write(f"  assistant {s['client']}, pid {s['pid']}, {s['cwd']}{selected}\n")
    return 0
