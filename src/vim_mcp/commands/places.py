"""The editors on this machine, where each looks for packages, and the program that they start."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from typing import NamedTuple

from vim_mcp import paths
from vim_mcp.commands import probe

NAMES = {"vim": "Vim", "nvim": "Neovim"}
_PROGRAMS = {
    "vim": ("vim", "gvim", "mvim", "vim.nox", "vim.gtk3", "vim.basic", "vi"),
    "nvim": ("nvim",),
}
#: The plugin's directory below a directory of 'packpath'.
PACKAGE = os.path.join("pack", "vim-mcp", "start", "vim-mcp")

#: Where uvx and `pipx run` put what they run once: it is gone some day.
_CACHES = re.compile(r"/(?:archive|environments|builds)-v\d+/|/\.cache/(?:uv|pipx)/|/pipx/\.cache/")


class Editor(NamedTuple):
    """An editor on PATH: its program, its version, and why the plugin does nothing in it ("")."""

    kind: str
    program: str
    version: str
    problem: str
    has_xdg: bool = False

    def __str__(self) -> str:
        return f"{NAMES[self.kind]} {self.version} ({self.program})"


def find(kind: str) -> Editor | None:
    """Return the editor of that kind which the plugin works in, else the first on PATH, or None."""
    first = None
    for name in _PROGRAMS[kind]:
        program = shutil.which(name)
        editor = look(kind, program) if program else None
        if editor is not None and not editor.problem:
            return editor
        first = first or editor
    return first


def look(kind: str, program: str) -> Editor | None:
    """Ask an editor for its version and features; None when it is something else."""
    told = probe.ask([program, "--version"])
    if told is None:
        return Editor(kind, program, "?", "it does not answer to --version")
    return vim(program, told.text) if kind == "vim" else neovim(program, told.text)


def vim(program: str, told: str) -> Editor | None:
    """Return the Vim that tells this of its version."""
    found = re.search(r"VIM - Vi IMproved (\d+)\.(\d+)", told)
    if found is None:
        return None
    version = int(found[1]), int(found[2])
    # Distributions add single later patches behind the range.
    patches = re.search(r"^Included patches: (?:1-)?(\d+)", told, re.MULTILINE)
    patch = int(patches[1]) if patches else 0
    problem = ""
    missing = [
        f"+{name}" for name in ("eval", "channel", "job", "timers") if f"+{name}" not in told
    ]
    if (*version, patch) < (8, 2, 4684):
        problem = "it is older than 8.2.4684"
    elif missing:
        problem = f"it has no {' '.join(missing)} (vim-tiny?)"
    text = f"{version[0]}.{version[1]}.{patch}"
    return Editor("vim", program, text, problem, has_xdg=(*version, patch) >= (9, 1, 327))


def neovim(program: str, told: str) -> Editor | None:
    """Return the Neovim that tells this of its version."""
    found = re.search(r"^NVIM v(\d+)\.(\d+)\.(\d+)", told, re.MULTILINE)
    if found is None:
        return None
    version = tuple(map(int, found.groups()))
    problem = "" if version >= (0, 5, 0) else "it is older than 0.5"
    return Editor("nvim", program, ".".join(found.groups()), problem)


def package(kind: str, has_xdg: bool = False) -> str:
    """Return the directory from which an editor of that kind loads the plugin as a package."""
    return os.path.join(_base(kind, has_xdg), PACKAGE)


def _base(kind: str, has_xdg: bool) -> str:
    if kind == "nvim":
        name = os.environ.get("NVIM_APPNAME") or "nvim"
        return os.path.join(_xdg("XDG_DATA_HOME", ".local/share"), name, "site")
    home = os.path.expanduser("~")
    xdg = os.path.join(_xdg("XDG_CONFIG_HOME", ".config"), "vim")
    older = [os.path.join(home, name) for name in (".vimrc", ".vim/vimrc")]
    # Vim takes this directory in place of ~/.vim when its vimrc is there and nowhere else.
    if has_xdg and os.path.exists(os.path.join(xdg, "vimrc")):
        if not any(map(os.path.exists, older)):
            return xdg
    return os.path.join(home, ".vim")


def packpath(kind: str) -> list[str]:
    """Return the directories in which an editor of that kind may find packages and bundles."""
    home = os.path.expanduser("~")
    if kind == "nvim":
        name = os.environ.get("NVIM_APPNAME") or "nvim"
        data = os.path.join(_xdg("XDG_DATA_HOME", ".local/share"), name)
        return [os.path.join(data, "site"), data, _xdg("XDG_CONFIG_HOME", ".config") + f"/{name}"]
    return [os.path.join(home, ".vim"), os.path.join(_xdg("XDG_CONFIG_HOME", ".config"), "vim")]


def _xdg(variable: str, default: str) -> str:
    return os.environ.get(variable) or os.path.join(os.path.expanduser("~"), default)


def is_passing(path: str) -> bool:
    """Tell whether a path is in the cache of uvx or `pipx run`, to be gone one day."""
    real = os.path.realpath(path)
    cache = os.environ.get("UV_CACHE_DIR")
    return bool(_CACHES.search(real)) or bool(cache and real.startswith(os.path.abspath(cache)))


def program() -> str | None:
    """Return the absolute path of this `vim-mcp`, or of one that will last; None without one."""
    here = [
        sys.argv[0] if os.path.basename(sys.argv[0]) == "vim-mcp" else "",
        os.path.join(sysconfig.get_path("scripts"), "vim-mcp"),
        shutil.which("vim-mcp") or "",
    ]
    for path in here:
        if path and os.access(path, os.X_OK) and not is_passing(path):
            return os.path.abspath(path)
    return None


def command_file() -> str:
    """Return the file that tells editors with a poor PATH where `vim-mcp` is."""
    return os.path.join(paths.state_dir(), "command")


def recorded_command() -> str:
    """Return the path in the command file; "" without one."""
    try:
        with open(command_file(), encoding="utf-8") as file:
            return file.readline().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def short(path: str) -> str:
    """Return a path with ~ for the home directory, for people."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path
