"""The package's files: replaced under a running hub, they are another version's."""

from __future__ import annotations

import os

import vim_mcp


class Package:
    """Our modules as they were on disk when this was made.

    What is imported late (all that serves MCP) must be of the version that runs already: modules
    of two versions in one process would fail in ways that nobody can explain.
    """

    def __init__(self) -> None:
        self._root = os.path.dirname(os.path.abspath(vim_mcp.__file__))
        self._stamps = self._look()

    def changed(self) -> bool:
        """Tell whether a module was replaced, added or removed since."""
        return self._look() != self._stamps

    def _look(self) -> frozenset[tuple[str, int, int]]:
        """Return path, time and size of every module; one that vanishes meanwhile is left out."""
        found = set()
        for directory, _, names in os.walk(self._root):
            for name in names:
                if name.endswith(".py"):
                    path = os.path.join(directory, name)
                    try:
                        stamp = os.stat(path)
                    except OSError:
                        continue
                    found.add((path, stamp.st_mtime_ns, stamp.st_size))
        return frozenset(found)
