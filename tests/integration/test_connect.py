"""How an editor registers, and what its commands and statusline do."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from harness import Assistant, Editor, Hub, Sandbox, hub_status, wait_until
from harness.hub import find_instance
from tests.integration.conftest import ALONE, wait_for_timers
from tests.integration.fake_hub import FakeHub, Json

Start = Callable[..., Editor]


def status(editor: Editor) -> str:
    """What :VimMCPStatus says."""
    return editor.command("VimMCPStatus")


def wait_gone(editor: Editor) -> None:
    """Wait until the hub lists an editor no longer."""
    wait_until(
        lambda: find_instance(editor.sandbox, editor.pid) is None,
        what="the editor to leave the hub",
    )


def wait_statusline(editor: Editor, text: str) -> None:
    """Wait until the part of the statusline is a text."""
    wait_until(
        lambda: editor.eval("vim_mcp#statusline()") == text,
        what=f"{text!r} in the statusline",
        detail=lambda: str(editor.eval("vim_mcp#statusline()")),
    )


# --- registration -------------------------------------------------------------------------------


@pytest.fixture
def registered(fake_hub: FakeHub, new_editor: Start) -> Callable[..., tuple[Editor, Json]]:
    """Start an editor that registers with the fake hub; return it and what it registered with."""

    def start(**options: object) -> tuple[Editor, Json]:
        extra = f"{ALONE['rc_extra']}\n{options.pop('rc_extra', '')}"
        editor = new_editor(**ALONE | options | {"rc_extra": extra})
        return editor, fake_hub.greet()[1]

    return start


@pytest.mark.private
def test_3_2_1_a_registration_says_who_the_editor_is(
    registered: Callable[..., tuple[Editor, Json]],
) -> None:
    editor, register = registered(files=["main.py", "other.py"])
    info, cwd = register["info"], str(editor.cwd)
    assert register["type"] == "register"
    assert register["instance_id"] == f"main-work-{editor.pid}"
    assert info.pop("host") == editor.eval("hostname()")
    assert {"slices", "ops"} <= set(info.pop("features"))
    assert re.fullmatch("[0-9a-f]{32}", info.pop("nonce"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", info.pop("started"))
    # The list grows as the arguments are looked at, and is told anew when it does.
    assert info.pop("buffers")[0] == f"{cwd}/main.py"
    assert info == {
        "pid": editor.pid,
        "cwd": cwd,
        "root": cwd,
        "main_file": f"{cwd}/main.py",
        "version": editor.version,
        "protocol": 1,
        "plugin_version": "0.1.0",
        "editor": editor.kind,
        "ui": "tty",
        "readonly": False,
        "paused": False,
        "state_files": "meta",
        "state_interval": 1000,
    }


@pytest.mark.private
@pytest.mark.parametrize(
    ("options", "name", "told"),
    [
        ({}, "unnamed-work", {"main_file": ""}),
        ({"files": ["a b.x.c"]}, "a_b.x-work", {"main_file": "{cwd}/a b.x.c"}),
        ({"files": ["é.txt"]}, "é-work", {"main_file": "{cwd}/é.txt"}),
        ({"files": ["secret.key"]}, "unnamed-work", {"main_file": "", "buffers": []}),
        ({"files": [".env"]}, "unnamed-work", {"main_file": "", "buffers": []}),
        ({"files": ["."]}, "unnamed-work", {"main_file": ""}),
        ({"files": ["x"], "args": ["-R"]}, "x-work", {"readonly": True}),
        (
            {"files": ["x"], "rc_extra": "autocmd BufAdd,BufNewFile x let b:vim_mcp_private = 1"},
            "unnamed-work",
            {"main_file": ""},
        ),
    ],
    ids=["nothing", "odd", "letter", "private", "dot", "directory", "readonly", "marked"],
)
def test_4_2_the_id_is_made_of_file_project_and_pid(
    registered: Callable[..., tuple[Editor, Json]], options: Json, name: str, told: Json
) -> None:
    editor, register = registered(**options)
    assert register["instance_id"] == f"{name}-{editor.pid}"
    for key, value in told.items():
        wanted = value.format(cwd=editor.cwd) if isinstance(value, str) else value
        assert register["info"][key] == wanted


@pytest.mark.private
def test_the_home_directory_is_no_project(
    registered: Callable[..., tuple[Editor, Json]], sandbox: Sandbox
) -> None:
    (sandbox.home / ".git").mkdir()
    editor, register = registered(cwd=sandbox.home)
    assert register["instance_id"] == f"unnamed-home-{editor.pid}"
    assert register["info"]["root"] == ""
    assert register["info"]["cwd"] == str(sandbox.home)


@pytest.mark.private
def test_the_root_is_that_of_the_git_project(
    registered: Callable[..., tuple[Editor, Json]], sandbox: Sandbox
) -> None:
    deep = sandbox.project("outer") / "a" / "b"
    deep.mkdir(parents=True)
    editor, register = registered(cwd=deep)
    assert register["instance_id"] == f"unnamed-outer-{editor.pid}"
    assert register["info"]["root"] == str(sandbox.root / "outer")


def test_two_editors_are_two_instances(new_editor: Start, hub: Hub, sandbox: Sandbox) -> None:
    one = new_editor(files=["a.txt"])
    two = new_editor(files=["a.txt"], cwd=sandbox.project("second"))
    assert one.instance_id == f"a-work-{one.pid}"
    assert two.instance_id == f"a-second-{two.pid}"
    assert {i["pid"] for i in hub.instances()} >= {one.pid, two.pid}


def test_7_2_2_the_hub_learns_what_changes(editor: Editor, sandbox: Sandbox) -> None:
    (editor.cwd / "new.txt").write_text("x\n")
    editor.type(":edit new.txt<CR>")

    def told(key: str, value: str) -> None:
        wait_until(
            lambda: (find_instance(sandbox, editor.pid) or {}).get(key) == value,
            what=f"the hub to learn that {key} is {value}",
        )

    told("main_file", f"{editor.cwd}/new.txt")
    other = sandbox.project("second")
    editor.type(f":cd {other}<CR>")
    told("cwd", str(other))
    told("root", str(other))


@pytest.mark.private
def test_an_editor_that_reconnects_while_the_hub_is_stopped_keeps_its_id(
    new_editor: Start, hub: Hub, assistant: Assistant
) -> None:
    editor = new_editor()
    known = editor.instance_id
    hub.freeze()
    editor.command("VimMCPReconnect")
    hub.thaw()
    editor.wait_registered()
    assert [i["instance_id"] for i in hub.instances()] == [known]
    assert assistant.call("vim_execute", command="echo 1").text == "1"


# --- commands -----------------------------------------------------------------------------------


@pytest.mark.private
def test_disconnect_sticks_until_connect(new_editor: Start, hub: Hub) -> None:
    editor = new_editor()
    known = editor.instance_id
    editor.type(":VimMCPDisconnect<CR>")
    wait_gone(editor)
    assert "the user disconnected it" in status(editor)
    hub.restart()
    editor.type(":edit x.txt<CR>ihello<Esc>")
    wait_for_timers(editor, 1500)
    assert find_instance(editor.sandbox, editor.pid) is None
    editor.type(":VimMCPConnect<CR>")
    assert editor.wait_registered() == known
    assert editor.messages() == ""


def test_reconnect_connects_anew(editor: Editor, hub: Hub) -> None:
    known = editor.instance_id
    arrivals = hub.log_text().count(f"{known}: ")
    editor.type(":VimMCPReconnect<CR>")
    wait_until(
        lambda: hub.log_text().count(f"{known}: ") == arrivals + 1, what="the editor to come again"
    )
    assert editor.wait_registered() == known
    assert "connected" in status(editor)


def test_connect_while_connected_changes_nothing(editor: Editor, hub: Hub) -> None:
    arrivals = hub.log_text().count(f"{editor.instance_id}: ")
    editor.type(":VimMCPConnect<CR>")
    wait_for_timers(editor, 200)
    assert status(editor).startswith("vim-mcp: connected")
    assert hub.log_text().count(f"{editor.instance_id}: ") == arrivals


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("VimMCPPause", "vim-mcp: assistants may look but not act, until :VimMCPResume"),
        ("VimMCPResume", "vim-mcp: assistants may act again"),
        ("VimMCPDisconnect", "vim-mcp: disconnected, until :VimMCPConnect"),
        ("VimMCPReconnect", "vim-mcp: connecting, :VimMCPStatus tells more"),
        ("VimMCPConnect", "vim-mcp: connected"),
    ],
)
def test_a_command_says_in_one_line_what_it_did(editor: Editor, command: str, said: str) -> None:
    editor.type(f":{command}<CR>")
    wait_until(lambda: said in editor.screen(), what=said, detail=lambda: str(editor.screen()))


def test_pause_refuses_acts_and_lets_reads_go_on(editor: Editor, assistant: Assistant) -> None:
    editor.type("ione<Esc>")
    bufnr = editor.eval("bufnr()")
    editor.type(":VimMCPPause<CR>")
    for tool, arguments in (
        ("vim_edit", {"bufnr": bufnr, "line": 1, "content": "two"}),
        ("vim_execute", {"command": "s/one/two/"}),
        ("vim_undo", {}),
        ("vim_save", {}),
        ("vim_open", {"file": "x.txt"}),
    ):
        error = assistant.call(tool, **arguments).error
        assert (error["code"], error["data"]["reason"]) == (1004, "paused"), tool
        assert ":VimMCPPause" in error["message"]
    assert assistant.call("vim_read").text.endswith("1\tone")
    assert assistant.call("vim_get_state").data["paused"] is True
    assert editor.lines() == ["one"]
    wait_until(
        lambda: assistant.call("list_vim_instances").data["instances"][0]["paused"],
        what="the list to say that it is paused",
    )
    assert "assistants are paused" in status(editor)
    editor.type(":VimMCPResume<CR>")
    assert not assistant.call("vim_execute", command="s/one/two/").is_error
    assert editor.lines() == ["two"]


def test_pause_refuses_acts_that_wait(editor: Editor, assistant: Assistant) -> None:
    editor.type("ione")
    call = assistant.call_async("vim_execute", command="s/one/two/")
    wait_until(lambda: editor.eval("vim_mcp#acts#Pending()") == 1, what="the act to be parked")
    editor.command("VimMCPPause")
    assert call.result(30).error["data"]["reason"] == "paused"
    editor.type("<Esc>")
    editor.type(":VimMCPResume<CR>")
    assert editor.lines() == ["one"]


def test_a_pause_outlives_the_connection(editor: Editor, assistant: Assistant) -> None:
    editor.type(":VimMCPPause<CR>")
    editor.type(":VimMCPReconnect<CR>")
    editor.wait_registered()
    assert assistant.call("vim_undo").error["data"]["reason"] == "paused"
    editor.type(":VimMCPResume<CR>")


def test_status_says_how_things_stand(
    editor: Editor, hub: Hub, sandbox: Sandbox, new_assistant: Callable[..., Assistant]
) -> None:
    lines = [
        "vim-mcp: connected",
        f"socket:   {sandbox.socket}",
        f"instance: {editor.instance_id}",
        f"hub:      version 0.1.0, pid {hub.pid}",
    ]
    assert status(editor).splitlines() == [*lines, "assistants: none"]
    assistant = new_assistant(name="somebody")
    assert not assistant.call("vim_read").is_error
    assert status(editor).splitlines() == [*lines, "assistants: somebody 1"]


@pytest.mark.private
def test_the_statusline_is_drawn_anew_without_a_key(new_editor: Start, hub: Hub) -> None:
    editor = new_editor(rc_extra="set laststatus=2 statusline=<%{vim_mcp#statusline()}>")

    def shows(text: str) -> None:
        wait_until(lambda: text in editor.screen(), what=f"{text} on the screen")

    shows("<mcp>")
    hub.stop()
    shows("<mcp?>")
    hub.start()
    shows("<mcp>")


def test_the_statusline_part_follows_the_state(editor: Editor) -> None:
    wait_statusline(editor, "mcp")
    editor.type(":VimMCPPause<CR>")
    wait_statusline(editor, "mcp!")
    editor.type(":VimMCPResume<CR>")
    wait_statusline(editor, "mcp")
    editor.type(":VimMCPDisconnect<CR>")
    wait_statusline(editor, "")


@pytest.mark.private
def test_the_statusline_part_says_that_there_is_no_hub(
    new_editor: Start, hub: Hub, sandbox: Sandbox
) -> None:
    editor = new_editor(rc_extra="let g:vim_mcp_autostart = 0")
    wait_statusline(editor, "mcp")
    hub.stop()
    wait_statusline(editor, "mcp?")
    assert status(editor).startswith("vim-mcp: waiting for a hub\n")
    assert hub_status(sandbox) is None


@pytest.mark.private
def test_a_hub_that_is_stopped_is_told_in_the_status(new_editor: Start, hub: Hub) -> None:
    editor = new_editor()
    hub.freeze()
    assert status(editor).endswith("assistants: the hub did not say")
    hub.thaw()
    wait_until(lambda: status(editor).endswith("assistants: none"), what="the hub to answer again")
