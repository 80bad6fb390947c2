"""Imports point one way, and what starts fast imports little."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SRC = Path(__file__).parents[2] / "src"

#: What each part of vim_mcp may import, itself and BASE apart. The order is DESIGN's:
#: wire <- editors <- tools <- assistants <- hub <- cli, and wire <- client <- commands <- cli.
BASE = {"", "errors", "limits", "log", "paths"}
MAY_IMPORT: dict[str, set[str]] = {
    "wire": set(),
    "editors": {"wire"},
    "tools": {"wire", "editors"},
    "assistants": {"wire", "editors", "tools"},
    "hub": {"wire", "editors", "tools", "assistants", "peer"},
    "client": {"wire", "peer"},
    "commands": {"wire", "client", "peer"},
    "cli": {"wire", "editors", "tools", "assistants", "hub", "client", "peer", "commands"},
    "peer": set(),  # asks the kernel, so it is not for wire
    "__main__": {"cli"},
} | {part: set() for part in BASE}

#: wire/ takes bytes and gives events: somebody else reads, waits and locks.
NO_IO = {"_socket", "asyncio", "select", "selectors", "socket", "threading"}

#: What is loaded before the forwarder's first byte: these parts of ours, and the standard library.
FAST = {"cli", "client", "__main__"}
FAST_MAY_IMPORT = BASE | {"wire", "client", "cli", "peer"}

#: Each of these costs milliseconds that every start of an assistant would pay.
SLOW_MODULES = {
    "argparse",
    "asyncio",
    "click",
    "importlib.metadata",
    "mcp",
    "pydantic",
    "rich",
    "subprocess",
}


class Import(NamedTuple):
    """One imported module: its dotted name, where, and whether importing the file runs it."""

    name: str
    line: int
    at_start: bool


def imports_of(path: Path, src: Path) -> Iterator[Import]:
    """Every import of the file, relative ones made absolute, `from a import b` as a and a.b."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    package = path.relative_to(src).parent.parts
    lazy = set[ast.AST]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            lazy.update(inner for statement in node.body for inner in ast.walk(statement))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, node not in lazy)
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*parents, *filter(None, [node.module])))
            for alias in node.names:
                yield Import(f"{module}.{alias.name}", node.lineno, node not in lazy)


def part_of(name: str) -> str | None:
    """The part of vim_mcp a dotted name lies in, "" for the package itself, None for others.

    A name imported from the package itself (`from vim_mcp import __version__`) is "".
    """
    top, *rest = name.split(".")
    if top != "vim_mcp":
        return None
    return rest[0] if rest and (rest[0] in MAY_IMPORT or len(rest) > 1) else ""


def violations(src: Path) -> list[str]:
    """What is wrong with the imports below src/vim_mcp, as `file:line: reason`."""
    found = []
    for path in sorted((src / "vim_mcp").rglob("*.py")):
        inside = path.relative_to(src / "vim_mcp").with_suffix("").parts
        part = "" if inside == ("__init__",) else inside[0]
        where = path.relative_to(src).as_posix()
        if part not in MAY_IMPORT:
            found.append(f"{where}:1: {part} has no place in MAY_IMPORT: give it one")
            continue
        for name, line, at_start in imports_of(path, src):
            top, theirs = name.split(".")[0], part_of(name)
            if theirs is not None and theirs not in MAY_IMPORT[part] | BASE | {part}:
                reason = f"{part or 'vim_mcp'} must not import {theirs}"
            elif part == "wire" and top in NO_IO:
                reason = f"wire does no I/O and must not import {top}"
            elif top in {"harness", "tests"}:
                reason = f"the product must not import {top}"
            elif part in FAST and at_start and theirs is None and not is_stdlib(top):
                reason = f"{part} starts fast and imports {top} in the function that needs it"
            elif part in FAST and at_start and theirs is not None and theirs not in FAST_MAY_IMPORT:
                reason = f"{part} starts fast and imports {theirs} in the function that needs it"
            else:
                continue
            found.append(f"{where}:{line}: {reason}")
    return found


def is_stdlib(top: str) -> bool:
    return top in sys.stdlib_module_names


def loaded_by(statement: str, *, before: Path | None = None) -> set[str]:
    """The modules a fresh interpreter loads for the statement, beyond its own start.

    `before` is a directory that comes first on the module path.
    """
    code = f"import sys; had = set(sys.modules); {statement}; print(*set(sys.modules) - had)"
    env = dict(os.environ)
    if before:
        env["PYTHONPATH"] = str(before)
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, text=True, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_imports_point_left() -> None:
    assert violations(SRC) == []


