"""The plugin as a package of an editor: what has to be there, what is there, and the change.

The package is a directory of its own with our mark. Its parts are symbolic links into the installed
program, or copies; the help tags are always its own, so that nothing is written through a link.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from typing import NamedTuple

from vim_mcp import __version__

MARK = ".vim-mcp-install"
_TAG = re.compile(r"(?:^|(?<=[ \t]))\*([^*\s|]+)\*(?=[ \t]|$)", re.MULTILINE)


class Entry(NamedTuple):
    """A file with its content, or a symbolic link with its target."""

    is_link: bool
    content: bytes


Tree = dict[str, Entry]


def wanted(source: str, *, copy: bool) -> Tree:
    """Return what the package must hold to load the plugin in `source`."""
    tree: Tree = {}
    for directory, names, files in os.walk(source):
        names[:] = sorted(name for name in names if not name.startswith((".", "__")))
        inside = os.path.relpath(directory, source)
        for name in sorted(files):
            path = os.path.normpath(os.path.join(inside, name))
            # Whatever :helptags left in the source.
            if name.startswith(".") or path == os.path.join("doc", "tags"):
                continue
            if copy:
                tree[path] = _file(os.path.join(directory, name))
            elif inside in (".", "doc"):
                tree[path] = Entry(True, os.fsencode(os.path.join(directory, name)))
        if not copy:
            for name in names[:]:
                if inside == "." and name != "doc":
                    names.remove(name)
                    tree[name] = Entry(True, os.fsencode(os.path.join(directory, name)))
    tree[os.path.join("doc", "tags")] = Entry(False, help_tags(os.path.join(source, "doc")))
    mark = {"version": __version__, "source": source, "how": "copy" if copy else "links"}
    tree[MARK] = Entry(False, json.dumps(mark).encode() + b"\n")
    return tree


def _file(path: str) -> Entry:
    with open(path, "rb") as file:
        return Entry(False, file.read())


def help_tags(directory: str) -> bytes:
    """Return what :helptags would write for the help files in a directory."""
    found = []
    for name in sorted(os.listdir(directory)):
        if name.endswith(".txt"):
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                for tag in _TAG.findall(file.read()):
                    escaped = tag.replace("\\", "\\\\").replace("/", "\\/")
                    found.append(f"{tag}\t{name}\t/*{escaped}*\n".encode())
    return b"".join(sorted(found))


def present(path: str) -> Tree:
    """Return what a directory holds."""
    tree: Tree = {}
    for directory, names, files in os.walk(path):
        for name in [*names, *files]:
            entry = os.path.join(directory, name)
            inside = os.path.relpath(entry, path)
            if os.path.islink(entry):
                tree[inside] = Entry(True, os.fsencode(os.readlink(entry)))
            elif name in files:
                tree[inside] = _file(entry)
    return tree


def kind(path: str) -> str:
    """Return what is at a package's place.

    "" nothing, "ours" what install put there, "link" a symbolic link to a plugin of vim-mcp,
    "broken" a symbolic link to nothing, "foreign" anything else.
    """
    if os.path.islink(path):
        if not os.path.exists(path):
            return "broken"
        return "link" if is_plugin(path) else "foreign"
    if not os.path.lexists(path):
        return ""
    return "ours" if os.path.isfile(os.path.join(path, MARK)) else "foreign"


def is_plugin(path: str) -> bool:
    """Tell whether a directory holds vim-mcp's plugin."""
    return os.path.isfile(os.path.join(path, "plugin", "vim_mcp.vim"))


def plugin_version(path: str) -> str:
    """Return the version of the plugin in a directory, "?" when it does not tell."""
    try:
        with open(os.path.join(path, "autoload/vim_mcp/info.vim"), encoding="utf-8") as file:
            found = re.search(r"'plugin_version': '([^']+)'", file.read())
    except OSError:
        return "?"
    return found[1] if found else "?"


def put(path: str, tree: Tree) -> None:
    """Put the package in its place, in one step, whatever of ours is there now.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    # Beside start/, where no editor loads it from while it is half there.
    workshop = os.path.dirname(os.path.dirname(path))
    new = os.path.join(workshop, f".new-{os.getpid()}")
    old = os.path.join(workshop, f".old-{os.getpid()}")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        for name, entry in tree.items():
            target = os.path.join(new, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if entry.is_link:
                os.symlink(entry.content, os.fsencode(target))
            else:
                with open(target, "wb") as file:
                    file.write(entry.content)
        if os.path.lexists(path):
            os.rename(path, old)
        os.rename(new, path)
    except OSError:
        if not os.path.lexists(path) and os.path.lexists(old):
            os.rename(old, path)
        raise
    finally:
        for left in (new, old):
            _delete(left)


def remove(path: str) -> None:
    """Remove a package or file of ours, and the directories that are empty without it.

    Raises:
        OSError: It cannot be removed.
    """
    _delete(path)
    home = os.path.expanduser("~")
    parent = os.path.dirname(path)
    with contextlib.suppress(OSError):
        while parent not in (home, "/"):
            os.rmdir(parent)
            parent = os.path.dirname(parent)


def _delete(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
