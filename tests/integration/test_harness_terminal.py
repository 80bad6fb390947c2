from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.sandbox import Sandbox
from harness.screen import Terminal
from harness.wait import WaitTimeout, wait_until

# Programs on a terminal that is raw, as an editor's is.
_RAW = "import os, tty; tty.setraw(0); os.write(1, b'ready'); "
_DEAF = _RAW + "import signal; signal.pause()"
_ECHO = _RAW + "\nwhile True: os.write(1, os.read(0, 1000).replace(b'q', b''))"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Callable[[str], Terminal]]:
    with Sandbox() as sandbox:
        terminals = []

        def start(code: str) -> Terminal:
            argv = [sys.executable, "-c", code]
            terminals.append(Terminal(argv, env=sandbox.env(), cwd=tmp_path))
            return terminals[-1]

        yield start
        for terminal in terminals:
            terminal.close()


def wait_shown(terminal: Terminal, text: str) -> None:
    wait_until(lambda: text in terminal.look(), what=f"{text} on the screen")


def test_what_a_program_has_not_read_is_known(program: Callable[[str], Terminal]) -> None:
    terminal = program(_DEAF)
    wait_shown(terminal, "ready")
    assert terminal.consumed()
    terminal.write(b"x")
    assert not terminal.consumed()


def test_what_a_program_has_read_is_known(program: Callable[[str], Terminal]) -> None:
    terminal = program(_ECHO)
    wait_shown(terminal, "ready")
    terminal.write(b"hello")
    wait_until(terminal.consumed, what="it to read")
    wait_shown(terminal, "readyhello")


def test_nothing_is_drained_before_it_is_on_the_screen(program: Callable[[str], Terminal]) -> None:
    terminal = program(_RAW + "os.read(0, 1); os.write(1, b'x' * 5000 + b'end'); os.read(0, 1)")
    wait_shown(terminal, "ready")
    terminal.write(b"g")
    wait_until(lambda: "x" in terminal.look(), what="the first of it")
    wait_until(terminal.drained, what="all of it")
    assert "end" in terminal.look()


def test_writing_to_a_program_that_does_not_read_ends(program: Callable[[str], Terminal]) -> None:
    terminal = program(_DEAF)
    wait_shown(terminal, "ready")
    with pytest.raises(WaitTimeout, match="to read its input"):
        terminal.write(b"x" * 1_000_000, seconds=0.2)


def test_the_way_it_ended_is_told(program: Callable[[str], Terminal]) -> None:
    terminal = program("raise SystemExit(3)")
    wait_until(lambda: not terminal.alive, what="its end")
    assert terminal.how_it_ended() == "exit status 3"
    terminal.close()
    terminal.close()


def test_a_program_that_ignores_every_signal_ends_with_its_terminal(
    program: Callable[[str], Terminal],
) -> None:
    deaf = "import signal as s; [s.signal(n, s.SIG_IGN) for n in (s.SIGHUP, s.SIGTERM, s.SIGINT)]; "
    terminal = program(deaf + _DEAF)
    wait_shown(terminal, "ready")
    terminal.close()
    assert not terminal.alive
