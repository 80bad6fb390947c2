from __future__ import annotations

import pytest

from harness.wait import Deadline, WaitTimeout, slow, wait_until


def test_the_true_answer_is_returned() -> None:
    answers = iter([None, 0, "", "there"])
    assert wait_until(lambda: next(answers), seconds=5, what="it") == "there"


def test_the_condition_is_looked_at_once_even_with_no_time() -> None:
    assert wait_until(lambda: True, seconds=0) is True


def test_a_timeout_names_what_was_waited_for_and_adds_the_detail() -> None:
    with pytest.raises(WaitTimeout, match=r"waited 0\.01 s for the moon, in vain\nclouds"):
        wait_until(lambda: False, seconds=0.01, what="the moon", detail=lambda: "clouds")


def test_an_error_of_the_condition_passes_through() -> None:
    def fails() -> bool:
        raise KeyError("x")

    with pytest.raises(KeyError):
        wait_until(fails, seconds=5)


def test_bounds_are_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_SLOW", "3")
    assert slow() == 3
    assert Deadline(2).seconds == 6
    assert Deadline(2, scaled=False).seconds == 2


@pytest.mark.parametrize("text", ["fast", "0", "-1", "inf", "nan"])
def test_a_scale_that_is_no_factor_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("HARNESS_SLOW", text)
    with pytest.raises(ValueError, match="HARNESS_SLOW"):
        slow()
