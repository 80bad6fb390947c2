"""`harness bench`: what the product costs, measured on this machine, never asserted by a test."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ..editors import KINDS
from . import latency


def add_parser(subparsers: Any) -> None:
    """Add the `bench` command to the harness's command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bench",
        help="measure start and round trips through the forwarder",
        description="Measure start and round trips through the forwarder, in microseconds.",
        epilog="example: harness bench --editor vim --calls 2000",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--editor", choices=[*KINDS, "both"], default="both")
    parser.add_argument("--calls", type=int, default=1000, help="calls of each kind (1000)")
    parser.add_argument("--starts", type=int, default=30, help="forwarder starts (30)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; returns the exit status."""
    kinds = list(KINDS) if arguments.editor == "both" else [arguments.editor]
    figures = latency.measure(kinds, arguments.calls, arguments.starts)
    if arguments.json:
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    else:
        sys.stdout.write(table(figures))
    return 0


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
