"""Tools about the editors themselves: which there are, and which is meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from vim_mcp.editors.instance import Instance
from vim_mcp.editors.selection import choose, named
from vim_mcp.errors import AmbiguousInstance, VimMcpError
from vim_mcp.tools.base import Answer, Desk, tool


class InstanceRow(Answer):
    """One connected editor; paths are absolute or empty."""

    instance_id: str
    editor: str
    version: str
    pid: int
    cwd: str
    root: str
    main_file: str
    buffers: list[str]
    paused: bool
    selected: bool


class Instances(Answer):
    """All connected editors and what to do about the choice among them."""

    instances: list[InstanceRow]
    selected: str | None
    hint: str

    def preface(self) -> str | None:
        return self.hint if self.selected is None else None


class Selected(Answer):
    """The editor that the session's calls go to from now on."""

    instance_id: str
    cwd: str
    main_file: str


def row(instance: Instance, selected: str | None) -> InstanceRow:
    """Return what an assistant is told of an instance."""
    info = instance.info
    return InstanceRow(
        instance_id=instance.id,
        editor=info.editor,
        version=info.version,
        pid=info.pid,
        cwd=info.cwd,
        root=info.root,
        main_file=info.main_file,
        buffers=list(info.buffers[:100]),
        paused=info.paused,
        selected=instance.id == selected,
    )


def question(instances: Sequence[Instance]) -> str:
    """Return what to ask the user who has several editors open."""
    choices = [f"{n}. {_described(one)}" for n, one in enumerate(instances, 1)]
    return "\n".join(
        [
            "Several Vim instances are connected and none is selected. Which one? Ask the user, "
            "then call select_vim_instance with its instance_id.",
            *choices,
        ]
    )


def _described(instance: Instance) -> str:
    info = instance.info
    kind = {"nvim": "Neovim", "vim": "Vim"}.get(info.editor, info.editor)
    shown = f"shows {info.main_file}" if info.main_file else "shows no file"
    return f"{instance.id}: {kind} in {info.cwd}, {shown}"


async def listing(desk: Desk) -> Instances:
    """Return all instances, marking the one that calls would go to now."""
    await desk.fleet.returned()
    connected = sorted(desk.fleet.instances.values(), key=lambda i: i.connected_at)
    chosen = None
    try:
        chosen = choose(
            [*connected, *desk.fleet.absent()],
            desk.session,
            directory=desk.fleet.directory,
            preference=desk.fleet.preferences.project,
        ).id
        hint = f"Calls go to {chosen}. select_vim_instance chooses another."
        if len(connected) == 1:
            hint = f"Calls go to {chosen}, the only instance."
    except AmbiguousInstance:
        hint = question(connected)
    except VimMcpError as error:
        hint = str(error)
    return Instances(instances=[row(i, chosen) for i in connected], selected=chosen, hint=hint)


@tool(title="List Vim instances", idempotent=True, always_load=True)
async def list_vim_instances(desk: Desk) -> Instances:
    """List the user's running Vim and Neovim instances, and which of them calls go to.

    Where several are meant alike it asks for a choice: put the question in `hint` to the user.
    """
    return await listing(desk)


@tool(title="Select a Vim instance", idempotent=True)
async def select_vim_instance(
    desk: Desk,
    instance_id: Annotated[str, Field(description="An instance_id from list_vim_instances.")],
) -> Selected:
    """Choose the Vim instance that the following calls of this session go to."""
    await desk.fleet.returned(instance_id)
    instance = named(list(desk.fleet.instances.values()), instance_id)
    desk.fleet.select(desk.session, instance)
    return Selected(
        instance_id=instance.id, cwd=instance.info.cwd, main_file=instance.info.main_file
    )
