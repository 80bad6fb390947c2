"""Where things are: the runtime directory, its files, and the checks before they are trusted.

Standard library only and cheap to import: the forwarder starts with it.
"""

from __future__ import annotations

import os
import stat
import sys

from vim_mcp.errors import RuntimeDirError

#: `sun_path` holds 104 bytes on macOS with its NUL; one limit serves both systems.
MAX_SOCKET_PATH = 103
#: Bytes of an instance id in a file's name, which may have 255 with all that surrounds it.
_MAX_NAME = 200


def runtime_dir() -> str:
    """Return the runtime directory's path, without touching it."""
    return os.environ.get("VIM_MCP_RUNTIME_DIR") or f"/tmp/vim-mcp-{os.getuid()}"


def socket_path() -> str:
    """Return the hub socket's path.

    Raises:
        RuntimeDirError: The path is too long for a Unix socket.
    """
    path = os.environ.get("VIM_MCP_SOCKET") or os.path.join(runtime_dir(), "vim-mcp-server.sock")
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise RuntimeDirError(path, f"a socket path may have {MAX_SOCKET_PATH} bytes at most")
    return path


def registry_path() -> str:
    """Return the registry file's path (`VIM_MCP_REGISTRY` overrides it)."""
    return os.environ.get("VIM_MCP_REGISTRY") or os.path.join(
        runtime_dir(), "vim-mcp-registry.json"
    )


def preference_path() -> str:
    """Return the path of the one-line file with the last selected instance."""
    return os.path.join(runtime_dir(), "vim-mcp-preference.txt")


def state_path(instance_id: str) -> str:
    """Return the path of an instance's state file."""
    return os.path.join(runtime_dir(), f"vim-mcp-{_short(instance_id)}-state.json")


def _short(name: str) -> str:
    """Return `name`, or its beginning and a hash when a file's name could not hold it."""
    raw = os.fsencode(name)
    if len(raw) <= _MAX_NAME:
        return name
    import hashlib  # on no path that has to be fast

    mark = hashlib.blake2b(raw, digest_size=6).hexdigest()
    return f"{raw[: _MAX_NAME - 20].decode(errors='ignore')}-{mark}"


def lock_path() -> str:
    """Return the path of the lock that the one hub holds for life."""
    return os.path.join(runtime_dir(), "hub.lock")


def log_path() -> str:
    """Return the hub's log file's path."""
    return os.path.join(runtime_dir(), "hub.log")


def state_dir() -> str:
    """Return the directory for what must outlive the runtime directory."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(home, "vim-mcp")


def plugin_dir() -> str:
    """Return the directory with the editor plugin's plugin/ and autoload/.

    It is inside the installed package, or at the top of a source checkout.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(here, "_vim")
    if os.path.isdir(installed):
        return installed
    return os.path.join(os.path.dirname(os.path.dirname(here)), "vim")


def ensure_runtime_dir() -> str:
    """Make the runtime directory if it is missing, check that it is ours alone, return it.

    A directory that another user owns or may write to would let them stand in for the hub
    (as tmux checks its own). An explicitly named sticky directory such as /tmp is the user's
    own choice (the first seed's literal paths) and passes.

    Raises:
        RuntimeDirError: It is not a directory, not ours, or open to others.
    """
    path = runtime_dir()
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise RuntimeDirError(path, error.strerror or str(error)) from None
    check_private(path)
    if not os.access(path, os.W_OK | os.X_OK):
        raise RuntimeDirError(path, "it is not writable")
    return path


def check_private(path: str) -> None:
    """Check that a directory belongs to us and nobody else may write to it.

    Raises:
        RuntimeDirError: It does not.
    """
    found = os.lstat(path)
    named = "VIM_MCP_RUNTIME_DIR" in os.environ and stat.S_ISDIR(found.st_mode)
    if named and found.st_mode & stat.S_ISVTX and found.st_uid in (0, os.getuid()):
        return
    if not stat.S_ISDIR(found.st_mode):
        raise RuntimeDirError(path, "it is not a directory")
    if found.st_uid != os.getuid():
        if found.st_uid == 65534:
            raise RuntimeDirError(path, "its owner is not mapped here; run with the same uid")
        raise RuntimeDirError(path, f"it belongs to uid {found.st_uid}")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise RuntimeDirError(path, f"its mode is {stat.S_IMODE(found.st_mode):o}, not 700")


def write_whole(path: str, text: str) -> None:
    """Write a 0600 file so that a reader sees the old or the new text, never a part.

    Raises:
        OSError: It cannot be written.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    if os.path.lexists(temporary):
        os.unlink(temporary)
    # In /tmp, where it may be by the user's choice, somebody else could have put one there.
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def program() -> list[str]:
    """Return the command that runs this very installation, for starting a hub."""
    return [sys.executable, "-m", "vim_mcp"]
