"""What a chaos run found, for people and for programs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .model import Violation
from .plan import Step


@dataclass(frozen=True)
class Report:
    """The figures of one run; it is good when there are no violations."""

    seed: int
    seconds: float
    editors: int
    assistants: int
    plan: Sequence[Step]
    #: Steps that were carried out, by name; the others found nobody to do it to.
    faults: Counter[str]
    skipped: int
    outcomes: Counter[str]
    errors: Counter[str]
    edits: dict[str, int]
    #: Seconds from a hub's death to the first good answer to a call sent after it.
    recoveries: Sequence[float]
    violations: Sequence[Violation]

    def as_json(self) -> dict[str, Any]:
        """Return the report, with the plan."""
        return {
            "seed": self.seed,
            "seconds": self.seconds,
            "editors": self.editors,
            "assistants": self.assistants,
            "plan": [step.as_json() for step in self.plan],
            "faults": dict(self.faults),
            "skipped": self.skipped,
            "calls": dict(self.outcomes),
            "errors": dict(self.errors),
            "edits": self.edits,
            "recovery": self._recovery(),
            "violations": [violation.as_json() for violation in self.violations],
        }

    def _recovery(self) -> dict[str, float]:
        if not self.recoveries:
            return {}
        return {
            "deaths": len(self.recoveries),
            "median_s": round(statistics.median(self.recoveries), 3),
            "worst_s": round(max(self.recoveries), 3),
        }

    def text(self) -> str:
        """Return the report as lines for a person."""
        recovery = self._recovery()
        lines = [
            f"seed {self.seed}, {self.seconds:g} s, {self.editors} editors, "
            f"{self.assistants} assistants",
            f"faults    {self.faults.total()}: {_listed(self.faults)}; skipped {self.skipped}",
            f"calls     {self.outcomes.total()}: {_listed(self.outcomes)}",
            f"errors    {_listed(self.errors)}",
            f"edits     {_listed(self.edits)}",
        ]
        if recovery:
            lines.append(
                f"recovery  median {recovery['median_s']:.2f} s, worst {recovery['worst_s']:.2f} s "
                f"after {recovery['deaths']} deaths of the hub"
            )
        for violation in self.violations:
            lines.append(f"VIOLATION {violation.what}: {violation.about}")
            lines += [f"    {at:8.3f} s  {what}" for at, what in violation.history]
        lines.append(
            "no violation" if not self.violations else f"{len(self.violations)} violations"
        )
        return "\n".join(lines) + "\n"


def _listed(counts: Counter[str] | dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{count} {name}" for name, count in ordered) or "none"
