"""What goes wrong in a chaos run follows from its seed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from harness.chaos.plan import make_plan, survivors


def test_a_plan_is_a_function_of_its_seed() -> None:
    assert make_plan(7, 60, 4, 4) == make_plan(7, 60, 4, 4)
    assert make_plan(7, 60, 4, 4) != make_plan(8, 60, 4, 4)


def test_a_plan_does_not_change_from_version_to_version() -> None:
    # A seed that once found something has to find it again.
    first = [(step.at, step.name, step.number, step.seconds) for step in make_plan(1, 60, 4, 4)[:4]]
    assert first == [
        (0.5, "freeze editor", 1, 0.117),
        (0.628, "kill forwarder", 3, 0.0),
        (0.958, "freeze editor", 2, 0.133),
        (1.246, "freeze forwarder", 0, 1.764),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_is_one_that_can_be_survived(seed: int) -> None:
    steps = make_plan(seed, 60, 5, 3)
    assert [step.at for step in steps] == sorted(step.at for step in steps)
    assert {step.name for step in steps} >= {"kill hub", "freeze hub", "freeze editor"}
    deaths = [s.at for s in steps if s.target == "hub" and s.kind != "freeze"]
    # Else forwarders give up, as they should.
    assert all(later - earlier >= 2.1 for earlier, later in pairwise(deaths))
    assert {s.number for s in steps if s.name == "kill editor"} <= set(range(survivors(5), 5))
    assert {s.number for s in steps if s.target == "forwarder"} <= set(range(3))
    assert all(s.at < 60 and s.at + s.seconds < 63 for s in steps)


def test_an_only_editor_is_never_killed() -> None:
    assert "kill editor" not in {step.name for step in make_plan(1, 300, 1, 1)}
