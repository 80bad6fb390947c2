"""The hub process: one socket, its peers, and how it comes and goes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import importlib
import logging
import os
import signal
import socket
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from vim_mcp import PROTOCOL, __version__, paths
from vim_mcp import log as logs
from vim_mcp.editors.budget import Budget
from vim_mcp.editors.fleet import Fleet
from vim_mcp.editors.instance import Instance
from vim_mcp.editors.registry import Preferences, Registry
from vim_mcp.errors import RuntimeDirError, VimMcpError
from vim_mcp.hub import news
from vim_mcp.hub.disk import DiskWatch
from vim_mcp.hub.door import Door
from vim_mcp.hub.election import HubLock, socket_identity
from vim_mcp.hub.idle import STARTUP_GRACE_S, IdleTimer
from vim_mcp.hub.package import Package
from vim_mcp.hub.roles import EditorRole, SessionRole, parse_hello
from vim_mcp.hub.state_files import StateFiles, sweep
from vim_mcp.limits import SCALE
from vim_mcp.wire.messages import Control, Json, Register, Update, encode

if TYPE_CHECKING:
    from vim_mcp.assistants.mcp import AssistantServer

log = logging.getLogger(__name__)

#: Editors and assistants dial in herds after a hub's death.
_BACKLOG = 1024
#: How often the hub looks whether it is still wanted, and, where nothing tells it at once, whether
#: lock and socket are still in their places.
_CHECK_S = 1.0
#: How long a hub that lost its lock may go on listening before its place is taken all the same:
#: it is stopped, and leaves when it wakes.
_HANDOVER_S = 2.0 * SCALE
#: What calls in flight get to end in when the hub leaves.
_DRAIN_S = 2.0 * SCALE
#: Turns of the loop from a connection in the backlog to its `Door`.
_TURNS_TO_ACCEPT = 5


class Hub:
    """All state of the daemon."""

    def __init__(self) -> None:
        self.doors: set[Door] = set()
        self.sessions: set[SessionRole] = set()
        self.started = time.monotonic()
        self.leaving = asyncio.Event()
        self.reason = "stopped"
        self._package = Package()
        self._sdk: asyncio.Task[Any] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.fleet = Fleet(
            Registry(paths.registry_path(), paths.socket_path()),
            Preferences(
                paths.preference_path(), os.path.join(paths.state_dir(), "preferences.json")
            ),
            os.path.dirname(paths.socket_path()),
        )
        self.budget = Budget()
        self.disk = DiskWatch(self.fleet)
        self.fleet.on_change = self._instances_changed
        self.files = StateFiles()
        self.fleet.on_arrival = self.files.arrived
        self.fleet.on_update = self._editor_told
        self.fleet.on_departure = self.files.left

    def load_sdk(self) -> None:
        """Begin to import what serves MCP, in a thread: it takes 0.4 s."""
        if self._sdk is None:
            self._sdk = asyncio.ensure_future(asyncio.to_thread(_import_sdk))

    async def sdk(self) -> Any:
        """Return the module that serves MCP; never, when the session is one for the next hub.

        It is when this one leaves, as it does when what is installed now is another version's.
        """
        if self._sdk is None and self._package.changed():
            log.info("the package was replaced under this hub")
            self.leave("superseded")
        if self.leaving.is_set():
            await asyncio.Future()
        self.load_sdk()
        assert self._sdk is not None
        return await asyncio.shield(self._sdk)

    # --- peers --------------------------------------------------------------------------------

    def open_editor(self, door: Door, register: Register) -> EditorRole | None:
        """Admit an editor, or tell it why not."""
        instance = Instance(register.instance_id, register.info, door, door.peer_pid)
        refused = self.fleet.admit(instance)
        if refused is not None:
            log.warning("%s is refused: %s", register.instance_id, refused)
            door.write(encode({"type": "rejected", "reason": refused, "retry": True}))
            door.close()
            return None
        instance.greet()
        log.info(
            "%s: %s %s, pid %d",
            instance.id,
            register.info.editor,
            register.info.version,
            register.info.pid,
        )
        return EditorRole(self, door, instance)

    def open_session(self, door: Door, line: bytes) -> SessionRole:
        """Begin an assistant's session."""
        hello = parse_hello(line)
        role = SessionRole(self, door, hello)
        self.sessions.add(role)
        log.info("session %s of pid %d in %s", role.session.id, door.peer_pid, role.session.cwd)
        if newer(str(hello.get("version", "")), __version__):
            log.info("a newer version %s replaces this hub", hello.get("version"))
            self.leave("superseded")
        return role

    async def control(self, asked: Control) -> Json:
        """Answer the command line."""
        if asked.verb == "stop":
            self.leave("stopped")
            return {"type": "stopping", "pid": os.getpid()}
        if asked.verb == "changed":
            self.disk.changed(asked.file)
            return {"type": "noted"}
        if asked.verb == "unsaved":
            return {"type": "unsaved", "instances": await self.disk.unsaved(asked.file)}
        return self.status()

    def status(self) -> Json:
        """Return what `vim-mcp hub --status --json` prints."""
        instances = [
            {
                "instance_id": i.id,
                "pid": i.info.pid,
                "cwd": i.info.cwd,
                "root": i.info.root,
                "main_file": i.info.main_file,
                "editor": i.info.editor,
                "version": i.info.version,
                "plugin_version": i.info.plugin_version,
                "paused": i.info.paused,
            }
            for i in self.fleet.instances.values()
        ]
        sessions = [
            {
                "session": s.session.id,
                "client": s.session.client,
                "selected": s.session.selected,
                "cwd": s.session.cwd,
                "pid": s.forwarder_pid,
            }
            for s in self.sessions
        ]
        # Appendix B of the first seed: WAITING is an assistant without an editor.
        word = "CONNECTED" if instances else "WAITING" if sessions else "READY"
        return {
            "status": word,
            "pid": os.getpid(),
            "version": __version__,
            "protocol": PROTOCOL,
            "uptime_s": round(time.monotonic() - self.started, 3),
            # The one that asks is among them: what is left of peers long gone is seen here.
            "tasks": len(asyncio.all_tasks()),
            "socket": paths.socket_path(),
            "instances": instances,
            "sessions": sessions,
        }

    def leave(self, reason: str) -> None:
        """Begin to leave; `serve` winds everything down."""
        if not self.leaving.is_set():
            log.info("leaving: %s", reason)
            self.reason = reason
            self.leaving.set()

    # --- news for assistants ------------------------------------------------------------------

    def _instances_changed(self) -> None:
        for assistant in self._assistants():
            self._spawn(assistant.resource_changed("vim://instances"))

    def _editor_told(self, instance: Instance, update: Update) -> None:
        self.files.updated(instance)
        kinds, buffers = news.changed(update)
        if kinds:
            for assistant in self._assistants():
                self._spawn(assistant.editor_changed(instance.id, kinds, buffers))

    def _assistants(self) -> list[AssistantServer]:
        return [role.stream.assistant for role in self.sessions if role.stream is not None]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- life ---------------------------------------------------------------------------------

    async def serve(self, listener: socket.socket, lock: HubLock) -> None:
        """Serve until told or made to leave, then give up the socket before winding down."""
        loop = asyncio.get_running_loop()
        path = paths.socket_path()
        identity = socket_identity(path)
        server = await loop.create_unix_server(lambda: Door(self), sock=listener, backlog=_BACKLOG)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.leave, "stopped")
        sweep([i.id for i in self.fleet.absent()])
        loop.call_later(STARTUP_GRACE_S, lambda: sweep(self.fleet.instances))
        idle = IdleTimer(loop.time)
        watching = asyncio.ensure_future(self.disk.watch(lambda: bool(self.sessions)))

        def keep_place() -> None:
            if not lock.held() or socket_identity(path) != identity:
                self.leave("superseded")

        lock.watch(loop, keep_place)
        while not self.leaving.is_set():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.leaving.wait(), _CHECK_S)
            keep_place()
            self.fleet.refresh()
            if idle.check(len(self.doors)) and not await self._arriving():
                self.leave("idle")
        ours = lock.held() and socket_identity(path) == identity
        if ours:
            os.unlink(path)
        server.close()
        watching.cancel()
        self.fleet.close(superseded=not ours)
        await self.files.close(remove=ours)
        lock.release()
        await self._wind_down()

    async def _arriving(self) -> bool:
        """Let those in who have dialled already; tell whether somebody is there now."""
        for _ in range(_TURNS_TO_ACCEPT):
            await asyncio.sleep(0)
        return bool(self.doors)

    async def _wind_down(self) -> None:
        """Let calls in flight end, say goodbye, close everything."""
        # Who is on an idle hub dialled in the instant in which it left, and is to dial again.
        reason = "superseded" if self.reason == "idle" else self.reason
        for role in list(self.sessions):
            if role.is_idle:
                role.goodbye(reason)
        answers = [a for i in self.fleet.instances.values() for a in i.answers()]
        if answers:
            await asyncio.wait(answers, timeout=_DRAIN_S)
        for instance in list(self.fleet.instances.values()):
            instance.goodbye(reason)
        for role in list(self.sessions):
            role.goodbye(reason)
        for door in list(self.doors):
            door.close()
        await asyncio.sleep(0.05)


