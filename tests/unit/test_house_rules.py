"""The rules of this repository that no other linter knows.

A rule is a function from a file's text to the lines that break it; `RULES` says which files it
is for. Each rule has examples below that it must find and others that it must leave alone.
"""

from __future__ import annotations

import ast
import os
import pwd
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]

#: A line's number and what is wrong with it.
Finding = tuple[int, str]
Check = Callable[[str], Iterable[Finding]]


# --- Vimscript --------------------------------------------------------------------

# What the string literals of a statement are replaced with: no Vimscript has it.
LITERAL = "\N{REPLACEMENT CHARACTER}"
STRING = re.compile(r"""'(?:[^']|'')*'|"(?:[^"\\]|\\.)*\"""")
HEREDOC = re.compile(r"<<\s*(?:trim\s+)?(?:eval\s+)?([A-Za-z]\w*)\s*$")


def statements(text: str) -> Iterator[Finding]:
    """The Vimscript statements with the numbers of their first lines.

    Continued lines are joined; comments and heredocs (Lua, lists of lines) are left out.
    """
    number, parts, marker = 0, list[str](), ""
    for n, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if marker:
            marker = "" if bare == marker else marker
        elif bare.startswith("\\"):
            parts.append(bare[1:])
        elif not bare.startswith('"'):
            if parts:
                yield number, " ".join(parts)
            number, parts = n, [bare]
            if heredoc := HEREDOC.search(bare):
                marker = heredoc[1]
    if parts:
        yield number, " ".join(parts)


def code(text: str) -> Iterator[Finding]:
    """The statements with every string literal as LITERAL, and without a comment at the end."""
    for n, statement in statements(text):
        yield n, STRING.sub(LITERAL, statement).partition('"')[0]


def function_without_abort(text: str) -> Iterator[Finding]:
    head = re.compile(r"fu(?:n(?:c(?:t(?:i(?:on?)?)?)?)?)?!?\s+[^\s(]+\s*\(.*\)(?P<after>[^()]*)$")
    for n, statement in code(text):
        if (found := head.match(statement)) and "abort" not in found["after"].split():
            yield n, "a function ends `abort`, or it goes on after an error"


def bare_string_comparison(text: str) -> Iterator[Finding]:
    operator = r"(?:==|!=|=~|!~|\bis\b|\bisnot\b)(?![#?=])"
    pattern = re.compile(rf"{LITERAL}\s*{operator}|{operator}\s*{LITERAL}")
    for n, statement in code(text):
        if pattern.search(statement):
            yield n, "compare strings with is#, isnot#, ==#, =~#: 'ignorecase' decides otherwise"


def echo(text: str) -> Iterator[Finding]:
    command = r"echo(?:n|m(?:sg?)?|e(?:rr?)?|c\w*|w\w*)?\b(?!\()"
    start = re.compile(rf"(?:^|\|)[\s:]*(?:sil\w*!?\s+|uns\w*\s+|verb\w*\s+)*{command}")
    inside = re.compile(rf"\bexe\w*\s+['\"]{command}|<Cmd>{command}", re.IGNORECASE)
    quoted = dict(statements(text))
    for n, statement in code(text):
        if start.search(statement) or inside.search(quoted[n]):
            yield n, "the message area is the user's: use vim_mcp#log#"


def blocking_system(text: str) -> Iterator[Finding]:
    for n, statement in code(text):
        if re.search(r"\bsystem(?:list)?\s*\(", statement):
            yield n, "system() blocks the editor: start a job"


# --- Python -----------------------------------------------------------------------


def sleep(text: str) -> Iterator[Finding]:
    sleeps = {"anyio.sleep", "asyncio.sleep", "time.sleep", "trio.sleep"}
    names: dict[str, str] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        first, _, rest = ast.unparse(node.func).partition(".")
        called = ".".join(filter(None, [names.get(first, ""), rest]))
        # sleep(0) lets others run, it does not wait.
        yields = bool(node.args) and ast.unparse(node.args[0]) == "0"
        if called in sleeps and not yields:
            yield node.lineno, "wait for a condition (harness.wait.wait_until), never for time"


def call_of_print(text: str) -> Iterator[Finding]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            yield node.lineno, "stdout belongs to MCP: log"


def too_long(text: str) -> Iterator[Finding]:
    if (lines := len(text.splitlines())) > 400:
        yield 400, f"{lines} lines are two ideas in one file"


# --- every file -------------------------------------------------------------------


