"""Every error of vim-mcp.

    VimMcpError                     code   what the caller does
    ├── RuntimeDirError                -   fix the runtime directory
    ├── HubUnavailable                 -   see the hub's log
    ├── LineTooLong                    -   the peer is dropped
    ├── InvalidParams             -32602   correct the call
    ├── AmbiguousInstance           1001   choose an instance
    ├── NoInstances                 1002   start Vim, or :VimMCPReconnect in it
    ├── InstanceNotFound            1002   choose another instance
    ├── InstanceGone                1003   choose another instance; check what was applied
    ├── InstanceBlocked             1003   let the user answer what the editor waits for
    ├── SenselessAnswer           -32603   update the plugin or vim-mcp
    ├── CommandFailed                  -   do what the sentence says
    ├── ServerFailed                   -   run vim-mcp doctor
    ├── OutdatedPlugin            -32601   update the plugin of that editor
    └── EditorError           the editor's own code, mostly 1004

Codes are those of the first seed, section 8.3. Facts are attributes, the sentence is made in
`__str__` and ends with what to do.
"""

from __future__ import annotations

from collections.abc import Sequence

# `typing` costs the forwarder's start 3 ms; type checkers know this name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NO_INSTANCE_SELECTED = 1001
INSTANCE_NOT_FOUND = 1002
CONNECTION_LOST = 1003
COMMAND_FAILED = 1004


class VimMcpError(Exception):
    """Base of all errors here; `code` and `data` go to the assistant as they are."""

    code = INTERNAL_ERROR

    @property
    def data(self) -> dict[str, Any]:
        """Facts for the caller beside the sentence; JSON-able, may be empty."""
        return {}


class RuntimeDirError(VimMcpError):
    """The runtime directory or a path in it cannot be used safely."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return (
            f"cannot use {self.path}: {self.reason}; "
            "remove it or set VIM_MCP_RUNTIME_DIR to a directory of your own (mode 0700)"
        )


class HubUnavailable(VimMcpError):
    """No hub answers and none could be started."""

    def __init__(self, socket_path: str, reason: str, log_path: str = "") -> None:
        super().__init__(socket_path, reason, log_path)
        self.socket_path, self.reason, self.log_path = socket_path, reason, log_path

    def __str__(self) -> str:
        hint = f"; see {self.log_path}" if self.log_path else ""
        return f"no vim-mcp hub answers at {self.socket_path}: {self.reason}{hint}"


class LineTooLong(VimMcpError):
    """A peer sent a line over the limit for its role."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"a line is longer than {self.limit} bytes"


class InvalidParams(VimMcpError):
    """The call's arguments cannot be carried out as given."""

    code = INVALID_PARAMS

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message, self.facts = message, facts

    def __str__(self) -> str:
        return self.message

    @property
    def data(self) -> dict[str, Any]:
        return self.facts


class AmbiguousInstance(VimMcpError):
    """Several editors are connected and nothing says which one is meant."""

    code = NO_INSTANCE_SELECTED

    def __init__(self, instances: Sequence[tuple[str, str]]) -> None:
        super().__init__(instances)
        self.instances = list(instances)

    def __str__(self) -> str:
        listed = ", ".join(f"{name} ({cwd})" for name, cwd in self.instances)
        return (
            f"{len(self.instances)} Vim instances are connected and none is selected: {listed}; "
            "ask the user which one, then call select_vim_instance, pass instance_id, "
            "or read vim://instance/{instance_id}/…"
        )

    @property
    def data(self) -> dict[str, Any]:
        return {"instances": [{"instance_id": i, "cwd": c} for i, c in self.instances]}


class NoInstances(VimMcpError):
    """No editor is connected."""

    code = INSTANCE_NOT_FOUND

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self.directory = directory

    def __str__(self) -> str:
        return (
            "No Vim instances found, run :VimMCPReconnect in Vim "
            f"(this hub listens in {self.directory})"
        )


class InstanceNotFound(VimMcpError):
    """The named editor is not connected."""

    code = INSTANCE_NOT_FOUND

    def __init__(self, wanted: str, known: Sequence[str]) -> None:
        super().__init__(wanted, known)
        self.wanted, self.known = wanted, list(known)

    def __str__(self) -> str:
        listed = ", ".join(self.known) or "none"
        return (
            f"no connected Vim instance matches {self.wanted!r}; connected: {listed}; "
            "call list_vim_instances, or run :VimMCPReconnect in that Vim"
        )

    @property
    def data(self) -> dict[str, Any]:
        return {"instance_id": self.wanted, "instances": self.known}


