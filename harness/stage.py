"""A sandbox with its hub, editors and assistants: what one test, or many in turn, stand on."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import process
from .editor import Editor
from .editors import make_editor
from .errors import HarnessError, ProcessesLeft
from .hub import Hub, ask_hub, hub_status
from .raw import RawAssistant
from .sandbox import Sandbox
from .wait import WaitTimeout, wait_until

if TYPE_CHECKING:
    from .assistant import Assistant


class Stage:
    """One sandbox and all that runs in it.

    `editor(kind)` is kept from one test to the next, blank each time; what `new_editor()` and
    `new_assistant()` start ends with the test. `plugin` is what editors get (see Editor.start);
    only vim-mcp's own needs a hub. Duties of the caller: `tidy()` after each test, `close()`.
    """

    def __init__(self, *, plugin: bool | Path = True) -> None:
        self.sandbox = Sandbox()
        self.plugin = plugin
        self._hub = Hub(self.sandbox)
        self._kept: dict[str, Editor] = {}
        self._extra: list[Editor] = []
        self._assistants: list[Assistant | RawAssistant] = []

    def need_hub(self) -> Hub:
        """Return the hub of this stage, started unless one answers."""
        if hub_status(self.sandbox) is None:
            # Dead, or frozen by a test that went wrong.
            self._hub.restart()
        return self._hub

    def editor(self, kind: str) -> Editor:
        """Return the kept editor of that kind, blank and registered; a new one when it is not."""
        kept = self._kept.get(kind)
        if kept is not None:
            try:
                self._renew(kept)
                return kept
            except (HarnessError, WaitTimeout):
                kept.stop()
        self._kept[kind] = self._start(make_editor(kind, self.sandbox))
        return self._kept[kind]

    def _renew(self, editor: Editor) -> None:
        editor.thaw()
        editor.reset()
        if self.plugin is not True:
            return
        self.need_hub()
        # Registered anew, for what the hub knows of the last test's files would be told a moment
        # later; and a pause or a disconnection of the user's sticks.
        editor.command("VimMCPResume | VimMCPReconnect")
        wait_until(
            lambda: editor.eval("vim_mcp#statusline()") == "mcp",
            what=f"{editor.name} to be connected again",
        )
        editor.wait_registered()

    def _start(self, editor: Editor, **options: Any) -> Editor:
        options.setdefault("plugin", self.plugin)
        if options["plugin"] is True:
            self.need_hub()
        return editor.start(**options)

    def new_editor(self, kind: str, **options: Any) -> Editor:
        """Start one more editor for this test; `options` as for Editor.start()."""
        editor = make_editor(kind, self.sandbox)
        self._extra.append(editor)
        return self._start(editor, **options)

    def new_assistant(self, **options: Any) -> Assistant:
        """Start an assistant for this test; `options` as for Assistant."""
        from .assistant import Assistant  # the SDK takes half a second to import

        assistant = Assistant(self.sandbox, **options)
        self._assistants.append(assistant)
        return assistant.start()

    def new_raw_assistant(self, **options: Any) -> RawAssistant:
        """Start a raw assistant for this test; `options` as for RawAssistant."""
        assistant = RawAssistant(self.sandbox, **options)
        self._assistants.append(assistant)
        return assistant.start()

    def report(self) -> Iterator[tuple[str, str]]:
        """Yield what a failed test's report should hold: (title, text), nothing empty."""
        for editor in [*self._kept.values(), *self._extra]:
            for title, look in (
                ("screen", lambda editor=editor: editor.screen().framed()),
                (":messages", editor.messages),
                ("plugin log", editor.plugin_log),
            ):
                try:
                    text = look()
                except Exception as error:
                    # A report must not fail; what keeps an editor from answering is worth telling.
                    text = f"not to be had: {type(error).__name__}: {error}"
                if text:
                    yield f"{editor.name} {title}", text
        for assistant in self._assistants:
            if text := assistant.stderr():
                yield f"assistant {assistant.name}: stderr", text
        if text := self._hub.log_text():
            yield "hub log", text

    def tidy(self) -> None:
        """End what this test alone used, and empty the projects."""
        assistants, self._assistants = self._assistants, []
        for assistant in assistants:
            assistant.stop()
        extra, self._extra = self._extra, []
        for editor in extra:
            editor.stop()
        for editor in self._kept.values():
            # What was typed last may still be about to write a file.
            with contextlib.suppress(HarnessError):
                editor.screen()
        self.sandbox.clear_projects()

    def close(self) -> None:
        """End everything and delete the sandbox. May be called again.

        Raises:
            ProcessesLeft: something started here did not end with its hub and editors.
        """
        if self.sandbox.closed:
            return
        with contextlib.ExitStack() as last:
            last.callback(self.sandbox.close)
            for one in self.sandbox.processes():
                # What is stopped cannot end politely.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.pid, signal.SIGCONT)
            self.tidy()
            for editor in self._kept.values():
                editor.stop()
            self._hub.stop()
            left = self._wait_for_the_rest()
            if left:
                raise ProcessesLeft(left)

    def _wait_for_the_rest(self) -> list[str]:
        """Stop hubs that others started; give what is still ending a moment; return what is left."""

        def done() -> bool:
            ask_hub(self.sandbox, {"type": "stop"}, 1.0)
            for one in self.sandbox.processes():
                process.reap(one.pid)
            return not self.sandbox.processes()

        try:
            wait_until(done, seconds=3, what="the sandbox's processes to end")
        except WaitTimeout:
            return [
                f"{one.pid} {process.command_line(one.pid)}" for one in self.sandbox.processes()
            ]
        return []