def leftover(text: str) -> Iterator[Finding]:
    for n, line in enumerate(text.splitlines(), 1):
        if found := re.search(r"\b(?:TOD[O]|FIXM[E]|XX[X])\b", line):
            yield n, f"do it or open an issue: {found[0]}"


def registry_host(text: str) -> Iterator[Finding]:
    hosts = (
        r"pypi\.org|pythonhosted\.org|npmjs\.org|crates\.io|ghcr\.io|quay\.io|\bdeb\.debian\.org"
    )
    option = r"\b(?:extra-)?index-ur[l]\b|\bfind-link[s]\b|\b(?:PIP|UV)_\w*(?:INDEX|LINKS)\w*"
    for n, line in enumerate(text.splitlines(), 1):
        if found := re.search(rf"{hosts}|\b\w+\.ubuntu\.com|{option}", line):
            yield n, f"where packages come from is the machine's business: {found[0]}"


def machine_path(text: str) -> Iterator[Finding]:
    """Paths of somebody's home, and of the machine this runs on."""
    # /home/me and the like are examples, in documents and tests.
    somebody = r"/(?:home|Users)/(?!(?:me|you|user|alice|bob)\b)[a-z][\w.-]*|/roo[t]/"
    here = "|".join(re.escape(f"{path}/") for path in local_directories())
    pattern = re.compile(rf"(?<![\w.)}}>~$-])(?:{somebody}{'|' + here if here else ''})")
    for n, line in enumerate(text.splitlines(), 1):
        if found := pattern.search(line):
            yield n, f"a path of one machine: {found[0]}"


def local_directories() -> set[str]:
    """The home and the directory of this checkout, unless every machine has them (/tmp, /usr)."""
    everywhere = {"bin", "dev", "etc", "lib", "opt", "proc", "run", "srv", "tmp", "usr", "var"}
    paths = {pwd.getpwuid(os.getuid()).pw_dir, str(ROOT.parent)}
    return {path for path in paths if path.strip("/") and Path(path).parts[1] not in everywhere}


# --- which files ------------------------------------------------------------------


class Rule(NamedTuple):
    """A check, the files it is for and those it is not for, as patterns of their paths."""

    check: Check
    files: tuple[str, ...]
    exempt: tuple[str, ...] = ()


RULES = [
    Rule(function_without_abort, ("*.vim",)),
    Rule(bare_string_comparison, ("*.vim",)),
    # The commands whose output the user asked for are in vim_mcp.vim; tell.vim takes care.
    Rule(echo, ("vim/*.vim",), ("vim/autoload/vim_mcp.vim", "vim/autoload/vim_mcp/tell.vim")),
    Rule(blocking_system, ("vim/*.vim", "vim/*.lua")),
    # The one place that waits.
    Rule(sleep, ("tests/*.py", "harness/*.py"), ("harness/wait.py",)),
    Rule(call_of_print, ("src/*.py",), ("src/vim_mcp/cli.py",)),
    Rule(too_long, ("*.py",)),
    Rule(leftover, ("*",)),
    Rule(registry_host, ("*",)),
    Rule(machine_path, ("*",)),
]


