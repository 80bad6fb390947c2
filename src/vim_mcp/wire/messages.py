"""Messages between an editor and the hub, as DESIGN's "The wire" and the first seed's 3.2.1.

`parse` is tolerant: unknown fields and types are ignored, so that peers one protocol version
apart understand each other; what cannot be understood at all is `Nonsense`, never an exception.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields, replace
from typing import Any

Json = dict[str, Any]

#: Pids and versions; a larger number is no such thing and no system call takes it.
_MAX_INT = 2**31 - 1
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class EditorInfo:
    """What an editor tells of itself when it registers; paths are absolute or empty."""

    pid: int = 0
    cwd: str = ""
    main_file: str = ""
    buffers: tuple[str, ...] = ()
    version: str = ""
    protocol: int = 1
    plugin_version: str = ""
    editor: str = "vim"
    root: str = ""
    host: str = ""
    features: tuple[str, ...] = ()
    ui: str = "tty"
    readonly: bool = False
    nonce: str = ""
    paused: bool = False
    started: str = ""
    #: What the user lets be kept of it in a file: 'meta', 'full' or 'off', and how often.
    state_files: str = "off"
    state_interval: int = 1000

    def updated(self, changes: Json) -> EditorInfo:
        """Return a copy with the well-formed fields of `changes`; others are ignored."""
        return replace(self, **_clean(changes))


def _clean(raw: Json) -> Json:
    """Keep what has the type that its field's default has."""
    result: Json = {}
    for item in fields(EditorInfo):
        if item.name not in raw:
            continue
        value, default = raw[item.name], item.default
        if isinstance(default, tuple):
            if isinstance(value, list):
                result[item.name] = tuple(v for v in value if isinstance(v, str))
        elif isinstance(default, bool):
            # Vimscript has 0 and 1 where JSON has false and true.
            if isinstance(value, bool | int):
                result[item.name] = bool(value)
        elif isinstance(default, int):
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INT:
                result[item.name] = value
        elif isinstance(value, str):
            result[item.name] = value
    return result


@dataclass(frozen=True)
class Register:
    """An editor introduces itself."""

    instance_id: str
    info: EditorInfo


@dataclass(frozen=True)
class Update:
    """Facts that changed, and events since the last one; answered by an ack of `seq`."""

    seq: int
    info: Json = field(default_factory=dict)
    events: tuple[Json, ...] = ()


@dataclass(frozen=True)
class Started:
    """An act left the queue and begins now."""

    id: int


@dataclass(frozen=True)
class Reply:
    """The outcome of a request: a result, or an error with code, message and data."""

    id: int
    result: Json | None = None
    error: Json | None = None


@dataclass(frozen=True)
class Ask:
    """The editor asks the hub."""

    id: int | str
    method: str
    params: Json


@dataclass(frozen=True)
class Bye:
    """The editor leaves on purpose."""


@dataclass(frozen=True)
class Control:
    """A request of the command line to the hub.

    `status`, `stop`, and about the absolute path `file`: `changed` on disk, `unsaved` where?
    """

    verb: str
    file: str = ""


@dataclass(frozen=True)
class Unknown:
    """Well-formed, of a later protocol: ignored."""

    type: str


@dataclass(frozen=True)
class Nonsense:
    """Not a message of this protocol."""

    why: str


Message = Register | Update | Started | Reply | Ask | Bye | Control | Unknown | Nonsense


def decode(line: bytes) -> Json | None:
    """Return the JSON object of a line, or None.

    Bytes that are not UTF-8 (an editor's buffer may hold any) become U+FFFD, and so do lone
    surrogates, which nothing could be written with.
    """
    try:
        message = json.loads(line.decode("utf-8", "replace"))
        if b"\\u" in line:
            message = _mended(message)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value


def parse(line: bytes) -> Message:
    """Return the message on one line of an editor or of the command line."""
    raw = decode(line)
    if raw is None:
        return Nonsense("not a JSON object")
    kind = raw.get("type")
    if kind is None:
        return _parse_call(raw)
    if not isinstance(kind, str):
        return Nonsense("type is not a string")
    if kind == "register":
        return _parse_register(raw)
    if kind == "update":
        seq, info, events = raw.get("seq", 0), raw.get("info", {}), raw.get("events", [])
        return Update(
            seq if isinstance(seq, int) else 0,
            info if isinstance(info, dict) else {},
            tuple(e for e in events if isinstance(e, dict)) if isinstance(events, list) else (),
        )
    if kind == "started":
        return Started(raw["id"]) if isinstance(raw.get("id"), int) else Nonsense("started: no id")
    if kind == "bye":
        return Bye()
    if kind in ("status", "stop"):
        return Control(kind)
    if kind in ("changed", "unsaved"):
        file = raw.get("file")
        if not isinstance(file, str) or not file.startswith("/"):
            return Nonsense(f"{kind} without an absolute path")
        return Control(kind, file)
    return Unknown(kind)


def _parse_register(raw: Json) -> Message:
    instance_id, info = raw.get("instance_id"), raw.get("info", {})
    if not isinstance(instance_id, str) or not instance_id:
        return Nonsense("register: instance_id is not a string")
    if len(instance_id) > 255 or any(c in "/\\" or not c.isprintable() for c in instance_id):
        return Nonsense("register: instance_id is not a plain name")
    if not isinstance(info, dict):
        return Nonsense("register: info is not an object")
    return Register(instance_id, EditorInfo().updated(info))


def _parse_call(raw: Json) -> Message:
    call_id = raw.get("id")
    if isinstance(raw.get("method"), str) and isinstance(call_id, int | str):
        params = raw.get("params")
        return Ask(call_id, raw["method"], params if isinstance(params, dict) else {})
    if not isinstance(call_id, int) or isinstance(call_id, bool):
        return Nonsense("neither type nor id")
    if "error" in raw:
        error = raw["error"]
        return Reply(call_id, error=error if isinstance(error, dict) else {"message": str(error)})
    if isinstance(raw.get("result"), dict):
        return Reply(call_id, result=raw["result"])
    return Nonsense("a reply without result or error")


def encode(message: Json) -> bytes:
    """Return one line with its newline."""
    return (
        json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        + b"\n"
    )
