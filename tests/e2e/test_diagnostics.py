"""vim_get_diagnostics and vim://diagnostics: whoever has something to say, each by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import UNTOUCHED, done, hide, masked, reason, refused, show, write

TEXT = ("import os", "größe = 日本", "x = 1", "")

#: What coc.nvim defines, with its own name, arguments and order of the callback's: the answer
#: comes later, from another process (autoload/coc/rpc.vim, plugin/coc.vim).
COC = """
let g:coc_service_initialized = 1
let g:coc_items = {items}
let g:coc_asked = 0
function! CocActionAsync(name, ...) abort
  if a:name isnot# 'diagnosticList'
    throw 'unknown action'
  endif
  let g:coc_asked += 1
  let l:Callback = a:000[-1]
  if {delay} >= 0
    call timer_start({delay}, {{-> l:Callback(v:null, deepcopy(g:coc_items))}})
  endif
  return ''
endfunction
"""


def source(editor: Editor, sandbox: Sandbox, script: str) -> None:
    """Run a script in the editor, as its configuration would."""
    path = sandbox.root / "more.vim"
    path.write_text(script)
    editor.command(f"source {path}")


def load_coc(editor: Editor, sandbox: Sandbox, *items: dict[str, Any], delay: int = 20) -> None:
    """Make the editor one with coc.nvim, which answers after `delay` ms, never when negative."""
    source(editor, sandbox, COC.format(items=json.dumps(items), delay=delay))


@pytest.fixture
def file(editor: Editor, sandbox: Sandbox) -> Path:
    """A file that the user has open."""
    path = write(sandbox, "a.py", *TEXT)
    show(editor, path)
    return path


def test_nothing_to_say(editor: Editor, assistant: Assistant, file: Path) -> None:
    told = done(assistant, "vim_get_diagnostics")
    assert told == {
        "diagnostics": [],
        "counts": {"error": 0, "warning": 0, "info": 0, "hint": 0, "other": 0},
        "omitted": 0,
        "notes": [],
    }


def test_quickfix_and_location_lists(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion, file: Path
) -> None:
    other = write(sandbox, "unloaded.c", "int x")
    items: list[dict[str, Any]] = [
        {"filename": str(file), "lnum": 2, "col": 10, "end_lnum": 2, "end_col": 17, "type": "E",
         "text": "undefined name", "nr": 821},
        {"filename": str(other), "lnum": 1, "col": 5, "type": "W", "text": "unused"},
        {"filename": str(file), "lnum": 3, "text": "found by a search"},
        {"text": "make: entering directory"},
    ]  # fmt: skip
    editor.command(f"call setqflist([], ' ', {{'title': ':make -k secret', 'items': {items}}})")
    editor.command(f"call setloclist(0, [{items[2] | {'type': 'I', 'text': 'noted'}}])")
    before = editor.eval(UNTOUCHED)
    told = done(assistant, "vim_get_diagnostics")
    assert editor.eval(UNTOUCHED) == before
    assert masked(told, sandbox) == snapshot
    assert assistant.read_json("vim://diagnostics")["diagnostics"] == told["diagnostics"]


def test_location_list_of_two_windows_is_told_once(
    editor: Editor, assistant: Assistant, file: Path
) -> None:
    editor.command(
        f"call setloclist(0, [{{'filename': '{file}', 'lnum': 1, 'type': 'E', 'text': 'x'}}])"
    )
    editor.command("lopen | wincmd p | tabnew")
    assert done(assistant, "vim_get_diagnostics")["counts"]["error"] == 1


def test_ale(editor: Editor, assistant: Assistant, sandbox: Sandbox, file: Path) -> None:
    """As ale#engine#FixLocList() leaves the entries; ALE puts them into the location list, too."""
    number = editor.eval("bufnr()")
    items = [
        {"lnum": 2, "col": 10, "end_lnum": 2, "end_col": 17, "bufnr": number, "vcol": 0,
         "type": "E", "nr": -1, "code": "F821", "text": "undefined name", "linter_name": "flake8"},
        {"lnum": 3, "col": 1, "bufnr": number, "vcol": 0, "type": "W", "sub_type": "style",
         "nr": -1, "text": "too short", "linter_name": "pylint"},
    ]  # fmt: skip
    info = {number: {"job_list": [], "loclist": items}}
    editor.command(f"let g:ale_buffer_info = {info}")
    listed = [
        {"bufnr": number, "lnum": one["lnum"], "col": one["col"], "type": one["type"],
         "text": f"{one.get('code', '')}: {one['text']}"}
        for one in items
    ]  # fmt: skip
    editor.command(f"call setloclist(0, {listed})")
    told = done(assistant, "vim_get_diagnostics", buffer=number)["diagnostics"]
    seen = [(one["provider"], one["source"], one["severity"], one["code"]) for one in told]
    assert seen == [("ale", "flake8", "error", "F821"), ("ale", "pylint", "warning", "")]
    first = told[0]
    assert (first["line"], first["column"], first["end_line"], first["end_column"]) == (2, 8, 2, 10)


def coc_item(file: Path, line: int, col: int, message: str, **more: Any) -> dict[str, Any]:
    """One entry of coc's diagnosticList, columns in UTF-16 units."""
    return {
        "file": str(file), "lnum": line, "end_lnum": line, "col": col, "end_col": col + 2,
        "message": message, "source": "pyright", "code": "reportX", "severity": "Error", "level": 0,
    } | more  # fmt: skip


