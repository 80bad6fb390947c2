"""`harness chaos`: kill, freeze and restart everything under load, and prove that nothing was lost."""

from __future__ import annotations

import argparse
import json
import random
import sys
from typing import Any

from .report import Report

__all__ = ["Report", "add_parser", "chaos"]


def chaos(
    seed: int,
    seconds: float = 60.0,
    *,
    editors: int = 4,
    assistants: int = 4,
    progress: Any = lambda text: None,
) -> Report:
    """Run chaos with real editors and assistants in a sandbox of its own; return what was found."""
    from .run import Chaos  # pexpect and pyte are of the harness's extra

    return Chaos(seed, seconds, editors, assistants, progress).run()


def add_parser(subparsers: Any) -> None:
    """Add the `chaos` command to the harness's command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "chaos",
        help="kill and freeze hub, editors and forwarders under load, and look for what was lost",
        description="Kill, freeze and restart hub, editors and forwarders at random moments while "
        "assistants edit and a user types. Afterwards every edit is looked for: none acknowledged "
        "may be lost, none refused applied, none applied twice, no call without an answer, and no "
        "process, socket, descriptor or file left. The exit status is 1 when one of these is broken.",
        epilog="example: harness chaos --seconds 60 --seed 1",
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--seed", type=int, help="of what goes wrong and when (a random one)")
    parser.add_argument(
        "--editors", type=int, default=4, metavar="N", help="Vim, Neovim in turn (4)"
    )
    parser.add_argument("--assistants", type=int, default=4, metavar="M", help="how many (4)")
    parser.add_argument("--json", action="store_true", help="print JSON, with the plan")
    parser.set_defaults(run=main)


def main(arguments: argparse.Namespace) -> int:
    """Run and print; returns the exit status."""
    seed = random.randrange(1_000_000) if arguments.seed is None else arguments.seed
    terminal = sys.stderr.isatty()

    def progress(text: str) -> None:
        if terminal:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    report = chaos(
        seed,
        arguments.seconds,
        editors=arguments.editors,
        assistants=arguments.assistants,
        progress=progress,
    )
    progress("")
    sys.stdout.write(json.dumps(report.as_json()) + "\n" if arguments.json else report.text())
    return 1 if report.violations else 0
