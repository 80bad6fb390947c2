"""Assistants under load: each sends calls, several at a time, and notes what it is told."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..errors import AssistantGone
from ..raw import RawAssistant
from ..sandbox import Sandbox
from ..wait import WaitTimeout, wait_until
from .model import Fate, Model, Violation

Json = dict[str, Any]

#: The line that edits by text are made at; no token holds it.
ANCHOR = "anchor"
#: What a client of the era without a handshake sends with each request.
_MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "chaos-modern", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
#: Calls in flight of one assistant, and the longest pause between two.
_DEPTH, _PACE_S = 6, 0.06
_CANCELLED_SHARE = 0.03
#: kind of call: how often, in relation to the others.
_KINDS = {"insert": 12, "replace": 3, "read": 3, "list": 1, "state": 1}


@dataclass(frozen=True)
class Place:
    """A buffer that edits may go to; `name` is the model's name for it."""

    name: str
    instance_id: str
    bufnr: int


@dataclass
class Scene:
    """What the assistants, the faults and the end of a run share."""

    model: Model = field(default_factory=Model)
    #: By editor; replaced as a whole, so that a reader needs no lock.
    places: dict[str, list[Place]] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    #: Calls by outcome, and failures by code and reason.
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    #: (sent, answered) of calls on editors that succeeded.
    good: list[tuple[float, float]] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return round(time.monotonic() - self._began, 4)

    def restart_clock(self) -> None:
        """Count from now on: the preparations are over."""
        self._began = time.monotonic()

    def count(self, outcome: str, error: str = "") -> None:
        """Count a call's outcome."""
        with self._lock:
            self.outcomes[outcome] += 1
            if error:
                self.errors[error] += 1


@dataclass(frozen=True)
class _Call:
    kind: str
    at: float
    #: The line it puts into a buffer; empty for reads.
    token: str = ""


