"""What can go wrong with an editor under test.

    HarnessError
    ├── EditorNotFound   no such editor on this machine
    ├── EditorDied       the process is gone
    ├── EditorBlocked    it is at a prompt, or halfway a command, or stopped, and cannot answer
    ├── EditorError      it answered: the expression or command failed
    ├── ResetFailed      it could not be brought back to a blank state
    ├── HubFailed        the hub did not start, or does not answer
    ├── AssistantGone    the assistant's server process ended
    └── ProcessesLeft    something started in a sandbox outlived it

`harness.wait.WaitTimeout` stands beside them, for a bound that passed.
"""

from __future__ import annotations

from collections.abc import Sequence


class HarnessError(Exception):
    """Base of the harness's errors."""


class EditorNotFound(HarnessError):
    """No usable editor of that name; says which package has one."""

    def __init__(self, kind: str, remedy: str) -> None:
        super().__init__(kind, remedy)
        self.kind, self.remedy = kind, remedy

    def __str__(self) -> str:
        return f"no usable {self.kind} here: {self.remedy}"


class EditorDied(HarnessError):
    """The editor's process is gone."""

    def __init__(self, name: str, how: str, screen: str = "") -> None:
        super().__init__(name, how, screen)
        self.name, self.how, self.screen = name, how, screen

    def __str__(self) -> str:
        return f"{self.name} is gone ({self.how}); its last screen:\n{self.screen}"


class EditorBlocked(HarnessError):
    """The editor waits for a key, or is stopped, and cannot do what was asked.

    `mode` is Vim's mode(1) ("r" at hit-enter, "no" with an operator pending …), or "stopped".
    """

    def __init__(self, name: str, mode: str, asked: str, screen: str = "") -> None:
        super().__init__(name, mode, asked, screen)
        self.name, self.mode, self.asked, self.screen = name, mode, asked, screen

    def __str__(self) -> str:
        if self.mode == "stopped":
            why, remedy = "it is stopped", "call thaw() first"
        else:
            why = f"it waits for a key (mode {self.mode!r})"
            remedy = "answer the prompt with type(…), or type(…, sync=False) if it is meant to wait"
        return f"{self.name} cannot {self.asked}: {why}; {remedy}. Its screen:\n{self.screen}"


class EditorError(HarnessError):
    """The editor's own error for an expression or a command."""

    def __init__(self, what: str, message: str) -> None:
        super().__init__(what, message)
        self.what, self.message = what, message

    def __str__(self) -> str:
        return f"{self.what}: {self.message}"


class ResetFailed(HarnessError):
    """The editor is not blank after a reset; `problems` says what is left of earlier use."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        super().__init__(name, tuple(problems))
        self.name, self.problems = name, tuple(problems)

    def __str__(self) -> str:
        return f"{self.name} is not blank after reset(), restart it: " + "; ".join(self.problems)


class HubFailed(HarnessError):
    """The hub did not start or does not answer; carries what it said."""

    def __init__(self, what: str, log: str = "") -> None:
        super().__init__(what, log)
        self.what, self.log = what, log

    def __str__(self) -> str:
        return f"{self.what}\n{self.log}".rstrip()


class AssistantGone(HarnessError):
    """The server process of an assistant ended; carries what it wrote to stderr."""

    def __init__(self, what: str, stderr: str = "") -> None:
        super().__init__(what, stderr)
        self.what, self.stderr = what, stderr

    def __str__(self) -> str:
        return f"{self.what}\n{self.stderr}".rstrip()


class ProcessesLeft(HarnessError):
    """Processes started in a sandbox that did not end by themselves and had to be killed."""

    def __init__(self, processes: Sequence[str]) -> None:
        super().__init__(tuple(processes))
        self.processes = tuple(processes)

    def __str__(self) -> str:
        return "left running, now killed: " + "; ".join(self.processes)
