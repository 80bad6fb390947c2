"""An editor under test: a real one, on a pseudo-terminal, driven by keys and looked at from aside."""

from __future__ import annotations

import abc
import contextlib
import itertools
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from . import binary, process
from .control import Closed, Control
from .driver import Driver
from .hub import find_instance
from .reset import reset
from .sandbox import Sandbox
from .screen import Terminal
from .wait import WaitTimeout, wait_until

_HERE = Path(__file__).resolve().parent
_E = TypeVar("_E", bound="Editor")

Wait = Literal["registered", "started", "opened"]

_numbers = itertools.count(1)


def plugin_dir() -> Path:
    """Return the directory of the plugin under test, the one that holds plugin/ and autoload/."""
    from vim_mcp import paths

    return Path(paths.plugin_dir())


class Editor(Driver):
    """One editor in a sandbox; `Vim` and `Neovim` are the two kinds.

    Duties of the caller: `start()`, then `stop()`; or `with Vim(sandbox) as vim`.
    """

    kind: ClassVar[str]
    candidates: ClassVar[tuple[str, ...]]
    override: ClassVar[str]
    package: ClassVar[str]
    flags: ClassVar[tuple[str, ...]] = ()

    def __init__(self, sandbox: Sandbox, *, binary: str | None = None) -> None:
        super().__init__(f"{self.kind}-{next(_numbers)}")
        self.sandbox = sandbox
        self.binary = binary or self.find()
        self.cwd = sandbox.project()
        self._started_with: dict[str, Any] = {}

    @classmethod
    def find(cls) -> str:
        """Return the path of the editor to use.

        Raises:
            EditorNotFound: there is none; it names the package that has one.
        """
        return binary.find(cls.kind, cls.candidates, cls.override, cls.package, cls.usable)

    @classmethod
    def usable(cls, path: str) -> bool:
        """Whether the editor at `path` can be driven by the harness."""
        return os.access(path, os.X_OK)

    # The beginning and the end

    def start(
        self: _E,
        files: Sequence[str | Path] = (),
        args: Sequence[str] = (),
        *,
        cwd: Path | None = None,
        rc_extra: str = "",
        plugin: bool | Path = True,
        wait: Wait | None = None,
        swap: bool = False,
        env: dict[str, str] | None = None,
    ) -> _E:
        """Start the editor and wait until it is there.

        `files` are opened, `args` come before them. `rc_extra` is Vimscript, run before plugins.
        `plugin` puts vim-mcp's plugin on 'runtimepath', or the one in that directory. `wait`:
        "registered" (the default with vim-mcp's) waits until the private hub lists it, "started"
        (the default otherwise) until VimEnter, "opened" only until it read its configuration: it
        may be at a prompt then. `swap` lets it use swap files.

        Raises:
            EditorBlocked: it waits for a key instead of starting up.
            EditorDied: it ended.
            WaitTimeout: it took over ten seconds.
        """
        self._started_with = {
            "files": files,
            "args": args,
            "cwd": cwd,
            "rc_extra": rc_extra,
            "plugin": plugin,
            "wait": wait,
            "swap": swap,
            "env": env,
        }
        self.cwd = cwd or self.sandbox.project()
        control = Control(self.sandbox.root / f"{self.name}.sock")
        environment = self.sandbox.env(HARNESS_CONTROL=str(control.path)) | (env or {})
        argv = [self.binary, *self.flags, "-u", str(self._write_rc(rc_extra, plugin)), "-i", "NONE"]
        argv += [*(() if swap else ("-n",)), *args, *map(str, files)]
        self._control = control
        self._terminal = Terminal(argv, env=environment, cwd=self.cwd)
        self._pid = self._terminal.pid
        try:
            self._wait_for(wait or ("registered" if plugin is True else "started"))
        except BaseException:
            # Nobody has this editor yet who could stop it.
            self.stop()
            raise
        return self

    def _wait_for(self, wait: Wait) -> None:
        terminal = self._running()
        assert self._control is not None
        with self._death():
            self._control.accept(self.seconds, lambda: terminal.alive)
        if wait == "opened":
            return

        def entered() -> bool:
            self._come_to_rest("start up")
            return bool(self.eval("v:vim_did_enter"))

        wait_until(
            entered,
            seconds=self.seconds,
            what=f"{self.name} to start up",
            detail=lambda: terminal.look().framed(),
        )
        self._pid = int(self.eval("getpid()"))
        self.eval("HarnessSnapshot()")
        # Again: what -c commands and VimEnter bring up comes after v:vim_did_enter is set.
        self._come_to_rest("start up")
        if wait == "registered":
            self.wait_registered()

    def wait_registered(self, seconds: float = 10.0) -> str:
        """Wait until the sandbox's hub lists this editor; return its instance id.

        Raises:
            WaitTimeout: the hub does not list it; the message has the plugin's own account.
        """
        found = wait_until(
            lambda: find_instance(self.sandbox, self.pid) if self.alive else None,
            seconds=seconds,
            what=f"{self.name} (pid {self.pid}) to register with the hub",
            detail=lambda: f"{self._running().look().framed()}\n{self.plugin_log()}",
        )
        return str(found["instance_id"])

    def _write_rc(self, extra: str, plugin: bool | Path) -> Path:
        sourced = [f"source {_HERE / name}" for name in ("control.vim", "reset.vim")]
        # Else it keeps a file in the first directory of 'runtimepath': the plugin under test.
        netrw = f"let g:netrw_home = '{self.sandbox.home}'"
        lines = [*sourced, *self._rc(), netrw]
        if plugin:
            lines.append(f"set runtimepath^={plugin_dir() if plugin is True else plugin}")
        path = self.sandbox.root / f"{self.name}.vim"
        path.write_text("\n".join([*lines, extra, ""]))
        return path

    @abc.abstractmethod
    def _rc(self) -> list[str]:
        """Lines of the configuration that this kind of editor needs to be driven."""

    def stop(self) -> None:
        """End the editor, politely if it listens, and let go of its terminal."""
        terminal = self._terminal
        if terminal is None:
            return
        with contextlib.suppress(Exception):
            self.thaw()
        if terminal.alive and self._control is not None:
            with contextlib.suppress(Closed, WaitTimeout):
                self._request("command", "qall!")
                wait_until(lambda: not terminal.alive, seconds=1, what=f"{self.name} to quit")
        self._discard()

    def _discard(self) -> None:
        """Kill what is left, and forget it."""
        if self._terminal is not None:
            self._terminal.close()
        if self._pid and process.exists(self._pid) and self._ours(self._pid):
            process.end(self._pid)
        if self._control is not None:
            self._control.close()
        self._terminal = self._control = None
        self._pid = 0

    def _ours(self, pid: int) -> bool:
        # A process id is used again; only one with our environment is this editor.
        return any(one.pid == pid for one in self.sandbox.processes())

    def restart(self: _E) -> _E:
        """Stop the editor, or what is left of it, and start it as it was started last."""
        self.stop()
        return self.start(**self._started_with)

    def __enter__(self: _E) -> _E:
        return self if self._terminal is not None else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # Its process

    @property
    def pid(self) -> int:
        """The process id the editor itself reports (Neovim from 0.10 on is two processes)."""
        return self._pid

    @property
    def alive(self) -> bool:
        """Whether the editor runs; a stopped one does."""
        return self._terminal is not None and self._terminal.alive and process.exists(self._pid)

    @property
    def instance_id(self) -> str:
        """The id under which the hub lists this editor.

        Raises:
            KeyError: it does not.
        """
        found = find_instance(self.sandbox, self.pid)
        if found is None:
            raise KeyError(f"{self.name} (pid {self.pid}) is not registered")
        return str(found["instance_id"])

    @property
    def version(self) -> str:
        """The editor's version, "9.0.1378" or "0.7.2"."""
        return self._version()

    @abc.abstractmethod
    def _version(self) -> str: ...

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to the editor; after SIGKILL, wait until it is gone."""
        os.kill(self.pid, number)
        if number == signal.SIGKILL:
            wait_until(lambda: not self.alive, what=f"{self.name} to be gone")

    def freeze(self) -> None:
        """Stop the editor (SIGSTOP), as a debugger or a laptop's lid does, and wait until it is."""
        os.kill(self.pid, signal.SIGSTOP)
        if process.LINUX:
            wait_until(lambda: process.stopped(self.pid), what=f"{self.name} to be stopped")

    def thaw(self) -> None:
        """Let a frozen editor run on; nothing happens to one that runs."""
        if self.alive:
            os.kill(self.pid, signal.SIGCONT)

    # Reset

    def reset(self) -> None:
        """Bring a used editor back to the state it had after its start.

        Raises:
            ResetFailed: something is left; restart() then.
        """
        reset(self)
