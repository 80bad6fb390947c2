"""Limits and deadlines, each in one place (first seed, section 9.3).

Every deadline is multiplied by `VIM_MCP_TIMEOUT_SCALE`, so that a slow machine needs one setting.
"""

from __future__ import annotations

import os

#: Bytes of a buffer's text as UTF-8, one for each line's end.
MAX_BUFFER_BYTES = 10 * 1024 * 1024
MAX_INSTANCES = 100
REGISTRY_MAX_AGE_S = 24 * 3600
#: A slice of text that an editor is asked for at once; keeps it from blocking over 2 ms.
SLICE_BYTES = 64 * 1024
#: Longest line read from an editor, and the longest before a connection has said who it is.
MAX_EDITOR_LINE = 16 * 1024 * 1024
#: Longest line sent to an editor: it blocks while it takes one in.
MAX_TO_EDITOR = 2 * 1024 * 1024
MAX_FIRST_LINE = 1024 * 1024
#: Longest MCP message read from an assistant.
MAX_SESSION_LINE = 64 * 1024 * 1024
#: Characters in one page of `vim_read`, far below what a client turns into a file.
PAGE_CHARS = 50_000
#: Requests in flight for one assistant; past it the hub stops reading from it.
MAX_IN_FLIGHT = 256
#: Bytes of text in answers on their way, pulled or not yet taken by their assistants: of one
#: session, past which the hub stops reading from it, and of all.
MAX_SESSION_TEXT = 16 * 1024 * 1024
MAX_TEXT = 64 * 1024 * 1024
#: Up to this much an answer waits for no other's.
SMALL_ANSWER = 256 * 1024
#: Above this an answer is big, and so many of those are made at a time.
BIG_ANSWER = 1024 * 1024
MAX_BIG_ANSWERS = 2


def _scale() -> float:
    try:
        value = float(os.environ.get("VIM_MCP_TIMEOUT_SCALE", "1"))
    except ValueError:
        return 1.0
    # Neither "inf" nor "nan": a timer could not be set.
    return value if 0 < value < 1e6 else 1.0


SCALE = _scale()

CONNECT_S = 5.0 * SCALE
READ_S = 2.0 * SCALE
ACT_S = 5.0 * SCALE
#: For a question beside the main work, asked of all editors at once.
ASIDE_S = 0.5 * SCALE
#: What the hub waits past a deadline before it says that it passed: an act that began just
#: before the deadline still gets its word through.
GRACE_S = 0.5 * SCALE
#: How long an act that has begun may run before the hub stops waiting for its outcome.
MAX_RUN_S = 60.0 * SCALE
#: How long a call waits for editors that are on their way back after a hub's death.
RETURN_S = 1.0 * SCALE
#: A peer that takes nothing of what it is sent for this long is dropped.
UNREAD_S = 30.0 * SCALE
