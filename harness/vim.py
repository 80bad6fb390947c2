"""Vim under test."""

from __future__ import annotations

import json
import subprocess
from typing import ClassVar

from .driver import Chunk
from .editor import Editor
from .keys import ESC


class Vim(Editor):
    """A Vim on a pseudo-terminal."""

    kind: ClassVar[str] = "vim"
    candidates: ClassVar[tuple[str, ...]] = ("vim.nox", "vim.basic", "vim.gtk3", "vim")
    override: ClassVar[str] = "HARNESS_VIM"
    package: ClassVar[str] = "vim-nox"
    flags: ClassVar[tuple[str, ...]] = ("-N",)

    @classmethod
    def usable(cls, path: str) -> bool:
        """Whether this Vim has channels (vim-tiny has not)."""
        found = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=False, timeout=10
        )
        return "+channel" in found.stdout

    def _rc(self) -> list[str]:
        # ttimeoutlen: else a lone Escape counts a second after it was typed. So short because each
        # look at the mode starts its wait anew. Filetypes are on in Neovim by default.
        return ["set ttimeout ttimeoutlen=1", "filetype on"]

    def _version(self) -> str:
        # Not v:versionlong, which names the last patch: Debian adds single later ones.
        number = int(self.eval("v:version"))
        patch = self.eval("matchstr(execute('version'), 'patches: \\%(1-\\)\\?\\zs\\d\\+')")
        return f"{number // 100}.{number % 100}.{patch or 0}"

    def _line(self, number: int, verb: str, text: str) -> str:
        function = {"eval": "HarnessEval", "command": "HarnessCommand", "mode": "HarnessMode"}
        arguments = [] if verb == "mode" else [text]
        return json.dumps(["call", function[verb], arguments, -number])

    def _chunks(self, keys: list[bytes]) -> list[Chunk]:
        # "\x1bOA" would be the Up key: an Escape has to be taken in before more is typed.
        chunks, rest = [], b""
        for at, key in enumerate(keys, start=1):
            rest += key
            if key == ESC and at < len(keys):
                chunks.append(Chunk(rest, settle=True))
                rest = b""
        return [*chunks, Chunk(rest)]
