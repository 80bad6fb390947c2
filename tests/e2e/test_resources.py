"""The vim:// resources, and word of their changes in both eras of the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp.types as t
import pytest
from mcp import MCPError

from harness import Assistant, Editor, Sandbox, wait_until
from harness.assistant import Era
from tests.e2e.support import done, show, write

NewAssistant = Callable[..., Assistant]

STATE, CURRENT, INSTANCES = "vim://state", "vim://buffer/current", "vim://instances"

eras = pytest.mark.parametrize("era", ["modern", "legacy"])


def text_of(assistant: Assistant, uri: str) -> str:
    """Read a resource that is one text."""
    (content,) = assistant.read(uri)
    assert isinstance(content, t.TextResourceContents)
    return content.text


def updates(assistant: Assistant, uri: str) -> int:
    """Return how many times the assistant was told that a resource changed."""
    seen = [n.params for n in assistant.notifications if hasattr(n.params, "uri")]
    return sum(str(getattr(params, "uri", "")) == uri for params in seen)


def hears(assistant: Assistant, uri: str, act: Callable[[], Any]) -> None:
    """Do something, and wait until the assistant is told that a resource changed."""
    before = updates(assistant, uri)
    act()
    wait_until(
        lambda: updates(assistant, uri) > before,
        what=f"word of a change of {uri}",
        detail=lambda: str(assistant.notifications),
    )


@eras
def test_current_buffer_is_its_text(
    editor: Editor, new_assistant: NewAssistant, sandbox: Sandbox, era: Era
) -> None:
    assistant = new_assistant(era=era)
    show(editor, write(sandbox, "a.txt", "one", "日本"))
    editor.type("Aunsaved<Esc>")
    assert text_of(assistant, CURRENT) == "oneunsaved\n日本\n"
    (content,) = assistant.read(CURRENT)
    assert (str(content.uri), content.mime_type) == (CURRENT, "text/plain")


@eras
def test_state_is_what_the_tool_says_and_the_text(
    editor: Editor, new_assistant: NewAssistant, sandbox: Sandbox, era: Era
) -> None:
    assistant = new_assistant(era=era)
    path = write(sandbox, "a.txt", "one", "two")
    number = show(editor, path)
    editor.type("jvl")
    state = assistant.read_json(STATE)
    told = done(assistant, "vim_get_state")
    assert state["current_buffer"]["content"] == ["one", "two"]
    assert state["current_buffer"]["id"] == number
    assert state["selection"] == {"mode": "char", "start": [2, 1], "end": [2, 2]}
    for fact in ("instance_id", "cursor", "byte", "mode", "selection", "cwd", "root", "tabpages"):
        assert state[fact] == told[fact]


def test_instances_are_what_the_tool_lists(editor: Editor, assistant: Assistant) -> None:
    assert assistant.read_json(INSTANCES) == done(assistant, "list_vim_instances")


def test_state_leaves_out_a_text_that_is_too_long_and_says_so(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    lines = ["x" * 999] * 1100
    show(editor, write(sandbox, "a.txt", *lines))
    current = assistant.read_json(STATE)["current_buffer"]
    assert "content" not in current
    assert CURRENT in current["content_omitted"]
    assert text_of(assistant, CURRENT).splitlines() == lines


def test_text_over_ten_megabytes_is_an_error_that_names_the_limit(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "a.txt", *["x" * 1023] * (10 * 1024 + 1)))
    with pytest.raises(MCPError) as caught:
        assistant.read(CURRENT)
    assert caught.value.error.code == -32602
    assert caught.value.error.data["limit"] == 10 * 1024 * 1024
    # The state is still to be had, without the text.
    assert "content" not in assistant.read_json(STATE)["current_buffer"]


def test_ten_megabytes_are_read_whole(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    lines = [f"{n:09} " + "x" * 1013 for n in range(10 * 1024 - 1)]
    show(editor, write(sandbox, "a.txt", *lines))
    assert text_of(assistant, CURRENT).splitlines() == lines


@eras
@pytest.mark.parametrize("uri", ["vim://nothing", "vim://buffer/", "file:///etc/passwd", "vim:"])
def test_unknown_resource_is_an_error(
    editor: Editor, new_assistant: NewAssistant, era: Era, uri: str
) -> None:
    with pytest.raises(MCPError) as caught:
        new_assistant(era=era).read(uri)
    assert caught.value.error.code == -32602


@eras
@pytest.mark.parametrize(
    "keys", ["ihello<Esc>", "ihello", "ione<CR>two<Esc>dd", ":echo 1<CR>ix<Esc>u"]
)
def test_subscriber_hears_of_what_the_user_types(
    editor: Editor, new_assistant: NewAssistant, era: Era, keys: str
) -> None:
    assistant = new_assistant(era=era)
    assistant.subscribe(STATE, CURRENT)
    hears(assistant, STATE, lambda: editor.type(keys))
    wait_until(lambda: updates(assistant, CURRENT) > 0, what="word of the buffer too")


@eras
def test_subscriber_hears_of_another_buffer(
    editor: Editor, new_assistant: NewAssistant, sandbox: Sandbox, era: Era
) -> None:
    path = write(sandbox, "a.txt", "one")
    assistant = new_assistant(era=era)
    assistant.subscribe(STATE, CURRENT)
    hears(assistant, CURRENT, lambda: editor.type(f":edit {path}<CR>"))
    wait_until(lambda: updates(assistant, STATE) > 0, what="word of the state too")
    assert text_of(assistant, CURRENT) == "one\n"


@eras
def test_subscriber_hears_of_its_own_edit(
    editor: Editor, new_assistant: NewAssistant, era: Era
) -> None:
    assistant = new_assistant(era=era)
    assistant.subscribe(CURRENT)
    number = editor.eval("bufnr()")
    hears(assistant, CURRENT, lambda: done(assistant, "vim_edit", bufnr=number, content="x"))


@eras
@pytest.mark.private
def test_subscriber_hears_of_editors_that_come_and_go(
    new_editor: Callable[..., Editor], new_assistant: NewAssistant, era: Era
) -> None:
    assistant = new_assistant(era=era)
    assistant.subscribe(INSTANCES)
    hears(assistant, INSTANCES, new_editor)
    second = new_editor()
    wait_until(
        lambda: len(assistant.read_json(INSTANCES)["instances"]) == 2, what="both to be listed"
    )
    hears(assistant, INSTANCES, second.kill)
    assert len(assistant.read_json(INSTANCES)["instances"]) == 1


@eras
def test_only_subscribers_are_told_and_only_of_their_resource(
    editor: Editor, new_assistant: NewAssistant, era: Era
) -> None:
    silent, subscriber = new_assistant(era=era), new_assistant(era=era)
    subscriber.subscribe(CURRENT)
    hears(subscriber, CURRENT, lambda: editor.type("ihello<Esc>"))
    hears(subscriber, CURRENT, lambda: editor.type("ohello<Esc>"))
    # An answer comes after whatever was to be told before it.
    assert "hello" in done(silent, "vim_read")
    assert updates(silent, CURRENT) == updates(silent, STATE) == 0
    assert updates(subscriber, STATE) == 0


@pytest.mark.filterwarnings("ignore:resources/unsubscribe is removed")
def test_unsubscribed_is_told_no_more(editor: Editor, new_assistant: NewAssistant) -> None:
    assistant = new_assistant(era="legacy")
    assistant.subscribe(STATE, CURRENT)
    hears(assistant, STATE, lambda: editor.type("ihello<Esc>"))
    assistant.run(assistant.client.session.unsubscribe_resource(STATE))
    before = updates(assistant, STATE)
    hears(assistant, CURRENT, lambda: editor.type("othere<Esc>"))
    hears(assistant, CURRENT, lambda: editor.type("oagain<Esc>"))
    assert updates(assistant, STATE) == before


def test_unknown_resource_is_not_subscribed_to(editor: Editor, new_assistant: NewAssistant) -> None:
    assistant = new_assistant(era="legacy")
    with pytest.raises(MCPError) as caught:
        assistant.subscribe("vim://nothing")
    assert caught.value.error.code == -32602
