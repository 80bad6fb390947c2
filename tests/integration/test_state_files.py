"""Section 4.4 of the first seed: each editor's state in a file."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Assistant, Editor, Hub, Sandbox, wait_until
from tests.integration.fake_hub import Json
from tests.integration.peer import Peer
from tests.integration.test_connect import wait_gone

pytestmark = pytest.mark.private

Start = Callable[..., Editor]


def state_path(sandbox: Sandbox, instance_id: str) -> Path:
    """Where an instance's state file is."""
    return sandbox.run / f"vim-mcp-{instance_id}-state.json"


def state_files(sandbox: Sandbox) -> set[str]:
    """The names of all files of states, temporary ones too."""
    return {name for name in os.listdir(sandbox.run) if "-state.json" in name}


def wait_state(sandbox: Sandbox, instance_id: str, holds: Callable[[Json], Any]) -> Json:
    """Wait until an instance's file is one of which something holds; return what is in it."""
    path = state_path(sandbox, instance_id)

    def found() -> Json | None:
        with contextlib.suppress(FileNotFoundError):
            # Never half a file, or this raises.
            state = dict(json.loads(path.read_text()))
            return state if holds(state) else None
        return None

    return wait_until(
        found,
        what=f"the state of {instance_id}",
        detail=lambda: path.read_text() if path.exists() else "no file",
    )


def cwd_is(path: str) -> Callable[[Json], bool]:
    """Whether a state is that of an editor in a directory."""
    return lambda state: bool(state["cwd"] == path)


def options(**values: object) -> str:
    """The configuration that sets options."""
    return "\n".join(f"let g:vim_mcp_{name} = {json.dumps(v)}" for name, v in values.items())


# --- of real editors --------------------------------------------------------------------------


