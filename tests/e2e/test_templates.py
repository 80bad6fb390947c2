"""Resource templates: any buffer, lines of it, and any instance; and word of their changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from mcp import MCPError
from syrupy.assertion import SnapshotAssertion

from harness import Assistant, Editor, Sandbox, wait_until
from harness.assistant import Era
from tests.e2e.support import done, hide, no_resource, resource, show, write
from tests.e2e.test_resources import eras, hears, updates

NewAssistant = Callable[..., Assistant]
LINES = [f"line {n} ü" for n in range(1, 21)]


def test_listed(assistant: Assistant, snapshot: SnapshotAssertion) -> None:
    listed = assistant.run(assistant.client.list_resource_templates()).resource_templates
    assert [
        one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed
    ] == snapshot


@pytest.mark.parametrize("what", ["tools", "resources", "resource_templates"])
def test_page_that_was_never_told_of_is_refused(assistant: Assistant, what: str) -> None:
    with pytest.raises(MCPError) as caught:
        assistant.run(getattr(assistant.client, f"list_{what}")(cursor="2"))
    assert caught.value.error.code == -32602


def test_buffer_and_its_lines(editor: Editor, assistant: Assistant, sandbox: Sandbox) -> None:
    number = hide(editor, write(sandbox, "a.txt", *LINES))
    editor.command(f"call setbufline({number}, 3, 'unsaved')")
    lines = [*LINES[:2], "unsaved", *LINES[3:]]
    assert resource(assistant, f"vim://buffer/{number}").splitlines() == lines
    assert resource(assistant, f"vim://buffer/{number}/lines/2-4").splitlines() == lines[1:4]
    assert resource(assistant, f"vim://buffer/{number}/lines/20-99").splitlines() == lines[19:]
    assert resource(assistant, "vim://buffer/current/lines/1-1") == "\n"
    (content,) = assistant.read(f"vim://buffer/{number}")
    assert content.mime_type == "text/plain"


@pytest.mark.parametrize(
    "uri",
    [
        "vim://buffer/0",
        "vim://buffer/x",
        "vim://buffer/1/lines/3-2",
        "vim://buffer/1/lines/0-2",
        "vim://buffer/1/lines/1",
        "vim://buffer/1/lines/21-30",
        "vim://buffer/1?x=1",
        "vim://state?x=1",
        "vim://instance//state",
        "vim://instance/x",
        "vim://instance/x/instances",
        "vim://state#x",
        "http://state",
        "vim://[",
    ],
)
def test_what_names_nothing_is_refused(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, uri: str
) -> None:
    number = show(editor, write(sandbox, "a.txt", *LINES))
    uri = uri.replace("buffer/1", f"buffer/{number}")
    assert no_resource(assistant, uri)["code"] == -32602


def test_buffer_that_is_not_there_or_private(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    number = hide(editor, write(sandbox, "id_canary", "hunter2"))
    for uri, reason in (("vim://buffer/4711", "not_open"), (f"vim://buffer/{number}", "private")):
        error = no_resource(assistant, uri)
        assert (error["code"], error["data"]["reason"]) == (1004, reason)


def test_text_over_the_limit_is_read_by_lines(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    number = show(editor, write(sandbox, "a.txt", *["x" * 1023] * (10 * 1024 + 1)))
    error = no_resource(assistant, f"vim://buffer/{number}")
    assert error["code"] == -32602
    assert f"vim://buffer/{number}/lines/{{first}}-{{last}}" in error["message"]
    assert "10485760 bytes" in error["message"]
    part = resource(assistant, f"vim://buffer/{number}/lines/10241-10241")
    assert part == "x" * 1023 + "\n"


def of(editor: Editor, rest: str) -> str:
    """Return the URI of an instance's resource."""
    return f"vim://instance/{quote(editor.instance_id, safe='')}/{rest}"


