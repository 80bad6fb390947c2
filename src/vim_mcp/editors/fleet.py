"""All connected editors, their names, and who waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from vim_mcp.editors.instance import Instance
from vim_mcp.editors.registry import Preferences, Registry
from vim_mcp.editors.selection import choose
from vim_mcp.editors.session import Session
from vim_mcp.limits import MAX_INSTANCES, RETURN_S
from vim_mcp.wire.messages import Update

log = logging.getLogger(__name__)

#: Registry writes are gathered this long; the seed allows 50 ms for one.
_WRITE_S = 0.02


class Fleet:
    """The connected instances by id, kept in step with the registry file.

    `on_change` is called when instances come, go or change their facts, `on_events` with the
    instance whose user did something.
    """

    def __init__(self, registry: Registry, preferences: Preferences, directory: str) -> None:
        self.instances: dict[str, Instance] = {}
        self.directory = directory
        self.preferences = preferences
        self.on_change: Callable[[], None] = lambda: None
        self.on_events: Callable[[Instance, Update], None] = lambda *_: None
        self._registry = registry
        self._returning = registry.load()
        self._write: asyncio.TimerHandle | None = None
        self._arrived = asyncio.Event()
        self._return_until = asyncio.get_running_loop().time() + RETURN_S

    def admit(self, instance: Instance) -> str | None:
        """Take an instance in, under its id or a free variant of it.

        Returns:
            Why it was refused, or None.
        """
        old = self.instances.get(instance.id)
        if old is not None and old.info.nonce and old.info.nonce == instance.info.nonce:
            log.info("%s is back before its old connection ended", instance.id)
            old.drop()
        if len(self.instances) >= MAX_INSTANCES:
            return f"{MAX_INSTANCES} Vim instances are connected, which is the limit; close some"
        wanted, n = instance.id, 2
        while instance.id in self.instances:
            instance.id = f"{wanted}.{n}"
            n += 1
        self.instances[instance.id] = instance
        self._returning.pop(instance.id, None)
        instance.on_gone = self._gone
        self._arrived.set()
        self._arrived = asyncio.Event()
        self.changed()
        return None

    def changed(self) -> None:
        """Instances or their facts changed: write the registry soon and tell the assistants."""
        if self._write is None:
            loop = asyncio.get_running_loop()
            self._write = loop.call_later(_WRITE_S, self._save)
        self.on_change()

    def updated(self, instance: Instance, update: Update) -> None:
        """An editor told what changed."""
        if update.info:
            instance.info = instance.info.updated(update.info)
            self.changed()
        if update.events:
            self.on_events(instance, update)

    async def choose(
        self,
        session: Session,
        *,
        instance_id: str | None = None,
        workspace_path: str | None = None,
        file: str | None = None,
    ) -> Instance:
        """Return the editor for a call, as `selection.choose`.

        While editors that an earlier hub knew are on their way back, it waits for them a
        little rather than failing or choosing among too few.
        """
        loop = asyncio.get_running_loop()
        while self._returning and loop.time() < self._return_until:
            wanted = instance_id or session.selected
            if wanted in self.instances:
                break
            try:
                await asyncio.wait_for(self._arrived.wait(), self._return_until - loop.time())
            except asyncio.TimeoutError:
                break
        return choose(
            list(self.instances.values()),
            session,
            directory=self.directory,
            instance_id=instance_id,
            workspace_path=workspace_path,
            file=file,
            preference=self.preferences.project,
        )

    def flush(self) -> None:
        """Write the registry now if a write is due."""
        if self._write is not None:
            self._write.cancel()
            self._save()

    def _gone(self, instance: Instance) -> None:
        if self.instances.get(instance.id) is instance:
            del self.instances[instance.id]
            log.info("%s is gone", instance.id)
            self.changed()

    def _save(self) -> None:
        self._write = None
        self._registry.write(self.instances.values())