@pytest.mark.parametrize("module", ["vim_mcp.client.forward", "vim_mcp.cli"])
def test_11_1_the_forwarder_loads_nothing_slow(module: str) -> None:
    assert loaded_by(f"import {module}") & SLOW_MODULES == set()


def test_pytest_starts_where_the_harness_is_installed_without_its_extra() -> None:
    # Every pytest of an environment loads the plugin of every package in it.
    missing = ["pexpect", "pyte", "rich", "testcontainers"]
    loaded_by(f"sys.modules.update(dict.fromkeys({missing})); import harness.pytest_plugin")


# --- each rule can fail ---------------------------------------------------------


def tree(root: Path, files: dict[str, str]) -> Path:
    """A vim_mcp package below root with these files, named without their suffix."""
    for name, text in {"__init__": "", **files}.items():
        path = root / "vim_mcp" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("wire/framing", "from vim_mcp.editors import registry", "wire must not import editors"),
        ("wire/framing", "from ..hub.daemon import Hub", "wire must not import hub"),
        ("wire/framing", "from .. import tools", "wire must not import tools"),
        ("wire/framing", "import asyncio.streams", "wire does no I/O"),
        ("wire/framing", "def late():\n    from socket import socket", "wire does no I/O"),
        ("wire/framing", "import threading", "wire does no I/O"),
        ("wire/framing", "import select", "wire does no I/O"),
        ("wire/framing", "import _socket", "wire does no I/O"),
        ("wire/framing", "from vim_mcp.peer import credentials", "wire must not import peer"),
        ("editors/instance", "import vim_mcp.tools.base", "editors must not import tools"),
        ("tools/buffers", "from vim_mcp import assistants", "tools must not import assistants"),
        ("assistants/mcp", "def late():\n    import vim_mcp.hub", "assistants must not import"),
        ("hub/daemon", "from vim_mcp.cli import main", "hub must not import cli"),
        ("hub/daemon", "from vim_mcp.client import connect", "hub must not import client"),
        ("client/forward", "from ..editors.call import Call", "client must not import editors"),
        ("client/forward", "def late():\n    import vim_mcp.hub.idle", "client must not import"),
        ("errors", "from vim_mcp.wire.jsonrpc import Request", "errors must not import wire"),
        ("paths", "import vim_mcp.client.connect", "paths must not import client"),
        ("log", "from . import hub", "log must not import hub"),
        ("__init__", "from .cli import main", "vim_mcp must not import cli"),
        ("hub/daemon", "import harness.sandbox", "product must not import harness"),
        ("client/forward", "import anyio", "client starts fast and imports anyio"),
        ("cli", "try:\n    import mcp\nexcept ImportError:\n    pass", "cli starts fast"),
        ("cli", "from vim_mcp.hub.daemon import run", "cli starts fast and imports hub"),
        ("cli", "from vim_mcp.commands import root", "cli starts fast and imports commands"),
        ("commands/call", "from vim_mcp.hub.idle import IdleTimer", "commands must not import hub"),
        ("novelty", "import os", "novelty has no place"),
    ],
)
def test_an_import_the_wrong_way_is_found(
    tmp_path: Path, file: str, text: str, reason: str
) -> None:
    found = violations(tree(tmp_path, {file: text}))
    assert len(found) == 1
    assert reason in found[0]


def test_imports_to_the_left_and_late_ones_pass(tmp_path: Path) -> None:
    files = {
        "__main__": "from vim_mcp.cli import main",
        "wire/framing": "import json\nfrom vim_mcp import PROTOCOL\nfrom ..errors import Gone",
        "hub/daemon": "import asyncio, mcp\nfrom ..editors.fleet import Fleet\nfrom . import idle",
        "client/forward": "import os, socket\nfrom ..wire import framing\nfrom . import connect",
        "cli": "import sys\ndef hub():\n    import pydantic\n    from vim_mcp.hub import daemon",
    }
    assert violations(tree(tmp_path, files)) == []


def test_a_slow_import_of_the_forwarder_is_found(tmp_path: Path) -> None:
    files = {"client/forward": "import argparse\ndef late():\n    import subprocess"}
    loaded = loaded_by("import vim_mcp.client.forward", before=tree(tmp_path, files))
    assert loaded & SLOW_MODULES == {"argparse"}
