"""What the kernel knows of a process."""

from __future__ import annotations

import os


def process_state(pid: int) -> str:
    """Return the state letter of a process as in /proc/<pid>/stat (T is stopped), or ''."""
    if pid <= 0:
        return ""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def process_exists(pid: int) -> bool:
    """Tell whether a process of that pid is there, ours or not."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
