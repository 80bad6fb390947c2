"""Who is the hub: the holder of a lock that is taken before the socket is touched.

The lock file is never deleted. A lock counts only while its path still names the locked file:
somebody who removes and re-creates it must not make two hubs.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import stat
from collections.abc import Callable

from vim_mcp.errors import RuntimeDirError

# Who merely looks whether it can be the hub does not wait for asyncio to load.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio


class HubLock:
    """An exclusive flock on `hub.lock`, held until the process ends or `release`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1
        self._directory_fd = -1

    def acquire(self) -> bool:
        """Try to become the hub; False when another process is.

        Raises:
            RuntimeDirError: The lock file cannot be opened.
        """
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise RuntimeDirError(self.path, error.strerror or str(error)) from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self._fd = fd
        if not self.held():
            self.release()
            return False
        # For whoever looks; a full disk keeps nobody from being the hub.
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._hold_directory()
        return True

    def held(self) -> bool:
        """Tell whether the path still names the file that is locked."""
        if self._fd < 0:
            return False
        try:
            there = os.stat(self.path, follow_symlinks=False)
        except OSError:
            return False
        ours = os.fstat(self._fd)
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

    def watch(self, loop: asyncio.AbstractEventLoop, look: Callable[[], None]) -> None:
        """Call `look` from now to `release` whenever something in the lock's directory goes.

        Only where the kernel tells of it (Linux): elsewhere the caller looks now and then.
        """
        if hasattr(fcntl, "F_NOTIFY") and self._directory_fd >= 0:
            # Before it is asked for: unhandled, the signal would end the process.
            loop.add_signal_handler(signal.SIGIO, look)
            what = fcntl.DN_DELETE | fcntl.DN_RENAME | fcntl.DN_MULTISHOT
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._directory_fd, fcntl.F_NOTIFY, what)

    def release(self) -> None:
        """Give the lock up; another process may be the hub from now on."""
        for fd in (self._fd, self._directory_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._directory_fd = -1

    def _hold_directory(self) -> None:
        """A lock on the directory makes temp cleaners (systemd-tmpfiles) pass it by."""
        fd = os.open(os.path.dirname(self.path), os.O_RDONLY | os.O_CLOEXEC)
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        self._directory_fd = fd


def socket_identity(path: str) -> tuple[int, int] | None:
    """Return device and inode of the socket at a path, None when there is none."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISSOCK(found.st_mode) else None
