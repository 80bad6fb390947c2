"""`harness bench`: what the product costs, measured on this machine, never asserted by a test."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ..editors import KINDS
from . import fairness, latency


def add_parser(subparsers: Any) -> None:
    """Add the `bench` command to the harness's command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bench",
        help="measure start, round trips, and what the hub's death costs",
        description="Measure start and round trips through the forwarder, in microseconds; with "
        "`recovery`, the seconds from the hub's death to the first good answer; with `fairness`, "
        "small calls of one assistant beside 10 MB answers for another.",
        epilog="examples: harness bench --editor vim --calls 2000; "
        "harness bench recovery --editors 20 --kills 10",
    )
    parser.add_argument(
        "subject", nargs="?", choices=["latency", "recovery", "fairness"], default="latency"
    )
    parser.add_argument(
        "--editor", choices=[*KINDS, "both"], default="both", help="of latency, fairness"
    )
    parser.add_argument("--calls", type=int, default=1000, help="latency: of each kind (1000)")
    parser.add_argument("--starts", type=int, default=30, help="latency: of the forwarder (30)")
    parser.add_argument(
        "--editors", type=int, default=20, metavar="N", help="recovery: Vim, Neovim in turn (20)"
    )
    parser.add_argument(
        "--kills", type=int, default=10, metavar="N", help="recovery: of the hub, for each era (10)"
    )
    parser.add_argument(
        "--reads", type=int, default=10, metavar="N", help="fairness: of 10 MB each (10)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; returns the exit status."""
    if arguments.subject == "recovery":
        from . import recovery  # the SDK takes half a second to import

        figures = recovery.measure(arguments.editors, arguments.kills)
        rows = recovery_table(figures)
    else:
        kinds = list(KINDS) if arguments.editor == "both" else [arguments.editor]
        if arguments.subject == "fairness":
            figures = fairness.measure(kinds, arguments.reads)
        else:
            figures = latency.measure(kinds, arguments.calls, arguments.starts)
        rows = table(figures)
    sys.stdout.write(json.dumps(figures, indent=2) + "\n" if arguments.json else rows)
    return 0


def recovery_table(figures: list[dict[str, Any]]) -> str:
    """Return the figures of a recovery, a line for each era."""
    return "".join(
        f"{f['what']}, {f['editors']} editors, {f['era']} era: "
        f"p50 {f['p50']:.2f} s, worst {f['max']:.2f} s of {f['n']}\n"
        for f in figures
    )


def table(figures: list[dict[str, Any]]) -> str:
    """Return the figures as aligned text."""
    rows = [("what", "editor", "n", "p50 µs", "p99 µs", "max µs")]
    rows += [
        (f["what"], f["editor"], str(f["n"]), *(f"{f[k]:.0f}" for k in ("p50", "p99", "max")))
        for f in figures
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        left = "  ".join(row[i].ljust(widths[i]) for i in range(2))
        right = "  ".join(row[i].rjust(widths[i]) for i in range(2, len(row)))
        lines.append(f"{left}  {right}\n")
    return "".join(lines)
