"""All connected editors, their names, and who waits for them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from vim_mcp.editors.instance import Instance
from vim_mcp.editors.process import process_exists
from vim_mcp.editors.registry import Preferences, Registry
from vim_mcp.editors.selection import choose
from vim_mcp.editors.session import Session
from vim_mcp.errors import InstanceGone
from vim_mcp.limits import MAX_INSTANCES, RETURN_S
from vim_mcp.wire.messages import Update

log = logging.getLogger(__name__)

#: Registry writes are gathered this long; the seed allows 50 ms for one.
_WRITE_S = 0.01
_REFRESH_S = 600.0


class Fleet:
    """The connected instances by id, kept in step with the registry file.

    `on_change` is called when instances come, go or change their facts. `on_arrival`, `on_update`
    and `on_departure` say which instance came, told something, or left.
    """

    def __init__(self, registry: Registry, preferences: Preferences, directory: str) -> None:
        self.instances: dict[str, Instance] = {}
        self.directory = directory
        self.preferences = preferences
        self.on_change: Callable[[], None] = lambda: None
        self.on_arrival: Callable[[Instance], None] = lambda _: None
        self.on_update: Callable[[Instance, Update], None] = lambda *_: None
        self.on_departure: Callable[[Instance], None] = lambda _: None
        self._registry = registry
        self._returning = {i.id: i for i in registry.load()}
        self._closed = False
        self._saved_at = time.monotonic()
        self._is_saved = True
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
        self.on_arrival(instance)
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
        self.on_update(instance, update)

    async def returned(self, wanted: str | None = None) -> None:
        """Wait, for a moment after a start, for the editors that an earlier hub knew.

        `wanted` is the one that matters, None: all of them.
        """
        loop = asyncio.get_running_loop()
        while self.absent() and loop.time() < self._return_until:
            if wanted in self.instances:
                return
            try:
                await asyncio.wait_for(self._arrived.wait(), self._return_until - loop.time())
            except asyncio.TimeoutError:
                return

    def absent(self) -> list[Instance]:
        """Return the editors that an earlier hub knew, that still run, and are not back."""
        # The pid that an editor claims may be one of another namespace.
        gone = [
            i.id for i in self._returning.values() if not process_exists(i.peer_pid or i.info.pid)
        ]
        for instance_id in gone:
            del self._returning[instance_id]
        return list(self._returning.values())

    async def choose(
        self,
        session: Session,
        *,
        instance_id: str | None = None,
        workspace_path: str | None = None,
        file: str | None = None,
    ) -> Instance:
        """Return the editor for a call, as `selection.choose`.

        Editors that are not back yet are candidates, too: the only one that is there may not be
        the one that is meant. A selection that is lost for good is forgotten.
        """
        await self.returned(instance_id or session.selected)
        try:
            return choose(
                [*self.instances.values(), *self.absent()],
                session,
                directory=self.directory,
                instance_id=instance_id,
                workspace_path=workspace_path,
                file=file,
                preference=self.preferences.project,
            )
        except InstanceGone:
            session.select(None)
            raise

    def select(self, session: Session, instance: Instance) -> None:
        """Let a session's calls go to an instance from now on, and prefer it tomorrow."""
        session.select(instance.id)
        self.preferences.remember(instance)

    def close(self, superseded: bool) -> None:
        """Leave the registry as it is, or for the last time up to date, to the next hub."""
        if self._write is not None:
            self._write.cancel()
        if not superseded:
            self._save()
        self._closed = True

    def refresh(self) -> None:
        """Renew the registry's times now and then, so that it is believed tomorrow.

        What could not be written (a full disk) is tried again.
        """
        if time.monotonic() - self._saved_at > _REFRESH_S or not self._is_saved:
            self._save()

    def _gone(self, instance: Instance) -> None:
        if self.instances.get(instance.id) is instance:
            del self.instances[instance.id]
            log.info("%s is gone", instance.id)
            self.changed()
            self.on_departure(instance)

    def _save(self) -> None:
        self._write = None
        if not self._closed:
            self._saved_at = time.monotonic()
            self._is_saved = self._registry.write(self.instances.values())
