"""JSON files of other programs: read whole, written whole, with the rights they have."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from vim_mcp.errors import CommandFailed


def load(path: str) -> dict[str, Any]:
    """Return the object in a file, an empty one when there is no file.

    Raises:
        CommandFailed: It cannot be read or understood.
    """
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CommandFailed(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise CommandFailed(f"{path} is not JSON ({error}); it was left as it is") from None
    if not isinstance(found, dict):
        raise CommandFailed(f"{path} is not a JSON object; it was left as it is")
    return found


def dump(whole: dict[str, Any]) -> str:
    """Return an object as people like to find it in a file."""
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def write(path: str, text: str) -> None:
    """Write a file whole, with the rights it has; remove it when the text is empty.

    Raises:
        OSError: It cannot be written; the old one is untouched.
    """
    path = os.path.realpath(path)
    if not text:
        os.unlink(path)
        return
    umask = os.umask(0)
    os.umask(umask)
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o666 & ~umask
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fd, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=os.path.basename(path))
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
