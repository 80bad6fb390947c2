"""A pseudo-terminal with a program on it: what it shows, and what it has not read yet."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pexpect
import pyte

from . import process
from .picture import Row, rows_of
from .wait import Deadline, wait_until

ROWS, COLUMNS = 24, 80

# A string (OSC, DCS …) to its end, a control sequence, or a short escape.
_TEXT = rb"(?:[^\x07\x1b]|\x1b(?!\\))*"
_SEQUENCE = re.compile(
    rb"\x1b(?:[\]P_^X]"
    + _TEXT
    + rb"(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])"
)
# The same, cut off by the end of what has been read so far.
_PARTIAL = re.compile(rb"\x1b(?:[\]P_^X]" + _TEXT + rb"|\[[0-?]*[ -/]*|[ -/]*)?\Z")

# What a terminal answers when it is asked. Neovim 0.12 complains (E1568) to a mute one.
_ANSWERS = {
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x07",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x07",
    b"\x1b[5n": b"\x1b[0n",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[0c": b"\x1b[?62;22c",
    # As Konsole does. Unanswered, Vim waits 100 ms at its exit for an answer still to come; a
    # newer terminal's answer makes it ask on, for every key's code.
    b"\x1b[>c": b"\x1b[>0;115;0c",
}

# The sequences pyte 0.8 draws. It crashes on some others (Vim's "CSI > 4;2m") and prints DCS.
_DRAWN = re.compile(rb"\x1b(?:\[[0-9;]*[@-~]|\[\?[0-9;]*[hlJK]|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])")

# Control characters that mean nothing to a terminal, at which pyte would drop the rest of a text.
_UNPRINTABLE = bytes({*range(0x20), 0x7F} - {*b"\a\b\t\n\v\f\r\x0e\x0f\x1b"})


@dataclass(frozen=True)
class Screen:
    """What a terminal shows at one moment.

    `lines` are all rows, without trailing blanks; `cursor` is (line, column), both from 1.
    """

    lines: tuple[str, ...]
    cursor: tuple[int, int]

    def __str__(self) -> str:
        return "\n".join(self.lines).rstrip("\n")

    def __contains__(self, text: str) -> bool:
        return text in str(self)

    def framed(self) -> str:
        """Return the screen in a box, with its cursor's place, for reports."""
        width = max([COLUMNS, *map(len, self.lines)])
        body = "\n".join(f"|{line.ljust(width)}|" for line in self.lines)
        edge = "+" + "-" * width + "+"
        return f"{edge}\n{body}\n{edge} cursor {self.cursor[0]},{self.cursor[1]}"


class Display:
    """Bytes of a program in, a screen out; queries are handed to `answer`."""

    def __init__(self, rows: int, columns: int, answer: Callable[[bytes], None]) -> None:
        self._emulator = pyte.Screen(columns, rows)
        # The cursor's place, asked for in the middle of drawing, is for pyte to answer.
        self._emulator.write_process_input = lambda data: answer(data.encode())  # type: ignore[method-assign]
        self._stream = pyte.ByteStream(self._emulator)
        self._answer = answer
        self._tail = b""

    def feed(self, data: bytes) -> None:
        """Take in what the program wrote; a sequence cut at the end waits for its rest."""
        data = self._tail + data
        self._tail = b""
        drawn = bytearray()
        at = 0
        while (escape := data.find(b"\x1b", at)) >= 0:
            drawn += data[at:escape]
            if match := _SEQUENCE.match(data, escape):
                at = match.end()
                if not self._query(match[0]) and _DRAWN.fullmatch(match[0]):
                    drawn += match[0]
            elif _PARTIAL.match(data, escape):
                self._tail = data[escape:]
                at = len(data)
            else:  # no sequence at all: a terminal ignores the escape
                at = escape + 1
        drawn += data[at:]
        self._stream.feed(bytes(drawn).translate(None, _UNPRINTABLE))

    def _query(self, sequence: bytes) -> bool:
        answer = _ANSWERS.get(sequence) or _ANSWERS.get(sequence.rstrip(b"\x07\x1b\\"))
        if answer:
            self._answer(answer)
        return answer is not None

    def look(self) -> Screen:
        """Return what is shown now."""
        rows = tuple(row.rstrip() for row in self._emulator.display)
        cursor = self._emulator.cursor
        return Screen(rows, (cursor.y + 1, min(cursor.x, self._emulator.columns - 1) + 1))

    def rows(self) -> list[Row]:
        """Return what is shown now with its colours, for a picture."""
        return rows_of(self._emulator)


