"""Section 7.3 of the first seed: what the editor tells by itself, and who hears of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness import Assistant, Editor, wait_until
from tests.integration.conftest import ALONE, Wired, wait_for_timers
from tests.integration.fake_hub import FakeHub, Line
from tests.integration.test_connect import status

pytestmark = pytest.mark.private

Start = Callable[..., Editor]

ALL = {"state", "buffer/current", "cursor", "buffers", "windows", "diagnostics"}
TYPED = ALL - {"diagnostics"}
LISTED = {"state", "buffers", "windows"}
MOVED = {"state", "cursor", "windows"}

#: The only event that the editor tells, what its user types before and then, who is to hear.
PUSHED: dict[str, tuple[str, str, str, set[str]]] = {
    # buffer change
    "buffer entered": ("BufEnter", "", ":edit b.txt<CR>", ALL),
    "buffer new": ("BufAdd", "", ":badd b.txt<CR>", LISTED),
    "buffer deleted": ("BufDelete", ":badd b.txt<CR>", ":bdelete b.txt<CR>", LISTED),
    "buffer wiped": ("BufDelete", ":badd b.txt<CR>", ":bwipeout b.txt<CR>", LISTED),
    "buffer renamed": ("BufFilePost", "", ":file b.txt<CR>", LISTED),
    "text changed": ("TextChanged", "ione<Esc>", "x", TYPED),
    "text typed": ("TextChangedI", "", "ione", TYPED),
    # window change
    "window entered": ("WinEnter", "", ":split<CR>", ALL),
    "window closed": ("WinClosed", ":split<CR>", ":only<CR>", {"state", "windows"}),
    # mode change, and what tells of it where ModeChanged is missing
    "mode": ("ModeChanged", "", "v", MOVED),
    "mode, insert": ("InsertEnter", "", "i", MOVED),
    "mode, no longer insert": ("InsertLeave", "i", "<Esc>", MOVED),
    "mode, command line": ("CmdlineEnter", "", ":", MOVED),
    # file save
    "save": ("BufWritePost", ":file b.txt<CR>", ":write<CR>", LISTED),
    "save, as the seed calls it": ("BufWrite", ":file b.txt<CR>", ":write<CR>", LISTED),
    # and what else is told by default
    "directory": ("DirChanged", "", ":cd /<CR>", {"state"}),
    "rest": ("CursorHold", ":set updatetime=50<CR>ione<CR>two<Esc>", "gg", MOVED),
    "error list": ("QuickFixCmdPost", "", ":cgetexpr []<CR>", {"diagnostics"}),
}


def heard(assistant: Assistant) -> set[str]:
    """The resources of whose changes an assistant was told."""
    found = (str(getattr(n.params, "uri", "")) for n in assistant.notifications)
    return {uri.removeprefix("vim://") for uri in found if uri}


def events(line: Line) -> list[dict[str, Any]]:
    """All events that were told."""
    return [event for update in line.updates for event in update.get("events", [])]


def settle(editor: Editor, line: Line, milliseconds: int = 200) -> None:
    """Return when all has been told: a batch waits until the one before it is acknowledged."""
    seen = -1
    while len(line.updates) > seen:
        seen = len(line.updates)
        wait_for_timers(editor, milliseconds)
        line.fence()


def option(name: str, value: object) -> dict[str, str]:
    """How an editor is started with one option."""
    return {"rc_extra": f"let g:vim_mcp_{name} = {json.dumps(value)}"}


@pytest.mark.parametrize("case", PUSHED)
def test_7_3_the_resources_that_an_event_changes_are_told_to_subscribers(
    new_editor: Start, new_assistant: Callable[..., Assistant], case: str
) -> None:
    event, before, keys, resources = PUSHED[case]
    editor = new_editor(**option("state_push_events", [event]))
    editor.command("set hidden")
    editor.type(before)
    wait_for_timers(editor)
    assistant = new_assistant()
    here = f"instance/{editor.instance_id}"
    assistant.subscribe(*(f"vim://{name}" for name in ALL), f"vim://{here}/state")
    wanted = resources | ({f"{here}/state"} if "state" in resources else set())
    editor.type(keys)
    wait_until(
        lambda: heard(assistant) >= wanted,
        what=f"word of {sorted(wanted)}",
        detail=lambda: f"{sorted(heard(assistant))}\n{status(editor)}",
    )
    # An answer comes after whatever was to be told before it.
    assert not assistant.call("list_vim_instances").is_error
    assert heard(assistant) == wanted


def test_7_3_of_an_editor_that_is_not_selected_only_its_own_names_are_told(
    new_editor: Start, new_assistant: Callable[..., Assistant]
) -> None:
    selected, other = new_editor(), new_editor()
    assistant = new_assistant()
    known = selected.instance_id
    assert not assistant.call("select_vim_instance", instance_id=known).is_error
    wait_for_timers(selected)
    here, there = (f"instance/{one.instance_id}/state" for one in (selected, other))
    assistant.subscribe(f"vim://{here}", f"vim://{there}", "vim://state")
    other.type("ione<Esc>")
    wait_until(lambda: there in heard(assistant), what="word of the other")
    assert heard(assistant) == {there}
    selected.type("ione<Esc>")
    wait_until(lambda: heard(assistant) == {here, there, "state"}, what="word of the selected")


def test_7_3_the_seeds_list_of_events_is_taken_as_it_is(
    fake_hub: FakeHub, new_editor: Start
) -> None:
    extra = option("state_push_events", ["BufEnter", "BufWrite", "WinEnter"])["rc_extra"]
    editor = new_editor(**ALONE | {"rc_extra": f"{ALONE['rc_extra']}\n{extra}"})
    line, _ = fake_hub.greet()
    assert "option:" not in status(editor)
    editor.type("ione<Esc>:write a.txt<CR>:split<CR>:edit b.txt<CR>v")
    settle(editor, line)
    assert {e["event"] for e in events(line)} == {"BufEnter", "BufWrite", "WinEnter"}


def test_7_3_an_empty_list_tells_no_event(fake_hub: FakeHub, new_editor: Start) -> None:
    extra = option("state_push_events", [])["rc_extra"]
    editor = new_editor(**ALONE | {"rc_extra": f"{ALONE['rc_extra']}\n{extra}"})
    line, _ = fake_hub.greet()
    editor.type("ione<Esc>:write a.txt<CR>:split<CR>:edit b.txt<CR>v<Esc>:cd /<CR>")
    settle(editor, line)
    assert events(line) == []
    # What the registry holds is told all the same.
    assert any(update.get("info", {}).get("cwd") == "/" for update in line.updates)


#: Names that a list may hold beside BufEnter, and what :VimMCPStatus says of them.
ODD_NAMES = {
    "NoSuchEvent": "names no event of this editor: NoSuchEvent",
    "BufEnter | quit": "names no event of this editor: BufEnter | quit",
    "BufReadCmd": "cannot have BufReadCmd",
    "bufwritecmd": "cannot have bufwritecmd",
}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_7_3_an_event_that_cannot_be_had_is_told_in_the_status_alone(
    fake_hub: FakeHub, new_editor: Start, name: str
) -> None:
    extra = option("state_push_events", [name, "BufEnter"])["rc_extra"]
    editor = new_editor(**ALONE | {"rc_extra": f"{ALONE['rc_extra']}\n{extra}"})
    line, _ = fake_hub.greet()
    assert f"option:   g:vim_mcp_state_push_events {ODD_NAMES[name]}" in status(editor)
    assert editor.messages() == ""
    path = editor.cwd / "a.txt"
    path.write_text("text\n")
    editor.type(":edit a.txt<CR>Amore<Esc>:write<CR>")
    # Files are read and written as ever.
    assert path.read_text() == "textmore\n"
    settle(editor, line)
    assert {e["event"] for e in events(line)} == {"BufEnter"}


def test_7_3_the_default_events_are_had_by_every_editor(editor: Editor) -> None:
    assert "option:" not in status(editor)
    listening = editor.command("autocmd vim_mcp_events")
    for event in ("BufEnter", "TextChanged", "TextChangedI", "BufWritePost", "WinEnter"):
        assert event in listening
    assert ("ModeChanged" in listening) == editor.eval("exists('##ModeChanged')")


def test_7_3_a_burst_is_told_as_it_is_at_its_end(wired: Wired) -> None:
    editor, line, _ = wired
    settle(editor, line)
    seen = len(line.updates)
    editor.type("i" + "x" * 300 + "<Esc>")
    settle(editor, line, 700)
    assert len(line.updates) > seen
    assert line.updates[-1]["events"][0]["changedtick"] == editor.eval("b:changedtick")


def test_7_3_more_than_a_batch_holds_is_told_as_one(wired: Wired) -> None:
    editor, line, _ = wired
    settle(editor, line)
    seen = len(events(line))
    editor.command("for n in range(300) | execute 'badd f' .. n | endfor")
    settle(editor, line)
    told = events(line)[seen:]
    assert len(told) <= 202
    assert {"event": "More", "bufnr": 0} in told


def test_7_3_of_gone_and_private_buffers_the_number_alone_is_told(wired: Wired) -> None:
    editor, line, _ = wired
    editor.command("badd gone.txt | badd secret.key")
    gone, secret = (editor.eval(f"bufnr('{name}')") for name in ("gone.txt", "secret.key"))
    editor.command(f"bwipeout {gone}")
    settle(editor, line)
    told = {(e["event"], e["bufnr"]): e for e in events(line)}
    assert told["BufDelete", gone] == {"event": "BufDelete", "bufnr": gone, "gone": True}
    assert told["BufAdd", secret] == {"event": "BufAdd", "bufnr": secret, "private": True}
    assert "secret" not in json.dumps(line.updates)


def test_7_3_with_a_refresh_interval_subscribers_are_told_again_and_again(
    new_editor: Start, new_assistant: Callable[..., Assistant]
) -> None:
    extra = [option("state_push_events", []), option("refresh_interval", 100)]
    editor = new_editor(rc_extra="\n".join(one["rc_extra"] for one in extra))
    assistant = new_assistant()
    assistant.subscribe("vim://buffer/current")
    wait_until(lambda: len(assistant.notifications) >= 5, what="word of a change, five times")
    assert heard(assistant) == {"buffer/current"}
    editor.command("VimMCPDisconnect")
    assert editor.messages() == ""


def test_7_3_a_refresh_interval_that_setup_brings_later_counts(
    nvim: Editor, assistant: Assistant
) -> None:
    assistant.subscribe("vim://buffer/current")
    nvim.command("lua require('vim_mcp').setup{refresh_interval = 100, state_push_events = {}}")
    wait_until(lambda: len(assistant.notifications) >= 5, what="word of a change, five times")
    nvim.command("unlet g:vim_mcp_refresh_interval g:vim_mcp_state_push_events")