def _import_sdk() -> Any:
    """Import what serves MCP, and keep the garbage collector out of it, now and later.

    It finds nothing in modules, and its looks through 100,000 objects of theirs would come in the
    middle of somebody's call.
    """
    gc.disable()
    try:
        return importlib.import_module("vim_mcp.assistants.stream")
    finally:
        gc.freeze()
        gc.enable()


def newer(theirs: str, ours: str) -> bool:
    """Tell whether a version is later than ours; what is no version is not."""

    def parts(version: str) -> tuple[int, ...]:
        return tuple(int(p) for p in version.split(".")[:3] if p.isdigit())

    return len(parts(theirs)) == 3 and parts(theirs) > parts(ours)


def listen(path: str) -> socket.socket:
    """Return a listening socket at `path`, 0600, in place of a stale one.

    Only for the holder of the hub's lock: then whatever is at the path is stale.

    Raises:
        RuntimeDirError: There cannot be a socket.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    umask = os.umask(0o177)
    try:
        _clear_the_way(path)
        listener.bind(path)
    except OSError as error:
        listener.close()
        raise RuntimeDirError(path, error.strerror or str(error)) from None
    finally:
        os.umask(umask)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    return listener


def _clear_the_way(path: str) -> None:
    if socket_identity(path) is not None:
        _wait_while_served(path)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    elif os.path.lexists(path):
        # Ours is the runtime directory alone. Whose the rest is, nobody knows.
        if not os.path.samefile(os.path.dirname(path), paths.runtime_dir()):
            raise OSError(errno.EEXIST, "something that is no socket is in its place")
        os.replace(path, path + ".aside")
        log.warning("%s was no socket: it is set aside as %s.aside", path, path)


def _wait_while_served(path: str) -> None:
    """Wait for a hub that still listens though its lock file was removed: it is about to leave."""
    until = time.monotonic() + _HANDOVER_S
    while time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.setblocking(False)
            # EAGAIN: its backlog is full.
            if probe.connect_ex(path) not in (0, errno.EAGAIN):
                return
        time.sleep(0.001)
    log.warning("a hub that has lost its lock does not leave: its socket is taken over")


def run(lock: HubLock, for_assistant: bool) -> int:
    """Be the hub until it leaves; the caller holds the lock.

    `for_assistant` says that an assistant started it, so the SDK is loaded at once.

    Raises:
        RuntimeDirError: A file that it needs cannot be had.
    """
    logs.to_file(paths.log_path())
    log.info("hub %s starts in %s", __version__, paths.runtime_dir())

    async def main() -> None:
        # Bound before anything else that takes time: herds are waiting at the path.
        listener = listen(paths.socket_path())
        hub = Hub()
        if for_assistant:
            hub.load_sdk()
        await hub.serve(listener, lock)

    try:
        asyncio.run(main())
    except VimMcpError as error:
        log.error("the hub cannot start: %s", error)
        raise
    except Exception:
        log.exception("the hub failed")
        return 1
    return 0