def test_coc(editor: Editor, assistant: Assistant, sandbox: Sandbox, file: Path) -> None:
    load_coc(
        editor,
        sandbox,
        coc_item(file, 2, 9, "undefined"),
        coc_item(Path("/nowhere/b.py"), 1, 1, "elsewhere", severity="Information"),
        coc_item(sandbox.project() / "id_canary", 1, 1, "secret"),
    )
    told = done(assistant, "vim_get_diagnostics")
    assert [one["message"] for one in told["diagnostics"]] == ["elsewhere", "undefined"]
    elsewhere, here = told["diagnostics"]
    assert (here["provider"], here["source"], here["code"]) == ("coc", "pyright", "reportX")
    assert (here["line"], here["column"], here["end_column"]) == (2, 9, 10)
    assert (elsewhere["severity"], elsewhere["bufnr"], elsewhere["column"]) == ("info", None, None)
    # What it says is asked for anew each time.
    editor.command("let g:coc_items = []")
    assert done(assistant, "vim_get_diagnostics")["diagnostics"] == []
    assert editor.eval("g:coc_asked") == 2


def test_coc_that_does_not_answer_is_not_waited_for_long(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, file: Path
) -> None:
    load_coc(editor, sandbox, delay=-1)
    told = done(assistant, "vim_get_diagnostics")
    assert told["diagnostics"] == []
    assert "coc.nvim did not answer" in told["notes"][0]


NEOVIM = """
lua << EOF
local space = vim.api.nvim_create_namespace('test')
vim.diagnostic.set(space, {number}, {{
  {{ lnum = 1, col = 9, end_lnum = 1, end_col = 15, severity = 1, message = 'undefined',
    source = 'pyright', code = 'reportX' }},
  {{ lnum = 0, col = 0, severity = 4, message = 'unused', source = 'ruff', code = 401 }},
}})
vim.diagnostic.setloclist({{ open = false }})
EOF
"""


def test_vim_diagnostic(
    nvim: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion
) -> None:
    number = show(nvim, write(sandbox, "a.py", *TEXT))
    source(nvim, sandbox, NEOVIM.format(number=number))
    told = done(assistant, "vim_get_diagnostics", buffer=number)
    assert masked(told, sandbox) == snapshot


def lists(editor: Editor, *items: dict[str, Any]) -> None:
    """Make the quickfix list of these."""
    editor.command(f"call setqflist({list(items)})")


def test_the_least_severe_are_left_out_first(
    editor: Editor, assistant: Assistant, file: Path
) -> None:
    types = ["W"] * 30 + ["E"] * 5 + ["I"] * 20
    lists(
        editor,
        *(
            {"filename": str(file), "lnum": 1, "col": n, "type": kind, "text": f"text {n}"}
            for n, kind in enumerate(types, 1)
        ),
    )
    told = done(assistant, "vim_get_diagnostics", max_results=10)
    severities = sorted(one["severity"] for one in told["diagnostics"])
    assert severities == ["error"] * 5 + ["warning"] * 5
    assert told["omitted"] == 45
    assert (told["counts"]["warning"], told["counts"]["info"]) == (30, 20)
    told = done(assistant, "vim_get_diagnostics", severity="error")
    assert (len(told["diagnostics"]), told["omitted"]) == (5, 0)
    assert told["counts"]["warning"] == 30


def test_list_that_is_too_long_is_left_out_and_named(
    editor: Editor, assistant: Assistant, file: Path
) -> None:
    editor.command('call setqflist(map(range(2001), \'{"bufnr": bufnr(), "lnum": v:val + 1}\'))')
    told = done(assistant, "vim_get_diagnostics")
    assert told["diagnostics"] == []
    assert "2001 entries" in told["notes"][0]


def test_private_buffers_say_nothing(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, file: Path
) -> None:
    secret = write(sandbox, "id_canary", "hunter2")
    number = hide(editor, secret)
    lists(
        editor,
        {"filename": str(secret), "lnum": 1, "type": "E", "text": "hunter2 is weak"},
        {"filename": str(file), "lnum": 1, "type": "E", "text": "public"},
    )
    told = done(assistant, "vim_get_diagnostics")
    assert [one["message"] for one in told["diagnostics"]] == ["public"]
    assert told["counts"]["error"] == 1
    for arguments in ({"buffer": number}, {"file": str(secret)}):
        error = refused(assistant, "vim_get_diagnostics", **arguments)
        assert (error["code"], reason(error)) == (1004, "private")


def test_of_one_buffer_or_file(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, file: Path
) -> None:
    other = write(sandbox, "b.py", *TEXT)
    number = hide(editor, other)
    lists(
        editor,
        {"filename": str(file), "lnum": 1, "type": "E", "text": "one"},
        {"filename": str(other), "lnum": 1, "type": "E", "text": "two"},
    )
    for arguments in ({"buffer": number}, {"file": "b.py"}, {"file": str(other)}):
        told = done(assistant, "vim_get_diagnostics", **arguments)
        assert [one["message"] for one in told["diagnostics"]] == ["two"]
    error = refused(assistant, "vim_get_diagnostics", file="nowhere.py")
    assert reason(error) == "not_open"
