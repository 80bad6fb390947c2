"""Which editor a call goes to: never a guess."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from mcp import MCPError

from harness import Assistant, Editor, Hub, Sandbox, wait_until
from tests.e2e.support import done, reason, refused, write

# Selections are remembered for a project, which another test's choice would show in.
pytestmark = pytest.mark.private

NewEditor = Callable[..., Editor]
NewAssistant = Callable[..., Assistant]


@pytest.fixture
def two(new_editor: NewEditor, sandbox: Sandbox) -> tuple[Editor, Editor]:
    """Two editors in one project, each with a file of its own."""
    first = new_editor(files=[write(sandbox, "first.txt", "text of the first")])
    second = new_editor(files=[write(sandbox, "second.txt", "text of the second")])
    return first, second


def ids(assistant: Assistant) -> list[str]:
    """Return the instance ids the assistant is shown."""
    return [one["instance_id"] for one in done(assistant, "list_vim_instances")["instances"]]


CALLS: list[tuple[str, dict[str, object]]] = [
    ("vim_read", {}),
    ("vim_get_state", {}),
    ("vim_open", {"file": "a.txt"}),
    ("vim_edit", {"file": "a.txt", "content": "x"}),
    ("vim_undo", {}),
    ("vim_save", {}),
    ("vim_execute", {"command": "echo 1"}),
]


def test_8_1_without_an_editor_every_tool_says_what_to_do(
    assistant: Assistant, sandbox: Sandbox
) -> None:
    for tool, arguments in CALLS:
        error = refused(assistant, tool, **arguments)
        assert error["code"] == 1002, (tool, error)
        assert ":VimMCPReconnect" in error["message"]
        assert str(sandbox.run) in error["message"]
    listed = done(assistant, "list_vim_instances")
    assert (listed["instances"], listed["selected"]) == ([], None)
    assert ":VimMCPReconnect" in listed["hint"]
    for uri in ("vim://state", "vim://buffer/current"):
        with pytest.raises(MCPError) as caught:
            assistant.read(uri)
        assert caught.value.error.code == 1002
    assert assistant.read_json("vim://instances")["instances"] == []


def test_the_only_editor_needs_no_selection(
    new_editor: NewEditor, assistant: Assistant, sandbox: Sandbox
) -> None:
    editor = new_editor(files=[write(sandbox, "a.txt", "only one")])
    assert "only one" in done(assistant, "vim_read")
    (row,) = done(assistant, "list_vim_instances")["instances"]
    assert row["instance_id"] == f"a-work-{editor.pid}"
    assert row["selected"] is True
    assert row["pid"] == editor.pid
    assert row["editor"] == editor.kind
    assert row["version"] == editor.version
    assert row["cwd"] == row["root"] == str(sandbox.project())
    assert row["main_file"] == str(sandbox.project() / "a.txt")


def test_7_1_among_several_it_is_never_guessed(
    two: tuple[Editor, Editor], assistant: Assistant
) -> None:
    for tool, arguments in CALLS:
        error = refused(assistant, tool, **arguments)
        assert error["code"] == 1001, (tool, error)
        offered = error["data"]["instances"]
        assert {one["instance_id"] for one in offered} == {e.instance_id for e in two}
        assert all(e.instance_id in error["message"] for e in two)
        assert "select_vim_instance" in error["message"]
    for uri in ("vim://state", "vim://buffer/current"):
        with pytest.raises(MCPError) as caught:
            assistant.read(uri)
        assert caught.value.error.code == 1001
    listed = done(assistant, "list_vim_instances")
    assert listed["selected"] is None
    assert not any(one["selected"] for one in listed["instances"])
    assert [e.lines() for e in two] == [["text of the first"], ["text of the second"]]


def test_selection_holds_for_what_follows(two: tuple[Editor, Editor], assistant: Assistant) -> None:
    first, second = two
    chosen = done(assistant, "select_vim_instance", instance_id=second.instance_id)
    assert chosen["instance_id"] == second.instance_id
    assert "text of the second" in done(assistant, "vim_read")
    done(assistant, "vim_edit", bufnr=1, line=1, content="edited")
    assert (first.lines(), second.lines()) == (["text of the first"], ["edited"])
    done(assistant, "select_vim_instance", instance_id=first.instance_id)
    assert "text of the first" in done(assistant, "vim_read")
    assert done(assistant, "list_vim_instances")["selected"] == first.instance_id
    assert assistant.read_json("vim://state")["instance_id"] == first.instance_id


def test_unknown_instance_is_refused_with_those_there_are(
    two: tuple[Editor, Editor], assistant: Assistant
) -> None:
    for tool, arguments in (
        ("select_vim_instance", {}),
        ("vim_read", {}),
        ("vim_edit", {"bufnr": 1, "content": "x"}),
    ):
        error = refused(assistant, tool, instance_id="nobody-nowhere-1", **arguments)
        assert error["code"] == 1002, error
        assert set(error["data"]["instances"]) == {e.instance_id for e in two}


def test_instance_argument_goes_before_the_selection_for_one_call(
    two: tuple[Editor, Editor], assistant: Assistant
) -> None:
    first, second = two
    done(assistant, "select_vim_instance", instance_id=first.instance_id)
    assert "of the second" in done(assistant, "vim_read", instance_id=second.instance_id)
    assert "of the first" in done(assistant, "vim_read")


def test_workspace_argument_finds_the_deepest_project(
    new_editor: NewEditor, assistant: Assistant, sandbox: Sandbox
) -> None:
    inner = sandbox.project() / "vendor" / "lib"
    (inner / ".git").mkdir(parents=True)
    other = sandbox.project("other")
    editors = {
        sandbox.project(): new_editor(),
        inner: new_editor(cwd=inner),
        other: new_editor(cwd=other),
    }
    for path, expected in editors.items():
        for inside in (path, path / "src"):
            state = done(assistant, "vim_get_state", workspace_path=str(inside))
            assert state["instance_id"] == expected.instance_id
    error = refused(assistant, "vim_get_state", workspace_path=str(sandbox.home))
    assert error["code"] == 1002
    # The name of a project is not the beginning of another one's.
    assert refused(assistant, "vim_get_state", workspace_path=f"{other}2")["code"] == 1002


def test_workspace_with_two_editors_is_ambiguous(
    two: tuple[Editor, Editor], assistant: Assistant, sandbox: Sandbox
) -> None:
    error = refused(assistant, "vim_read", workspace_path=str(sandbox.project()))
    assert error["code"] == 1001


def test_each_assistant_has_its_own_selection(
    two: tuple[Editor, Editor], new_assistant: NewAssistant
) -> None:
    first, second = two
    one, other = new_assistant(name="one"), new_assistant(name="other", era="legacy")
    done(one, "select_vim_instance", instance_id=first.instance_id)
    done(other, "select_vim_instance", instance_id=second.instance_id)
    for _ in range(3):
        assert "of the first" in done(one, "vim_read")
        assert "of the second" in done(other, "vim_read")
    done(one, "vim_edit", bufnr=1, line=1, content="by one")
    done(other, "vim_edit", bufnr=1, line=1, content="by other")
    assert (first.lines(), second.lines()) == (["by one"], ["by other"])


def test_assistant_in_an_editors_terminal_means_that_editor(
    two: tuple[Editor, Editor], new_assistant: NewAssistant
) -> None:
    for mine, text in zip(two, ("of the first", "of the second"), strict=True):
        given = mine.eval("$VIM_MCP_INSTANCE")
        assert given == mine.instance_id
        assistant = new_assistant(env={"VIM_MCP_INSTANCE": given})
        assert text in done(assistant, "vim_read")


def test_stale_terminal_falls_through(
    two: tuple[Editor, Editor], new_assistant: NewAssistant
) -> None:
    assistant = new_assistant(env={"VIM_MCP_INSTANCE": "gone-work-1"})
    assert refused(assistant, "vim_read")["code"] == 1001


def test_selection_goes_before_the_terminal(
    two: tuple[Editor, Editor], new_assistant: NewAssistant
) -> None:
    first, second = two
    assistant = new_assistant(env={"VIM_MCP_INSTANCE": first.instance_id})
    done(assistant, "select_vim_instance", instance_id=second.instance_id)
    assert "of the second" in done(assistant, "vim_read")


def test_only_editor_with_the_file_is_meant(
    two: tuple[Editor, Editor], assistant: Assistant, sandbox: Sandbox
) -> None:
    first, second = two
    file = str(sandbox.project() / "second.txt")
    assert "text of the second" in done(assistant, "vim_read", file=file)
    done(assistant, "vim_edit", file="second.txt", line=1, content="edited")
    assert (first.lines(), second.lines()) == (["text of the first"], ["edited"])


def test_editor_in_the_assistants_project_is_meant(
    new_editor: NewEditor, new_assistant: NewAssistant, sandbox: Sandbox
) -> None:
    projects = {name: sandbox.project(name) for name in ("here", "there")}
    editors = {name: new_editor(cwd=path) for name, path in projects.items()}
    for name, path in projects.items():
        inside = path / "src"
        inside.mkdir()
        state = done(new_assistant(cwd=inside), "vim_get_state")
        assert state["instance_id"] == editors[name].instance_id
    assert refused(new_assistant(cwd=sandbox.home), "vim_get_state")["code"] == 1001


def test_choice_is_remembered_for_the_project(
    two: tuple[Editor, Editor], new_assistant: NewAssistant
) -> None:
    _, second = two
    done(new_assistant(), "select_vim_instance", instance_id=second.instance_id)
    later = new_assistant()
    assert "text of the second" in done(later, "vim_read")
    assert done(later, "list_vim_instances")["selected"] == second.instance_id


def test_selected_editor_that_died_is_said_to_be_gone_once(
    two: tuple[Editor, Editor], assistant: Assistant, hub: Hub
) -> None:
    first, second = two
    gone = first.instance_id
    done(assistant, "select_vim_instance", instance_id=gone)
    first.kill()
    wait_until(lambda: len(hub.instances()) == 1, what="the hub to notice")
    error = refused(assistant, "vim_edit", bufnr=1, line=1, content="x")
    assert error["code"] == 1003
    assert gone in error["message"]
    # Never sent to another one in silence; asked again, the only one left is meant.
    assert second.lines() == ["text of the second"]
    assert "text of the second" in done(assistant, "vim_read")
    assert ids(assistant) == [second.instance_id]


def test_waiting_calls_of_an_editor_that_dies_fail_at_once(
    new_editor: NewEditor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "one")
    editor = new_editor(files=[path])
    editor.type("i")
    edits = [
        assistant.call_async("vim_edit", file=str(path), line=1, content=str(n)) for n in range(6)
    ]
    wait_until(lambda: editor.eval("vim_mcp#acts#Pending()") == 6, what="six edits to wait")
    editor.kill()
    for edit in edits:
        error = edit.result(30).error
        assert error["code"] == 1003
        # They waited in the editor: none had begun.
        assert "was lost" in error["message"]
    assert path.read_text() == "one\n"


def test_disconnected_editor_is_gone_until_it_connects(
    two: tuple[Editor, Editor], assistant: Assistant, hub: Hub
) -> None:
    first, second = two
    first.command("VimMCPDisconnect")
    wait_until(lambda: len(hub.instances()) == 1, what="the first to leave")
    assert "text of the second" in done(assistant, "vim_read")
    first.command("VimMCPConnect")
    first.wait_registered()
    assert set(ids(assistant)) == {first.instance_id, second.instance_id}
    assert first.messages().count("\n") <= 1


def test_paused_editor_is_read_and_not_changed(
    new_editor: NewEditor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", "one")
    editor = new_editor(files=[path])
    editor.command("VimMCPPause")
    wait_until(
        lambda: done(assistant, "list_vim_instances")["instances"][0]["paused"], what="the pause"
    )
    assert "one" in done(assistant, "vim_read")
    assert done(assistant, "vim_get_state")["paused"] is True
    for tool, arguments in (
        ("vim_edit", {"file": str(path), "line": 1, "content": "x"}),
        ("vim_open", {"file": str(path)}),
        ("vim_undo", {}),
        ("vim_save", {}),
        ("vim_execute", {"command": "echo 1"}),
    ):
        error = refused(assistant, tool, **arguments)
        assert (error["code"], reason(error)) == (1004, "paused"), (tool, error)
    assert editor.lines() == ["one"]
    editor.command("VimMCPResume")
    done(assistant, "vim_edit", file=str(path), line=1, content="x")
    assert editor.lines() == ["x"]


def test_vim_and_neovim_stand_side_by_side(vim: Editor, nvim: Editor, assistant: Assistant) -> None:
    vim.type("ithis is Vim<Esc>")
    nvim.type("ithis is Neovim<Esc>")
    assert "this is Vim" in done(assistant, "vim_read", instance_id=vim.instance_id)
    assert "this is Neovim" in done(assistant, "vim_read", instance_id=nvim.instance_id)
