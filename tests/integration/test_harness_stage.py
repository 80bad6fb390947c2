from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness import process
from harness.assistant import Assistant
from harness.editor import Editor
from harness.errors import AssistantGone
from harness.hub import Hub
from harness.raw import RawAssistant
from harness.sandbox import Sandbox
from harness.stage import Stage
from harness.wait import WaitTimeout, wait_until

# The harness with the product: hub, registration, assistants, and `harness spawn`.


def test_an_editor_is_registered_when_it_is_there(editor: Editor, hub: Hub) -> None:
    (instance,) = hub.instances()
    assert instance["pid"] == editor.pid
    assert instance["instance_id"] == editor.instance_id
    assert instance["version"] == editor.version


def test_a_new_editor_ends_with_its_test(stage: Stage, editor: Editor, hub: Hub) -> None:
    extra = stage.new_editor(editor.kind)
    assert len(hub.instances()) == 2
    stage.tidy()
    assert not extra.alive
    wait_until(lambda: len(hub.instances()) == 1, what="the hub to forget it")


def test_two_kinds_stand_on_one_hub(vim: Editor, nvim: Editor, hub: Hub) -> None:
    assert {one["editor"] for one in hub.instances()} == {"vim", "nvim"}
    assert vim.sandbox is nvim.sandbox


@pytest.mark.parametrize("command", ["VimMCPPause", "VimMCPDisconnect", "edit left.txt"])
def test_what_the_hub_knows_is_new_for_the_next_test(
    editor: Editor, stage: Stage, hub: Hub, command: str
) -> None:
    (before,) = hub.instances()
    editor.command(command)
    assert stage.editor(editor.kind) is editor
    (after,) = hub.instances()
    assert not after["paused"]
    assert after == before


@pytest.mark.private
def test_a_hub_that_died_is_replaced_and_the_editor_comes_back(
    stage: Stage, editor: Editor, editor_kind: str
) -> None:
    hub = stage.need_hub()
    first = hub.pid
    hub.kill()
    assert not hub.alive or hub.pid != first
    again = stage.editor(editor_kind)
    assert again.pid == editor.pid
    assert again.instance_id
    assert hub.pid != first


@pytest.mark.private
def test_a_frozen_hub_does_not_answer_and_does_again(hub: Hub) -> None:
    hub.freeze()
    assert hub.status(seconds=0.2) is None
    assert hub.alive
    hub.thaw()
    status = wait_until(hub.status, what="the hub to answer")
    assert status["pid"] == hub.pid


def test_the_hubs_log_is_told(hub: Hub) -> None:
    assert "hub" in hub.log_text()


