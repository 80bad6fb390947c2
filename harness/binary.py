"""Which editor to run: the one the environment names, else the first that can be driven."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence

from .errors import EditorNotFound


def find(
    kind: str,
    candidates: Sequence[str],
    override: str,
    package: str,
    usable: Callable[[str], bool],
) -> str:
    """Return the path of an editor: what the variable `override` names, else a usable candidate.

    Raises:
        EditorNotFound: there is none; it names the package that has one.
    """
    chosen = os.environ.get(override)
    for name in [chosen] if chosen else candidates:
        path = shutil.which(name)
        if path and usable(path):
            return path
    where = f"{override}={chosen}" if chosen else " or ".join(candidates)
    remedy = f"looked for {where}; install the package {package}, or set {override} to one"
    raise EditorNotFound(kind, remedy)
