"""Files that change on disk under open buffers: noticed here, so that no editor has to look."""

from __future__ import annotations

import asyncio
import functools
import itertools
import logging
import os
from collections.abc import Callable, Iterable

from vim_mcp.editors.fleet import Fleet
from vim_mcp.editors.instance import Actor, Instance
from vim_mcp.errors import VimMcpError
from vim_mcp.limits import ACT_S, ASIDE_S

log = logging.getLogger(__name__)

_LOOK_S = 2.0
_ACTOR = Actor("vim-mcp", "disk")
#: What an editor announces that knows the requests used here.
_FEATURE = "disk"

#: Modification time in ns, size, device and inode.
_Stamp = tuple[int, int, int, int]


class DiskWatch:
    """Lets buffers follow their files, and knows which have text that their file has not.

    Looking is done by `stat` in a thread: a file system that hangs stops nothing else. A path of
    another mount namespace (an editor in a container) is simply not found, and the editor has the
    last word anyway: it compares with the file as it sees it.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._seen: dict[str, _Stamp] = {}
        self._following: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._numbers = itertools.count(1)

    async def watch(self, wanted: Callable[[], bool]) -> None:
        """Look at the files of all buffers now and then while `wanted`, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            if not wanted():
                self._seen.clear()
                continue
            names = {name for i in self._editors() for name in i.info.buffers}
            now = await asyncio.to_thread(_stamps, names)
            for name, stamp in now.items():
                if self._seen.get(name, stamp) != stamp:
                    self.changed(name)
            self._seen = now

    def changed(self, file: str) -> None:
        """Let the editors that have the file at an absolute path follow it, in the background."""
        for instance in self._editors():
            key = (instance.id, file)
            if key not in self._following:
                task = asyncio.ensure_future(self._follow(instance, file))
                self._following[key] = task
                task.add_done_callback(functools.partial(self._followed, key))

    async def unsaved(self, file: str) -> list[str]:
        """Return the ids of the editors in which the file has unsaved text.

        An editor that does not say in time, at a prompt for example, does not count.
        """
        editors = self._editors()
        found = await asyncio.gather(
            *(
                i.request("look_at_file", {"file": file}, seconds=ASIDE_S, grace=0, actor=_ACTOR)
                for i in editors
            ),
            return_exceptions=True,
        )
        return [
            i.id
            for i, answer in zip(editors, found, strict=True)
            if isinstance(answer, dict) and answer.get("modified") is True
        ]

    def _followed(self, key: tuple[str, str], task: asyncio.Task[None]) -> None:
        self._following.pop(key, None)

    def _editors(self) -> list[Instance]:
        return [i for i in self._fleet.instances.values() if _FEATURE in i.info.features]

    async def _follow(self, instance: Instance, file: str) -> None:
        """Ask until the moment is right, which it is not while the user types."""
        while not instance.gone:
            op = f"disk:{os.getpid()}:{next(self._numbers)}"
            try:
                done = await instance.request(
                    "follow_file", {"file": file}, seconds=ACT_S, actor=_ACTOR, op=op
                )
            except VimMcpError as error:
                if error.data.get("reason") is None:
                    log.warning("%s does not follow a file: %s", instance.id, error)
                    return
                await asyncio.sleep(_LOOK_S)
            else:
                log.debug("%s: a changed file: %s", instance.id, done.get("outcome"))
                return


def _stamps(names: Iterable[str]) -> dict[str, _Stamp]:
    found = {}
    for name in names:
        try:
            s = os.stat(name)
        except OSError:
            continue
        found[name] = (s.st_mtime_ns, s.st_size, s.st_dev, s.st_ino)
    return found