class Terminal:
    """A program on a pseudo-terminal, drained always by a thread of its own.

    Duties of the caller: `close()`. Only `Terminal` reads from the pty; any thread may write.

    Raises:
        pexpect.ExceptionPexpect: the program cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        rows: int = ROWS,
        columns: int = COLUMNS,
    ) -> None:
        self._display = Display(rows, columns, self._reply)
        self._lock = threading.Lock()
        spawn: Any = pexpect.spawn
        self._child = process.start(
            lambda: spawn(
                argv[0],
                list(argv[1:]),
                dimensions=(rows, columns),
                env=dict(env),
                cwd=str(cwd),
                timeout=None,
                preexec_fn=process.die_with_parent,
            )
        )
        self._child.delaybeforesend = None
        self._child.ptyproc.delayafterclose = 0.0
        self._fd: int = self._child.child_fd
        # A program that is stopped must not stop us when its buffer is full.
        os.set_blocking(self._fd, False)
        self.pid: int = self._child.pid
        self._slave = _slave_name(self._fd)
        self._stop, self._stopper = os.pipe()
        self._closed = False
        self._reader = threading.Thread(target=self._read, name=f"pty-{self.pid}", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._stop, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if self._stop in ready:
                return
            # Under the lock from the read to the drawing: see drained().
            with self._lock:
                try:
                    data = os.read(self._fd, 65536)
                except BlockingIOError:
                    continue
                except OSError:  # EIO: the program closed its side
                    return
                if not data:
                    return
                self._display.feed(data)

    def _reply(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(self._fd, data)

    def write(self, data: bytes, *, seconds: float = 5.0) -> None:
        """Write bytes to the program, as if typed.

        Raises:
            WaitTimeout: it did not read them, and the pty's buffer is full.
            OSError: it is gone.
        """
        deadline = Deadline(seconds)
        view = memoryview(data)
        poll = select.poll()
        poll.register(self._fd, select.POLLOUT)
        while view:
            # A pty takes about 4 KB at a time.
            if not poll.poll(deadline.left * 1000):
                wait_until(lambda: False, seconds=0, what=f"process {self.pid} to read its input")
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(self._fd, view) :]

    def consumed(self) -> bool:
        """Whether the program has read all that was written to it.

        poll() and not FIONREAD: poll flushes what is still on its way in the kernel.
        """
        try:
            slave = os.open(self._slave, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            return True
        try:
            poll = select.poll()
            poll.register(slave, select.POLLIN)
            return not any(events & select.POLLIN for _, events in poll.poll(0))
        finally:
            os.close(slave)

    def drained(self) -> bool:
        """Whether all that the program wrote is on the screen."""
        with self._lock:
            if self._closed or not self._reader.is_alive():
                return True
            poll = select.poll()
            poll.register(self._fd, select.POLLIN)
            return not any(events & select.POLLIN for _, events in poll.poll(0))

    def look(self) -> Screen:
        """Return what the terminal shows now, of what has been read so far."""
        with self._lock:
            return self._display.look()

    def rows(self) -> list[Row]:
        """Return the same with its colours, for a picture."""
        with self._lock:
            return self._display.rows()

    @property
    def alive(self) -> bool:
        """Whether the program started here still runs."""
        try:
            return not self._closed and bool(self._child.isalive())
        except pexpect.ExceptionPexpect:
            # Its sandbox ended it, and took its exit status.
            return False

    def how_it_ended(self) -> str:
        """Say how the program ended, or "running"."""
        if self.alive:
            return "running"
        if self._child.signalstatus is not None:
            return signal.Signals(self._child.signalstatus).name
        return f"exit status {self._child.exitstatus}"

    def close(self) -> None:
        """Kill the program if it runs, and let go of the pty. May be called again."""
        if self._closed:
            return
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            wait_until(lambda: not self.alive, what=f"process {self.pid} to end")
        os.write(self._stopper, b"x")
        self._reader.join()
        with self._lock:
            self._closed = True
            with contextlib.suppress(pexpect.ExceptionPexpect):
                self._child.close(force=True)
            os.close(self._stop)
            os.close(self._stopper)


def _slave_name(master: int) -> str:
    # os.ptsname() is new in Python 3.13; the C library has always had it.
    import ctypes

    ptsname = ctypes.CDLL(None).ptsname
    ptsname.restype = ctypes.c_char_p
    name = ptsname(master)
    if name is None:
        raise OSError("the terminal has no name")
    return os.fsdecode(name)
