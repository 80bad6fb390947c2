"""Editors and hubs that stop, die, block or are overrun: who is told, and what is never done."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness import Assistant, Editor, Hub, Sandbox, slow, wait_until
from harness.hub import find_instance
from tests.integration.conftest import Wired, wait_for_timers
from tests.integration.fake_hub import Json

pytestmark = pytest.mark.private


def registry(sandbox: Sandbox) -> Json:
    """The registry file."""
    return dict(json.loads((sandbox.run / "vim-mcp-registry.json").read_text()))


# --- a stopped editor -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("vim_edit", {"bufnr": 1, "line": 1, "content": "late"}),
        ("vim_execute", {"command": "s/one/late/"}),
        ("vim_undo", {}),
    ],
    ids=["edit", "execute", "undo"],
)
def test_an_edit_to_a_stopped_editor_is_not_applied_after_its_deadline_when_it_wakes(
    quick_hub: Hub, editor: Editor, assistant: Assistant, tool: str, arguments: dict[str, Any]
) -> None:
    editor.type("ione<Esc>")
    tick = editor.eval("b:changedtick")
    editor.freeze()
    error = assistant.call(tool, **arguments).error
    assert error["code"] == 1003
    assert error["data"]["reason"] == "suspended"
    assert not error["data"]["effect_unknown"]
    editor.thaw()
    # It came later, so when it has been done the first one's time is over.
    assert not assistant.call("vim_execute", command="echo 1").is_error
    assert editor.lines() == ["one"]
    assert editor.eval("b:changedtick") == tick


def test_calls_to_an_editor_that_was_stopped_for_a_moment_are_answered(
    editor: Editor, assistant: Assistant
) -> None:
    editor.type("ione<Esc>")
    editor.freeze()
    calls = [assistant.call_async("vim_read") for _ in range(12)]
    calls += [assistant.call_async("vim_execute", command=f"echo {n}") for n in range(12)]
    editor.thaw()
    texts = [call.result(30 * slow()).text for call in calls]
    assert {text.splitlines()[-1] for text in texts[:12]} == {"1\tone"}
    assert texts[12:] == [str(n) for n in range(12)]


def test_many_requests_in_flight_are_each_answered_with_their_own(
    editor: Editor, assistant: Assistant
) -> None:
    for n in range(10):
        (editor.cwd / f"{n}.txt").write_text(f"text of {n}\n" * (n * 400 + 1))
    buffers = [editor.eval(f"bufadd('{editor.cwd}/{n}.txt')") for n in range(10)]
    for bufnr in buffers:
        editor.command(f"call bufload({bufnr})")
    calls = [(n, assistant.call_async("vim_read", bufnr=buffers[n])) for n in range(10)] * 2
    for n, call in calls:
        answer = call.result(30 * slow())
        first, second, *_ = answer.text.splitlines()
        assert f"{n}.txt (buffer {buffers[n]}, " in first
        assert second == f"1\ttext of {n}"


# --- a stopped hub ----------------------------------------------------------------------------


def test_a_stopped_hub_while_the_user_types_never_freezes_the_editor(
    editor: Editor, hub: Hub, assistant: Assistant
) -> None:
    editor.command("set hidden")
    # Names so long that, told in batches without end, they would soon fill the socket.
    editor.command("for n in range(60) | execute 'edit' n .. repeat('x', 200) | endfor")
    hub.freeze()
    for n in range(20):
        editor.type(f":silent bufdo normal! o{n}<CR>oline {n}<Esc>")
        wait_for_timers(editor, 60)
    typed = [line for n in range(20) for line in (str(n), f"line {n}")]
    assert editor.lines() == ["", *typed]
    assert editor.eval("getbufinfo()[1:-2]->map({_, b -> b.linecount})->uniq()") == [21]
    hub.thaw()
    bufnr = editor.eval("bufnr()")
    assert not assistant.call("vim_edit", bufnr=bufnr, line=1, content="edited").is_error
    assert assistant.call("vim_read").text.splitlines()[1:] == [
        f"{n}\t{line}" for n, line in enumerate(["edited", *typed], 1)
    ]
    assert editor.messages() == ""


def test_an_answer_that_came_while_the_hub_was_stopped_past_the_deadline_counts(
    quick_hub: Hub, editor: Editor, assistant: Assistant
) -> None:
    editor.type("iabc")
    call = assistant.call_async("vim_edit", bufnr=1, line=1, end_line=0, content="inserted")
    pending = "vim_mcp#acts#Pending()"
    wait_until(lambda: editor.eval(pending) == 1, what="the edit to be parked")
    quick_hub.freeze()
    editor.type("<Esc>")
    wait_until(lambda: editor.eval(pending) == 0, what="the edit to be done")
    wait_for_timers(editor, round(1500 * slow()))
    quick_hub.thaw()
    answer = call.result(30 * slow())
    assert not answer.is_error, answer.text
    assert editor.lines() == ["inserted", "abc"]


def test_a_hub_stopped_while_it_reads_a_big_buffer_never_freezes_the_editor(
    editor: Editor, hub: Hub, assistant: Assistant
) -> None:
    editor.command("call setline(1, map(range(100000), {_, n -> repeat('x', 90)}))")
    for _ in range(5):
        call = assistant.call_async("vim_edit", bufnr=1, old_text="absent", content="y")
        hub.freeze()
        if not call.done():
            break
        hub.thaw()
    assert not call.done()
    for n in range(20):
        editor.type("ggO" + "".join(f"typed {n} {m}<CR>" for m in range(10)) + "<Esc>")
    first = [f"typed 19 {m}" for m in range(10)]
    assert editor.eval("getline(1, 10)") == first
    hub.thaw()
    # Found out on the new text, or given up because the hub was late itself; never stuck.
    assert call.result(30 * slow()).error["code"] in (-32602, 1003, 1004)
    answer = assistant.call("vim_read", last_line=10)
    assert answer.text.splitlines()[1:11] == [f"{n}\t{t}" for n, t in enumerate(first, 1)]


def test_a_hub_that_does_not_read_its_answers_never_freezes_the_editor(wired: Wired) -> None:
    editor, line, _ = wired
    text = ["x" * 900] * 70
    editor.command("call setline(1, repeat(['" + text[0] + "'], 70))")
    # Far more than a socket holds: 100 answers of 64 KB.
    requests = [line.request("get_lines", deadline_ms=60_000) for _ in range(100)]
    for request in requests:
        line.send(request)
    for n in range(20):
        editor.type("Go" + "".join(f"typed {n} {m}<CR>" for m in range(10)) + "<Esc>")
    assert editor.eval("line('$')") == 70 + 20 * 11
    for request in requests:
        assert line.answer(request["id"])["result"]["lines"][:70] == text
    assert line.ask("get_lines", {"first": 71, "last": 71})["result"]["lines"] == ["typed 0 0"]


# --- a dead editor ----------------------------------------------------------------------------


def test_8_1_a_dead_editor_is_gone_at_once_and_its_waiting_calls_fail(
    editor: Editor, hub: Hub, assistant: Assistant, sandbox: Sandbox
) -> None:
    known = editor.instance_id
    assert known in registry(sandbox)
    editor.freeze()
    read = assistant.call_async("vim_read")
    act = assistant.call_async("vim_execute", command="s/^/x/")
    # Behind them on the same line, so when it is answered they are waiting.
    assert not assistant.call("list_vim_instances").is_error
    editor.kill()
    for call, effect_unknown in ((read, False), (act, True)):
        error = call.result(30 * slow()).error
        assert error["code"] == 1003
        assert error["data"] == {"instance_id": known, "effect_unknown": effect_unknown}
        assert "was lost" in error["message"]
    wait_until(lambda: not hub.instances(), what="the hub to drop the dead editor")
    wait_until(lambda: registry(sandbox) == {}, what="the registry to drop the dead editor")
    assert assistant.call("vim_read").error["code"] == 1002


def test_a_dead_editor_takes_no_other_with_it(
    editor: Editor, new_editor: Callable[..., Editor], assistant: Assistant
) -> None:
    other = new_editor()
    other.type("iother<Esc>")
    editor.kill()
    wait_until(
        lambda: find_instance(other.sandbox, editor.pid) is None, what="the editor to be dropped"
    )
    assert "other" in assistant.call("vim_read").text


# --- a blocked editor -------------------------------------------------------------------------

#: What the user does, whether a key is waited for then, the reason for a refusal, what ends it.
STATES = {
    "hit_enter": (":echo 'a'|echo 'b'<CR>", True, "hit_enter", "<CR>"),
    "operator": ("d", True, "pending_key", "<Esc>"),
    "count": ("3", True, "pending_key", "<Esc>"),
    "register": ('"', True, "pending_key", "<Esc>"),
    "command_line": (":ec", False, "pending_key", "<Esc>"),
    "insert": ("ix<BS>", False, "insert_mode", "<Esc>"),
    "visual": ("v", False, "visual_mode", "<Esc>"),
    "confirm": (":call confirm('sure?', '&Yes')<CR>", True, "hit_enter", "y"),
    "substitute": (":s/a/b/c<CR>", True, "hit_enter", "n"),
    "recording": ("qa", False, "pending_key", "q"),
    "command_window": ("q:", False, "cmdwin", ":q<CR>"),
}


@pytest.mark.parametrize("state", STATES)
def test_an_act_waits_for_the_user_and_then_says_why(
    quick_hub: Hub, editor: Editor, assistant: Assistant, state: str
) -> None:
    keys, waits, reason, end = STATES[state]
    editor.type("iabc<Esc>")
    editor.type(keys, sync=not waits)
    if waits:
        wait_until(lambda: editor.waiting, what=f"the editor to wait for what follows {keys}")
    error = assistant.call("vim_edit", bufnr=1, line=1, content="new").error
    assert error["code"] == 1003
    assert error["data"]["reason"] == reason
    editor.type(end)
    assert editor.lines() == ["abc"]
    assert not assistant.call("vim_edit", bufnr=1, line=1, content="new").is_error
    assert editor.lines() == ["new"]


@pytest.mark.parametrize("state", STATES)
def test_an_act_is_done_when_the_user_has_finished(
    editor: Editor, assistant: Assistant, state: str
) -> None:
    keys, waits, _, end = STATES[state]
    editor.type("iabc<Esc>")
    editor.type(keys, sync=not waits)
    if waits:
        wait_until(lambda: editor.waiting, what=f"the editor to wait for what follows {keys}")
    call = assistant.call_async("vim_edit", bufnr=1, line=1, content="new")
    # Answered after the edit was passed on: they are on one line.
    assert not assistant.call("list_vim_instances").is_error
    assert not call.done()
    editor.type(end)
    assert not call.result(30 * slow()).is_error
    assert editor.lines() == ["new"]


@pytest.mark.parametrize("tool", ["vim_read", "vim_get_state", "vim_undo"])
def test_a_busy_editor_is_called_busy(
    quick_hub: Hub, editor: Editor, assistant: Assistant, tool: str
) -> None:
    editor.type("iabc<Esc>")
    end = editor.cwd / "end"
    editor.type(f":while !filereadable('{end}')|endwhile<CR>", sync=False)
    editor.wait_screen("endwhile")
    try:
        error = assistant.call(tool).error
        assert error["code"] == 1003
        assert error["data"]["reason"] == "busy"
        assert not error["data"]["effect_unknown"]
    finally:
        end.touch()
    assert "abc" in assistant.call("vim_read").text
    assert editor.lines() == ["abc"]


def test_a_read_at_a_prompt_is_answered_or_told_of_the_prompt(
    quick_hub: Hub, editor: Editor, assistant: Assistant
) -> None:
    editor.type("iabc<Esc>")
    editor.type(":echo 'a'|echo 'b'<CR>", sync=False)
    wait_until(lambda: editor.waiting, what="the prompt")
    answer = assistant.call("vim_read")
    if editor.kind == "vim" or not answer.is_error:
        assert answer.text.endswith("1\tabc")
    else:
        assert answer.error["code"] == 1003
        assert answer.error["data"]["reason"] == "hit_enter"
    editor.type("<CR>")
    assert assistant.call("vim_read").text.endswith("1\tabc")
