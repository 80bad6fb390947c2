"""State files (first seed, section 4.4): each editor's state, for whoever reads files.

The user decides in the editor what is in them and how often they are written: what it tells when
it registers counts, and an editor that tells nothing gets none. A state is pulled only after the
editor has said that something changed, by one pull at a time, and written only when it differs.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import random
import stat
from collections.abc import Awaitable, Iterable

from vim_mcp import paths
from vim_mcp.editors.call import Call, sensible
from vim_mcp.editors.instance import Actor, Instance
from vim_mcp.editors.state import whole_state
from vim_mcp.errors import VimMcpError

log = logging.getLogger(__name__)

_ACTOR = Actor("state file", "hub")
#: A text that is pulled is held in memory: that of so many editors at once.
_TEXTS_AT_ONCE = 2
#: An editor that does not answer is asked again, ever later, so many times; then it has to
#: say something first. What it does not read piles up in its socket.
_MAX_TRIES = 8
_LONGEST_PAUSE_S = 60.0
_SHORTEST_S = 0.1
#: What changes together is one state; and editors that change together are not pulled together.
_GATHER_S = 0.1
#: How long a starting hub has other things to do.
_LATER_S = 2.0
#: Over so long the first pulls of editors that come together are spread.
_SPREAD_S = 1.0


class _Keeper:
    """Keeps one editor's file up to date while the editor is there."""

    def __init__(self, instance: Instance, texts: asyncio.Semaphore) -> None:
        self.path = paths.state_path(instance.id)
        self.instance = instance
        self._texts = texts
        self._changed = asyncio.Event()
        # An earlier hub has written one, which is still good.
        self._is_kept = os.path.exists(self.path)
        # Of the text that is in the file; None: whatever an earlier hub left there.
        self._written: bytes | None = None
        self._tries = 0
        self._task = asyncio.ensure_future(self._keep())

    def touch(self) -> None:
        """The editor said something: its state may be another."""
        self._tries = 0
        self._changed.set()

    async def end(self) -> None:
        """Stop; what is being written is finished first."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _keep(self) -> None:
        if self._is_kept:
            # First comes what an assistant waits for.
            await asyncio.sleep(_LATER_S)
        # Editors that come back together after a hub's death are taken one after the other.
        await asyncio.sleep(random.uniform(0, min(self._interval, _SPREAD_S)))
        while True:
            await self._changed.wait()
            await asyncio.sleep(random.uniform(_GATHER_S / 2, _GATHER_S))
            self._changed.clear()
            pause = self._interval
            try:
                await self._update()
                self._tries = 0
            except VimMcpError as error:
                log.debug("state of %s is not written: %s", self.instance.id, error)
                self._tries += 1
                pause = max(pause, min(pause * 2**self._tries, _LONGEST_PAUSE_S))
                if self._tries < _MAX_TRIES:
                    self._changed.set()
            await asyncio.sleep(pause)

    @property
    def _interval(self) -> float:
        return max(self.instance.info.state_interval / 1000, _SHORTEST_S)

    async def _update(self) -> None:
        kind = self.instance.info.state_files
        if kind not in ("meta", "full"):
            if self._written != b"":
                await _finished(asyncio.to_thread(_remove, self.path))
                self._written = b""
            return
        call = Call(self.instance, _ACTOR, "state")
        with sensible(self.instance, "get_state"):
            if kind == "full":
                async with self._texts:
                    state = await whole_state(call)
            else:
                state = await whole_state(call, with_text=False)
        text = json.dumps(state, ensure_ascii=False) + "\n"
        mark = hashlib.blake2b(text.encode("utf-8", "replace")).digest()
        if mark != self._written:
            await _finished(asyncio.to_thread(_write, self.path, text))
            self._written = mark


class StateFiles:
    """The state files of all connected editors. Duties of the caller: `close`."""

    def __init__(self) -> None:
        self._keepers: dict[Instance, _Keeper] = {}
        self._texts = asyncio.Semaphore(_TEXTS_AT_ONCE)
        self._ends: set[asyncio.Task[None]] = set()

    def arrived(self, instance: Instance) -> None:
        """An editor registered."""
        keeper = self._keepers[instance] = _Keeper(instance, self._texts)
        keeper.touch()

    def updated(self, instance: Instance) -> None:
        """An editor told a change."""
        if instance in self._keepers:
            self._keepers[instance].touch()

    def left(self, instance: Instance) -> None:
        """An editor is gone, and with it its file, unless another came under its name."""
        keeper = self._keepers.pop(instance, None)
        if keeper is not None:
            task = asyncio.ensure_future(self._end(keeper))
            self._ends.add(task)
            task.add_done_callback(self._ends.discard)

    async def close(self, *, remove: bool) -> None:
        """Stop them all; `remove` the files unless another hub goes on with them."""
        keepers = list(self._keepers.values())
        self._keepers.clear()
        await asyncio.gather(*(keeper.end() for keeper in keepers), *self._ends)
        if remove:
            for keeper in keepers:
                _remove(keeper.path)

    async def _end(self, keeper: _Keeper) -> None:
        await keeper.end()
        if all(one.path != keeper.path for one in self._keepers.values()):
            _remove(keeper.path)


def sweep(kept: Iterable[str]) -> None:
    """Remove the files that earlier hubs left of editors other than those of the ids `kept`."""
    stay = {os.path.basename(paths.state_path(instance_id)) for instance_id in kept}
    directory = paths.runtime_dir()
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            is_ours = name in stay or name.endswith(f".{os.getpid()}.tmp")
            if name.startswith("vim-mcp-") and "-state.json" in name and not is_ours:
                _remove(os.path.join(directory, name))


async def _finished(work: Awaitable[None]) -> None:
    """Wait for a thread's work to its end, also when cancelled: it cannot be stopped half way."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def _write(path: str, text: str) -> None:
    try:
        paths.write_whole(path, text)
    except (OSError, UnicodeError) as error:
        log.warning("state file %s is not written: %s", path, error)


def _remove(path: str) -> None:
    """Remove a file of ours; in /tmp one of that name may be somebody else's."""
    try:
        found = os.lstat(path)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid():
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        log.warning("state file %s is not removed: %s", path, error)
