"""The hub's log: one bounded file, 0600, no buffer text at the default level."""

from __future__ import annotations

import logging
import logging.handlers
import os

_LEVELS = {"debug", "info", "warning", "error", "critical"}


def level() -> int:
    """Return the level that `VIM_MCP_LOG_LEVEL` names; unknown words mean info."""
    word = os.environ.get("VIM_MCP_LOG_LEVEL", "info").lower()
    word = {"warn": "warning", "trace": "debug"}.get(word, word)
    return int(getattr(logging, word.upper())) if word in _LEVELS else logging.INFO


def to_file(path: str) -> None:
    """Send all log records to `path`, kept under 2 MB with one older file beside it."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600))
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=1_000_000, backupCount=1, encoding="utf-8", errors="backslashreplace"
    )
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(process)d %(levelname).1s %(name)s: %(message)s")
    )
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level())
