"""`harness spawn`: a private hub and real editors that stay up, and take orders on a socket."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import process
from .editor import Editor
from .editors import make_editor
from .errors import HarnessError
from .hub import find_instance
from .picture import svg
from .stage import Stage
from .wait import WaitTimeout

Row = dict[str, Any]


def registry() -> Path:
    """Return the directory where running spawns are noted, made if need be.

    Raises:
        HarnessError: it is there and somebody else's.
    """
    path = Path(f"/tmp/harness-{os.getuid()}")
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or path.is_symlink():
        raise HarnessError(f"{path} is not a directory that only you can enter; remove it")
    return path


class Spawn:
    """A stage with numbered editors, and a socket that lets other processes ask for them."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.editors: dict[str, Editor] = {}
        self._socket = self.stage.sandbox.root / "spawn.sock"
        self._note = registry() / f"{os.getpid()}.json"
        self._wake, self._waker = socket.socketpair()

    def start(self, kinds: Sequence[str], files: Sequence[Path]) -> None:
        """Start the hub and an editor of each kind in turn; several files go round.

        Each editor has a project of its own, or stands in the directory of its file.
        Raises as Hub.start() and Editor.start().
        """
        self.stage.need_hub()
        for number, kind in enumerate(kinds, 1):
            file = files[(number - 1) % len(files)] if files else None
            cwd = file.parent if file else self.stage.sandbox.project(f"project-{number}")
            editor = make_editor(kind, self.stage.sandbox)
            self.editors[str(number)] = editor
            editor.start([file] if file else [], cwd=cwd)

    def rows(self) -> list[Row]:
        """Return a row for each editor: id, instance_id, editor, version, pid, cwd, state."""
        rows = []
        for number, editor in self.editors.items():
            known = find_instance(self.stage.sandbox, editor.pid) or {}
            frozen = "frozen" if process.stopped(editor.pid) else "running"
            rows.append(
                {
                    "id": number,
                    "instance_id": known.get("instance_id"),
                    "editor": editor.kind,
                    "version": known.get("version"),
                    "pid": editor.pid,
                    "cwd": str(editor.cwd),
                    "state": frozen if editor.alive else "dead",
                }
            )
        return rows

    def facts(self) -> dict[str, Any]:
        """Return all that is told of this spawn."""
        return {
            "spawn": os.getpid(),
            "runtime_dir": str(self.stage.sandbox.run),
            "hub": self.stage.need_hub().pid,
            "editors": self.rows(),
        }

    def serve(self, ready: Callable[[], None]) -> None:
        """Take orders until Ctrl-C, SIGTERM or the order to stop; `ready` is called when it can."""
        # SIGINT and SIGTERM end it the same way, also while an order is carried out.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self._waker.send(b"x"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self._socket))
            listener.listen()
            self._note.write_text(json.dumps({"socket": str(self._socket)}))
            ready()
            while self._wake not in select.select([listener, self._wake], [], [])[0]:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(2)
        with connection.makefile("rb") as lines:
            order = json.loads(lines.readline() or b"{}")
        try:
            reply = {"result": self._obey(order)}
        except (HarnessError, WaitTimeout, KeyError, OSError, ValueError) as error:
            reply = {"error": str(error) or type(error).__name__}
        connection.sendall(json.dumps(reply).encode() + b"\n")

    def _obey(self, order: dict[str, Any]) -> Any:
        do = order.get("do")
        if do == "ls":
            return self.facts()
        if do == "stop":
            self._waker.send(b"x")
            return os.getpid()
        editor = self._find(str(order.get("id")))
        text = str(order.get("text", ""))
        orders: dict[Any, Callable[[], Any]] = {
            "screen": lambda: editor.screen().framed(),
            "picture": lambda: svg([editor.panel(f"{editor.name} (pid {editor.pid})")]),
            # A person may well want to see what an unfinished command looks like.
            "type": lambda: editor.type(text, sync=False),
            "eval": lambda: editor.eval(text),
            "kill": lambda: editor.kill(_signal(text)),
            "freeze": editor.freeze,
            "thaw": editor.thaw,
        }
        if do not in orders:
            raise HarnessError(f"no such order: {do!r}")
        return orders[do]()

    def _find(self, wanted: str) -> Editor:
        for row in self.rows():
            if wanted in (row["id"], row["instance_id"], str(row["pid"])):
                return self.editors[row["id"]]
        raise HarnessError(f"no editor {wanted!r} here; the ids are {', '.join(self.editors)}")

    def close(self) -> None:
        """End everything and leave nothing behind."""
        self._note.unlink(missing_ok=True)
        for editor in self.editors.values():
            editor.thaw()
            editor.stop()
        self.stage.close()


def _signal(name: str) -> int:
    try:
        return signal.Signals[f"SIG{name.upper().removeprefix('SIG')}"]
    except KeyError:
        raise HarnessError(f"no such signal: {name}; say TERM, KILL, HUP …") from None


def running() -> dict[int, str]:
    """Return the sockets of the spawns that run, by process id."""
    found = {}
    for note in sorted(registry().glob("*.json")):
        if note.stem.isdigit() and process.exists(int(note.stem)):
            found[int(note.stem)] = str(json.loads(note.read_text())["socket"])
        else:
            note.unlink(missing_ok=True)
    return found


def order(spawn: int | None, **what: Any) -> Any:
    """Give an order to a running spawn, the only one unless told which, and return its result.

    Raises:
        HarnessError: there is none, there are several, or it refused, with its reason.
    """
    found = running()
    if spawn is not None and spawn not in found:
        raise HarnessError(f"no spawn with process id {spawn}; see: harness ls")
    if not found:
        raise HarnessError("no spawn is running; start one with: harness spawn 3")
    if spawn is None and len(found) > 1:
        raise HarnessError(
            f"several spawns are running, say --spawn {' or '.join(map(str, found))}"
        )
    path = found[spawn if spawn is not None else next(iter(found))]
    try:
        with socket.socket(socket.AF_UNIX) as dialled:
            dialled.connect(path)
            dialled.sendall(json.dumps(what).encode() + b"\n")
            with dialled.makefile("rb") as lines:
                reply = json.loads(lines.readline())
    except (OSError, ValueError) as error:
        raise HarnessError(f"the spawn does not answer: {error}") from error
    if "error" in reply:
        raise HarnessError(reply["error"])
    return reply["result"]


def announce(facts: dict[str, Any], *, as_json: bool) -> None:
    """Say what was started, and how to get at it."""
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        variable = f"VIM_MCP_RUNTIME_DIR={facts['runtime_dir']}"
        sys.stdout.write(
            f"{table(facts['editors'])}\n"
            f"An MCP client attaches with the command   env {variable} vim-mcp\n"
            f"Claude Code:   claude mcp add vim -e {variable} -- vim-mcp\n"
            f"Inspector:     npx @modelcontextprotocol/inspector -e {variable} vim-mcp\n"
            "See a screen:  harness screen 1\n"
            "Type keys:     harness type 1 'ihello<Esc>'\n"
            "Ctrl-C ends the hub and the editors.\n"
        )
    sys.stdout.flush()


def table(rows: Sequence[Row]) -> str:
    """Return rows as aligned text under their names."""
    if not rows:
        return "none\n"
    names = list(rows[0])
    cells = [names, *([str("-" if row[n] is None else row[n]) for n in names] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(names))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        + "\n"
        for row in cells
    )
