"""One assistant's connection, as the choice of an editor sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from vim_mcp.editors.instance import Actor
from vim_mcp.wire.messages import Json


@dataclass
class Session:
    """Selection, working directory and subscriptions of one assistant; paths are absolute.

    `started_in` is the editor in whose terminal the assistant runs, if any. `on_change` is
    called whenever what must outlive the hub changed (the forwarder keeps it).
    """

    id: str
    cwd: str = ""
    started_in: str = ""
    client: str = "unknown"
    selected: str | None = None
    subscriptions: set[str] = field(default_factory=set)
    #: Ids of requests that another hub may have begun before it died.
    asked_again: frozenset[int | str] = frozenset()
    on_change: Callable[[Session], None] = field(default=lambda _: None, repr=False)

    def select(self, instance_id: str | None) -> None:
        """Remember the assistant's choice; None forgets it."""
        if instance_id != self.selected:
            self.selected = instance_id
            self.on_change(self)

    def known_as(self, client: str) -> None:
        """Note who the assistant is; after a hub's death it does not say so at once."""
        if client != self.client:
            self.client = client
            self.on_change(self)

    def subscribe(self, uri: str) -> None:
        """Note that the assistant wants to hear of changes of a resource."""
        if uri not in self.subscriptions:
            self.subscriptions.add(uri)
            self.on_change(self)

    def unsubscribe(self, uri: str) -> None:
        """Undo `subscribe`."""
        if uri in self.subscriptions:
            self.subscriptions.discard(uri)
            self.on_change(self)

    @property
    def actor(self) -> Actor:
        """For whom requests of this session are made."""
        return Actor(self.client, self.id)

    def state(self) -> Json:
        """Return what the forwarder keeps to restore the session on another hub."""
        return {
            "session": self.id,
            "selected": self.selected,
            "subscriptions": sorted(self.subscriptions),
            "cwd": self.cwd,
            "client": self.client,
        }

    def restore(self, state: Json) -> None:
        """Take over what `state` returned on an earlier hub; ill-formed parts are ignored."""
        selected, subscriptions = state.get("selected"), state.get("subscriptions")
        if isinstance(selected, str):
            self.selected = selected
        if isinstance(client := state.get("client"), str):
            self.client = client
        if isinstance(subscriptions, list):
            self.subscriptions = {s for s in subscriptions if isinstance(s, str)}
