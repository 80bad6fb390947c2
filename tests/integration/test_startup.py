"""When an editor connects by itself, what its options change, and that nobody notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness import Assistant, Editor, Hub, Sandbox, hub_status, wait_until
from harness.hub import find_instance
from tests.integration.conftest import ALONE, wait_for_timers
from tests.integration.fake_hub import FakeHub
from tests.integration.test_connect import status

Start = Callable[..., Editor]

#: The same editor as it is by default: it starts a hub when none answers.
STARTING = {name: value for name, value in ALONE.items() if name != "rc_extra"}


# --- nobody notices -----------------------------------------------------------------------------


def test_11_2_start_and_connection_change_nothing_on_the_screen(new_editor: Start) -> None:
    extra = "set laststatus=2 showcmd ruler"
    # The intro asks for one thing or another, from day to day; but it is there.
    intro = new_editor(rc_extra=extra)
    assert "<Enter>" in intro.screen()
    without = new_editor(rc_extra=f"{extra} shortmess+=I", plugin=False)
    connected = new_editor(rc_extra=f"{extra} shortmess+=I")
    assert str(connected.screen()) == str(without.screen())
    assert connected.messages() == without.messages() == ""
    assert connected.eval("v:errmsg") == ""


def test_commands_show_nothing_but_the_status(editor: Editor) -> None:
    editor.type("ione<Esc>:<C-U><Esc>")
    before = str(editor.screen())
    for command in ("Pause", "Resume", "Disconnect", "Connect", "Reconnect"):
        editor.command(f"VimMCP{command}")
    editor.wait_registered()
    assert str(editor.screen()) == before
    assert editor.messages() == ""


def test_a_session_file_holds_nothing_of_ours(editor: Editor, assistant: Assistant) -> None:
    assistant.call("vim_edit", bufnr=editor.eval("bufnr()"), line=1, content="x")
    path = editor.cwd / "session.vim"
    editor.command("set sessionoptions+=options,globals,localoptions")
    editor.command(f"mksession! {path}")
    lines = path.read_text().splitlines()
    ours = [line for line in lines if "vim_mcp" in line.lower().replace("vimmcp", "vim_mcp")]
    # Where the plugin was found is the user's own setting.
    assert [line for line in ours if "runtimepath" not in line] == []


def test_registers_marks_and_history_are_untouched(editor: Editor, assistant: Assistant) -> None:
    editor.type("ione<CR>two<CR>three<Esc>ggyy/two<CR>ma")
    look = (
        "[getreg('\"'), getreg('/'), getreg('0'), getreg('-'), getreg(':'), histget('/'), "
        "histnr('/'), histnr(':'), getpos(\"'a\"), len(getjumplist()[0]), getcurpos()[1:2]]"
    )
    before = editor.eval(look)
    bufnr = editor.eval("bufnr()")
    for tool, arguments in (
        ("vim_read", {}),
        ("vim_get_state", {}),
        ("vim_edit", {"bufnr": bufnr, "old_text": "three", "content": "four"}),
        ("vim_execute", {"command": "echo getcwd()"}),
        ("vim_undo", {}),
    ):
        assert not assistant.call(tool, **arguments).is_error, tool
        assert editor.eval(look) == before, tool
    assert editor.lines() == ["one", "two", "three"]


# --- never by itself ----------------------------------------------------------------------------

SHY: dict[str, tuple[dict[str, Any], str]] = {
    "gitcommit": ({"files": [".git/COMMIT_EDITMSG"]}, "it edits a message or a crontab"),
    "rebase": ({"files": [".git/git-rebase-todo"]}, "it edits a message or a crontab"),
    "filetype": (
        {"files": ["message"], "rc_extra": "autocmd BufNewFile * setlocal filetype=gitcommit"},
        "it edits a message or a crontab",
    ),
    "crontab": ({"files": ["crontab.XyZ12"]}, "it edits a message or a crontab"),
    "merge": ({"files": ["a_LOCAL_12.c", "a_REMOTE_12.c"], "args": ["-d"]}, "it is a merge tool"),
    "sudo": ({"env": {"SUDO_USER": "somebody"}}, "it runs under sudo"),
}


@pytest.mark.parametrize("kind", SHY)
def test_some_editors_connect_only_when_asked(new_editor: Start, hub: Hub, kind: str) -> None:
    options, why = SHY[kind]
    editor = new_editor(wait="started", **options)
    told = wait_until(
        lambda: status(editor) if "off" in status(editor) else "", what="the plugin to stay off"
    )
    assert f"vim-mcp: off, because {why}" in told
    wait_for_timers(editor, 1500)
    assert find_instance(editor.sandbox, editor.pid) is None
    editor.command("VimMCPConnect")
    editor.wait_registered()
    assert editor.messages() == ""


def test_an_editor_of_standard_input_connects_only_when_asked(new_editor: Start, hub: Hub) -> None:
    editor = new_editor(args=["-"], wait="opened")
    editor.type("text<CR><C-d>", sync=False)
    wait_until(lambda: editor.eval("v:vim_did_enter"), what="the editor to start")
    wait_until(
        lambda: "off, because it shows standard input" in status(editor),
        what="the plugin to stay off",
        detail=lambda: status(editor),
    )
    pid = editor.eval("getpid()")
    assert pid not in {i["pid"] for i in hub.instances()}


def test_an_editor_without_a_screen_never_connects(
    new_editor: Start, hub: Hub, editor_kind: str
) -> None:
    # Neovim with -es ends by itself, sometimes before it could be asked.
    editor = new_editor(args=["-es" if editor_kind == "vim" else "--headless"], wait="opened")
    pid = editor.eval("getpid()")
    editor.eval("execute('runtime! plugin/vim_mcp.vim')")
    wait_until(
        lambda: "off, because this editor has no screen" in status(editor),
        what="the plugin to stay off",
        detail=lambda: status(editor),
    )
    assert pid not in {i["pid"] for i in hub.instances()}


# --- options ------------------------------------------------------------------------------------


def test_10_2_a_disabled_plugin_does_nothing(new_editor: Start, hub: Hub) -> None:
    editor = new_editor(rc_extra="let g:vim_mcp_enabled = 0", wait="started")
    assert editor.eval("vim_mcp#statusline()") == ""
    editor.command("VimMCPConnect")
    wait_for_timers(editor, 1500)
    assert find_instance(editor.sandbox, editor.pid) is None
    assert status(editor).startswith("vim-mcp: off, because g:vim_mcp_enabled is 0")
    assert editor.messages() == ""


@pytest.mark.private
def test_an_editor_starts_a_hub_when_there_is_none(new_editor: Start, sandbox: Sandbox) -> None:
    editor = new_editor(**STARTING)
    editor.wait_registered(20)
    found = hub_status(sandbox)
    assert found is not None
    # It is nobody's child: it outlives the editor that started it.
    editor.stop()
    wait_until(lambda: not (hub_status(sandbox) or {})["instances"], what="the editor to be gone")
    assert (hub_status(sandbox) or {})["pid"] == found["pid"]


@pytest.mark.private
def test_10_2_without_autostart_no_hub_is_started_unless_asked(
    new_editor: Start, sandbox: Sandbox
) -> None:
    editor = new_editor(**ALONE)
    wait_for_timers(editor, 2500)
    assert hub_status(sandbox) is None
    assert status(editor).startswith("vim-mcp: waiting for a hub")
    editor.type(":VimMCPConnect<CR>")
    editor.wait_registered(20)


@pytest.mark.private
@pytest.mark.parametrize("form", ["list", "string"])
def test_10_2_the_command_that_starts_a_hub_may_be_given(
    new_editor: Start, sandbox: Sandbox, form: str
) -> None:
    script = sandbox.root / "my-vim-mcp"
    script.write_text('#!/bin/sh\necho "$@" >"$0.args"\nshift\nexec vim-mcp "$@"\n')
    script.chmod(0o755)
    command = f"['{script}', 'extra']" if form == "list" else f"'{script} extra'"
    editor = new_editor(rc_extra=f"let g:vim_mcp_command = {command}", **STARTING)
    editor.wait_registered(20)
    assert (sandbox.root / "my-vim-mcp.args").read_text() == "extra hub --ensure\n"


@pytest.mark.private
def test_a_command_that_is_not_there_is_told_in_the_status(
    new_editor: Start, sandbox: Sandbox
) -> None:
    editor = new_editor(rc_extra="let g:vim_mcp_command = '/nowhere/vim-mcp'", **STARTING)
    wait_until(
        lambda: "/nowhere/vim-mcp is not installed" in status(editor),
        what="the missing program to be named",
        detail=lambda: status(editor),
    )
    assert "g:vim_mcp_command" in status(editor)
    assert editor.messages() == ""
    assert hub_status(sandbox) is None


@pytest.mark.private
def test_10_2_the_socket_may_be_elsewhere(new_editor: Start, sandbox: Sandbox) -> None:
    path = sandbox.root / "own.sock"
    with FakeHub(sandbox) as fake:
        # A socket may be moved while it listens.
        sandbox.socket.rename(path)
        editor = new_editor(rc_extra=f"let g:vim_mcp_socket_path = '{path}'", **STARTING)
        fake.greet()
        assert f"socket:   {path} (g:vim_mcp_socket_path)" in status(editor)


@pytest.mark.private
def test_10_2_how_often_to_look_for_a_hub_may_be_given(
    fake_hub: FakeHub, new_editor: Start
) -> None:
    new_editor(rc_extra="let g:vim_mcp_reconnect_interval = 100", **STARTING)
    dialled = 0

    def often() -> bool:
        nonlocal dialled
        dialled += fake_hub.dialled()
        return dialled == 15

    # With the five seconds that are the default it would take forty.
    wait_until(often, seconds=20, what="the editor to dial again and again")


@pytest.mark.private
def test_10_2_the_events_that_are_told_may_be_chosen(fake_hub: FakeHub, new_editor: Start) -> None:
    extra = "let g:vim_mcp_state_push_events = ['InsertLeave', 'CursorMoved']"
    editor = new_editor(rc_extra=extra, **STARTING)
    line, _ = fake_hub.greet()
    editor.type("ione<CR>two<Esc>gg:enew!<CR>")
    wait_for_timers(editor, 200)
    line.fence()
    seen = {e["event"] for u in line.updates for e in u.get("events", [])}
    assert seen == {"InsertLeave", "CursorMoved"}


# --- a place that is not ours -------------------------------------------------------------------


@pytest.mark.private
def test_a_runtime_directory_open_to_others_is_refused(new_editor: Start, sandbox: Sandbox) -> None:
    sandbox.run.chmod(0o755)
    with FakeHub(sandbox) as fake:
        editor = new_editor(**ALONE)
        wait_until(
            lambda: f"{sandbox.run} is not a directory of ours with mode 0700" in status(editor),
            what="the refusal to be told",
            detail=lambda: status(editor),
        )
        assert editor.messages() == ""
        sandbox.run.chmod(0o700)
        assert fake.greet()[1]["type"] == "register"


@pytest.mark.private
def test_a_runtime_directory_that_is_a_link_is_refused(new_editor: Start, sandbox: Sandbox) -> None:
    link = sandbox.root / "link"
    link.symlink_to(sandbox.run)
    with FakeHub(sandbox):
        editor = new_editor(env={"VIM_MCP_RUNTIME_DIR": str(link)}, **ALONE)
        wait_until(
            lambda: f"{link} is not a directory of ours" in status(editor),
            what="the refusal to be told",
            detail=lambda: status(editor),
        )


@pytest.mark.private
def test_a_path_too_long_for_a_socket_is_told(new_editor: Start, sandbox: Sandbox) -> None:
    deep = sandbox.root / ("d" * 100)
    editor = new_editor(env={"VIM_MCP_RUNTIME_DIR": str(deep)}, **ALONE)
    assert "103 are possible" in status(editor)
    assert editor.messages() == ""