def test_4_4_a_state_file_holds_the_state_without_text(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    editor.type("iunsaved text<Esc>:split<CR>")
    state = wait_state(sandbox, editor.instance_id, lambda s: len(s["windows"]) == 2)
    whole = assistant.read_json("vim://state")
    assert whole["current_buffer"].pop("content") == ["unsaved text"]
    assert state == whole
    # The seed's section 3.2.1.
    assert {"current_buffer", "windows", "buffers", "cursor", "mode", "cwd"} <= state.keys()
    path = state_path(sandbox, editor.instance_id)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "unsaved" not in path.read_text()


def test_4_4_a_full_state_file_holds_the_current_text_too(
    new_editor: Start, assistant: Assistant, sandbox: Sandbox
) -> None:
    editor = new_editor(rc_extra=options(state_files="full", state_interval=100))
    editor.type("ione<CR>日本<Esc>")
    state = wait_state(
        sandbox,
        editor.instance_id,
        lambda s: s["mode"] == "n" and s["current_buffer"].get("content", [])[-1:] == ["日本"],
    )
    assert state["current_buffer"]["content"] == ["one", "日本"]
    assert state == assistant.read_json("vim://state")


def test_4_4_nothing_of_a_private_buffer_is_in_a_full_state_file(
    new_editor: Start, sandbox: Sandbox
) -> None:
    (sandbox.project() / "canary.key").write_text("hunter2\n")
    editor = new_editor(
        files=["canary.key"], rc_extra=options(state_files="full", state_interval=100)
    )
    path = state_path(sandbox, editor.instance_id)
    private = wait_state(sandbox, editor.instance_id, lambda s: s["current_buffer"]["private"])
    assert private["cursor"] is None
    seen = path.read_text()
    editor.type(":new public.txt<CR>ipublic<Esc>")
    wait_state(
        sandbox,
        editor.instance_id,
        lambda s: s["current_buffer"].get("content") == ["public"] and s["mode"] == "n",
    )
    seen += path.read_text()
    assert "canary" not in seen
    assert "hunter2" not in seen


def test_4_4_a_buffer_that_becomes_private_is_taken_out(
    new_editor: Start, sandbox: Sandbox
) -> None:
    extra = options(state_files="full", state_interval=100, state_push_events=[])
    editor = new_editor(rc_extra=extra)
    path = state_path(sandbox, editor.instance_id)
    editor.type(":edit canary.txt<CR>")
    wait_state(sandbox, editor.instance_id, lambda s: "canary" in str(s))
    editor.command("set swapfile | setlocal noswapfile")
    wait_state(sandbox, editor.instance_id, lambda s: s["current_buffer"].get("private"))
    assert "canary" not in path.read_text()


def test_4_4_without_state_files_there_is_none(
    new_editor: Start, sandbox: Sandbox, hub: Hub
) -> None:
    off = new_editor(rc_extra=options(state_files="off"))
    # One of an earlier life, not swept because it is somebody's who is there.
    path = state_path(sandbox, off.instance_id)
    path.write_text("{}")
    off.command("VimMCPReconnect")
    wait_until(lambda: not path.exists(), what="the file to be removed")
    off.type("ione<Esc>")
    other = new_editor()
    wait_state(sandbox, other.instance_id, lambda s: s)
    assert not path.exists()


@pytest.mark.parametrize("end", ["stop", "kill", "disconnect"])
def test_4_4_a_state_file_goes_with_its_editor(
    new_editor: Start, sandbox: Sandbox, end: str
) -> None:
    editor = new_editor(rc_extra=options(state_interval=100))
    wait_state(sandbox, editor.instance_id, lambda s: s)
    if end == "disconnect":
        editor.command("VimMCPDisconnect")
        wait_gone(editor)
    else:
        getattr(editor, end)()
    wait_until(lambda: not state_files(sandbox), what="the file to be removed")


def test_4_4_the_last_change_is_in_the_file_whatever_the_interval(
    new_editor: Start, sandbox: Sandbox
) -> None:
    editor = new_editor(rc_extra=options(state_interval=500))
    for n in range(20):
        editor.type(f"o{n}<Esc>")
    tick = editor.eval("b:changedtick")
    state = wait_state(
        sandbox, editor.instance_id, lambda s: s["current_buffer"]["changedtick"] == tick
    )
    assert state["current_buffer"]["line_count"] == 21


def test_4_4_a_state_file_outlives_a_hub_that_is_killed_and_goes_on(
    new_editor: Start, hub: Hub, sandbox: Sandbox
) -> None:
    editor = new_editor(rc_extra=options(state_interval=100))
    known = editor.instance_id
    wait_state(sandbox, known, lambda s: s)
    hub.kill()
    assert state_path(sandbox, known).exists()
    hub.restart()
    editor.wait_registered()
    editor.type("ione<CR>two<Esc>")
    wait_state(sandbox, known, lambda s: s["current_buffer"]["line_count"] == 2)
    # One that is told to leave takes them with it: nobody would keep them up to date.
    hub.stop()
    assert state_files(sandbox) == set()


def test_4_4_a_stopped_editor_holds_up_no_other(new_editor: Start, sandbox: Sandbox) -> None:
    extra = options(state_files="full", state_interval=100)
    stopped = [new_editor(rc_extra=extra) for _ in range(3)]
    ids = [one.instance_id for one in stopped]
    for one in stopped:
        wait_state(sandbox, one.instance_id, lambda s: s)
        one.type("ione<CR>two<Esc>")
        one.freeze()
    other = new_editor(rc_extra=extra)
    other.type("iother<Esc>")
    wait_state(sandbox, other.instance_id, lambda s: s["current_buffer"]["content"] == ["other"])
    for one, known in zip(stopped, ids, strict=True):
        one.thaw()
        one.type("othree<Esc>")
        wait_state(sandbox, known, lambda s: s["current_buffer"]["line_count"] == 3)


# --- of editors whose every line is in the test's hands -----------------------------------------


class Scripted(Peer):
    """An editor that is asked for its state. Other lines are put aside."""

    def __init__(self, sandbox: Sandbox, instance_id: str, **info: Any) -> None:
        super().__init__(sandbox)
        self.id = instance_id
        facts = {"state_files": "meta", "state_interval": 100, "nonce": instance_id}
        assert self.register(instance_id, **facts | info)["type"] == "registered"

    def asked(self) -> Json:
        """Wait for the next request for its state and return it."""
        while (message := self.recv()).get("method") != "get_state":
            assert message.get("type") in ("ack", "cancel"), message
        return message

    def answer(self, request: Json, **state: Any) -> None:
        """Answer a request with a state."""
        self.send({"id": request["id"], "result": {"mode": "n"} | state})

    def changed(self) -> None:
        """Say that something changed."""
        self.send({"type": "update", "seq": 1, "events": [{"event": "TextChanged", "bufnr": 1}]})


def test_4_4_a_state_file_is_written_only_when_the_state_is_another(
    hub: Hub, sandbox: Sandbox
) -> None:
    with Scripted(sandbox, "x-work-1") as peer:
        peer.answer(peer.asked(), cwd="/one")
        wait_state(sandbox, peer.id, cwd_is("/one"))
        path = state_path(sandbox, peer.id)
        # Another inode for each time that it is written.
        first = path.stat().st_ino
        with path.open() as held:
            for _ in range(3):
                peer.changed()
                peer.answer(peer.asked(), cwd="/one")
            peer.changed()
            request = peer.asked()
            assert path.stat().st_ino == first
            peer.answer(request, cwd="/two")
            wait_state(sandbox, peer.id, cwd_is("/two"))
            assert path.stat().st_ino != first
            assert json.load(held)["cwd"] == "/one"


def test_4_4_an_editor_is_asked_once_at_a_time_and_not_at_all_while_idle(
    hub: Hub, sandbox: Sandbox
) -> None:
    with Scripted(sandbox, "idle-work-1") as idle, Scripted(sandbox, "busy-work-1") as busy:
        idle.answer(idle.asked())
        request = busy.asked()
        for n in range(10):
            busy.answer(request, cwd=f"/{n}")
            for _ in range(10):
                busy.changed()
            request = busy.asked()
            wait_state(sandbox, busy.id, cwd_is(f"/{n}"))
        # Ten intervals went by. What it was not asked is followed by what it asks for itself.
        idle.send({"id": "e1", "method": "status", "params": {}})
        assert idle.recv()["id"] == "e1"
        busy.send({"id": "e1", "method": "status", "params": {}})
        while (message := busy.recv()).get("id") != "e1":
            assert message["type"] == "ack", "it was asked while a request was open"


def test_4_4_an_editor_that_does_not_answer_is_asked_again_and_then_left_alone(
    sandbox: Sandbox,
) -> None:
    with Hub(sandbox) as hub:
        hub.restart(VIM_MCP_TIMEOUT_SCALE="0.02")
        with Scripted(sandbox, "x-work-1") as peer:
            first = peer.asked()
            second = peer.asked()
            assert second["id"] > first["id"]
            # Late: it is not the answer to anything by now.
            peer.answer(first, cwd="/late")
            peer.answer(peer.asked(), cwd="/in time")
            wait_state(sandbox, peer.id, cwd_is("/in time"))


@pytest.mark.parametrize(
    "odd", [{"result": {"current_buffer": 5}}, {"error": {"code": 1004, "message": "no"}}, {}]
)
def test_4_4_a_senseless_answer_harms_nothing(hub: Hub, sandbox: Sandbox, odd: Json) -> None:
    with Scripted(sandbox, "x-work-1", state_files="full") as peer:
        peer.send({"id": peer.asked()["id"]} | odd)
        peer.changed()
        with Scripted(sandbox, "y-work-1") as other:
            other.answer(other.asked())
            wait_state(sandbox, other.id, lambda s: s)
    assert "Traceback" not in hub.log_text()


def test_4_4_the_option_may_change_while_the_editor_runs(hub: Hub, sandbox: Sandbox) -> None:
    with Scripted(sandbox, "x-work-1") as peer:
        peer.answer(peer.asked())
        wait_state(sandbox, peer.id, lambda s: s)
        peer.send({"type": "update", "seq": 1, "info": {"state_files": "off"}})
        wait_until(lambda: not state_files(sandbox), what="the file to be removed")
        peer.send({"type": "update", "seq": 2, "info": {"state_files": "meta"}})
        peer.answer(peer.asked(), cwd="/again")
        wait_state(sandbox, peer.id, cwd_is("/again"))


def test_4_4_an_editor_that_says_nothing_of_state_files_has_none(
    hub: Hub, sandbox: Sandbox
) -> None:
    with Peer(sandbox) as old, Scripted(sandbox, "x-work-1") as peer:
        old.register("old-work-1")
        peer.answer(peer.asked())
        wait_state(sandbox, peer.id, lambda s: s)
        assert state_files(sandbox) == {"vim-mcp-x-work-1-state.json"}
        old.send({"id": "e1", "method": "status", "params": {}})
        assert old.recv()["id"] == "e1"


def test_4_4_one_that_is_back_before_its_old_connection_ended_keeps_its_file(
    hub: Hub, sandbox: Sandbox
) -> None:
    with Scripted(sandbox, "x-work-1") as old:
        old.answer(old.asked(), cwd="/old")
        wait_state(sandbox, old.id, lambda s: s)
        with Scripted(sandbox, "x-work-1") as new:
            assert old.closed()
            new.answer(new.asked(), cwd="/new")
            wait_state(sandbox, new.id, cwd_is("/new"))


def test_4_4_a_hundred_editors_have_their_files(hub: Hub, sandbox: Sandbox) -> None:
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Scripted(sandbox, f"x-work-{n}")) for n in range(100)]
        for peer in peers:
            peer.answer(peer.asked(), cwd=f"/{peer.id}")
        for peer in peers:
            wait_state(sandbox, peer.id, cwd_is(f"/{peer.id}"))
    wait_until(lambda: not state_files(sandbox), what="all files to be removed")


