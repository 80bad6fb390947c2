"""Everything dies and hangs under load for a while: nothing is lost, nothing done twice."""

from __future__ import annotations

import json
import sys

import pytest

from harness import process
from harness.chaos import chaos
from harness.cli import main

pytestmark = pytest.mark.skipif(not process.LINUX, reason="finds processes through /proc")


def test_nothing_is_lost_or_done_twice_while_everything_dies_and_hangs() -> None:
    report = chaos(3, 8.0)
    assert not report.violations, report.text()
    assert report.faults["kill hub"] >= 1
    assert report.faults["freeze editor"] >= 1
    assert report.edits["acknowledged"] > 20
    assert report.edits["waiting"] == 0


def test_the_report_for_programs_holds_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--seconds", "2", "--seed", "3", "--editors", "1", "--assistants", "1", "--json"]
    status = main(["chaos", *arguments])
    told = json.loads(capsys.readouterr().out)
    assert (status, told["violations"]) == (0, []), told
    assert told["seed"] == 3
    assert sum(told["faults"].values()) + told["skipped"] == len(told["plan"]) > 0
    assert sys.stderr.isatty() or capsys.readouterr().err == ""
