from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness import process
from harness.wait import wait_until

pytest_plugins = ("pytester",)

PREAMBLE = """
import os, subprocess, sys
from pathlib import Path
import pytest

@pytest.fixture(scope="session")
def plugin_under_test():
    return {plugin}

"""


def run(
    pytester: pytest.Pytester, text: str, *args: str, plugin: object = False
) -> pytest.RunResult:
    pytester.makepyfile(PREAMBLE.format(plugin=plugin) + text)
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *args)


def test_each_editor_is_a_test_of_its_own(pytester: pytest.Pytester) -> None:
    result = run(pytester, "def test_it(editor): assert editor.kind in ('vim', 'nvim')\n", "-v")
    result.stdout.fnmatch_lines(["*test_it?vim? PASSED*", "*test_it?nvim? PASSED*"])


def test_the_editors_can_be_chosen(pytester: pytest.Pytester) -> None:
    result = run(pytester, "def test_it(new_editor): new_editor()\n", "--editors=nvim", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*test_it?nvim? PASSED*"])


def test_an_editor_is_kept_from_test_to_test_and_blank(pytester: pytest.Pytester) -> None:
    text = """
seen = []

@pytest.mark.parametrize("turn", [1, 2, 3])
def test_it(editor, sandbox, turn):
    assert editor.lines() == [""]
    assert not (sandbox.project() / "a.txt").exists()
    editor.type("itext<Esc>:write a.txt<CR>d", sync=False)
    seen.append((editor.kind, editor.pid))

def test_two_processes_served_all():
    assert len(seen) == 6
    assert len(set(seen)) == 2
"""
    run(pytester, text).assert_outcomes(passed=7)


def test_an_editor_that_cannot_be_made_blank_is_replaced(pytester: pytest.Pytester) -> None:
    text = """
pids = []

def test_it(vim):
    vim.command("nnoremap zz x")
    pids.append(vim.pid)

def test_the_next(vim):
    assert vim.pid not in pids
    assert vim.eval("maparg('zz')") == ""
    vim.kill()

def test_the_next_but_one(vim):
    assert vim.lines() == [""]
"""
    run(pytester, text).assert_outcomes(passed=3)


def test_a_private_test_has_a_stage_to_itself(pytester: pytest.Pytester) -> None:
    text = """
roots = []

def test_one(vim, sandbox): roots.append(sandbox.root)

@pytest.mark.private
def test_two(vim, sandbox): roots.append(sandbox.root)

def test_three(vim, sandbox): roots.append(sandbox.root)

def test_they_stood_so():
    first, own, third = roots
    assert first == third != own
    assert first.exists() and not own.exists()
"""
    run(pytester, text).assert_outcomes(passed=4)


def test_what_a_private_test_leaves_running_is_an_error(pytester: pytest.Pytester) -> None:
    text = """
@pytest.mark.private
def test_it(sandbox):
    code = "import os, time\\nif os.fork() == 0:\\n    os.setsid()\\n    time.sleep(100)"
    subprocess.run([sys.executable, "-c", code], env=sandbox.env(), check=True)
"""
    result = run(pytester, text)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ProcessesLeft: left running, now killed: * -c import os*"])


def test_a_failure_shows_screen_and_messages(pytester: pytest.Pytester) -> None:
    text = """
def test_it(vim, new_editor):
    vim.type("ion the screen<Esc>:echomsg 'a message'<CR>")
    assert False
"""
    result = run(pytester, text, "--editors=nvim")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*vim-* screen*", "|on the screen *", "*vim-* :messages*", "a message"]
    )


def test_a_failure_at_a_prompt_is_reported_too(pytester: pytest.Pytester) -> None:
    text = """
def test_it(nvim):
    nvim.type(":call confirm('really?')<CR>")
"""
    result = run(pytester, text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*EditorBlocked: nvim-*", "*nvim-* screen*", "|really? *"])


def test_another_plugin_can_be_tested(pytester: pytest.Pytester) -> None:
    directory = pytester.path / "mine" / "plugin"
    directory.mkdir(parents=True)
    (directory / "mine.vim").write_text("command Mine call setline(1, 'mine')\n")
    text = """
def test_it(editor):
    editor.type(":Mine<CR>")
    assert editor.lines() == ["mine"]
"""
    plugin = f"Path({str(pytester.path / 'mine')!r})"
    run(pytester, text, plugin=plugin).assert_outcomes(passed=2)


def test_each_plugin_has_editors_of_its_own(pytester: pytest.Pytester) -> None:
    module = PREAMBLE + "def test_it(vim): assert vim.eval(\"exists(':VimMCPStatus')\") == {there}"
    pytester.makepyfile(
        test_with=module.format(plugin=True, there=2),
        test_without=module.format(plugin=False, there=0),
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_a_run_without_editors_imports_none_of_it(pytester: pytest.Pytester) -> None:
    text = """
def test_it():
    heavy = {"pexpect", "pyte", "mcp", "vim_mcp", "harness.editor"}
    assert not heavy & sys.modules.keys()
"""
    run(pytester, text, "-p", "no:xdist", "-p", "no:timeout").assert_outcomes(passed=1)


BLOCKING = """
import select

def test_it(vim, nvim, sandbox):
    Path(os.environ["SEEN"]).write_text(f"{sandbox.root} {os.getpid()} {vim.pid} {nvim.pid}")
    select.select([], [], [])
"""


@pytest.mark.skipif(not process.LINUX, reason="needs /proc")
@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_a_run_is_ended(
    pytester: pytest.Pytester, workers: str, number: signal.Signals
) -> None:
    pytester.makepyfile(PREAMBLE.format(plugin=False) + BLOCKING)
    seen = pytester.path / "seen"
    child = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"-n{workers}"],
        env={**os.environ, "SEEN": str(seen)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: seen.exists() and seen.read_text(), seconds=30, what="the test to run")
        root, worker, *editors = seen.read_text().split()
        # Ctrl-C goes to all of a terminal's processes, a kill to the one that runs the test.
        if number == signal.SIGINT:
            os.killpg(child.pid, number)
        else:
            os.kill(int(worker), number)
        pids = [int(pid) for pid in editors]
        wait_until(
            lambda: not any(map(process.exists, pids)), seconds=15, what="the editors to end"
        )
        if number == signal.SIGINT or workers == "2":
            child.wait(30)
            wait_until(lambda: not Path(root).exists(), seconds=15, what="its sandbox to go")
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def test_the_command_says_which_extra_it_wants(tmp_path: Path) -> None:
    without = "import sys; sys.modules['pyte'] = None; from harness.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", without], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.startswith("harness: pyte is missing; install vim-mcp with its extra")
    assert done.stderr.count("\n") == 1
