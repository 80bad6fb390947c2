"""Driving a program on a terminal that has the harness's line in it: keys in, answers out."""

from __future__ import annotations

import abc
import contextlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import keys as key_notation
from . import process
from .control import Closed, Control, Mode
from .errors import EditorBlocked, EditorDied, EditorError
from .picture import Panel
from .screen import Screen, Terminal
from .wait import Deadline, WaitTimeout, wait_until

# Keys left over in an editor that sleeps: the start of a mapping, or of a terminal's code. The
# latter are resolved within milliseconds, so after this it is the former.
_MAPPING_S = 0.1


class Chunk(NamedTuple):
    """Bytes to write at once; `settle`: the editor has to take them in before more come."""

    data: bytes
    settle: bool = False


class Driver(abc.ABC):
    """What can be done with an editor that runs; `Editor` starts and ends it.

    Every method that needs an answer raises EditorDied when the editor is gone, EditorBlocked when
    it cannot answer because it waits for a key or is stopped, and WaitTimeout when it is busy for
    too long.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.seconds = 10.0
        self._terminal: Terminal | None = None
        self._control: Control | None = None
        self._pid = 0

    # Keys and the screen

    def type(self, keys: str, *, sync: bool = True) -> None:
        """Type keys in Vim's notation: "ihello<Esc>", ":set nu<CR>", "<C-w>v", "a <lt> b".

        With `sync` it returns when the editor has worked them all off and shows the result. Without,
        it returns when they are on their way: for keys that leave a command unfinished or bring up a
        prompt; `wait_mode()` tells when the editor is there.

        `:sleep` is no work: Neovim looks at rest in it, and Vim as if it waited for a key.

        Raises:
            EditorBlocked: with `sync`, when the keys left it waiting for another key.
            WaitTimeout: with `sync`, when it is still at it after ten seconds.
        """
        terminal = self._running()
        for chunk in self._chunks(key_notation.encode(keys)):
            try:
                terminal.write(chunk.data, seconds=self.seconds)
            except (OSError, WaitTimeout) as error:
                self._explain(f"type {keys!r}", error)
            if chunk.settle:
                self._settle(f"type {keys!r}")
        if sync:
            self._come_to_rest(f"finish {keys!r}")

    def _come_to_rest(self, asked: str) -> None:
        seen = self._settle(asked)
        if seen.waiting:
            raise self._blocked(seen.mode, asked)

    def _chunks(self, keys: list[bytes]) -> list[Chunk]:
        return [Chunk(b"".join(keys))]

    def _settle(self, asked: str) -> Mode:
        """Wait until the editor has worked off what was typed; return what it is doing then."""
        mapping: Deadline | None = None

        def settled() -> Mode | None:
            nonlocal mapping
            if not self._quiet():
                mapping = None
                self._check(asked)
                return None
            seen = self._ask_mode(self.seconds, asked)
            if seen.typeahead:
                mapping = mapping or Deadline(_MAPPING_S)
                if not mapping.passed:
                    return None
            # Asleep at a prompt, or in its main loop; if in a wait for some child, no answer comes.
            if not seen.waiting and not self._echo(asked):
                return None
            return seen if self._quiet() else None

        return wait_until(
            settled,
            seconds=self.seconds,
            what=f"{self.name} to {asked}",
            detail=lambda: self._running().look().framed(),
        )

    def _quiet(self) -> bool:
        """Whether the editor has read its input, sleeps, and all it wrote is on the screen."""
        terminal = self._running()
        pids = {terminal.pid, self._pid}
        before = [process.asleep(pid) for pid in pids]
        if not terminal.consumed() or not terminal.drained():
            return False
        if not process.LINUX:
            return True
        # All threads asleep, and none woke up while the pty was looked at: nothing is on its way
        # between them either (Neovim reads keys in one thread, from 0.10 on in another process).
        return None not in before and before == [process.asleep(pid) for pid in pids]

    def _echo(self, asked: str) -> bool:
        return bool(self._answer("eval", "1", asked, self.seconds) == {"value": "1"})

    def mode(self) -> str:
        """Return mode(1), in every state but a stopped or busy one: "n", "i", "no", "r", "c" …"""
        return self._ask_mode(self.seconds, "say its mode").mode

    def wait_mode(self, mode: str, *, seconds: float = 5.0) -> None:
        """Wait until mode(1) is `mode`: after keys typed with sync=False.

        Raises:
            WaitTimeout: it is in another mode.
        """
        wait_until(
            lambda: self.mode() == mode,
            seconds=seconds,
            what=f"{self.name} to be in mode {mode!r}",
            detail=lambda: f"it is in {self.mode()!r}\n{self._running().look().framed()}",
        )

    @property
    def waiting(self) -> bool:
        """Whether the editor waits for a key: at a prompt, or halfway a command."""
        return self._ask_mode(self.seconds, "say its mode").waiting

    def screen(self) -> Screen:
        """Return what the editor shows, complete if it is at rest within a fifth of a second."""
        terminal = self._running()
        with contextlib.suppress(WaitTimeout):
            wait_until(self._quiet, seconds=0.2)
        return terminal.look()

    def panel(self, title: str) -> Panel:
        """Return the same with its colours, for a picture."""
        self.screen()
        return Panel(title, self._running().rows())

    def wait_screen(self, text: str, *, seconds: float = 5.0) -> Screen:
        """Wait until `text` is on the screen, and return the screen.

        Raises:
            WaitTimeout: it does not appear.
            EditorDied: the editor is gone.
        """
        terminal = self._running()

        def shown() -> Screen | None:
            screen = terminal.look()
            if text in screen:
                return screen
            self._check(f"show {text!r}")
            return None

        return wait_until(
            shown,
            seconds=seconds,
            what=f"{self.name} to show {text!r}",
            detail=lambda: terminal.look().framed(),
        )

    # Looking into it, past the product

    def eval(self, expression: str) -> Any:
        """Return the value of a Vimscript expression, as JSON carries it.

        Raises:
            EditorError: the editor's own error.
        """
        return self._value("eval", expression)

    def command(self, command: str) -> str:
        """Run an Ex command and return its output. Not typed: for setting up and looking.

        Raises:
            EditorError: the editor's own error.
        """
        return str(self._value("command", command)).lstrip("\n")

    def lines(self, bufnr: int | None = None) -> list[str]:
        """Return the text of a buffer, else of the current one."""
        return [str(line) for line in self.eval(f"getbufline({bufnr or 'bufnr()'}, 1, '$')")]

    def messages(self) -> str:
        """Return the message history."""
        return self.command("messages").strip()

    def plugin_log(self) -> str:
        """Return the plugin's log, or "" when it has none."""
        found = self.eval("exists('*vim_mcp#log#Lines') ? join(vim_mcp#log#Lines(), \"\\n\") : ''")
        return str(found)

    def _value(self, verb: str, text: str) -> Any:
        reply = self._answer(verb, text, f"{verb} {text}", self.seconds)
        if reply is None:
            seconds = self.seconds
            screen = self._running().look().framed()
            raise WaitTimeout(f"{self.name} to {verb} {text}", seconds, screen)
        if "error" in reply:
            raise EditorError(text, str(reply["error"]))
        return json.loads(reply["value"])

    # The line

    @abc.abstractmethod
    def _line(self, number: int, verb: str, text: str) -> str:
        """One request as this kind of editor takes it; `verb` is eval, command, mode or cancel."""

    def _request(self, verb: str, text: str = "") -> int:
        if self._control is None:
            raise Closed("not started")
        return self._control.send(lambda number: self._line(number, verb, text))

    def _answer(self, verb: str, text: str, asked: str, seconds: float) -> Any:
        """Ask, and return the answer; None when there is none in time.

        Raises:
            EditorBlocked: it will not answer before someone types a key, or lets it run on.
        """
        deadline = Deadline(seconds)
        control = self._control
        with self._death():
            number = self._request(verb, text)
            assert control is not None
            while (reply := control.receive(number)) is None:
                self._check(asked)
                if mode := self._unable():
                    # Once more: it may have answered and then come to a prompt.
                    reply = control.receive(number, 0)
                    if reply is not None:
                        return reply
                    self._request("cancel", str(number))
                    raise self._blocked(mode, asked)
                if deadline.passed:
                    return None
        return reply

    def _unable(self) -> str:
        """Return the mode that keeps the editor from answering at all, or ""."""
        return ""

    def _ask_mode(self, seconds: float, asked: str) -> Mode:
        reply = self._answer("mode", "", asked, seconds)
        if reply is None:
            raise WaitTimeout(f"{self.name} to {asked}", seconds, self._running().look().framed())
        return Mode(reply["mode"], bool(reply["pending"]), bool(reply["typeahead"]))

    # Errors

    def _running(self) -> Terminal:
        if self._terminal is None:
            raise EditorDied(self.name, "not started, or stopped")
        return self._terminal

    def _check(self, asked: str) -> None:
        """Raise when the editor is gone or stopped."""
        terminal = self._running()
        if not terminal.alive:
            raise self._died()
        if process.stopped(self._pid):
            raise self._blocked("stopped", asked)

    def _blocked(self, mode: str, asked: str) -> EditorBlocked:
        return EditorBlocked(self.name, mode, asked, self._running().look().framed())

    def _died(self) -> EditorDied:
        terminal = self._running()
        return EditorDied(self.name, terminal.how_it_ended(), terminal.look().framed())

    @contextlib.contextmanager
    def _death(self) -> Iterator[None]:
        """Turn the end of the line into EditorDied."""
        terminal = self._running()
        try:
            yield
        except Closed as error:
            # The line closes a moment before the process is gone.
            with contextlib.suppress(WaitTimeout):
                wait_until(lambda: not terminal.alive, seconds=1)
            if terminal.alive:
                raise EditorError("the harness's line", str(error)) from error
            raise self._died() from error

    def _explain(self, asked: str, error: Exception) -> None:
        self._check(asked)
        raise error
