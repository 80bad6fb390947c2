"""Files about editors: the registry (first seed 4.1) and what users chose before (4.3)."""

from __future__ import annotations

import json
import logging
import os
import stat
import time
from collections.abc import Iterable
from datetime import datetime, timezone

from vim_mcp import paths
from vim_mcp.editors.instance import Instance
from vim_mcp.editors.process import process_exists
from vim_mcp.limits import REGISTRY_MAX_AGE_S
from vim_mcp.wire.messages import EditorInfo, Json

log = logging.getLogger(__name__)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")


def _seconds(text: object) -> float | None:
    """Return the time that an ISO 8601 timestamp with a zone means, None when it is none."""
    try:
        found = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo else None


def entry(instance: Instance, socket_path: str) -> Json:
    """Return an instance's registry entry, the seed's fields and what tells editors apart."""
    info = instance.info
    return {
        "socket": socket_path,
        "pid": info.pid,
        "peer_pid": instance.peer_pid,
        "cwd": info.cwd,
        "main_file": info.main_file,
        "started": info.started if _seconds(info.started) else _iso(instance.connected_at),
        "buffers": list(info.buffers),
        "last_seen": _iso(time.time()),
        "root": info.root,
        "editor": info.editor,
        "version": info.version,
        "host": info.host,
    }


class Registry:
    """The registry file. It holds the connected instances, and is only ever written whole."""

    def __init__(self, path: str, socket_path: str) -> None:
        self.path = path
        self._socket_path = socket_path
        self._failing = False

    def load(self) -> list[Instance]:
        """Return the editors of an earlier hub that may still be on their way back.

        They are gone for now: asking one of them raises `InstanceGone`.

        A file that is not a registry is set aside under another name.
        """
        try:
            # Neither waiting for a pipe's writer nor believing what somebody else wrote.
            fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(fd, encoding="utf-8") as file:
                status = os.fstat(fd)
                if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
                    raise ValueError("it is no file of ours")
                found = json.load(file)
            if not isinstance(found, dict):
                raise ValueError("not a JSON object")
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            log.warning("registry %s is set aside: %s", self.path, error)
            try:
                os.replace(self.path, self.path + ".corrupt")
            except OSError as failed:
                log.warning("registry cannot be set aside: %s", failed)
            return []
        return [
            _absent(instance_id, entry)
            for instance_id, entry in found.items()
            if isinstance(entry, dict) and _may_return(entry)
        ]

    def write(self, instances: Iterable[Instance]) -> bool:
        """Write the connected instances; False and a log line when that cannot be."""
        text = json.dumps({i.id: entry(i, self._socket_path) for i in instances}, indent=2)
        try:
            paths.write_whole(self.path, text + "\n")
        except OSError as error:
            if not self._failing:
                log.warning("registry %s is not written: %s", self.path, error)
            self._failing = True
            return False
        self._failing = False
        return True


class _NoTransport:
    """In the place of a connection that ended with an earlier hub."""

    def write(self, data: bytes) -> None:
        """Nobody is there."""

    def close(self) -> None:
        """Nothing is open."""


def _absent(instance_id: str, found: Json) -> Instance:
    peer_pid = found.get("peer_pid")
    instance = Instance(
        instance_id,
        EditorInfo().updated(found),
        _NoTransport(),
        peer_pid if isinstance(peer_pid, int) else 0,
    )
    instance.gone = True
    return instance


def _may_return(found: Json) -> bool:
    seen, pid = _seconds(found.get("last_seen")), found.get("peer_pid") or found.get("pid")
    if seen is None or time.time() - seen > REGISTRY_MAX_AGE_S:
        return False
    return isinstance(pid, int) and process_exists(pid)


def without_pid(instance_id: str) -> str:
    """Return `filename-project` of an instance id: what a project's next Vim has in common."""
    return instance_id.rpartition("-")[0]


class Preferences:
    """What users selected before: the seed's one line, and one line a project."""

    def __init__(self, line_path: str, projects_path: str) -> None:
        self._line_path, self._projects_path = line_path, projects_path

    def remember(self, instance: Instance) -> None:
        """Note that a user's assistant selected this instance."""
        projects = self._projects()
        if instance.info.root:
            projects[instance.info.root] = without_pid(instance.id)
        try:
            paths.write_whole(self._line_path, instance.id + "\n")
            os.makedirs(os.path.dirname(self._projects_path), mode=0o700, exist_ok=True)
            paths.write_whole(self._projects_path, json.dumps(projects, indent=2) + "\n")
        except OSError as error:
            log.warning("preference is not written: %s", error)

    def project(self, cwd: str) -> str | None:
        """Return the `filename-project` remembered for the project that holds `cwd`."""
        holding = [root for root in self._projects() if inside(cwd, root)]
        return self._projects()[max(holding, key=len)] if holding else None

    def _projects(self) -> dict[str, str]:
        try:
            with open(self._projects_path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {k: v for k, v in found.items() if isinstance(v, str)}


def inside(path: str, root: str) -> bool:
    """Tell whether an absolute path is `root` or below it."""
    return bool(root and path) and (path == root or path.startswith(root.rstrip("/") + "/"))
