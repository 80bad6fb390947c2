"""A chaos run: editors and assistants in one sandbox, the plan carried out on them, and the end."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from .. import process
from ..editor import Editor
from ..editors import KINDS, make_editor
from ..errors import HarnessError
from ..hub import hub_status
from ..raw import RawAssistant
from ..sandbox import Sandbox
from ..wait import WaitTimeout, slow, wait_until
from . import leftovers
from .load import ANCHOR, Client, Place, Scene
from .model import Fate, Violation
from .plan import Step, make_plan
from .report import Report

#: Deadlines are so much shorter than usual: an act's is over after a second.
SCALE = 0.2
#: How long calls in flight and editors on their way back are waited for at the end.
_PATIENCE_S = 30.0

Progress = Callable[[str], None]


class Seat:
    """A place for an editor, and the editor that sits there now, if it is up."""

    def __init__(self, chaos: Chaos, number: int) -> None:
        self._chaos = chaos
        self._number = number
        self._kind = list(KINDS)[number % len(KINDS)]
        self.up: Editor | None = None
        self.sockets = 0
        self._typed = itertools.count(1)

    @property
    def name(self) -> str:
        """What the seat is called in `Scene.places`."""
        return f"seat-{self._number}"

    def fill(self) -> None:
        """Start an editor with two files, one shown and one loaded, and offer them to the load."""
        sandbox, scene = self._chaos.sandbox, self._chaos.scene
        cwd = sandbox.project(f"project-{self._number}")
        files = [cwd / "shown.txt", cwd / "hidden.txt"]
        for file in files:
            file.write_text(f"{ANCHOR}\n")
        editor = make_editor(self._kind, sandbox)
        editor.start(files, cwd=cwd, env=self._chaos.env)
        editor.eval("bufload(2)")
        instance_id = str(editor.eval("vim_mcp#client#Describe().instance_id"))
        self.sockets = leftovers.sockets(editor.pid)
        self.up = editor
        places = [Place(f"{editor.name}:{bufnr}", instance_id, bufnr) for bufnr in (1, 2)]
        scene.places = {**scene.places, self.name: places}

    def vacate(self) -> None:
        """Kill the editor."""
        scene = self._chaos.scene
        editor, self.up = self.up, None
        scene.places = {name: p for name, p in scene.places.items() if name != self.name}
        if editor is not None:
            editor.kill()
            editor.stop()

    def type(self) -> None:
        """Have the user add a line at the end of what is shown."""
        assert self.up is not None
        scene = self._chaos.scene
        token = f"user-{self._number}.{next(self._typed)}"
        scene.model.sent(token, f"{self.up.name}:1", scene.now, "typed")
        scene.model.became(token, Fate.TYPED, scene.now, "the keys are with the terminal")
        self.up.type(f"Go{token}<Esc>", sync=False)

    def lines(self) -> dict[str, list[str]]:
        """Return what the editor holds, asked past the hub, when all typed keys are worked off."""
        editor = self.up
        assert editor is not None
        editor.type("<Esc>")
        wait_until(lambda: editor.eval("vim_mcp#acts#Pending()") == 0, what="no act to wait")
        return {f"{editor.name}:{bufnr}": editor.lines(bufnr) for bufnr in (1, 2)}


class Chaos:
    """One run. Duties of the caller: `run()`, once."""

    def __init__(
        self, seed: int, seconds: float, editors: int, assistants: int, progress: Progress
    ) -> None:
        self.seed, self.seconds = seed, seconds
        self.plan = make_plan(seed, seconds, editors, assistants)
        self.sandbox = Sandbox()
        self.env = {"VIM_MCP_TIMEOUT_SCALE": f"{SCALE * slow():g}"}
        self.scene = Scene()
        self._progress = progress
        self._seats = [Seat(self, number) for number in range(editors)]
        self._clients = [
            Client(number, seed, self.sandbox, self.scene, self.env) for number in range(assistants)
        ]
        self._faults: Counter[str] = Counter()
        self._skipped = 0
        self._deaths: list[float] = []
        # What is due: the plan's steps, and what they bring with them (thaw, start again).
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._thaw_at: dict[int, float] = {}
        self._restarts = ThreadPoolExecutor(1, thread_name_prefix="chaos-restarts")

    def run(self) -> Report:
        """Do it all and return what was found."""
        try:
            idle = leftovers.idle_descriptors(self.sandbox, self.env)
            for seat in self._seats:
                seat.fill()
            self.scene.restart_clock()
            for client in self._clients:
                client.start()
            self._carry_out()
            self._finish(idle)
            return self._report()
        finally:
            self._restarts.shutdown(cancel_futures=True)
            for seat in self._seats:
                if seat.up is not None:
                    seat.up.stop()
            self.sandbox.close()

    # --- the faults ---------------------------------------------------------------------------

    def _carry_out(self) -> None:
        for step in self.plan:
            self._at(step.at, lambda step=step: self._do(step))  # type: ignore[misc]
        self._at(self.seconds, lambda: None)
        pause = threading.Event()
        while self._due:
            at, _, action = heapq.heappop(self._due)
            pause.wait(max(0.0, at - self.scene.now))
            action()
            edits = self.scene.model.counts()["acknowledged"]
            self._progress(
                f"{self.scene.now:.0f} of {self.seconds:g} s: {self._faults.total()} faults, "
                f"{edits} edits acknowledged, {len(self.scene.violations)} violations"
            )

    def _at(self, at: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._due, (at, next(self._order), action))

    def _do(self, step: Step) -> None:
        done = False
        if step.kind == "freeze":
            done = self._freeze(self._pid_of(step), step.seconds)
        elif step.target == "hub":
            done = self._end_hub(step)
        elif step.target == "forwarder":
            self._clients[step.number].kill()
            done = True
        elif (seat := self._seats[step.number]).up is not None:
            done = True
            if step.kind == "type":
                seat.type()
            else:
                seat.vacate()
                self._at(self.scene.now + step.seconds, lambda: self._refill(seat))
        if done:
            self._faults[step.name] += 1
        else:
            self._skipped += 1

    def _refill(self, seat: Seat) -> None:
        # Beside the faults, which go on: an editor takes a while to start.
        def fill() -> None:
            try:
                seat.fill()
            except (HarnessError, WaitTimeout) as error:
                history = ((self.scene.now, str(error)),)
                self.scene.violations.append(
                    Violation("an editor did not start", seat.name, history)
                )

        self._restarts.submit(fill)

    def _pid_of(self, step: Step) -> int | None:
        if step.target == "hub":
            return leftovers.hub_pid(self.sandbox)
        if step.target == "forwarder":
            return self._clients[step.number].pid
        editor = self._seats[step.number].up
        return editor.pid if editor is not None else None

    def _freeze(self, pid: int | None, seconds: float) -> bool:
        if pid is None or not _signal(pid, signal.SIGSTOP):
            return False
        until = self._thaw_at[pid] = max(self._thaw_at.get(pid, 0.0), self.scene.now + seconds)

        def thaw() -> None:
            # It may have been stopped for longer meanwhile.
            if self._thaw_at[pid] <= until:
                _signal(pid, signal.SIGCONT)

        self._at(until, thaw)
        return True

    def _end_hub(self, step: Step) -> bool:
        pid = leftovers.hub_pid(self.sandbox)
        number = signal.SIGKILL if step.kind == "kill" else signal.SIGTERM
        if pid is None or not _signal(pid, number):
            return False
        if step.kind == "kill":
            self._deaths.append(self.scene.now)
        for client in self._clients:
            client.probe()
        return True

    # --- the end ------------------------------------------------------------------------------

    def _finish(self, idle: int) -> None:
        self._progress("waiting for what is in flight")
        for one in self.sandbox.processes():
            _signal(one.pid, signal.SIGCONT)
        self._restarts.shutdown()
        for client in self._clients:
            client.finish(_PATIENCE_S)
        violations = self.scene.violations
        seats = [seat for seat in self._seats if seat.up is not None]
        with RawAssistant(self.sandbox, env=self.env).start() as assistant:
            assistant.initialize()
            violations += [v for seat in seats if (v := self._unreachable(seat, assistant))]
        buffers: dict[str, list[str]] = {}
        for seat in seats:
            buffers |= seat.lines()
        violations += self.scene.model.check(buffers, [ANCHOR])
        self._progress("looking for what is left")
        violations += leftovers.check_hub(self.sandbox, len(seats), idle + len(seats))
        for seat in seats:
            editor, seat.up = seat.up, None
            assert editor is not None
            if (now := leftovers.sockets(editor.pid)) != seat.sockets:
                about = f"{editor.name}: {seat.sockets} at first, {now} now"
                violations.append(Violation("an editor keeps sockets", about))
            editor.stop()
        violations += leftovers.check_hub(self.sandbox, 0, idle)
        violations += leftovers.check_end(self.sandbox)

    def _unreachable(self, seat: Seat, assistant: RawAssistant) -> Violation | None:
        """Wait until the assistant can read in an editor; say so when it never can."""
        (place, _) = self.scene.places[seat.name]
        told = ""

        def read() -> bool:
            nonlocal told
            answer = assistant.call("vim_read", instance_id=place.instance_id, bufnr=place.bufnr)
            told = str(answer)[:500]
            return "result" in answer and not answer["result"].get("isError")

        try:
            wait_until(read, seconds=_PATIENCE_S)
        except WaitTimeout:
            status = str(hub_status(self.sandbox))
            history = ((self.scene.now, told), (self.scene.now, status))
            return Violation("an editor is not reachable any more", place.name, history)
        return None

    def _report(self) -> Report:
        return Report(
            seed=self.seed,
            seconds=self.seconds,
            editors=len(self._seats),
            assistants=len(self._clients),
            plan=self.plan,
            faults=self._faults,
            skipped=self._skipped,
            outcomes=self.scene.outcomes,
            errors=self.scene.errors,
            edits=self.scene.model.counts(),
            recoveries=recoveries(self._deaths, self.scene.good),
            violations=self.scene.violations,
        )


def recoveries(deaths: list[float], good: list[tuple[float, float]]) -> list[float]:
    """Return for each death the time to the first good answer to a call that was sent after it.

    A death that was the last thing to happen before the end may have none.
    """
    found = []
    for death in deaths:
        answers = [answered for sent, answered in good if sent >= death]
        if answers:
            found.append(min(answers) - death)
    return found


def _signal(pid: int, number: int) -> bool:
    """Send a signal to a process of the sandbox; False when it is gone."""
    if not process.exists(pid):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False
