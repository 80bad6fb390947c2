"""The hub's log: one bounded file, 0600, no buffer text at the default level."""

from __future__ import annotations

import logging
import logging.handlers
import os

from vim_mcp.errors import RuntimeDirError

_LEVELS = {"debug", "info", "warning", "error", "critical"}


def level() -> int | None:
    """Return the level that `VIM_MCP_LOG_LEVEL` names, info when it is not set; None: no level."""
    word = os.environ.get("VIM_MCP_LOG_LEVEL", "").strip().lower() or "info"
    word = {"warn": "warning", "trace": "debug"}.get(word, word)
    return int(getattr(logging, word.upper())) if word in _LEVELS else None


def to_file(path: str) -> None:
    """Send all log records to `path`, kept under 2 MB with one older file beside it.

    Raises:
        RuntimeDirError: It cannot be written.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600))
    except OSError as error:
        raise RuntimeDirError(path, error.strerror or str(error)) from None
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=1_000_000, backupCount=1, encoding="utf-8", errors="backslashreplace"
    )
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(process)d %(levelname).1s %(name)s: %(message)s")
    )
    # A log that cannot be written (a full disk) is no reason to say so on stderr, for ever.
    logging.raiseExceptions = False
    root = logging.getLogger()
    root.addHandler(handler)
    named = level()
    root.setLevel(logging.INFO if named is None else named)
    if named is None:
        root.warning(
            "VIM_MCP_LOG_LEVEL is %r, which is none of debug, info, warning, error, critical: "
            "info is used",
            os.environ["VIM_MCP_LOG_LEVEL"],
        )