def project_files(root: Path) -> list[str]:
    """The files that are or would be committed; in an unpacked archive, all but hidden ones."""
    if (root / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        names = set(filter(None, listed.stdout.split("\0")))
    else:
        paths = (path.relative_to(root) for path in root.rglob("*"))
        names = {p.as_posix() for p in paths if not any(x.startswith(".") for x in p.parts)}
    return sorted(name for name in names if (root / name).is_file())


def broken_rules(root: Path, rule: Rule) -> list[str]:
    """Where files below root break the rule, as `file:line: reason`."""
    found = []
    for name in project_files(root):
        if not any(fnmatch(name, p) for p in rule.files) or name in rule.exempt:
            continue
        try:
            text = (root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        found += [f"{name}:{n}: {reason}" for n, reason in rule.check(text)]
    return found


def name_of(rule: Rule) -> str:
    return rule.check.__name__


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_the_house_rule_is_kept(rule: Rule) -> None:
    assert broken_rules(ROOT, rule) == []


# --- each rule finds what it is for, and nothing else -------------------------------

HOME = "/home" + "/jane/src"
EXAMPLES: list[tuple[Check, list[str], list[str]]] = [
    (
        function_without_abort,
        ["function! s:F()", "fu a#b#F(x, y = get(g:, 'z', 1)) dict", "func F()  \" abort"],
        [
            "function! s:F() abort",
            "function a#F(x = f('(')) abort dict",
            "function s:F(a,\n  \\ b) abort closure",
            "let F = function('s:F')",
            '" function! s:F()',
            "lua << EOF\nfunction F()\nEOF",
        ],
    ),
    (
        bare_string_comparison,
        [
            "if a == 'b'",
            "if 'b' != a",
            'if a =~ "b"',
            "if a !~ 'b' || c is# 'd'",
            "if get(a, 'b') is 'c'",
            "if a\n  \\ == 'b'",
            "return a =='it''s' ? 1 : 0",
        ],
        [
            "if a is# 'b' && c isnot# 'd' && 'e' ==# f && g =~# 'h' && i ==? 'j'",
            "if len('a') == 1 && a['b'] != 2",
            "let a = 'b == ' . c",
            "let a = 1 \" compare == 'b'",
            "\" if a == 'b'",
            "lua << trim END\nif a == 'b' then end\nEND",
        ],
    ),
    (
        echo,
        [
            "echo 1",
            "  echom 'a'",
            "if a | echoerr 'b' | endif",
            "silent! echomsg a",
            "call f() | echon 'c'",
            "execute 'echo 1'",
            "nnoremap x <Cmd>echo 1<CR>",
        ],
        ["call a#log#Info('echo')", "let echo = 1", "echohl None", "\" echo 1", "if a is# 'echo'"],
    ),
    (
        blocking_system,
        ["let a = system('id -u')", "call systemlist (['id'])", "local a = vim.fn.system({})"],
        ["call s:File_system(1)", "let a = 'system('", "let system = 1"],
    ),
    (
        sleep,
        [
            "import time\ntime.sleep(1)",
            "import time as t\nt.sleep(0.1)",
            "from time import sleep as nap\nnap(1)",
            "import asyncio\nasync def f():\n    await asyncio.sleep(delay)",
        ],
        [
            "import time\ntime.monotonic()",
            "import asyncio\nasync def f():\n    await asyncio.sleep(0)",
            "command = ['sleep', '100']",
            "editor.sleep(1)",
        ],
    ),
    (call_of_print, ["print(1)"], ["console.print(1)", "# print(1)", "text = 'print(1)'"]),
    (too_long, ["x = 1\n" * 401], ["x = 1\n" * 400]),
    (leftover, ["# TO" + "DO: later", "\" FIX" + "ME", "XX" + "X"], ["mktemp x.XXXXXX", "todo"]),
    (
        registry_host,
        ["https://pypi" + ".org/simple", "pip install --index" + "-url x", "PIP_" + "INDEX_URL=x"],
        ["apt-get install docker.io", "pip install vim-mcp"],
    ),
    (
        machine_path,
        [f"cd {HOME}", f'"{HOME}"', "see /Users" + "/jane/x", "ls /root" + "/x"],
        ["/home/me/project", "{root}/root/x", "~/work", "/home/<user>", "https://x.org/home/jane"],
    ),
]  # fmt: skip


def test_every_rule_has_examples() -> None:
    assert [check for check, _, _ in EXAMPLES] == [rule.check for rule in RULES]


@pytest.mark.parametrize(("check", "bad", "good"), EXAMPLES, ids=[e[0].__name__ for e in EXAMPLES])
def test_a_rule_finds_what_breaks_it_alone(check: Check, bad: list[str], good: list[str]) -> None:
    assert [text for text in bad if len(list(check(text))) != 1] == []
    assert [text for text in good if list(check(text))] == []


def test_this_machine_is_not_in_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "local_directories", lambda: {"/data/build"})
    assert [n for n, _ in machine_path('x\n"/data/build/x"\nroot + "x/data/build/"')] == [2]


@pytest.mark.parametrize("git", [True, False], ids=["checkout", "archive"])
def test_a_rule_is_for_its_files_alone(tmp_path: Path, git: bool) -> None:
    for name in ["vim/plugin/a.vim", "vim/autoload/vim_mcp.vim", "harness/a.vim", ".cache/a.vim"]:
        (tmp_path / PurePosixPath(name)).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("let a = 1\necho a\n", encoding="utf-8")
    if git:
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, timeout=60)
    rule = next(rule for rule in RULES if rule.check is echo)
    assert [line.split(": ")[0] for line in broken_rules(tmp_path, rule)] == ["vim/plugin/a.vim:2"]