class InstanceGone(VimMcpError):
    """The editor's connection ended while, or before, it was needed."""

    code = CONNECTION_LOST

    def __init__(self, instance_id: str, effect_unknown: bool = False) -> None:
        super().__init__(instance_id, effect_unknown)
        self.instance_id, self.effect_unknown = instance_id, effect_unknown

    def __str__(self) -> str:
        if self.effect_unknown:
            return (
                f"the connection to {self.instance_id} was lost while it was acting: whether the "
                "change was applied is unknown; read the buffer or the file before trying again"
            )
        return (
            f"the connection to {self.instance_id} was lost; call list_vim_instances and select "
            "another, or run :VimMCPReconnect in that Vim"
        )

    @property
    def data(self) -> dict[str, Any]:
        return {"instance_id": self.instance_id, "effect_unknown": self.effect_unknown}


#: What the user has to do before an editor that did not answer can answer again.
REMEDY = {
    "suspended": "it is suspended (Ctrl-Z or SIGSTOP); bring it back to the foreground",
    "hit_enter": "it waits at a prompt; answer the prompt in it",
    "pending_key": "it waits for the rest of a command; press Esc in it",
    "busy": "it is busy running a command; wait or press Ctrl-C in it",
}


class InstanceBlocked(VimMcpError):
    """The editor is there and did not answer in time."""

    code = CONNECTION_LOST

    def __init__(
        self, instance_id: str, method: str, seconds: float, reason: str, effect_unknown: bool
    ) -> None:
        super().__init__(instance_id, method, seconds, reason, effect_unknown)
        self.instance_id, self.method, self.seconds = instance_id, method, seconds
        self.reason, self.effect_unknown = reason, effect_unknown

    def __str__(self) -> str:
        outcome = (
            "it had begun and its effect is unknown, check before trying again"
            if self.effect_unknown
            else "nothing was changed"
        )
        remedy = REMEDY.get(self.reason, REMEDY["busy"])
        return (
            f"{self.instance_id} did not answer {self.method} within {self.seconds:g} s "
            f"({outcome}): {remedy}, then try again"
        )

    @property
    def data(self) -> dict[str, Any]:
        return {
            "instance_id": self.instance_id,
            "reason": self.reason,
            "effect_unknown": self.effect_unknown,
        }


class SenselessAnswer(VimMcpError):
    """The editor's answer is not what the wire's description says."""

    def __init__(self, instance_id: str, tool: str) -> None:
        super().__init__(instance_id, tool)
        self.instance_id, self.tool = instance_id, tool

    def __str__(self) -> str:
        return (
            f"{self.instance_id} answered {self.tool} with something that makes no sense here; "
            "its plugin and vim-mcp may be too far apart in age, ask the user to update both"
        )

    @property
    def data(self) -> dict[str, Any]:
        return {"instance_id": self.instance_id}


class CommandFailed(VimMcpError):
    """A command of the shell could not do its work; `status` is its exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message, status)
        self.message, self.status = message, status

    def __str__(self) -> str:
        return self.message


class ServerFailed(VimMcpError):
    """`vim-mcp serve`, started by us, did not serve."""

    def __init__(self, doing: str, reason: str) -> None:
        super().__init__(doing, reason)
        self.doing, self.reason = doing, reason

    def __str__(self) -> str:
        return f"no answer to {self.doing}: {self.reason}; `vim-mcp doctor` looks for the cause"


class OutdatedPlugin(VimMcpError):
    """The editor's plugin is older than what it was asked for."""

    code = METHOD_NOT_FOUND

    def __init__(self, instance_id: str, method: str, plugin_version: str) -> None:
        super().__init__(instance_id, method, plugin_version)
        self.instance_id, self.method = instance_id, method
        self.plugin_version = plugin_version

    def __str__(self) -> str:
        return (
            f"the vim-mcp plugin in {self.instance_id} (version {self.plugin_version or 'unknown'}) "
            f"knows no {self.method}: it is older than this vim-mcp; ask the user to update the "
            "plugin and to restart that editor"
        )

    @property
    def data(self) -> dict[str, Any]:
        return {"instance_id": self.instance_id, "plugin_version": self.plugin_version}


class EditorError(VimMcpError):
    """The editor refused or failed; code, sentence and facts are its own."""

    def __init__(self, code: int, message: str, data: dict[str, Any], instance_id: str) -> None:
        super().__init__(code, message, data, instance_id)
        self.code, self.message, self.instance_id = code, message, instance_id
        self._data = data

    @property
    def reason(self) -> str:
        """One of the wire's reason words, or an empty string."""
        reason = self._data.get("reason")
        return reason if isinstance(reason, str) else ""

    def __str__(self) -> str:
        return self.message

    @property
    def data(self) -> dict[str, Any]:
        return {"instance_id": self.instance_id, **self._data}
