"""Editors and the lines of a hub: deadlines, clocks, cancelled and repeated acts, odd lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness import Editor, wait_until
from tests.integration.conftest import Wired, wait_for_timers
from tests.integration.fake_hub import FakeHub, Json, clock_ms, encode
from vim_mcp.limits import MAX_IN_FLIGHT

pytestmark = pytest.mark.private

LATE_MS = 60_000.0


def insert(text: str, **target: Any) -> Json:
    """Parameters of an edit that puts a line before the first."""
    return {**target, "hunks": [{"first": 1, "last": 0, "lines": [text]}]}


# --- deadlines and clocks ---------------------------------------------------------------------


def test_an_act_is_done_and_announced(wired: Wired) -> None:
    wired.editor.type("itext<Esc>")
    request = wired.line.request("edit", insert("new"), op="s:1:1")
    wired.line.send(request)
    answer = wired.line.answer(request["id"])
    assert answer["result"]["changed"] == [{"first": 1, "last": 1}]
    assert wired.line.started == [request["id"]]
    assert wired.editor.lines() == ["new", "text"]


def test_an_act_that_comes_after_its_deadline_is_refused(wired: Wired) -> None:
    answer = wired.line.ask("edit", insert("late"), op="s:1:1", t=clock_ms() - LATE_MS)
    assert answer["error"]["code"] == 1003
    assert wired.line.started == []
    assert wired.editor.lines() == [""]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("edit", insert("late")),
        ("execute", {"command": "s/^/late/"}),
        ("undo", {"count": 1}),
        ("open", {"file": "other.txt"}),
    ],
    ids=["edit", "execute", "undo", "open"],
)
def test_an_editor_that_was_stopped_does_no_act_whose_deadline_passed(
    wired: Wired, method: str, params: Json
) -> None:
    editor, line, _ = wired
    editor.type("ione<Esc>")
    if "file" in params:
        path = editor.cwd / params["file"]
        path.write_text("other\n")
        params = {"file": str(path)}
    tick = editor.eval("b:changedtick")
    editor.freeze()
    request = line.request(method, params, op="s:1:1", deadline_ms=100)
    line.send(request)
    late = request["t"] + request["deadline_ms"]
    wait_until(lambda: clock_ms() > late, what="the deadline to pass")
    editor.thaw()
    assert line.answer(request["id"])["error"]["code"] == 1003
    # One that came after it has been done, so its own time is over for good.
    line.ask("execute", {"command": "echo 1"}, op="s:2:1")
    assert line.started != [request["id"]]
    assert editor.eval("[getline(1, '$'), b:changedtick]") == [["one"], tick]


def test_an_act_that_waits_for_the_user_is_refused_at_its_deadline(wired: Wired) -> None:
    wired.editor.type("ione")
    answer = wired.line.ask("edit", insert("two"), op="s:1:1", deadline_ms=300)
    assert answer["error"]["code"] == 1003
    assert answer["error"]["data"]["reason"] == "insert_mode"
    wired.editor.type("<Esc>")
    assert wired.editor.lines() == ["one"]


def test_an_editor_that_is_stopped_as_an_act_begins_does_not_do_it_late(wired: Wired) -> None:
    wired.editor.type("itext<Esc>")
    # As long as this between the word that it begins and the act itself: past the deadline.
    wired.editor.command("let g:told = []")
    slowly = "{m -> get(m, 'type', '') is# 'started' ? execute('sleep 200m') : add(g:told, m)}"
    request = json.dumps({"id": 1, "method": "edit", "params": insert("late"), "op": "s:1:1"})
    due = "vim_mcp#clock#Now() + 100"
    wired.editor.command(f"call vim_mcp#acts#Park(json_decode('{request}'), {due}, {slowly})")
    (told,) = wait_until(lambda: wired.editor.eval("g:told"), what="the act to be answered")
    assert told["error"]["code"] == 1003
    assert wired.editor.lines() == ["text"]


def test_an_editor_with_a_wrong_notion_of_the_hubs_clock_asks_for_it(
    fake_hub: FakeHub, unwired: Editor
) -> None:
    line, _ = fake_hub.greet(t=clock_ms() + LATE_MS)
    line.clock = clock_ms
    # That it comes late is what the editor notices.
    assert line.ask("edit", insert("late"), op="s:1:1")["error"]["code"] == 1003
    assert "result" in line.ask("get_state")
    assert "result" in line.ask("edit", insert("in time"), op="s:2:1")
    assert unwired.lines() == ["in time"]


@pytest.mark.parametrize("clock", [0.0, 7.25, 1e12], ids=["zero", "small", "huge"])
def test_deadlines_are_told_by_the_hubs_clock(
    fake_hub: FakeHub, unwired: Editor, clock: float
) -> None:
    unwired.type("itext<Esc>")
    line, _ = fake_hub.greet(t=clock)
    begun = clock_ms()

    def now() -> float:
        return clock + clock_ms() - begun

    late = line.ask("edit", insert("late"), op="s:1:1", t=now() - LATE_MS)
    assert late["error"]["code"] == 1003
    assert "result" in line.ask("edit", insert("in time"), op="s:2:1", t=now())
    assert unwired.lines() == ["in time", "text"]


def test_a_read_after_its_deadline_gets_no_answer(wired: Wired) -> None:
    request = wired.line.request("get_state", t=clock_ms() - LATE_MS)
    wired.line.send(request)
    assert not wired.line.answered(request["id"])


def test_a_request_without_the_fields_of_this_protocol_is_answered(wired: Wired) -> None:
    wired.editor.type("itext<Esc>")
    wired.line.send({"id": 1001, "method": "get_lines"})
    assert wired.line.answer(1001)["result"]["lines"] == ["text"]
    wired.line.send({"id": 1002, "method": "edit", "params": insert("old hub")})
    assert "result" in wired.line.answer(1002)
    assert wired.editor.lines() == ["old hub", "text"]


# --- taken back -------------------------------------------------------------------------------


def test_a_cancelled_act_is_not_done(wired: Wired) -> None:
    editor, line, _ = wired
    editor.type("ione")
    request = line.request("edit", insert("cancelled"), op="s:1:1")
    line.send(request)
    line.wait_pending(1)
    line.send({"type": "cancel", "id": request["id"]})
    line.wait_pending(0)
    editor.type("<Esc>")
    line.ask("execute", {"command": "s/one/two/"}, op="s:2:1")
    assert not line.answered(request["id"])
    assert editor.lines() == ["two"]


def test_cancel_takes_back_nothing_else(wired: Wired) -> None:
    editor, line, _ = wired
    editor.type("ione")
    requests = [line.request("edit", insert(str(n)), op=f"s:{n}:1") for n in range(3)]
    for request in requests:
        line.send(request)
    line.send({"type": "cancel", "id": requests[1]["id"]})
    line.send({"type": "cancel", "id": 4242})
    line.send({"type": "cancel"})
    editor.type("<Esc>")
    assert "result" in line.answer(requests[2]["id"])
    assert editor.lines() == ["2", "0", "one"]


def test_acts_that_wait_are_dropped_with_the_connection(wired: Wired) -> None:
    editor, line, hub = wired
    editor.type("ione")
    line.send(line.request("edit", insert("of a dead hub"), op="s:1:1"))
    line.wait_pending(1)
    line.close()
    again, _ = hub.greet()
    again.wait_pending(0)
    editor.type("<Esc>")
    again.ask("execute", {"command": "s/one/two/"}, op="s:2:1")
    assert editor.lines() == ["two"]


# --- asked again ------------------------------------------------------------------------------


def test_an_act_asked_for_twice_is_done_once(wired: Wired) -> None:
    wired.editor.type("itext<Esc>")
    first = wired.line.ask("edit", insert("once"), op="s:1:1")
    second = wired.line.ask("edit", insert("once"), op="s:1:1")
    assert second["id"] != first["id"]
    assert second["result"] == first["result"]
    assert wired.editor.lines() == ["once", "text"]
    assert "result" in wired.line.ask("edit", insert("another"), op="s:1:2")
    assert wired.editor.lines() == ["another", "once", "text"]


def test_an_act_asked_for_again_by_the_next_hub_is_done_once(wired: Wired) -> None:
    wired.editor.type("itext<Esc>")
    editor, line, hub = wired
    count = MAX_IN_FLIGHT
    requests = [line.request("edit", insert(str(n)), op=f"s:{n}:1") for n in range(count)]
    for request in requests:
        line.send(request)
    results = [line.answer(request["id"])["result"] for request in requests]
    line.close()
    again, _ = hub.greet()
    for n, result in enumerate(results):
        assert again.ask("edit", insert(str(n)), op=f"s:{n}:1")["result"] == result
    assert editor.eval("line('$')") == count + 1


def test_an_act_is_remembered_whatever_other_assistants_do_meanwhile(wired: Wired) -> None:
    wired.editor.type("itext<Esc>")
    first = wired.line.ask("edit", insert("once"), op="s:1:1")
    for n in range(300):
        wired.line.ask("execute", {"command": "echo 1"}, op=f"other:{n}:1")
    assert wired.line.ask("edit", insert("once"), op="s:1:1")["result"] == first["result"]
    assert wired.editor.lines() == ["once", "text"]


def test_a_failed_act_asked_for_again_fails_the_same_way(wired: Wired) -> None:
    first = wired.line.ask("execute", {"command": "s/nothing/x/"}, op="s:1:1")
    assert first["error"]["code"] == 1004
    wired.editor.type("inothing<Esc>")
    again = wired.line.ask("execute", {"command": "s/nothing/x/"}, op="s:1:1")
    assert again["error"] == first["error"]
    assert wired.editor.lines() == ["nothing"]


def test_an_act_refused_for_the_moment_may_be_asked_for_again(wired: Wired) -> None:
    wired.editor.type("itext<Esc>")
    wired.editor.type(":VimMCPPause<CR>")
    refused = wired.line.ask("edit", insert("now"), op="s:1:1")
    assert refused["error"]["data"]["reason"] == "paused"
    wired.editor.type(":VimMCPResume<CR>")
    assert "result" in wired.line.ask("edit", insert("now"), op="s:1:1")
    assert wired.editor.lines() == ["now", "text"]


# --- events -----------------------------------------------------------------------------------


def test_one_batch_of_events_is_on_its_way_at_most(wired: Wired) -> None:
    editor, line, _ = wired
    # What came with the registration.
    wait_for_timers(editor)
    line.fence()
    line.acknowledges = False
    seen = len(line.updates)
    for word in ("one", "two", "three"):
        editor.type(f"o{word}<Esc>")
        wait_for_timers(editor)
    line.fence()
    assert len(line.updates) == seen + 1
    first = line.updates[-1]
    line.send({"type": "ack", "seq": first["seq"]})
    second = line.update(after=first["seq"])
    ticks = {e["changedtick"] for e in second["events"]}
    assert ticks == {editor.eval("b:changedtick")}
    assert "three" not in json.dumps(line.updates)


def test_a_cursor_moved_by_the_user_is_told(wired: Wired) -> None:
    editor, line, _ = wired
    editor.type("ione<CR>two é three<Esc>")

    def left() -> list[Json]:
        # Each look acknowledges what has come: the next batch waits for that.
        line.fence()
        events = [e for u in line.updates for e in u.get("events", [])]
        return [e for e in events if e["event"] == "InsertLeave"]

    insert_leave = wait_until(left, what="word of the end of the insert")[-1]
    assert insert_leave["cursor"] == [2, 11]
    assert insert_leave["mode"] == "n"


# --- odd lines --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "odd",
    [
        b"not json",
        b"[1, 2]",
        b"7",
        b"null",
        b'"text"',
        b"\xff\xfe\x00\x01",
        b'{"type": "a_later_one", "x": {}}',
        b'{"type": 5}',
        b'{"id": "e77", "result": {}}',
        b'{"id": 5}',
        b'{"method": "get_lines"}',
        b'{"type": "ack", "seq": "x"}',
        b'{"type": "registered", "instance_id": "other-1", "t": 5}',
        b"[" * 5000,
        b'{"id": 9001, "method": 5}',
        b'{"id": 9002, "method": "get_lines", "params": []}',
        b'{"id": 9003, "method": "edit", "params": {"hunks": 5}, "op": 7, "actor": []}',
        b'{"id": 9004, "method": "edit", "params": {"hunks": [[]]}, "deadline_ms": "x", "t": {}}',
        b'{"id": 9005, "method": "get_lines", "params": {"bufnr": "x", "first": {}}}',
        b'{"id": {}, "method": "get_state", "params": {}}',
    ],
    ids=range(20),
)
def test_an_odd_line_of_a_hub_does_no_harm(wired: Wired, odd: bytes) -> None:
    editor, line, _ = wired
    line.send(odd)
    line.send(b"")
    assert line.ask("get_lines")["result"]["lines"] == [""]
    assert editor.lines() == [""]
    assert editor.messages() == ""


def test_an_unknown_method_is_answered_as_such(wired: Wired) -> None:
    assert wired.line.ask("a_later_one")["error"]["code"] == -32601


def test_a_line_to_an_editor_may_be_split_anywhere(wired: Wired) -> None:
    editor, line, _ = wired
    editor.type("ihé<Esc>")
    size = len(encode(line.request("get_lines", {"note": "é"})))
    for cut in range(1, size):
        request = line.request("get_lines", {"note": "é"})
        line.send_split(request, cut)
        assert line.answer(request["id"])["result"]["lines"] == ["hé"], cut


def test_many_lines_in_one_piece_are_all_answered(wired: Wired) -> None:
    requests = [wired.line.request("health") for _ in range(200)]
    wired.line.socket.sendall(b"".join(encode(request) for request in requests))
    for request in requests:
        assert wired.line.answer(request["id"])["result"]["mode"] == "n"


# --- the hub's word ---------------------------------------------------------------------------


def test_the_name_that_the_hub_gives_is_kept(fake_hub: FakeHub, unwired: Editor) -> None:
    line, register = fake_hub.greet(suffix=".2")
    given = f"{register['instance_id']}.2"
    assert unwired.eval("$VIM_MCP_INSTANCE") == given
    line.close()
    assert fake_hub.greet()[1]["instance_id"] == given


def test_an_editor_comes_back_after_a_goodbye(wired: Wired) -> None:
    wired.line.send({"type": "goodbye", "reason": "superseded"})
    with pytest.raises(EOFError):
        wired.line.answer(0)
    wired.hub.greet()


def test_an_editor_that_is_rejected_for_now_comes_back(fake_hub: FakeHub, unwired: Editor) -> None:
    line = fake_hub.accept()
    line.recv()
    line.send({"type": "rejected", "reason": "the house is full", "retry": True})
    status = unwired.command("VimMCPStatus")
    assert "the house is full" in status or "connecting" in status
    fake_hub.greet()


def test_an_editor_that_is_rejected_for_good_stays_away(fake_hub: FakeHub, unwired: Editor) -> None:
    line = fake_hub.accept()
    line.recv()
    line.send({"type": "rejected", "reason": "go away", "retry": False})
    wait_until(lambda: "go away" in unwired.command("VimMCPStatus"), what="the reason to be told")
    assert unwired.command("VimMCPStatus").startswith("vim-mcp: off")
    assert unwired.messages() == ""
