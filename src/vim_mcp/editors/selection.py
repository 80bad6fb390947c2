"""Which editor is meant: DESIGN's order, first that applies, never a guess."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vim_mcp.editors.instance import Instance
from vim_mcp.editors.registry import inside, without_pid
from vim_mcp.editors.session import Session
from vim_mcp.errors import AmbiguousInstance, InstanceGone, InstanceNotFound, NoInstances


def named(instances: Sequence[Instance], wanted: str) -> Instance:
    """Return the instance of that id.

    Raises:
        InstanceNotFound: There is none.
    """
    for instance in instances:
        if instance.id == wanted:
            return instance
    raise InstanceNotFound(wanted, [i.id for i in instances])


def by_workspace(instances: Sequence[Instance], path: str) -> Instance:
    """Return the only instance that works on `path`: its root, or the deepest one around it.

    Raises:
        InstanceNotFound: None does.
        AmbiguousInstance: Several do.
    """
    path = path.rstrip("/") or "/"
    holding = [i for i in instances if inside(path, i.info.root or i.info.cwd)]
    if not holding:
        raise InstanceNotFound(path, [i.id for i in instances])
    deepest = max(len(i.info.root or i.info.cwd) for i in holding)
    return _only([i for i in holding if len(i.info.root or i.info.cwd) == deepest])


def choose(
    instances: Sequence[Instance],
    session: Session,
    *,
    directory: str,
    instance_id: str | None = None,
    workspace_path: str | None = None,
    file: str | None = None,
    preference: Callable[[str], str | None] = lambda _: None,
) -> Instance:
    """Return the editor for one call of `session`.

    Raises:
        NoInstances: None is connected; `directory` is where this hub listens.
        InstanceNotFound: The call names one that is not connected.
        InstanceGone: The session's selection is gone. The caller forgets it, so that the next
            call goes on; this one is not sent to another editor in silence.
        AmbiguousInstance: Several are connected and nothing tells which.
    """
    if instance_id:
        return named(instances, instance_id)
    if workspace_path:
        return by_workspace(instances, workspace_path)
    if session.selected is not None:
        for instance in instances:
            if instance.id == session.selected:
                return instance
        raise InstanceGone(session.selected)
    if not instances:
        raise NoInstances(directory)
    for instance in instances:
        if instance.id == session.started_in:
            return instance
    if len(instances) == 1:
        return instances[0]
    narrowed = [
        [i for i in instances if file and file in i.info.buffers],
        [i for i in instances if session.cwd and inside(session.cwd, i.info.root)],
    ]
    for some in narrowed:
        if len(some) == 1:
            return some[0]
    preferred = preference(session.cwd) if session.cwd else None
    some = [i for i in instances if preferred and without_pid(i.id) == preferred]
    return some[0] if len(some) == 1 else _only(instances)


def _only(instances: Sequence[Instance]) -> Instance:
    if len(instances) == 1:
        return instances[0]
    raise AmbiguousInstance([(i.id, i.info.cwd) for i in instances])
