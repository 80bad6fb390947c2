"""Who is at the other end of a Unix socket, as the kernel says."""

from __future__ import annotations

# Without what `socket` imports for its conveniences: the forwarder's start is measured.
import _socket
import sys


def credentials(connection: _socket.socket) -> tuple[int, int]:
    """Return pid and uid of the process that opened the other end.

    An unknown pid is 0 (macOS tells the uid alone), an unknown uid -1.
    """
    if sys.platform == "linux":
        raw = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        return int.from_bytes(raw[:4], sys.byteorder), int.from_bytes(raw[4:8], sys.byteorder)
    try:
        # struct xucred of <sys/ucred.h>: version, then uid; LOCAL_PEERCRED at level SOL_LOCAL.
        return 0, int.from_bytes(connection.getsockopt(0, 1, 76)[4:8], sys.byteorder)
    except OSError:
        return 0, -1
