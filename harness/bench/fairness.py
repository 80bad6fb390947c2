"""What a 10 MB answer for one assistant costs the small calls of another; in microseconds."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterable

from ..editors import make_editor
from ..hub import Hub
from ..raw import RawAssistant
from ..sandbox import Sandbox
from .latency import Figure, _figure

#: 10 MB less a little, in lines of 1,024 bytes with their ends.
_TEXT = "call setline(1, repeat([repeat('x', 1023)], 10200))"


def measure(kinds: Iterable[str], reads: int) -> list[Figure]:
    """Return figures as `latency.measure`: small calls beside `reads` big answers, and alone."""
    figures = []
    for kind in kinds:
        with Sandbox() as sandbox, Hub(sandbox).start():
            editor = make_editor(kind, sandbox)
            other = make_editor(kind, sandbox)
            with editor.start(), other.start():
                editor.command(_TEXT)
                name = f"{kind} {editor.version}"
                for beside, what in ((0, "alone"), (reads, "beside 10 MB answers")):
                    for target, where in ((editor, "same editor"), (other, "other editor")):
                        seconds = _small_calls(
                            sandbox, editor.instance_id, target.instance_id, beside
                        )
                        figures.append(_figure(f"small call {what}, {where}", name, seconds))
    return figures


def _small_calls(sandbox: Sandbox, big: str, small: str, reads: int) -> list[float]:
    seconds: list[float] = []
    with RawAssistant(sandbox, name="small").start() as assistant:
        assistant.initialize()
        left = reads
        reader: subprocess.Popen[bytes] | None = None
        while left or reader is not None or len(seconds) < 200:
            if reader is None and left:
                reader, left = _reader(sandbox, big), left - 1
            began = time.perf_counter()
            assistant.call("vim_read", instance_id=small, last_line=1)
            seconds.append(time.perf_counter() - began)
            if reader is not None and reader.poll() is not None:
                if reader.returncode:
                    raise RuntimeError("a benchmark's read failed")
                reader = None
    return seconds


def _reader(sandbox: Sandbox, instance_id: str) -> subprocess.Popen[bytes]:
    """Start another assistant that reads the big text once.

    A process of its own: a thread here that decodes 10 MB would keep the clock from being read.
    """
    return subprocess.Popen(
        ["vim-mcp", "read", f"vim://instance/{instance_id}/buffer/current"],
        env=sandbox.env(),
        executable=shutil.which("vim-mcp", path=sandbox.env()["PATH"]),
        stdout=subprocess.DEVNULL,
    )
