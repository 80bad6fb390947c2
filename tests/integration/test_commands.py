"""Tools, resources and the status from the shell, with a real hub and real editors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from harness import Assistant, Editor, Hub, Sandbox, Stage, hub_status, process, slow, wait_until
from harness.screen import Terminal
from tests.integration.shell import Shell
from vim_mcp.cli import COMMANDS
from vim_mcp.commands import root


@pytest.fixture
def shell(sandbox: Sandbox) -> Shell:
    """A shell in the directory of the project."""
    return Shell(sandbox)


# --- the command line itself ------------------------------------------------------------------


def test_the_help_names_the_commands_that_there_are(shell: Shell) -> None:
    done = shell.run("--help")
    assert done.code == 0
    assert list(COMMANDS) == list(root.WHERE)
    for name, what in COMMANDS.items():
        assert f"  {name:<10} {what}\n" in done.out
    for status in (root.FAILED, root.USAGE, root.ANSWERED_ERROR, root.INTERRUPTED):
        assert f"\n  {status} " in done.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(shell: Shell, name: str) -> None:
    done = shell.run(name, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"Usage: vim-mcp {name} " in done.out
    examples = done.out.partition("Example")[2].partition("Options:")[0]
    assert f"vim-mcp {name}" in examples


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["call"], "Missing argument 'TOOL'"),
        (["status", "--what"], "No such option"),
        (["read", "vim://state", "more"], "unexpected extra argument"),
    ],
)
def test_a_wrong_command_line_is_told(shell: Shell, args: list[str], told: str) -> None:
    done = shell.run(*args)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert f"vim-mcp {args[0]} --help" in done.err


@pytest.mark.private
def test_without_a_hub_to_be_had_it_says_why_in_a_line(shell: Shell) -> None:
    shell.sandbox.run.chmod(0o755)
    for args in (["call", "vim_read"], ["read"], ["tools"]):
        done = shell.run(*args)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("vim-mcp: no answer to initialize: cannot use ")
        assert "its mode is 755" in done.err
        assert done.err.count("\n") == 1


@pytest.mark.parametrize("args", [[], ["serve"]])
def test_alone_in_a_terminal_it_says_what_it_waits_for(shell: Shell, args: list[str]) -> None:
    argv = [sys.executable, "-m", "vim_mcp", *args]
    terminal = Terminal(argv, env=shell.env(), cwd=shell.cwd, columns=120)
    try:
        wait_until(
            lambda: "waiting for an MCP client on standard input" in terminal.look(),
            what="a word to the user",
            detail=lambda: terminal.look().framed(),
        )
    finally:
        terminal.close()


def test_names_to_be_copied_are_not_broken_in_a_narrow_terminal(shell: Shell) -> None:
    argv = [sys.executable, "-m", "vim_mcp", "read"]
    terminal = Terminal(argv, env=shell.env(), cwd=shell.cwd, columns=80, rows=60)
    try:
        wait_until(
            lambda: (
                "vim://instance/{instance_id}/buffer/{bufnr}/lines/{first}-{last}"
                in terminal.look()
            ),
            what="the longest name",
            detail=lambda: terminal.look().framed(),
        )
    finally:
        terminal.close()


# --- call -------------------------------------------------------------------------------------


def test_a_tool_is_called_with_the_types_it_wants(editor: Editor, shell: Shell) -> None:
    editor.type("ione<CR>two<CR>three<Esc>")
    bufnr = editor.eval("bufnr()")
    done = shell.run("call", "vim_read", f"bufnr={bufnr}", "first_line=2", "last_line=2")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1] == "2\ttwo"
    done = shell.run(
        "call", "vim_edit", f"bufnr={bufnr}", "old_text=two", "content=2", "save:=false"
    )
    assert (done.code, done.err) == (0, "")
    assert editor.lines() == ["one", "2", "three"]


def test_text_comes_from_files_and_standard_input(editor: Editor, shell: Shell) -> None:
    bufnr = f"bufnr={editor.eval('bufnr()')}"
    done = shell.run("call", "vim_edit", bufnr, "content=-", stdin="from\nstdin ä\n")
    assert (done.code, done.err) == (0, "")
    assert editor.lines() == ["from", "stdin ä"]
    (shell.cwd / "new.txt").write_text("from a file\n")
    shell.run("call", "vim_edit", bufnr, "content=@new.txt")
    assert editor.lines() == ["from a file"]
    shell.run("call", "vim_edit", bufnr, 'content:="@new.txt"')
    assert editor.lines() == ["@new.txt"]
    done = shell.run("call", "vim_edit", bufnr, "content=@nowhere")
    assert (done.code, done.out) == (2, "")
    assert "cannot read nowhere" in done.err


def test_the_answer_as_json_is_what_an_assistant_gets(
    editor: Editor, shell: Shell, assistant: Assistant
) -> None:
    done = shell.run("call", "vim_get_state", "--json")
    assert json.loads(done.out) == assistant.call("vim_get_state").data


def test_what_a_tool_refuses_goes_to_stderr(editor: Editor, shell: Shell) -> None:
    for args, told in (
        (["vim_undo", "count=5000"], "less than or equal to 1000 (code -32602)"),
        (["vim_read", "--instance", "x-y-1"], "no connected Vim instance matches 'x-y-1'"),
        (["vim_execute", "command=quit"], "(code 1004)"),
    ):
        done = shell.run("call", *args)
        assert (done.code, done.out) == (3, "")
        assert told in done.err


def test_a_call_that_makes_no_sense_is_not_sent(editor: Editor, shell: Shell) -> None:
    done = shell.run("call", "vim_raed")
    assert (done.code, done.out) == (2, "")
    assert "there is no tool 'vim_raed'; there are\n  list_vim_instances\n" in done.err
    done = shell.run("call", "vim_read", "frist_line=1")
    assert (done.code, done.out) == (2, "")
    assert "no argument 'frist_line'; there are file, bufnr, first_line" in done.err


@pytest.mark.private
def test_a_call_goes_to_the_project_of_the_shell_or_where_it_is_told(
    new_editor: Callable[..., Editor], sandbox: Sandbox, hub: Hub
) -> None:
    here, there = sandbox.project("here"), sandbox.project("there")
    editors = {d: new_editor(files=["a.txt"], cwd=d) for d in (here, there)}
    for directory, editor in editors.items():
        editor.type(f"i{directory.name}<Esc>")
        assert "\n1\t" + directory.name in Shell(sandbox, directory).run("call", "vim_read").out
        # Inside Claude Code the shell's directory counts, not its project.
        env = {"CLAUDE_PROJECT_DIR": str(there)}
        done = Shell(sandbox, directory).run("call", "vim_read", **env)
        assert "\n1\t" + directory.name in done.out
    elsewhere = Shell(sandbox, sandbox.project("elsewhere"))
    done = elsewhere.run("call", "vim_read")
    assert done.code == 3
    assert "(code 1001)" in done.err
    done = elsewhere.run("call", "vim_read", "--instance", editors[there].instance_id)
    assert "\n1\tthere" in done.out
    assert "\n1\there" in elsewhere.run("call", "vim_read", "--workspace", "../here").out


# --- tools, read, status ----------------------------------------------------------------------


def test_all_tools_and_resources_are_listed(hub: Hub, shell: Shell, assistant: Assistant) -> None:
    names = [tool.name for tool in assistant.tools()]
    lines = shell.run("tools").out.splitlines()
    assert lines[0].split() == ["TOOL", "ARGUMENTS", "WHAT", "IT", "DOES"]
    assert [line.split()[0] for line in lines[1:]] == names
    assert [tool["name"] for tool in json.loads(shell.run("tools", "--json").out)] == names
    uris = [str(resource.uri) for resource in assistant.resources()]
    lines = shell.run("read").out.splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(uris)]] == uris
    listed = json.loads(shell.run("read", "--json").out)
    assert [one["uri"] for one in listed["resources"]] == uris


def test_a_resource_is_printed_as_it_is(editor: Editor, shell: Shell) -> None:
    editor.type("i[bold]ä[/]<CR><Esc>")
    done = shell.run("read", "vim://buffer/current")
    assert (done.code, done.out, done.err) == (0, "[bold]ä[/]\n\n", "")
    done = shell.run("read", "vim://state")
    assert json.loads(done.out)["current_buffer"]["content"] == ["[bold]ä[/]", ""]
    assert done.out.startswith("{\n  ")
    (content,) = json.loads(shell.run("read", "vim://buffer/current", "--json").out)
    assert content["mimeType"] == "text/plain"
    done = shell.run("read", "vim://nothing")
    assert (done.code, done.out) == (3, "")
    assert "there is no resource vim://nothing" in done.err


def test_the_status_is_that_of_the_hub(editor: Editor, hub: Hub, shell: Shell) -> None:
    plain = shell.run("status")
    assert plain.out.startswith(f"CONNECTED  hub 0.1.0, pid {hub.pid}, ")
    assert f"  {editor.instance_id}  {editor.kind} " in plain.out
    told = json.loads(shell.run("status", "--json").out)
    assert [one["instance_id"] for one in told["instances"]] == [editor.instance_id]


def test_in_a_terminal_the_status_is_a_table(
    new_editor: Callable[..., Editor], sandbox: Sandbox, shell: Shell
) -> None:
    # What looks like the markup of the library that draws the table is shown as it is.
    editor = new_editor(cwd=sandbox.project("[b]work"))
    argv = [sys.executable, "-m", "vim_mcp", "status"]
    terminal = Terminal(argv, env=shell.env(), cwd=shell.cwd, columns=120)
    try:
        wait_until(
            lambda: "/[b]work" in terminal.look(),
            what="the status",
            detail=lambda: terminal.look().framed(),
        )
        assert editor.instance_id in terminal.look()
        head = next(line for line in str(terminal.look()).splitlines() if "INSTANCE" in line)
        assert head.split() == ["INSTANCE", "EDITOR", "VERSION", "PID", "DIRECTORY"]
    finally:
        terminal.close()


@pytest.mark.private
def test_the_status_starts_no_hub(shell: Shell) -> None:
    done = shell.run("status")
    assert (done.code, done.out) == (1, "")
    assert "no vim-mcp hub answers" in done.err
    assert json.loads(shell.run("status", "--json").out)["status"] == "ERROR"
    assert hub_status(shell.sandbox) is None


# --- those who leave early --------------------------------------------------------------------


@pytest.mark.parametrize("args", ["tools --json", "status", "install --dry-run", "doctor"])
@pytest.mark.parametrize("buffering", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["end", "line"])
def test_a_reader_that_leaves_ends_it_quietly(
    hub: Hub, shell: Shell, args: str, buffering: dict[str, str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    if not (shell.bin / "vim").exists():
        shell.offer_editors("vim")
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "vim_mcp", *args.split()],
            stdout=pipe,
            stderr=subprocess.PIPE,
            # It may learn it with each line, or only at its end.
            env=shell.env(**buffering),
            cwd=shell.cwd,
            timeout=60 * slow(),
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.private
def test_an_interrupt_ends_it_quietly(stage: Stage, shell: Shell) -> None:
    hub = stage.need_hub()
    hub.freeze()
    child = shell.start("call", "vim_read")
    try:
        # It has started the forwarder, so it waits for the answer.
        wait_until(
            lambda: any(
                "vim_mcp serve" in process.command_line(one.pid)
                for one in shell.sandbox.processes()
            ),
            what="it to wait",
        )
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30 * slow())
    finally:
        hub.thaw()
    assert (child.returncode, out, err.strip()) == (130, "", "")
