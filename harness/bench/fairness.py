"""What a 10 MB answer for one assistant costs the small calls of another; in microseconds.

Run as `python -m harness.bench.fairness`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable

from ..editors import KINDS, make_editor
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
    done = threading.Event()

    def read_much() -> None:
        with RawAssistant(sandbox, name="big").start() as reader:
            reader.initialize()
            for _ in range(reads):
                uri = f"vim://instance/{big}/buffer/current"
                answer = reader.request("resources/read", {"uri": uri}, seconds=60)
                if "error" in answer:
                    raise RuntimeError(f"a benchmark's read failed: {answer}")
        done.set()

    seconds = []
    with RawAssistant(sandbox, name="small").start() as assistant:
        assistant.initialize()
        assistant.call("vim_read", instance_id=small, last_line=1)
        thread = threading.Thread(target=read_much)
        thread.start()
        while not done.is_set() or len(seconds) < 200:
            began = time.perf_counter()
            assistant.call("vim_read", instance_id=small, last_line=1)
            seconds.append(time.perf_counter() - began)
        thread.join()
    return seconds


if __name__ == "__main__":
    from . import table

    sys.stdout.write(table(measure(KINDS, 10)))