def test_4_4_a_name_too_long_for_a_file_is_cut(hub: Hub, sandbox: Sandbox) -> None:
    with Scripted(sandbox, "日" * 240) as peer, Scripted(sandbox, "日" * 241) as other:
        for one in (peer, other):
            one.answer(one.asked())
        wait_until(
            lambda: len([n for n in state_files(sandbox) if n.endswith(".json")]) == 2,
            what="two files",
        )
        assert all(name.startswith("vim-mcp-日日") for name in state_files(sandbox))


def test_4_4_what_is_in_the_way_of_a_state_file_stays(hub: Hub, sandbox: Sandbox) -> None:
    path = state_path(sandbox, "x-work-1")
    path.mkdir()
    with Scripted(sandbox, "x-work-1") as peer:
        peer.answer(peer.asked())
        wait_until(lambda: "is not written" in hub.log_text(), what="it to be logged")
        assert len(hub.instances()) == 1
    assert path.is_dir()


def test_4_4_what_earlier_hubs_left_is_swept_and_nothing_else(sandbox: Sandbox) -> None:
    left = ["vim-mcp-a-work-1-state.json", "vim-mcp-a-work-1-state.json.17.tmp"]
    stays = ["mine-state.json", "vim-mcp-notes.txt"]
    for name in left + stays:
        (sandbox.run / name).write_text("{}")
    link = sandbox.run / "vim-mcp-b-work-1-state.json"
    link.symlink_to(sandbox.run / "mine-state.json")
    with Hub(sandbox):
        wait_until(lambda: not set(left) & set(os.listdir(sandbox.run)), what="the sweep")
        assert set(stays) | {link.name} <= set(os.listdir(sandbox.run))
