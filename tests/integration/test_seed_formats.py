"""Section 4 of the first seed: the registry, the names of instances, and preferences."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from harness import Assistant, Editor, Hub, Sandbox, wait_until
from tests.integration.fake_hub import Json
from tests.integration.peer import Peer
from tests.integration.test_hub import mode, registry

pytestmark = pytest.mark.private

#: The seed's fields and their types.
FIELDS = {
    "socket": str,
    "pid": int,
    "cwd": str,
    "main_file": str,
    "started": str,
    "buffers": list,
    "last_seen": str,
}


def wait_entry(sandbox: Sandbox, instance_id: str) -> Json:
    """Wait for an instance's entry in the registry and return it."""
    return wait_until(
        lambda: registry(sandbox).get(instance_id), what=f"{instance_id} in the registry"
    )


def test_4_1_an_editors_entry_has_every_field_of_the_seed(
    new_editor: Callable[..., Editor], sandbox: Sandbox
) -> None:
    before = datetime.now(timezone.utc) - timedelta(seconds=2)
    editor = new_editor(files=["main.py"])
    entry = wait_entry(sandbox, editor.instance_id)
    assert {name: type(entry[name]) for name in FIELDS} == FIELDS
    assert entry["socket"] == str(sandbox.socket)
    assert entry["pid"] == editor.pid
    assert entry["cwd"] == str(editor.cwd)
    assert entry["main_file"] == f"{editor.cwd}/main.py"
    assert entry["buffers"] == [f"{editor.cwd}/main.py"]
    started, seen = (datetime.fromisoformat(entry[name]) for name in ("started", "last_seen"))
    assert before <= started
    assert started - timedelta(seconds=2) <= seen <= datetime.now(timezone.utc)


@pytest.mark.parametrize("started", ["", "yesterday", "2026-11-20T12:00:00", "2026-11-20 12:00Z"])
def test_4_1_times_are_iso_8601_whatever_an_editor_says(
    hub: Hub, sandbox: Sandbox, started: str
) -> None:
    with Peer(sandbox) as peer:
        peer.register("x-work-1", started=started)
        told = datetime.fromisoformat(
            wait_entry(sandbox, "x-work-1")["started"].replace("Z", "+00:00")
        )
    assert told.tzinfo is not None


def test_4_1_the_registry_follows_a_change(editor: Editor, sandbox: Sandbox) -> None:
    path = editor.cwd / "new.txt"
    editor.type(f":edit {path}<CR>")
    wait_until(
        lambda: str(path) in wait_entry(sandbox, editor.instance_id)["buffers"],
        what="the new buffer in the registry",
    )
    editor.type(":bwipeout<CR>")
    wait_until(
        lambda: str(path) not in wait_entry(sandbox, editor.instance_id)["buffers"],
        what="the buffer to be gone from the registry",
    )


def test_4_1_the_registry_may_be_elsewhere(sandbox: Sandbox) -> None:
    path = sandbox.project() / "own.json"
    with Hub(sandbox).start(VIM_MCP_REGISTRY=str(path)):
        with Peer(sandbox) as peer:
            peer.register("x-work-1")
            wait_until(lambda: path.exists() and "x-work-1" in path.read_text(), what="the entry")
        assert mode(path) == 0o600
        assert not (sandbox.run / "vim-mcp-registry.json").exists()
        wait_until(lambda: json.loads(path.read_text()) == {}, what="it to be cleaned")


def test_4_1_a_registry_that_cannot_be_written_is_only_logged(sandbox: Sandbox) -> None:
    path = sandbox.root / "no" / "such" / "dir.json"
    with Hub(sandbox).start(VIM_MCP_REGISTRY=str(path)) as hub, Peer(sandbox) as peer:
        peer.register("x-work-1")
        wait_until(lambda: "is not written" in hub.log_text(), what="it to be logged")
        assert len(hub.instances()) == 1


def preferences(sandbox: Sandbox) -> Path:
    """The file with the preferences of projects."""
    return sandbox.home / ".state" / "vim-mcp" / "preferences.json"


@pytest.fixture
def two(new_editor: Callable[..., Editor]) -> tuple[Editor, Editor]:
    """Two editors of one project."""
    return new_editor(files=["first.txt"]), new_editor(files=["second.txt"])


def test_4_3_the_last_selected_instance_is_one_line_and_decides_after_a_hubs_death(
    two: tuple[Editor, Editor],
    hub: Hub,
    sandbox: Sandbox,
    new_assistant: Callable[..., Assistant],
) -> None:
    for editor in two:
        known = editor.instance_id
        assert not new_assistant().call("select_vim_instance", instance_id=known).is_error
        line = sandbox.run / "vim-mcp-preference.txt"
        assert line.read_text() == f"{known}\n"
        assert {mode(line), mode(preferences(sandbox))} == {0o600}
        # Another one is started by who needs it.
        hub.kill()
        for one in two:
            one.wait_registered(20)
        assert line.read_text() == f"{known}\n"
        state = new_assistant().call("vim_get_state")
        assert state.data["instance_id"] == known
        # Of another project it says nothing.
        elsewhere = new_assistant(cwd=sandbox.home).call("vim_get_state")
        assert elsewhere.error["code"] == 1001


@pytest.mark.parametrize("text", ["{broken", "[]", "", '{"/": 5}', "[" * 100_000, "\udcff"])
def test_4_3_preferences_that_make_no_sense_are_none(
    two: tuple[Editor, Editor], sandbox: Sandbox, assistant: Assistant, text: str
) -> None:
    path = preferences(sandbox)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert assistant.call("vim_read").error["code"] == 1001
    known = two[0].instance_id
    assert not assistant.call("select_vim_instance", instance_id=known).is_error
    assert set(json.loads(path.read_text()).values()) == {known.rpartition("-")[0]}
