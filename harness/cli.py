"""`harness`: real editors to look at, type into and break, from the command line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from . import process
from .bench import add_parser as add_bench
from .chaos import add_parser as add_chaos
from .editors import KINDS
from .errors import HarnessError
from .sandbox import sweep
from .spawn import Spawn, announce, order, running, table
from .wait import WaitTimeout, pause, wait_until

_CLEAR = "\x1b[H\x1b[2J"


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (HarnessError, WaitTimeout) as error:
        sys.stderr.write(f"harness: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="harness",
        description="Real editors on pseudo-terminals with a private hub, for trying and testing.",
        epilog="example: harness spawn 3",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    spawn = _add(commands, "spawn", "start N editors and a hub, and stay up until Ctrl-C", "3")
    spawn.add_argument("number", type=int, metavar="N", help="how many editors")
    spawn.add_argument(
        "--editor", choices=[*KINDS, "both"], default="both", help="which; both take turns"
    )
    spawn.add_argument(
        "--file", type=Path, nargs="+", default=[], help="to open; several go round the editors"
    )
    spawn.set_defaults(run=_spawn)
    _add(commands, "ls", "list the editors of the running spawns", "").set_defaults(run=_ls)
    screen = _order(commands, "screen", "show an editor's screen", "1 --watch")
    screen.add_argument("--watch", action="store_true", help="again and again, until Ctrl-C")
    screen.add_argument("--svg", type=Path, metavar="FILE", help="draw it into an SVG file instead")
    _order(commands, "type", "type keys in Vim's notation", "1 'ihello<Esc>'", "keys")
    _order(commands, "eval", "print the value of a Vimscript expression", "1 'line(\"$\")'", "expr")
    kill = _order(commands, "kill", "send a signal to an editor", "1 --signal TERM")
    kill.add_argument("--signal", default="KILL", help="its name without SIG (KILL)")
    _order(commands, "freeze", "stop an editor as a debugger does (SIGSTOP)", "1")
    _order(commands, "thaw", "let a frozen editor run on", "1")
    stop = _add(commands, "stop", "end a spawn, as Ctrl-C does", "")
    stop.add_argument("--spawn", type=int, metavar="PID", help="which, if several are running")
    stop.set_defaults(run=_stop)
    add_bench(commands)
    add_chaos(commands)
    return parser


def _add(commands: Any, name: str, text: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=f"example: harness {name} {example}".rstrip(),
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _order(
    commands: Any, name: str, text: str, example: str, argument: str = ""
) -> argparse.ArgumentParser:
    parser = _add(commands, name, text, example)
    parser.add_argument("id", metavar="ID", help="number, instance id or process id (harness ls)")
    if argument:
        parser.add_argument("text", metavar=argument.upper())
    parser.add_argument("--spawn", type=int, metavar="PID", help="which, if several are running")
    parser.set_defaults(run=_give_order, do=name)
    return parser


def _spawn(arguments: argparse.Namespace) -> int:
    kinds = list(KINDS) if arguments.editor == "both" else [arguments.editor]
    sweep()
    spawn = Spawn()
    try:
        files = [file.resolve() for file in arguments.file]
        spawn.start([kinds[i % len(kinds)] for i in range(arguments.number)], files)
        spawn.serve(lambda: announce(spawn.facts(), as_json=arguments.json))
    finally:
        spawn.close()
    return 0


def _ls(arguments: argparse.Namespace) -> int:
    spawns = [order(pid, do="ls") for pid in running()]
    if arguments.json:
        _print_json(spawns)
    else:
        rows = [{"spawn": one["spawn"], **row} for one in spawns for row in one["editors"]]
        sys.stdout.write(table(rows))
    return 0


def _give_order(arguments: argparse.Namespace) -> int:
    if arguments.do == "screen" and arguments.svg:
        picture = order(arguments.spawn, do="picture", id=arguments.id)
        arguments.svg.write_text(picture, encoding="utf-8")
        return 0
    text = arguments.signal if arguments.do == "kill" else getattr(arguments, "text", "")
    while True:
        result = order(arguments.spawn, do=arguments.do, id=arguments.id, text=text)
        watch = arguments.do == "screen" and arguments.watch
        if arguments.json:
            _print_json(result)
        elif result is not None:
            shown = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            sys.stdout.write(f"{_CLEAR if watch else ''}{shown}\n")
        sys.stdout.flush()
        if not watch:
            return 0
        pause(0.2)


def _stop(arguments: argparse.Namespace) -> int:
    pid = order(arguments.spawn, do="stop")
    wait_until(lambda: not process.exists(pid), seconds=15, what=f"spawn {pid} to end")
    if arguments.json:
        _print_json({"stopped": pid})
    return 0


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
