"""What goes wrong, when and for whom: a pure function of the seed."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import Any

#: A forwarder gives up when more than five hubs die on it within ten seconds; and what a hub's
#: death costs is seen only if the next one is left alone for a while.
_AFTER_DEATH_S, _AFTER_FREEZE_S = 2.2, 0.5
#: The first fault waits until there is some load, the last leaves time to see what comes of it.
_LEAD_S, _TAIL_S = 0.5, 1.0
_SHORT_S = (0.02, 0.4)
#: Past the deadline of an act in a chaos run, see run.SCALE.
_LONG_S = (1.5, 2.5)
_RESTART_S = (0.2, 1.0)

#: (what is done, to whom): how often, in relation to the others.
_WEIGHTS = {
    ("kill", "hub"): 5,
    ("stop", "hub"): 1,
    ("freeze", "hub"): 2,
    ("kill", "editor"): 2,
    ("freeze", "editor"): 6,
    ("type", "editor"): 2,
    ("kill", "forwarder"): 2,
    ("freeze", "forwarder"): 3,
}


@dataclass(frozen=True)
class Step:
    """One thing done `at` seconds after the start to a hub, or to an editor or forwarder by number.

    kill: SIGKILL; an editor or forwarder is started again, an editor `seconds` later. stop: SIGTERM.
    freeze: SIGSTOP, for so many `seconds`. type: the user types a line.
    """

    at: float
    kind: str
    target: str
    number: int
    seconds: float

    @property
    def name(self) -> str:
        """Kind and target: "kill hub"."""
        return f"{self.kind} {self.target}"

    def as_json(self) -> dict[str, Any]:
        """Return the step for a report."""
        return asdict(self)


def survivors(editors: int) -> int:
    """Return how many of the editors, the first ones, are never killed: what they hold proves most."""
    return (editors + 1) // 2


def make_plan(seed: int, seconds: float, editors: int, assistants: int) -> list[Step]:
    """Return the steps of a run in their order."""
    rng = random.Random(f"chaos {seed}")
    steps: list[Step] = []
    at = _LEAD_S
    #: From when on the hub may be ended (False), and frozen (True).
    next_hub_at = {False: at, True: at}
    while at < seconds - _TAIL_S:
        kind, target = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        # All is drawn each time, so that a rule more or less changes little else.
        anyone = rng.randrange(assistants if target == "forwarder" else editors)
        mortal = survivors(editors) + rng.randrange(max(1, editors - survivors(editors)))
        frozen = rng.uniform(*(_LONG_S if rng.random() < 0.35 else _SHORT_S))
        restart = rng.uniform(*_RESTART_S)
        if target == "hub":
            if at < next_hub_at[kind == "freeze"]:
                # Too soon for the hub; the user goes on.
                kind, target = "type", "editor"
            elif kind == "freeze":
                next_hub_at[True] = at + frozen + _AFTER_FREEZE_S
            else:
                next_hub_at = {False: at + _AFTER_DEATH_S, True: at + _AFTER_DEATH_S}
        elif (kind, target) == ("kill", "editor"):
            if mortal < editors:
                anyone = mortal
            else:
                kind = "type"
        lasts = {"freeze": frozen, "kill": restart if target == "editor" else 0.0}.get(kind, 0.0)
        number = 0 if target == "hub" else anyone
        steps.append(Step(round(at, 3), kind, target, number, round(lasts, 3)))
        at += rng.uniform(0.05, 0.5)
    return steps
