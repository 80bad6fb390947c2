"""Reach the hub, starting one when none answers. Standard library only, cheap to import."""

from __future__ import annotations

import _socket
import fcntl
import os
import sys
import time

from vim_mcp import paths
from vim_mcp.errors import HubUnavailable, RuntimeDirError
from vim_mcp.peer import credentials

#: How long a starter waits for a hub to come up; a cold disk on a busy machine is slow.
_START_S = 15.0
#: A spawned hub that is not there after this long is started once more.
_RESPAWN_S = 3.0
#: A pipe in the file's place must not make us wait for its reader.
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK


def dial(path: str) -> _socket.socket | None:
    """Return a connection to the hub at `path`, None when none answers there.

    Raises:
        RuntimeDirError: Somebody else answers there.
    """
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError as error:
        connection.close()
        raise HubUnavailable(path, error.strerror or str(error)) from None
    if credentials(connection)[1] not in (os.getuid(), -1):
        connection.close()
        raise RuntimeDirError(path, "another user listens there")
    return connection


def connect(start: bool = True, for_assistant: bool = True) -> _socket.socket:
    """Return a connection to the hub, starting one if need be and allowed.

    Raises:
        RuntimeDirError: The runtime directory cannot be trusted.
        HubUnavailable: None answers and none came up.
    """
    path = paths.socket_path()
    if start:
        paths.ensure_runtime_dir()
    connection = dial(path)
    if connection is not None:
        return connection
    if not start:
        raise HubUnavailable(path, "none is running; start one with `vim-mcp hub --ensure`")
    deadline = time.monotonic() + _START_S
    spawned_at = -_RESPAWN_S
    delay = 0.002
    while time.monotonic() < deadline:
        if time.monotonic() - spawned_at >= _RESPAWN_S and not _somebody_starts():
            spawned_at = time.monotonic()
            spawn_hub(for_assistant)
        time.sleep(delay)
        delay = min(delay * 2, 0.05)
        connection = dial(path)
        if connection is not None:
            return connection
    raise HubUnavailable(path, f"it did not start within {_START_S:g} s", paths.log_path())


def _somebody_starts() -> bool:
    """Tell whether a process holds the hub's lock: then a hub is there or about to be."""
    try:
        fd = os.open(paths.lock_path(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def spawn_hub(for_assistant: bool) -> None:
    """Start a hub that belongs to nobody: two forks, its own session, no descriptor of ours.

    Raises:
        RuntimeDirError: It could not open its files: it would end with nobody to tell.
    """
    for path in (paths.lock_path(), paths.log_path()):
        try:
            os.close(os.open(path, _APPEND, 0o600))
        except OSError as error:
            raise RuntimeDirError(path, error.strerror or str(error)) from None
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        null = os.open(os.devnull, os.O_RDWR)
        log = os.open(paths.log_path(), _APPEND, 0o600)
        os.dup2(null, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.closerange(3, 1024)
        role = ["--for-assistant"] if for_assistant else []
        os.execv(sys.executable, [*paths.program(), "hub", *role])
    finally:
        os._exit(127)


def ask(message: bytes, seconds: float = 5.0) -> bytes:
    """Send one control line to a running hub and return its one answer line.

    Raises:
        HubUnavailable: None runs, or it does not answer.
        RuntimeDirError: Somebody else listens there.
    """
    connection = connect(start=False)
    connection.settimeout(seconds)
    parts = []
    try:
        connection.sendall(message + b"\n")
        while data := connection.recv(65536):
            parts.append(data)
    except OSError as error:
        raise HubUnavailable(paths.socket_path(), str(error), paths.log_path()) from None
    finally:
        connection.close()
    if not parts:
        raise HubUnavailable(paths.socket_path(), "it closed without an answer")
    return b"".join(parts)
