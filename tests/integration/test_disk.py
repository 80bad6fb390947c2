"""Files that an assistant changes on disk: buffers follow, unsaved text is kept, nobody is asked."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Assistant, Editor, Hub, Sandbox, WaitTimeout, wait_until

pytestmark = pytest.mark.private

NewEditor = Callable[..., Editor]


def hook(
    sandbox: Sandbox, *arguments: str, call: object = None
) -> subprocess.CompletedProcess[str]:
    """Run `vim-mcp hook` as Claude Code does, with the tool call on stdin."""
    return subprocess.run(
        [sys.executable, "-m", "vim_mcp", "hook", *arguments],
        input=call if isinstance(call, str) else json.dumps(call),
        env=sandbox.env(),
        cwd=sandbox.project(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def tool_call(event: str, file: Path | str) -> dict[str, Any]:
    """What Claude Code writes to a hook's stdin."""
    return {
        "session_id": "1",
        "cwd": os.path.dirname(file),
        "hook_event_name": event,
        "tool_name": "Edit",
        "tool_input": {"file_path": str(file), "old_string": "a", "new_string": "b"},
    }


@pytest.fixture
def file(sandbox: Sandbox) -> Path:
    path = sandbox.project() / "main.txt"
    path.write_text("one\ntwo\nthree\n")
    return path


@pytest.fixture
def open_file(new_editor: NewEditor, file: Path) -> Editor:
    return new_editor(files=[file])


def told(editor: Editor) -> str:
    """What the user has been told, as :messages has it."""
    return "\n".join(line for line in editor.messages().splitlines() if "vim-mcp" in line)


def becomes(editor: Editor, lines: list[str]) -> None:
    wait_until(lambda: editor.lines() == lines, what=f"{editor} to show {lines}")


def test_a_buffer_without_changes_follows_its_file_at_once(
    open_file: Editor, file: Path, sandbox: Sandbox
) -> None:
    open_file.type("jl")
    cursor = open_file.eval("getpos('.')")
    file.write_text("one\ntwo\nthree\nfour\n")
    done = hook(sandbox, "changed", call=tool_call("PostToolUse", file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    becomes(open_file, ["one", "two", "three", "four"])
    assert open_file.eval("&modified") == 0
    assert open_file.eval("getpos('.')") == cursor
    # Nothing was asked, nothing was said, and what had been there can be had back.
    assert told(open_file) == ""
    open_file.type("u")
    becomes(open_file, ["one", "two", "three"])


def test_unsaved_text_is_kept_with_a_word_once(
    open_file: Editor, file: Path, sandbox: Sandbox
) -> None:
    open_file.type("ccmine<Esc>")
    file.write_text("theirs\n")
    for _ in range(2):
        assert hook(sandbox, "changed", str(file)).returncode == 0
        wait_until(lambda: told(open_file) != "", what="a word to the user")
    assert told(open_file) == "vim-mcp: main.txt has changed on disk; your unsaved text is kept"
    assert open_file.lines() == ["mine", "two", "three"]
    assert file.read_text() == "theirs\n"
    assert "vim-mcp: main.txt has changed on disk" in str(open_file.screen())
    # No prompt: the next key is the user's.
    open_file.type("x")
    assert open_file.lines()[0] == "min"


def test_it_goes_without_the_hook_while_an_assistant_is_there(
    open_file: Editor, file: Path, assistant: Assistant
) -> None:
    assistant.call("vim_read")

    def follows() -> bool:
        return open_file.lines() == file.read_text().splitlines()

    # The hub has to have looked once before it can see a change.
    for attempt in range(5):
        with file.open("a") as out:
            out.write(f"more {attempt}\n")
        with contextlib.suppress(WaitTimeout):
            wait_until(follows, seconds=4)
            break
    assert follows()
    assert told(open_file) == ""


def test_it_waits_while_the_user_types(open_file: Editor, file: Path, sandbox: Sandbox) -> None:
    open_file.type("i")
    file.write_text("theirs\n")
    hook(sandbox, "changed", str(file))
    open_file.type("<Esc>")
    becomes(open_file, ["theirs"])


def test_every_editor_with_the_file_follows(
    open_file: Editor, new_editor: NewEditor, file: Path, sandbox: Sandbox
) -> None:
    other = new_editor(files=[file], args=["-n"])
    elsewhere = new_editor()
    file.write_text("theirs\n")
    hook(sandbox, "changed", str(file))
    becomes(open_file, ["theirs"])
    becomes(other, ["theirs"])
    assert elsewhere.lines() == [""]


@pytest.mark.parametrize("given", ["hook", "hand"])
def test_an_edit_on_disk_is_refused_where_text_is_unsaved(
    open_file: Editor, file: Path, sandbox: Sandbox, given: str
) -> None:
    def ask() -> subprocess.CompletedProcess[str]:
        if given == "hand":
            return hook(sandbox, "unsaved", str(file))
        return hook(sandbox, "unsaved", call=tool_call("PreToolUse", file))

    saved = ask()
    assert (saved.returncode, saved.stdout, saved.stderr) == (0, "", "")
    open_file.type("ccmine<Esc>")
    unsaved = ask()
    if given == "hand":
        assert (unsaved.returncode, unsaved.stdout) == (1, f"{open_file.instance_id}\n")
        return
    assert unsaved.returncode == 0
    output = json.loads(unsaved.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "PreToolUse"
    assert output["permissionDecision"] == "deny"
    for word in (str(file), open_file.instance_id, "unsaved", "vim_edit"):
        assert word in output["permissionDecisionReason"]


def test_a_private_file_is_not_told_of(new_editor: NewEditor, sandbox: Sandbox) -> None:
    secret = sandbox.project() / ".env"
    secret.write_text("TOKEN=1\n")
    editor = new_editor(files=[secret])
    editor.type("ccmine<Esc>")
    done = hook(sandbox, "unsaved", str(secret))
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    "call",
    ["", "not JSON", "[]", "{}", '{"tool_input": 3}', '{"tool_input": {"file_path": 5}}',
     '{"tool_input": {"file_path": "/nowhere/at all"}, "cwd": null}'],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["changed", "unsaved"])
def test_a_hook_never_stands_in_the_assistants_way(
    hub: Hub, sandbox: Sandbox, verb: str, call: str
) -> None:
    done = hook(sandbox, verb, call=call)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_hook_starts_no_hub(sandbox: Sandbox, file: Path) -> None:
    assert hook(sandbox, "changed", call=tool_call("PostToolUse", file)).returncode == 0
    done = hook(sandbox, "changed", str(file))
    assert done.returncode == 1
    assert "hub" in done.stderr
    assert not (sandbox.run / "vim-mcp-server.sock").exists()
