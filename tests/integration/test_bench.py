"""`harness bench` measures what it says; how fast that is, is for people to judge."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harness import slow

pytestmark = pytest.mark.private


def test_11_3_the_bench_measures_what_the_seed_limits(editor_kind: str) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "harness.cli",
            *("bench", "--editor", editor_kind, "--calls", "3", "--starts", "1", "--json"),
        ],
        capture_output=True, text=True, timeout=120 * slow(), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = {figure["what"]: figure for figure in json.loads(done.stdout)}
    # Instance selection, state query, command execution, registry update.
    for what in ("select instance", "get state", "echo", "edit one line", "update registry"):
        figure = figures[what]
        assert figure["editor"].startswith(editor_kind)
        assert figure["n"] == 3
        assert 0 < figure["p50"] <= figure["p99"] <= figure["max"]
    assert {"python start and end", "start to initialize", "ping", "read 20 lines"} < set(figures)