@pytest.fixture(params=["modern", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_an_assistant_reads_what_is_typed(
    editor: Editor, new_assistant: Callable[..., Assistant], era: str
) -> None:
    assistant = new_assistant(era=era)
    assert (assistant.protocol_version >= "2026") == (era == "modern")
    editor.type("ihello<Esc>")
    answer = assistant.call("vim_read")
    assert not answer.is_error
    assert "hello" in answer.text
    assert "vim_read" in [tool.name for tool in assistant.tools()]
    assert "vim://state" in [str(resource.uri) for resource in assistant.resources()]
    assert assistant.read("vim://buffer/current")
    assert isinstance(assistant.read_json("vim://instances"), (dict, list))


def test_a_change_is_told_to_a_subscriber(
    editor: Editor, new_assistant: Callable[..., Assistant], era: str
) -> None:
    assistant = new_assistant(era=era)
    assistant.subscribe("vim://state")
    editor.type("ihello<Esc>")
    wait_until(lambda: assistant.notifications, what="a notification")
    assert assistant.notifications[0].method == "notifications/resources/updated"


def test_an_error_of_a_tool_is_an_answer(editor: Editor, assistant: Assistant) -> None:
    answer = assistant.call("vim_execute", command="!true")
    assert answer.is_error
    assert answer.error["code"] == 1004


def test_calls_can_overlap(editor: Editor, assistant: Assistant) -> None:
    editor.type("ihello<Esc>")
    futures = [assistant.call_async("vim_read") for _ in range(10)]
    assert all("hello" in future.result(20).text for future in futures)


def test_an_assistants_process_is_known(assistant: Assistant, hub: Hub) -> None:
    assert process.exists(assistant.pid)
    assert "vim_mcp" in process.command_line(assistant.pid)
    assert len((hub.status() or {})["sessions"]) == 1
    assistant.kill()
    with pytest.raises(AssistantGone):
        _ = assistant.pid
    with pytest.raises(Exception, match=r"(?i)clos"):
        assistant.call("vim_read")


def test_a_stopped_assistant_says_so(assistant: Assistant) -> None:
    pid = assistant.pid
    assistant.stop()
    assert not process.exists(pid)
    with pytest.raises(AssistantGone):
        assistant.call("vim_read")


def test_a_server_that_fails_is_reported_with_its_words() -> None:
    with Sandbox() as sandbox:
        broken = Assistant(sandbox, env={"PYTHONPATH": "/", "PYTHONHOME": "/nonexistent"})
        with pytest.raises(AssistantGone, match=r"(?i)python"):
            broken.start()


def test_a_raw_assistant_sends_and_gets_lines(editor: Editor, raw_assistant: RawAssistant) -> None:
    raw_assistant.initialize()
    editor.type("ihello<Esc>")
    response = raw_assistant.call("vim_read")
    assert "hello" in json.dumps(response["result"])
    first = raw_assistant.send_request("tools/list", {})
    second = raw_assistant.send_request("ping", {})
    assert raw_assistant.answer(second)["result"] == {}
    assert raw_assistant.answer(first)["result"]["tools"]


def test_a_raw_assistant_waits_no_longer_than_told(raw_assistant: RawAssistant) -> None:
    with pytest.raises(WaitTimeout, match="a line from the server"):
        raw_assistant.recv(0.05)


def test_a_raw_assistant_leaves_when_its_input_ends(raw_assistant: RawAssistant) -> None:
    raw_assistant.initialize()
    raw_assistant.close_stdin()
    assert raw_assistant.wait() == 0
    with pytest.raises(AssistantGone):
        raw_assistant.recv()


class TestSpawn:
    @pytest.fixture
    def spawn(self) -> Iterator[Callable[..., tuple[subprocess.Popen[str], dict[str, Any]]]]:
        children = []

        def start(*args: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
            child = subprocess.Popen(
                [sys.executable, "-m", "harness.cli", "spawn", "--json", *args],
                stdout=subprocess.PIPE,
                text=True,
            )
            children.append(child)
            assert child.stdout is not None
            return child, json.loads(child.stdout.readline())

        yield start
        for child in children:
            child.terminate()
            child.communicate(timeout=30)

    def harness(self, facts: dict[str, Any], *args: str, ok: bool = True) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "harness.cli", *args, "--spawn", str(facts["spawn"]), "--json"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode == 0) == ok, done.stderr
        return json.loads(done.stdout) if ok else done.stderr

    def test_editors_stay_up_take_orders_and_leave_nothing(
        self, spawn: Callable[..., tuple[subprocess.Popen[str], dict[str, Any]]]
    ) -> None:
        child, facts = spawn("3")
        rows = facts["editors"]
        assert [row["editor"] for row in rows] == ["vim", "nvim", "vim"]
        assert len({row["instance_id"] for row in rows}) == 3
        assert len({row["cwd"] for row in rows}) == 3
        for row in rows[:2]:
            self.harness(facts, "type", row["id"], "ihello<Esc>")
            assert "hello" in self.harness(facts, "screen", row["instance_id"])
            assert self.harness(facts, "eval", str(row["pid"]), "getline(1)") == "hello"
        self.harness(facts, "freeze", "1")
        assert "it is stopped" in self.harness(facts, "eval", "1", "1", ok=False)
        self.harness(facts, "thaw", "1")
        assert self.harness(facts, "eval", "1", "1") == 1
        self.harness(facts, "kill", "3")
        assert "no editor 'x'" in self.harness(facts, "screen", "x", ok=False)
        listed = subprocess.run(
            [sys.executable, "-m", "harness.cli", "ls", "--json"],
            capture_output=True,
            check=True,
            timeout=60,
        )
        (mine,) = (one for one in json.loads(listed.stdout) if one["spawn"] == facts["spawn"])
        assert [row["state"] for row in mine["editors"]] == ["running", "running", "dead"]
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 0
        assert not os.path.exists(facts["runtime_dir"])
        for pid in (facts["hub"], *(row["pid"] for row in rows)):
            assert not process.exists(pid)

    def test_an_assistant_attaches_as_the_table_says(
        self, spawn: Callable[..., tuple[subprocess.Popen[str], dict[str, Any]]]
    ) -> None:
        _, facts = spawn("1", "--editor", "vim")
        with Sandbox() as elsewhere:
            env = {"VIM_MCP_RUNTIME_DIR": facts["runtime_dir"]}
            with Assistant(elsewhere, env=env) as assistant:
                listed = assistant.call("list_vim_instances").data["instances"]
        assert [one["instance_id"] for one in listed] == [facts["editors"][0]["instance_id"]]

    def test_stop_ends_it(
        self, spawn: Callable[..., tuple[subprocess.Popen[str], dict[str, Any]]]
    ) -> None:
        child, facts = spawn("1", "--editor", "nvim")
        self.harness(facts, "stop")
        assert child.wait(10) == 0

    def test_a_killed_spawn_takes_its_editors_along(
        self, spawn: Callable[..., tuple[subprocess.Popen[str], dict[str, Any]]]
    ) -> None:
        child, facts = spawn("2")
        child.kill()
        child.wait()
        pids = [facts["hub"], *(row["pid"] for row in facts["editors"])]
        wait_until(lambda: not any(map(process.exists, pids)), what="hub and editors to end")
