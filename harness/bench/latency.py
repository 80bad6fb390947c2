"""Start and round trips, as an MCP client sees them: raw lines, no SDK on the client's side."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from ..editor import Editor
from ..editors import make_editor
from ..hub import Hub
from ..raw import RawAssistant
from ..sandbox import Sandbox
from ..wait import wait_until

Figure = dict[str, Any]


def measure(kinds: Iterable[str], calls: int, starts: int) -> list[Figure]:
    """Return figures in microseconds: each with what, editor, n, p50, p99 and max."""
    with Sandbox() as sandbox, Hub(sandbox).start():
        figures = [*_starts(sandbox, starts)]
        for kind in kinds:
            figures += _round_trips(sandbox, kind, calls)
        return figures


def _starts(sandbox: Sandbox, n: int) -> list[Figure]:
    def bare() -> None:
        subprocess.run(
            [sys.executable, "-c", "import sys, json; sys.stdin.readline()"],
            input=b"\n",
            check=True,
            env=sandbox.env(),
        )

    def forwarder() -> None:
        with RawAssistant(sandbox).start() as assistant:
            assistant.initialize()
            seconds.append(time.perf_counter() - began)

    # Both alternate, so that whatever else the machine does falls on both.
    seconds: list[float] = []
    floor: list[float] = []
    for _ in range(n + 1):
        began = time.perf_counter()
        bare()
        floor.append(time.perf_counter() - began)
        began = time.perf_counter()
        forwarder()
    # The first start loads the SDK in the hub.
    return [
        _figure("python start and end", "-", floor[1:]),
        _figure("start to initialize", "-", seconds[1:]),
    ]


def _round_trips(sandbox: Sandbox, kind: str, n: int) -> list[Figure]:
    file = sandbox.project() / "bench.txt"
    file.write_text("".join(f"line {i}\n" for i in range(1, 21)))
    editor = make_editor(kind, sandbox)
    with editor.start([file]), RawAssistant(sandbox).start() as assistant:
        assistant.initialize()
        numbers = iter(range(10**9))
        what: dict[str, Callable[[], dict[str, Any]]] = {
            "ping": lambda: assistant.request("ping"),
            "select instance": lambda: assistant.call(
                "select_vim_instance", instance_id=editor.instance_id
            ),
            "get state": lambda: assistant.call("vim_get_state"),
            "read 20 lines": lambda: assistant.call("vim_read"),
            "echo": lambda: assistant.call("vim_execute", command="echo 1"),
            "edit one line": lambda: assistant.call(
                "vim_edit", file=str(file), line=1, content=f"new {next(numbers)}"
            ),
        }
        name = f"{kind} {editor.version}"
        figures = [_figure(label, name, _time(do, n)) for label, do in what.items()]
        return [*figures, _figure("update registry", name, _registry(sandbox, editor, min(n, 30)))]


def _registry(sandbox: Sandbox, editor: Editor, n: int) -> list[float]:
    """Time from a change in the editor until the registry file has it, the gathering in between too."""
    file = sandbox.run / "vim-mcp-registry.json"
    seconds = []
    for turn in range(n):
        name = f"registry-{turn}.txt"
        editor.command(f"badd {name}")
        began = time.perf_counter()
        wait_until(partial(_holds, file, name), what=f"{name} in the registry")
        seconds.append(time.perf_counter() - began)
    return seconds


def _holds(file: Path, text: str) -> bool:
    return text in file.read_text()


def _time(do: Callable[[], dict[str, Any]], n: int) -> list[float]:
    seconds = []
    for turn in range(n + min(50, n)):
        began = time.perf_counter()
        answer = do()
        took = time.perf_counter() - began
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(f"a benchmark's call failed: {answer}")
        if turn >= min(50, n):
            seconds.append(took)
    return seconds


def _figure(what: str, editor: str, seconds: list[float]) -> Figure:
    ordered = sorted(seconds)
    return {
        "what": what,
        "editor": editor,
        "n": len(ordered),
        "p50": ordered[len(ordered) // 2] * 1e6,
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1e6,
        "max": ordered[-1] * 1e6,
    }
