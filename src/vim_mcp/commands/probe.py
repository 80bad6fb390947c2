"""Running other programs to learn something: never for long, and never waiting for their children."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from vim_mcp.limits import SCALE


class Told(NamedTuple):
    """How a program ended, and what it wrote to stdout and stderr."""

    status: int
    text: str

    @property
    def last_line(self) -> str:
        """The last line that is not empty: where programs say what is wrong."""
        lines = [line for line in self.text.splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"exit status {self.status}"


def ask(argv: Sequence[str], seconds: float = 5.0) -> Told | None:
    """Run a program; None when it cannot be run or did not end in time. It is killed then."""
    # Else a Neovim that is asked for its version leaves a log behind.
    environment = os.environ | {"NVIM_LOG_FILE": os.devnull}
    # A file, not a pipe: a child it leaves behind would keep a pipe open, and us waiting.
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            status = child.wait(seconds * SCALE)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise
        output.seek(0)
        return Told(status, output.read(1 << 20).decode(errors="replace"))