@pytest.mark.private
def test_each_instance_is_read_by_its_name(
    new_editor: Callable[..., Editor], new_assistant: NewAssistant, sandbox: Sandbox
) -> None:
    editors = [
        new_editor(files=[write(sandbox, name, f"text of {name}", *LINES)])
        for name in ("first file.txt", "zweite %ü.txt")
    ]
    assistant = new_assistant()
    assert no_resource(assistant, "vim://buffer/current")["code"] == 1001
    for editor, name in zip(editors, ("first file.txt", "zweite %ü.txt"), strict=True):
        assert resource(assistant, of(editor, "buffer/current")).startswith(f"text of {name}\n")
        assert resource(assistant, of(editor, "buffer/1/lines/2-3")).splitlines() == LINES[:2]
        for word in ("state", "buffers", "windows", "cursor", "diagnostics"):
            assert assistant.read_json(of(editor, word))["instance_id"] == editor.instance_id
    # The pages of an instance's buffers are the same instance's.
    editors[1].command('call map(range(250), \'setbufvar(bufadd("f" . v:val), "&bl", 1)\')')
    page = assistant.read_json(of(editors[1], "buffers"))
    following = assistant.read_json(page["next"])
    assert following["instance_id"] == editors[1].instance_id
    assert len(page["buffers"]) + len(following["buffers"]) == page["total"] == 251


def test_instance_that_is_not_there(editor: Editor, assistant: Assistant) -> None:
    assert no_resource(assistant, "vim://instance/nobody-nowhere-1/state")["code"] == 1002


@eras
def test_subscriber_of_a_buffer_hears_of_its_text_alone(
    editor: Editor, new_assistant: NewAssistant, sandbox: Sandbox, era: Era
) -> None:
    assistant = new_assistant(era=era)
    hidden = hide(editor, write(sandbox, "a.txt", *LINES))
    shown = show(editor, write(sandbox, "b.txt", *LINES))
    uris = [f"vim://buffer/{shown}", f"vim://buffer/{hidden}/lines/2-3", of(editor, "cursor")]
    assistant.subscribe(*uris)
    hears(assistant, uris[0], lambda: editor.type("xx"))
    before = [updates(assistant, uri) for uri in uris]
    hears(assistant, uris[2], lambda: editor.type(":new<CR>"))
    assert [updates(assistant, uri) for uri in uris[:2]] == before[:2]
    # An edit of what the user does not see, by another assistant.
    other = new_assistant()
    hears(assistant, uris[1], lambda: done(other, "vim_edit", bufnr=hidden, line=2, content="x"))
    assert updates(assistant, uris[0]) == before[0]
    hears(assistant, uris[1], lambda: done(other, "vim_undo", bufnr=hidden))


@eras
def test_subscriber_hears_of_diagnostics(
    editor: Editor, new_assistant: NewAssistant, sandbox: Sandbox, era: Era
) -> None:
    assistant = new_assistant(era=era)
    show(editor, write(sandbox, "a.txt", *LINES))
    assistant.subscribe("vim://diagnostics")
    hears(assistant, "vim://diagnostics", lambda: editor.command("vimgrep /line/ %"))


@eras
@pytest.mark.private
def test_only_the_named_instance_is_heard_of(
    new_editor: Callable[..., Editor], new_assistant: NewAssistant, era: Era
) -> None:
    first, second = new_editor(), new_editor()
    assistant = new_assistant(era=era)
    uris = [of(first, "state"), of(second, "state")]
    assistant.subscribe(*uris)
    hears(assistant, uris[1], lambda: second.type("ihello<Esc>"))
    wait_until(lambda: updates(assistant, uris[1]) > 0, what="word of the second")
    assert updates(assistant, uris[0]) == 0


@pytest.mark.filterwarnings("ignore:resources/unsubscribe is removed")
def test_template_is_unsubscribed(editor: Editor, new_assistant: NewAssistant) -> None:
    assistant: Any = new_assistant(era="legacy")
    uri = of(editor, "state")
    assistant.subscribe(uri, "vim://state")
    hears(assistant, uri, lambda: editor.type("ihello<Esc>"))
    assistant.run(assistant.client.session.unsubscribe_resource(uri))
    before = updates(assistant, uri)
    hears(assistant, "vim://state", lambda: editor.type("othere<Esc>"))
    assert updates(assistant, uri) == before
