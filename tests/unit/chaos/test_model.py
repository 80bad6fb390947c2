"""The judge of a chaos run sees what is wrong, and nothing else."""

from __future__ import annotations

import pytest

from harness.chaos.model import Fate, Model
from harness.chaos.run import recoveries


def model(fate: Fate) -> Model:
    """One edit to buffer 1 of an editor called vim."""
    found = Model()
    found.sent("token", "vim:1", 1.0, "sent")
    if fate is not Fate.WAITING:
        found.became("token", fate, 2.0, "answered")
    return found


def complaints(fate: Fate, **buffers: list[str]) -> list[str]:
    """What the judge says when the buffers called vim:1 and so on hold these lines."""
    named = {f"{name[:-1]}:{name[-1]}": lines for name, lines in buffers.items()}
    return [violation.what for violation in model(fate).check(named, ["anchor"])]


@pytest.mark.parametrize(
    ("fate", "times", "wrong"),
    [
        (Fate.ACKNOWLEDGED, 1, []),
        (Fate.ACKNOWLEDGED, 0, ["lost: acknowledged, and not there"]),
        (Fate.ACKNOWLEDGED, 2, ["applied 2 times"]),
        (Fate.TYPED, 1, []),
        (Fate.TYPED, 0, ["lost: typed, and not there"]),
        (Fate.REFUSED, 0, []),
        (Fate.REFUSED, 1, ["applied though its caller was told that it failed"]),
        (Fate.UNKNOWN, 0, []),
        (Fate.UNKNOWN, 1, []),
        (Fate.UNKNOWN, 2, ["applied 2 times"]),
        (Fate.CANCELLED, 0, []),
        (Fate.CANCELLED, 1, []),
        (Fate.CANCELLED, 3, ["applied 3 times"]),
        (Fate.WAITING, 1, ["never answered"]),
    ],
)
def test_what_a_buffer_holds_is_held_against_what_callers_were_told(
    fate: Fate, times: int, wrong: list[str]
) -> None:
    assert complaints(fate, vim1=["anchor", *["token"] * times]) == wrong


def test_what_a_dead_editor_held_is_nobodys_loss() -> None:
    assert complaints(Fate.ACKNOWLEDGED) == []


def test_an_edit_in_the_wrong_buffer_is_seen() -> None:
    assert complaints(Fate.UNKNOWN, vim1=[], vim2=["token"]) == [
        "applied in vim:2, meant for vim:1"
    ]


def test_a_line_that_nobody_wrote_is_seen() -> None:
    assert complaints(Fate.ACKNOWLEDGED, vim1=["token", "tok"]) == ["a line that nobody wrote"]


def test_a_violation_comes_with_the_history_of_its_token() -> None:
    (violation,) = model(Fate.ACKNOWLEDGED).check({"vim:1": []})
    assert violation.about == "token"
    assert violation.history == ((1.0, "sent"), (2.0, "answered"))


def test_an_answer_that_crossed_its_cancellation_counts() -> None:
    edits = model(Fate.CANCELLED)
    edits.became("token", Fate.ACKNOWLEDGED, 3.0, "answered all the same")
    assert [violation.what for violation in edits.check({"vim:1": []})] == [
        "lost: acknowledged, and not there"
    ]


def test_a_token_is_used_once() -> None:
    with pytest.raises(ValueError, match="used already"):
        model(Fate.UNKNOWN).sent("token", "vim:1", 3.0, "sent")


def test_recovery_is_counted_from_the_death_to_the_first_answer_of_a_later_call() -> None:
    good = [(0.9, 1.5), (1.1, 1.75), (1.2, 1.6), (3.0, 3.25)]
    assert recoveries([1.0, 2.0, 9.0], good) == pytest.approx([0.6, 1.25])
