"""Private buffers: on no tool and no resource do they leave the editor, not even by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness import Assistant, Editor, Hub, Sandbox, wait_until
from tests.e2e.support import done, everything, reason, refused, show, write

SECRET = "hunter2"


def make_private(editor: Editor, sandbox: Sandbox, how: str) -> Path:
    """Show a private file in the editor and return its path. Its name says so, too."""
    if how == "ignored by name":
        path = write(sandbox, "id_canary", SECRET, "second line")
        show(editor, path)
    elif how == "ignored in a directory":
        path = write(sandbox, ".env.canary", SECRET, "second line")
        show(editor, path)
    elif how == "link to an ignored file":
        target = write(sandbox, "canary.pem", SECRET, "second line", project="other")
        path = sandbox.project() / "canary.txt"
        path.symlink_to(target)
        show(editor, path)
    elif how == "ignored link":
        target = write(sandbox, "canary.txt", SECRET, "second line", project="other")
        path = sandbox.project() / "canary.key"
        path.symlink_to(target)
        show(editor, path)
    elif how == "b:vim_mcp_private":
        path = write(sandbox, "canary.txt", SECRET, "second line")
        show(editor, path)
        editor.command("let b:vim_mcp_private = 1")
    else:
        path = write(sandbox, "canary.txt", SECRET, "second line")
        show(editor, path)
        editor.command("setlocal noswapfile")
    return path


WAYS = [
    "ignored by name",
    "ignored in a directory",
    "link to an ignored file",
    "ignored link",
    "b:vim_mcp_private",
    "setlocal noswapfile",
]

ways = pytest.mark.parametrize("how", WAYS)


@ways
@pytest.mark.parametrize("place", ["current", "other window", "hidden"])
def test_neither_text_nor_name_is_seen_anywhere(
    editor: Editor, assistant: Assistant, hub: Hub, sandbox: Sandbox, how: str, place: str
) -> None:
    editor.command("set hidden")
    path = make_private(editor, sandbox, how)
    editor.type("jl")
    if place == "other window":
        editor.command("new")
    elif place == "hidden":
        editor.command("enew")
    # The hub is told of buffers a moment later; a public one tells when it has been.
    public = write(sandbox, "public.txt", "public")
    editor.command(f"badd {public}")
    registry = sandbox.run / "vim-mcp-registry.json"
    state = sandbox.run / f"vim-mcp-{editor.instance_id}-state.json"
    wait_until(
        lambda: all(f.exists() and str(public) in f.read_text() for f in (registry, state)),
        what="the hub to write down a new buffer",
    )
    files = [one.read_text() for one in sandbox.run.iterdir() if one.suffix in (".json", ".log")]
    seen = "\n".join([everything(assistant), str(hub.status()), *files])
    assert "public.txt" in seen
    assert SECRET not in seen
    assert "second line" not in seen
    assert path.name not in seen
    assert "canary" not in seen


@ways
def test_state_tells_a_private_buffers_number_alone(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, how: str
) -> None:
    make_private(editor, sandbox, how)
    number = editor.eval("bufnr()")
    editor.type("vjl")
    state = done(assistant, "vim_get_state")
    assert state["current_buffer"]["id"] == number
    assert state["current_buffer"]["private"] is True
    assert (state["cursor"], state["byte"], state["selection"]) == (None, None, None)
    for shown in state["windows"]:
        assert (shown["private"], shown["name"], shown["cursor"]) == (True, "", [])
    raw = assistant.read_json("vim://state")
    assert raw["buffers"] == [{"bufnr": number, "private": True}]
    assert raw["current_buffer"] == {"id": number, "bufnr": number, "private": True}


@ways
def test_every_tool_refuses_a_private_buffer(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, how: str
) -> None:
    path = make_private(editor, sandbox, how)
    editor.type("Achanged<Esc>")
    number, text = editor.eval("bufnr()"), editor.lines()
    on_disk = path.read_bytes()
    targets: list[dict[str, object]] = [{"bufnr": number}, {"file": str(path)}]
    calls: list[tuple[str, dict[str, object]]] = [
        ("vim_open", {"file": str(path)}),
        ("vim_edit", {"file": str(path)}),
        ("vim_execute", {"command": "1print"}),
        ("vim_execute", {"command": "%s/hunter/fisher/"}),
        ("vim_execute", {"command": "echo line('$')"}),
        ("vim_read", {}),
        ("vim_undo", {}),
        ("vim_save", {}),
    ]
    for target in targets:
        calls += [
            ("vim_read", target),
            ("vim_undo", target),
            ("vim_save", target),
            ("vim_edit", {**target, "content": "x"}),
            ("vim_edit", {**target, "line": 1, "content": "x"}),
            ("vim_edit", {**target, "line": 1, "column": 1, "content": "x"}),
            ("vim_edit", {**target, "old_text": SECRET, "content": "x", "save": True}),
        ]
    for tool, arguments in calls:
        error = refused(assistant, tool, **arguments)
        assert (error["code"], reason(error)) == (1004, "private"), (tool, arguments, error)
        assert SECRET not in str(error)
        assert "canary" not in error["message"].replace(str(path), "")
    assert editor.lines() == text
    assert path.read_bytes() == on_disk


@ways
def test_a_private_buffer_is_not_entered_by_command(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, how: str
) -> None:
    editor.command("set hidden")
    make_private(editor, sandbox, how)
    number = editor.eval("bufnr()")
    editor.command("enew")
    here = editor.eval("bufnr()")
    for command in (f"buffer {number}", f"echo bufname({number})", "echo bufname('#')"):
        error = refused(assistant, "vim_execute", command=command)
        assert reason(error) in ("private", "denied"), (command, error)
        assert "canary" not in str(error)
    assert editor.eval("bufnr()") == here


@ways
def test_resources_of_a_private_buffer_are_errors_without_its_name(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, how: str
) -> None:
    from mcp import MCPError

    make_private(editor, sandbox, how)
    with pytest.raises(MCPError) as caught:
        assistant.read("vim://buffer/current")
    assert caught.value.error.code == 1004
    assert caught.value.error.data["reason"] == "private"
    assert "canary" not in str(caught.value.error)


@pytest.mark.parametrize("name", ["id_rsa", "x.pem", "x.gpg", ".env", ".env.local", ".netrc"])
def test_ignored_files_are_not_opened_either(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, name: str
) -> None:
    path = write(sandbox, name, SECRET)
    before = editor.eval("len(getbufinfo())")
    for tool, arguments in (
        ("vim_open", {}),
        ("vim_read", {}),
        ("vim_edit", {"content": "x\n", "save": True}),
        ("vim_edit", {"line": 1, "content": "x\n"}),
    ):
        error = refused(assistant, tool, file=str(path), **arguments)
        assert (error["code"], reason(error)) == (1004, "private"), (tool, error)
    assert path.read_text() == f"{SECRET}\n"
    assert editor.eval("len(getbufinfo())") == before


def test_main_file_that_is_private_names_no_instance(
    new_editor: Callable[..., Editor], new_assistant: Callable[..., Assistant], sandbox: Sandbox
) -> None:
    path = write(sandbox, "id_canary", SECRET)
    editor = new_editor(files=[path])
    assistant = new_assistant()
    listed = done(assistant, "list_vim_instances")["instances"]
    (mine,) = [one for one in listed if one["pid"] == editor.pid]
    assert mine["instance_id"].startswith("unnamed-")
    assert mine["main_file"] == ""
    assert mine["buffers"] == []


@pytest.mark.parametrize("kind", ["c", "l"])
def test_a_list_that_names_a_private_file_is_private(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, kind: str
) -> None:
    shown = write(sandbox, "plain.txt", "nothing to hide")
    hidden = write(sandbox, "id_canary", SECRET)
    show(editor, shown)
    editor.command(f"{kind}getexpr ['plain.txt:1:first']")
    editor.command(f"{kind}open")
    number = editor.eval("bufnr()")
    assert "first" in done(assistant, "vim_read", bufnr=number)
    editor.command(f"{kind}addexpr ['{hidden}:1:{SECRET}']")
    assert SECRET in "\n".join(editor.lines(number))
    assert reason(refused(assistant, "vim_read", bufnr=number)) == "private"
    assert SECRET not in (seen := everything(assistant))
    assert "canary" not in seen
    # Of what no window shows nobody knows any more which list it was.
    editor.command(f"{kind}close")
    assert SECRET not in everything(assistant)


@pytest.mark.private
@pytest.mark.parametrize("how", ["global option", "-n"])
def test_no_swap_files_at_all_makes_nothing_private(
    new_editor: Callable[..., Editor],
    new_assistant: Callable[..., Assistant],
    sandbox: Sandbox,
    how: str,
) -> None:
    path = write(sandbox, "a.txt", "public text")
    if how == "-n":
        new_editor(files=[path], swap=False)
    else:
        new_editor(files=[path], rc_extra="set noswapfile", swap=True)
    assistant = new_assistant()
    assert "public text" in done(assistant, "vim_read")
    done(assistant, "vim_edit", file=str(path), line=1, content="edited")


def test_users_own_list_replaces_the_default_and_cannot_be_changed_later(
    new_editor: Callable[..., Editor], new_assistant: Callable[..., Assistant], sandbox: Sandbox
) -> None:
    mine = write(sandbox, "diary.txt", SECRET)
    key = write(sandbox, "x.key", "not private here")
    editor = new_editor(rc_extra="let g:vim_mcp_ignore = ['diary*', '*/secret/*']", files=[key])
    assistant = new_assistant()
    me = {"instance_id": editor.instance_id}
    assert "not private here" in done(assistant, "vim_read", file=str(key), **me)
    editor.command("let g:vim_mcp_ignore = []")
    inside = write(sandbox, "secret/a.txt", SECRET)
    for path in (mine, inside):
        show(editor, path)
        assert reason(refused(assistant, "vim_read", **me)) == "private"


def test_buffer_that_becomes_private_is_no_longer_read(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", SECRET)
    show(editor, path)
    assert SECRET in done(assistant, "vim_read")
    editor.command("let b:vim_mcp_private = 1")
    assert reason(refused(assistant, "vim_read")) == "private"
    editor.command("let b:vim_mcp_private = 0")
    assert SECRET in done(assistant, "vim_read")


def test_renamed_buffer_takes_the_privacy_of_its_new_name(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    path = write(sandbox, "a.txt", SECRET)
    show(editor, path)
    editor.command(f"file {path.with_name('id_canary')}")
    assert reason(refused(assistant, "vim_read")) == "private"
