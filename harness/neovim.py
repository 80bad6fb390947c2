"""Neovim under test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

from .control import Mode
from .driver import Chunk
from .editor import Editor
from .keys import ESC

_HERE = Path(__file__).resolve().parent


class Neovim(Editor):
    """A Neovim on a pseudo-terminal."""

    kind: ClassVar[str] = "nvim"
    candidates: ClassVar[tuple[str, ...]] = ("nvim",)
    override: ClassVar[str] = "HARNESS_NVIM"
    package: ClassVar[str] = "neovim"

    def _rc(self) -> list[str]:
        return [f"luafile {_HERE / 'control.lua'}"]

    def _version(self) -> str:
        return str(self.eval("matchstr(execute('version'), 'NVIM v\\zs[0-9.]*')"))

    def _line(self, number: int, verb: str, text: str) -> str:
        argument = text if verb == "cancel" else json.dumps(text)
        return f"{number} {verb} {argument}"

    def _chunks(self, keys: list[bytes]) -> list[Chunk]:
        # A lone Escape costs Neovim 50 ms, and one before another key makes it <M-key>. This is
        # Escape as terminals with the CSI u protocol send it.
        return [Chunk(b"".join(b"\x1b[27u" if key == ESC else key for key in keys))]

    def _unable(self) -> str:
        """Ask the reader of the line, which answers at every prompt, whether Neovim is at one."""
        if self._control is None:
            return ""
        reply = self._control.receive(self._request("mode"), 1.0)
        if reply is None:
            return ""
        mode = Mode(reply["mode"], bool(reply["pending"]), bool(reply["typeahead"]))
        return mode.mode if mode.pending else ""
