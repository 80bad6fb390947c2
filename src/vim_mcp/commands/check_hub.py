"""The doctor's look at the hub: its directory, its answer, a handshake, and who is connected."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from typing import Any

from vim_mcp import __version__, paths
from vim_mcp.client.connect import dial
from vim_mcp.commands import places
from vim_mcp.commands.findings import Finding, error, ok, warning
from vim_mcp.commands.session import Session
from vim_mcp.commands.status import ask_hub
from vim_mcp.errors import HubUnavailable, RuntimeDirError, VimMcpError
from vim_mcp.limits import SCALE
from vim_mcp.peer import credentials

_STATUS_S = 3.0 * SCALE
#: A hub takes a second to start; on a busy machine with a cold disk, several.
_HANDSHAKE_S = 20.0 * SCALE

_OWN_DIR = (
    "set VIM_MCP_RUNTIME_DIR to a directory of your own (mode 0700) for editors and assistants"
)


def directory() -> Iterator[Finding]:
    """Tell whether the runtime directory can be trusted and used."""
    if os.getuid() == 65534:
        yield error(
            "runtime directory",
            "you are nobody here (uid 65534, an unmapped user namespace)",
            "run with the same uid as the editors, in a container: --user $(id -u)",
        )
    path = paths.runtime_dir()
    try:
        paths.socket_path()
        if not os.path.lexists(path):
            yield ok("runtime directory", f"{path} is made when the first hub starts")
            return
        paths.check_private(path)
    except RuntimeDirError as problem:
        remedy = f"chmod 700 {path}" if "mode" in problem.reason else _OWN_DIR
        yield error("runtime directory", f"{problem.path}: {problem.reason}", remedy)
        return
    if not os.access(path, os.W_OK | os.X_OK):
        yield error("runtime directory", f"{path} cannot be written", _OWN_DIR)
        return
    length = len(os.fsencode(paths.socket_path()))
    whose = "which others share" if os.stat(path).st_mode & stat.S_ISVTX else "yours alone"
    fits = f"socket path of {length} bytes ({paths.MAX_SOCKET_PATH} are possible)"
    yield ok("runtime directory", f"{path}, {whose}, {fits}")


def hub() -> tuple[Finding, dict[str, Any] | None, bool]:
    """Ask the hub how it is, and start none.

    Returns:
        What was found, the hub's status if it answers, and whether a handshake makes sense.
    """
    try:
        told = ask_hub(_STATUS_S)
    except HubUnavailable as problem:
        connection = None
        try:
            connection = dial(paths.socket_path())
        except VimMcpError:
            return error("hub", str(problem), "vim-mcp hub --stop"), None, False
        if connection is None:
            return ok("hub", "none runs; it starts when one is needed"), None, True
        pid = credentials(connection)[0]
        connection.close()
        remedy = (
            f"if it is stopped, kill -CONT {pid}; else kill {pid}: what needs one starts the next"
        )
        return (
            error("hub", f"it (pid {pid}) takes connections and does not answer", remedy),
            None,
            False,
        )
    except (VimMcpError, ValueError) as problem:
        return error("hub", str(problem), _OWN_DIR), None, False
    about = f"{told['version']}, pid {told['pid']}, up {told['uptime_s']:.0f} s, {told['socket']}"
    if told["version"] != __version__:
        what = f"it is {about}; this is {__version__}"
        remedy = "vim-mcp hub --stop (editors and assistants come back by themselves)"
        return warning("hub", what, remedy), told, True
    return ok("hub", about), told, True


def handshake(had_hub: bool) -> Iterator[Finding]:
    """Be an MCP client for a moment: the way of an assistant, from its first byte on."""
    began = time.monotonic()
    try:
        with Session(_HANDSHAKE_S) as session:
            tools = session.every("tools/list", "tools")
            took = (time.monotonic() - began) * 1000
            server = session.server["serverInfo"]
    except (VimMcpError, KeyError, ValueError) as problem:
        yield error("handshake", str(problem), f"see {paths.log_path()}")
        return
    started = "" if had_hub else "; this has started a hub"
    name = f"{server.get('name')} {server.get('version')}"
    yield ok("handshake", f"{name} offers {len(tools)} tools, in {took:.0f} ms{started}")


def instances(had_hub: bool) -> Iterator[Finding]:
    """Tell which editors are connected."""
    try:
        connected = ask_hub(_STATUS_S)["instances"]
    except (VimMcpError, ValueError):
        return
    if not connected and not had_hub:
        yield ok("connected", "no editor yet; those that run look for a hub every few seconds")
    elif not connected:
        yield warning(
            "connected",
            "no editor",
            "start one; in one that runs, :VimMCPDoctor tells why it is not",
        )
    for one in connected:
        name = places.NAMES.get(one["editor"], one["editor"])
        what = f"{one['instance_id']}, {name} {one['version']}, {one['cwd']}"
        plugin = one.get("plugin_version")
        if plugin and plugin != __version__:
            remedy = "start that editor again, and vim-mcp install if that does not help"
            yield warning("connected", f"{what}, with a plugin of {plugin}", remedy)
        else:
            yield ok("connected", what + (", paused" if one["paused"] else ""))
