"""Hubs come and go: sessions and editors stay, nothing is lost, nothing is done twice."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from harness import Assistant, Editor, Hub, RawAssistant, WaitTimeout, hub_status, slow, wait_until
from harness.assistant import Era
from tests.integration.conftest import wait_for_timers

pytestmark = pytest.mark.private

ERAS: tuple[Era, ...] = ("modern", "legacy")
#: An edit that shows how often it was applied.
INSERT = {"bufnr": 1, "line": 1, "end_line": 0, "content": "inserted"}


def pending_acts(editor: Editor) -> int:
    """How many acts are parked in an editor."""
    return int(editor.eval("vim_mcp#acts#Pending()"))


@pytest.mark.parametrize("era", ERAS)
def test_7_2_3_a_session_goes_on_when_the_hub_is_killed(
    editor: Editor,
    new_editor: Callable[..., Editor],
    new_assistant: Callable[..., Assistant],
    hub: Hub,
    era: Era,
) -> None:
    other = new_editor()
    editor.type("ione<Esc>")
    other.type("itwo<Esc>")
    assistant = new_assistant(era=era)
    chosen, names = other.instance_id, {editor.instance_id, other.instance_id}
    assistant.call("select_vim_instance", instance_id=chosen)
    for _ in range(3):
        hub.kill()
        status = wait_until(lambda: hub_status(hub.sandbox), what="the next hub")
        # The next hub knows who it is before it says anything.
        assert [one["client"] for one in status["sessions"]] in ([], [f"{assistant.name} 1"])
        assert assistant.call("vim_read").text.endswith("1\ttwo")
        listed = assistant.call("list_vim_instances").data
        assert listed["selected"] == chosen
        editor.wait_registered()
        assert {i["instance_id"] for i in hub.instances()} == names
    assert editor.messages() == other.messages() == ""
    assert assistant.stderr() == ""


@pytest.mark.parametrize("era", ERAS)
def test_a_request_in_flight_is_answered_after_the_hubs_death(
    editor: Editor, new_assistant: Callable[..., Assistant], hub: Hub, era: Era
) -> None:
    editor.type("ione<Esc>")
    assistant = new_assistant(era=era)
    editor.freeze()
    calls = [assistant.call_async("vim_read") for _ in range(5)]
    # Behind them on the same line: they are with the editor now.
    assert not assistant.call("list_vim_instances").is_error
    hub.kill()
    editor.thaw()
    for call in calls:
        assert call.result(30 * slow()).text.endswith("1\tone")


@pytest.mark.parametrize("era", ERAS)
def test_an_edit_in_flight_is_applied_once_when_the_hub_dies_before_it(
    editor: Editor, new_assistant: Callable[..., Assistant], hub: Hub, era: Era
) -> None:
    assistant = new_assistant(era=era)
    editor.type("iabc")
    call = assistant.call_async("vim_edit", **INSERT)
    wait_until(lambda: pending_acts(editor) == 1, what="the edit to be parked")
    hub.kill()
    wait_until(lambda: hub_status(hub.sandbox), what="the next hub")
    editor.wait_registered()
    wait_until(lambda: pending_acts(editor) == 1, what="the edit to be asked for again")
    editor.type("<Esc>")
    assert not call.result(30 * slow()).is_error
    assert editor.lines() == ["inserted", "abc"]


@pytest.mark.parametrize("era", ERAS)
def test_an_edit_in_flight_is_applied_once_when_the_hub_dies_before_it_hears_of_it(
    editor: Editor, new_assistant: Callable[..., Assistant], hub: Hub, era: Era
) -> None:
    assistant = new_assistant(era=era)
    editor.type("iabc")
    call = assistant.call_async("vim_edit", **INSERT)
    wait_until(lambda: pending_acts(editor) == 1, what="the edit to be parked")
    hub.freeze()
    editor.type("<Esc>")
    wait_until(lambda: pending_acts(editor) == 0, what="the edit to be done")
    assert editor.lines() == ["inserted", "abc"]
    # The outcome lies unread in the socket of the hub, and dies with it.
    hub.kill()
    answer = call.result(30 * slow())
    assert not answer.is_error, answer.text
    assert answer.data["changed"] == [{"first": 1, "last": 1}]
    assert editor.lines() == ["inserted", "abc"]


def test_edits_under_way_while_hubs_die_are_applied_once_each(
    editor: Editor, assistant: Assistant, hub: Hub
) -> None:
    editor.type("itext<Esc>")
    done = ["text"]
    for death in range(3):
        calls = {
            f"{death} {n}": assistant.call_async("vim_edit", **INSERT | {"content": f"{death} {n}"})
            for n in range(20)
        }
        hub.kill()
        for text, call in calls.items():
            answer = call.result(30 * slow())
            assert not answer.is_error, answer.text
            done.append(text)
    assert sorted(editor.lines()) == sorted(done)


def test_a_call_in_flight_ends_when_hub_and_editor_die(
    editor: Editor, assistant: Assistant, hub: Hub
) -> None:
    editor.type("iabc")
    call = assistant.call_async("vim_edit", **INSERT)
    wait_until(lambda: pending_acts(editor) == 1, what="the edit to be parked")
    hub.freeze()
    editor.kill()
    hub.kill()
    error = call.result(30 * slow()).error
    assert error["code"] == 1003
    assert error["data"]["effect_unknown"]


def test_an_edit_that_a_stopped_editor_cannot_tell_of_is_not_called_undone(
    editor: Editor, assistant: Assistant, hub: Hub
) -> None:
    editor.type("iabc")
    call = assistant.call_async("vim_edit", **INSERT)
    wait_until(lambda: pending_acts(editor) == 1, what="the edit to be parked")
    hub.freeze()
    editor.type("<Esc>")
    wait_until(lambda: pending_acts(editor) == 0, what="the edit to be done")
    editor.freeze()
    hub.kill()
    error = call.result(30 * slow()).error
    assert error["code"] == 1003
    assert error["data"]["effect_unknown"]
    editor.thaw()
    assert editor.lines() == ["inserted", "abc"]


@pytest.mark.parametrize("era", ERAS)
def test_subscriptions_outlive_the_hub(
    editor: Editor, new_assistant: Callable[..., Assistant], hub: Hub, era: Era
) -> None:
    assistant = new_assistant(era=era)
    assistant.subscribe("vim://state")
    hub.kill()
    wait_until(lambda: hub_status(hub.sandbox), what="the next hub")
    editor.wait_registered()
    assert not assistant.call("vim_read").is_error
    told = len(assistant.notifications)
    editor.type("ione<Esc>")
    wait_until(
        lambda: "vim://state" in str(assistant.notifications[told:]),
        what="the change to be told",
        detail=lambda: str(assistant.notifications),
    )


def test_a_cancelled_request_is_not_asked_again(
    editor: Editor, raw_assistant: RawAssistant, hub: Hub
) -> None:
    raw_assistant.initialize()
    editor.type("iabc")
    number = raw_assistant.send_request("tools/call", {"name": "vim_edit", "arguments": INSERT})
    wait_until(lambda: pending_acts(editor) == 1, what="the edit to be parked")
    hub.freeze()
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    raw_assistant.send({**cancelled, "params": {"requestId": number}})
    # The next line is read after that one, so it is with the forwarder when it has been taken.
    later = raw_assistant.send_request("tools/list")
    hub.kill()
    assert "result" in raw_assistant.answer(later, 30)
    editor.wait_registered()
    editor.type("<Esc>")
    assert "result" in raw_assistant.call("vim_execute", command="s/abc/def/")
    assert editor.lines() == ["def"]
    with pytest.raises(WaitTimeout):
        raw_assistant.answer(number, 0.1)


def test_a_forwarder_whose_hubs_die_as_they_come_gives_up(
    raw_assistant: RawAssistant, hub: Hub
) -> None:
    raw_assistant.initialize()

    def ended() -> bool:
        status = hub_status(hub.sandbox)
        if status is not None and status["sessions"]:
            hub.kill()
        return raw_assistant.returncode is not None

    wait_until(ended, seconds=30, what="the forwarder to give up")
    assert raw_assistant.returncode == 1
    assert "the hub keeps dying" in raw_assistant.stderr()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
def test_8_1_editors_come_back_by_themselves_and_keep_their_ids(
    editor: Editor, new_editor: Callable[..., Editor], hub: Hub, number: signal.Signals
) -> None:
    other = new_editor()
    ids = {editor.instance_id, other.instance_id}
    for _ in range(3):
        hub.kill(number)
        wait_until(lambda: hub_status(hub.sandbox) is None, what="the hub to be gone")
        hub.restart()
        for one in (editor, other):
            one.wait_registered()
        assert {i["instance_id"] for i in hub.instances()} == ids
    assert editor.messages() == other.messages() == ""


def test_editors_whose_hub_was_killed_start_one(
    editor: Editor, new_editor: Callable[..., Editor], hub: Hub
) -> None:
    other = new_editor()
    ids = {editor.instance_id, other.instance_id}
    hub.kill()
    for one in (editor, other):
        one.wait_registered(30)
    assert {i["instance_id"] for i in hub.instances()} == ids


def test_editors_whose_hub_was_told_to_stop_start_none(editor: Editor, hub: Hub) -> None:
    hub.kill(signal.SIGTERM)
    wait_until(lambda: hub_status(hub.sandbox) is None, what="the hub to be gone")
    # Longer than it waits before it starts one after a death.
    wait_for_timers(editor, 2500)
    assert hub_status(hub.sandbox) is None
    hub.restart()
    editor.wait_registered()
