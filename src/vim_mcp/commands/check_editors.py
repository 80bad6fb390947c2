"""The doctor's look at editors: which there are, and whether they load the plugin."""

from __future__ import annotations

import glob
import json
import os
import shutil
from collections.abc import Iterator
from typing import Any

from vim_mcp import __version__, paths
from vim_mcp.commands import package, places
from vim_mcp.commands.findings import Finding, error, ok, warning

#: Where packages and plugin managers put plugins, below the directories of 'packpath'.
_PATTERNS = ("pack/*/start/*", "pack/*/opt/*", "bundle/*", "plugged/*", "lazy/*")
_OPTION = {"vim": "--vim", "nvim": "--neovim"}

Editors = dict[str, "places.Editor | None"]


def editors(found: Editors) -> Iterator[Finding]:
    """Tell the editors on PATH and whether the plugin can work in them."""
    if not any(found.values()):
        yield warning("editor", "neither Vim nor Neovim is on PATH", "install one of them")
    for kind, editor in found.items():
        if editor is None:
            continue
        if editor.problem:
            remedy = "install Vim 8.2.4684 or later with +channel and +job (Debian: vim-nox)"
            if kind == "nvim":
                remedy = "install Neovim 0.5 or later"
            yield warning("editor", f"{editor}: {editor.problem}", remedy)
        else:
            yield ok("editor", str(editor))
        real = os.path.realpath(editor.program)
        sandboxed = "/snap" in (real[:5], editor.program[:5]) or "/flatpak/" in editor.program
        if sandboxed and paths.runtime_dir().startswith("/tmp/"):
            yield warning(
                "editor",
                f"{editor.program} is a snap or flatpak, whose /tmp may be its own",
                "if it does not connect, set VIM_MCP_RUNTIME_DIR to a directory in your home "
                "(mode 0700) for editor and assistant",
            )


def plugins(found: Editors, connected: list[dict[str, Any]]) -> Iterator[Finding]:
    """Tell where each editor loads the plugin from, and whether it is as old as this program."""
    for kind, editor in found.items():
        if editor is None or editor.problem:
            continue
        name = places.NAMES[kind]
        copies = list(_copies(kind))
        if not copies and any(i["editor"] == kind for i in connected):
            yield ok("plugin", f"{name} has it from elsewhere ('runtimepath')")
        elif not copies:
            yield warning(
                "plugin",
                f"{name} has it neither as a package nor from a plugin manager",
                f"vim-mcp install {_OPTION[kind]}",
            )
        elif len(copies) > 1:
            yield warning(
                "plugin",
                f"{name} has it {len(copies)} times: {', '.join(map(places.short, copies))}",
                "keep one: the editor loads whichever comes first",
            )
        for path in copies:
            yield _state(name, kind, path)


def _copies(kind: str) -> Iterator[str]:
    """Yield the directories from which an editor of that kind may load the plugin."""
    own = {places.package(kind, has_xdg) for has_xdg in (False, True)}
    seen = set()
    for root in places.packpath(kind):
        for pattern in _PATTERNS:
            for path in sorted(glob.glob(os.path.join(glob.escape(root), pattern))):
                # A plugin manager has the whole repository, with the plugin in vim/.
                for directory in (path, os.path.join(path, "vim")):
                    left = directory in own and package.kind(directory) in ("ours", "broken")
                    real = os.path.realpath(directory)
                    if (left or package.is_plugin(directory)) and real not in seen:
                        seen.add(real)
                        yield directory


def _state(name: str, kind: str, path: str) -> Finding:
    again = f"vim-mcp install {_OPTION[kind]}"
    where = f"{name}: {places.short(path)}"
    if not package.is_plugin(path):
        return error("plugin", f"{where} has links that lead nowhere", again)
    version = package.plugin_version(path)
    is_ours = package.kind(path) == "ours"
    if version != __version__:
        remedy = again if is_ours else "update it with what installed it"
        return warning("plugin", f"{where} is {version}, vim-mcp is {__version__}", remedy)
    if is_ours and not _is_whole(path):
        return warning("plugin", f"{where} differs from what vim-mcp install puts there", again)
    return ok("plugin", f"{where}, {version}")


def _is_whole(path: str) -> bool:
    """Tell whether a package is what install would make of this installation now."""
    try:
        with open(os.path.join(path, package.MARK), encoding="utf-8") as file:
            mark = json.load(file)
        if mark["source"] != paths.plugin_dir():
            return True
        return package.present(path) == package.wanted(mark["source"], copy=mark["how"] == "copy")
    except (OSError, ValueError, KeyError):
        return False


def program() -> Iterator[Finding]:
    """Tell how editors find the program: on PATH, or where install said."""
    here, found = places.program(), shutil.which("vim-mcp")
    recorded = places.recorded_command()
    if recorded and not os.access(recorded, os.X_OK):
        yield error(
            "program",
            f"{places.short(places.command_file())} names {recorded}, which is gone",
            "vim-mcp install",
        )
    if found is None and not recorded:
        yield warning(
            "program",
            "vim-mcp is not on PATH: editors cannot start the hub",
            "vim-mcp install, or let g:vim_mcp_command = ['/path/to/vim-mcp']",
        )
    elif found and here and os.path.realpath(found) != os.path.realpath(here):
        yield warning(
            "program",
            f"this is {here}, on PATH is another: {found}",
            "remove one of them, they may differ in version",
        )
    else:
        yield ok("program", f"{found or recorded}, {__version__}")
