"""Newline-delimited messages: bytes in, whole lines out."""

from __future__ import annotations

from vim_mcp.errors import LineTooLong


class LineBuffer:
    """Cuts a byte stream into lines, however it was split on the way.

    `limit` is the longest line in bytes and may be changed between calls, when the first line
    has told who the peer is.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes, without their newlines and without empty ones.

        Raises:
            LineTooLong: A line, finished or not, is over the limit. The buffer is then empty
                and of no further use: the caller drops the peer.
        """
        if b"\n" not in data:
            self._hold(data)
            return []
        *complete, rest = data.split(b"\n")
        if self._parts:
            complete[0] = b"".join([*self._parts, complete[0]])
        self._parts, self._size = [], 0
        if any(len(line) > self.limit for line in complete):
            raise LineTooLong(self.limit)
        if rest:
            self._hold(rest)
        return [line for line in complete if line and line != b"\r"]

    def _hold(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self.limit:
            self._parts, self._size = [], 0
            raise LineTooLong(self.limit)
        self._parts.append(data)

    @property
    def partial(self) -> int:
        """Bytes of an unfinished line held back."""
        return self._size