class Client:
    """One assistant with a forwarder of its own, even numbers with `initialize`, odd ones without.

    Duties of the caller: `start()`, then `finish()`. The other methods may be called meanwhile, from
    another thread.
    """

    def __init__(
        self, number: int, seed: int, sandbox: Sandbox, scene: Scene, env: dict[str, str]
    ) -> None:
        self.name = f"assistant-{number}"
        self._modern = number % 2 == 1
        self._rng = random.Random(f"chaos {seed} {self.name}")
        self._scene = scene
        self._sandbox, self._env = sandbox, env
        self._assistant = self._new()
        self._in_flight: dict[int, _Call] = {}
        self._cancelled: dict[int, _Call] = {}
        self._sent = 0
        self._finishing = self._killed = self._probe = False
        # For the process: one thread kills it, another starts it anew.
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    def _new(self) -> RawAssistant:
        return RawAssistant(self._sandbox, env=self._env, name=self.name)

    def start(self) -> None:
        """Start the forwarder and the calls."""
        self._assistant.start()
        self._thread.start()

    def probe(self) -> None:
        """Send a read at once, however many calls are in flight."""
        self._probe = True

    def kill(self) -> None:
        """Kill the forwarder; another one is started at once."""
        with self._lock:
            self._killed = True
            self._assistant.kill()

    @property
    def pid(self) -> int:
        """The process id of the forwarder."""
        return self._assistant.pid

    def finish(self, seconds: float) -> None:
        """Send no more, wait for what is in flight, end the forwarder."""
        self._finishing = True
        try:
            wait_until(lambda: not self._thread.is_alive(), seconds=seconds)
        except WaitTimeout:
            waiting = [f"{call.kind} {call.token}".strip() for call in self._in_flight.values()]
            self._complain("calls never answered", f"{', '.join(waiting)}\n{self._stderr()}")
        with self._lock:
            self._killed = True
            self._assistant.stop()

    # --- in its thread ------------------------------------------------------------------------

    def _run(self) -> None:
        ready = False
        while not self._finishing or self._in_flight:
            try:
                if not ready and not self._modern:
                    self._assistant.initialize()
                ready = True
                self._turn()
            except AssistantGone:
                self._begin_anew()
                ready = False
            except Exception as error:
                self._complain("the assistant failed", f"{error!r}\n{self._stderr()}")
                return

    def _turn(self) -> None:
        if self._probe:
            self._probe = False
            self._send("read")
        elif not self._finishing and len(self._in_flight) < _DEPTH:
            self._send(self._rng.choices(list(_KINDS), list(_KINDS.values()))[0])
            if self._rng.random() < _CANCELLED_SHARE:
                self._cancel()
        try:
            message = self._assistant.recv(self._rng.uniform(0, _PACE_S))
        except WaitTimeout:
            return
        if "id" in message and "method" not in message:
            self._heard(message)

    def _begin_anew(self) -> None:
        """The forwarder is gone: nobody will say what became of the calls in flight."""
        with self._lock:
            if not self._killed:
                self._complain("the forwarder ended by itself", self._stderr())
            for call in self._in_flight.values():
                self._note(call, Fate.UNKNOWN, "its forwarder was killed")
                self._scene.count("forwarder killed")
            self._in_flight.clear()
            self._cancelled.clear()
            self._assistant.stop()
            self._killed = False
            self._assistant = self._new().start()

    def _send(self, kind: str) -> None:
        places = [place for some in self._scene.places.values() for place in some]
        if not places:
            return
        place = self._rng.choice(places)
        where = {"instance_id": place.instance_id, "bufnr": place.bufnr}
        token = ""
        if kind in ("insert", "replace"):
            self._sent += 1
            token = f"{self.name}.{self._sent}"
        tool, arguments = {
            "insert": ("vim_edit", {**where, "line": 1, "end_line": 0, "content": token}),
            "replace": (
                "vim_edit",
                {**where, "old_text": ANCHOR, "content": f"{ANCHOR}\n{token}"},
            ),
            "read": ("vim_read", {**where, "last_line": 20}),
            "list": ("list_vim_instances", {}),
            "state": ("vim_get_state", {"instance_id": place.instance_id}),
        }[kind]
        call = _Call(kind, self._scene.now, token)
        if token:
            self._scene.model.sent(token, place.name, call.at, f"{self.name} sent it ({kind})")
        params: Json = {"name": tool, "arguments": arguments}
        if self._modern:
            params["_meta"] = _MODERN
        try:
            self._in_flight[self._assistant.send_request("tools/call", params)] = call
        except AssistantGone:
            self._note(call, Fate.UNKNOWN, "its forwarder was gone")
            self._scene.count("forwarder killed")
            raise

    def _cancel(self) -> None:
        number = self._rng.choice(list(self._in_flight))
        params = {"requestId": number, "reason": "chaos"}
        call = self._cancelled[number] = self._in_flight.pop(number)
        self._note(call, Fate.CANCELLED, "cancelled")
        self._scene.count("cancelled")
        self._assistant.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        )

    def _heard(self, message: Json) -> None:
        call = self._in_flight.pop(message["id"], None)
        # An answer may cross its cancellation.
        crossed = self._cancelled.pop(message["id"], None) if call is None else None
        known = call or crossed
        if known is None:
            self._complain("an answer to no question", json.dumps(message)[:500])
            return
        error = failure(message)
        if error is None:
            fate, what = Fate.ACKNOWLEDGED, "acknowledged"
            if known.kind != "list":
                self._scene.good.append((known.at, self._scene.now))
        elif error.get("data", {}).get("effect_unknown"):
            fate, what = Fate.UNKNOWN, f"effect unknown: {error}"
        else:
            fate, what = Fate.REFUSED, f"refused: {error}"
        self._note(known, fate, what)
        if call is not None:
            reason = "" if error is None else f"{error.get('code')} {_reason(error)}".strip()
            self._scene.count("good" if error is None else fate.value, reason)

    def _note(self, call: _Call, fate: Fate, what: str) -> None:
        if call.token:
            self._scene.model.became(call.token, fate, self._scene.now, what)

    def _complain(self, what: str, detail: str) -> None:
        history = ((self._scene.now, detail),)
        self._scene.violations.append(Violation(what, self.name, history))

    def _stderr(self) -> str:
        return self._assistant.stderr()


def failure(message: Json) -> Json | None:
    """Return the {code, message, data} of a response to a call, None when it succeeded."""
    if "error" in message:
        return dict(message["error"])
    result = message["result"]
    if not result.get("isError"):
        return None
    try:
        return dict(json.loads(result["content"][0]["text"]))
    except (ValueError, LookupError, TypeError):
        return {"message": str(result)}


def _reason(error: Json) -> str:
    return str((error.get("data") or {}).get("reason") or "")
