"""What happens to the places that the hub lives in: removed, taken, full, read-only, somebody's."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import Assistant, Editor, Hub, Sandbox, hub_status, slow, wait_until
from harness.process import command_line, exists
from tests.integration.peer import Peer
from tests.integration.test_hub import registry, run, start

pytestmark = pytest.mark.private

#: How the command line of a hub ends.
HUBS = ("-m vim_mcp hub", "-m vim_mcp hub --for-assistant")


# --- taken away under a running hub -------------------------------------------------------------


def remove_socket(sandbox: Sandbox) -> None:
    sandbox.socket.unlink()


def remove_lock(sandbox: Sandbox) -> None:
    (sandbox.run / "hub.lock").unlink()


def renew_lock(sandbox: Sandbox) -> None:
    remove_lock(sandbox)
    (sandbox.run / "hub.lock").touch(mode=0o600)


def _is_removed(directory: Path) -> bool:
    shutil.rmtree(directory, ignore_errors=True)
    return not directory.exists()


def remove_directory(sandbox: Sandbox) -> None:
    # The hub may be writing there: what came meanwhile goes, too.
    wait_until(lambda: _is_removed(sandbox.run), what="the directory to be gone")


def move_directory(sandbox: Sandbox) -> None:
    sandbox.run.rename(sandbox.root / "moved")


TAKEN: dict[str, Callable[[Sandbox], None]] = {
    "socket": remove_socket,
    "lock": remove_lock,
    "lock made again": renew_lock,
    "directory": remove_directory,
    "directory moved": move_directory,
}


@pytest.mark.parametrize("what", TAKEN)
def test_what_is_taken_away_under_a_hub_costs_no_session_and_no_editor(
    hub: Hub, sandbox: Sandbox, editor: Editor, assistant: Assistant, what: str
) -> None:
    editor.type("ione<Esc>")
    known, pid = editor.instance_id, hub.pid
    assistant.call("select_vim_instance", instance_id=known)
    TAKEN[what](sandbox)
    wait_until(lambda: not exists(pid), what="the hub to leave")
    editor.wait_registered(20)
    assert editor.instance_id == known
    assert assistant.call("vim_read").text.endswith("1\tone")
    assert hub.pid != pid
    assert editor.messages() == ""


@pytest.mark.parametrize("what", TAKEN)
def test_an_editor_alone_finds_a_hub_again_when_its_place_is_taken_away(
    hub: Hub, sandbox: Sandbox, editor: Editor, what: str
) -> None:
    pid = hub.pid
    TAKEN[what](sandbox)
    wait_until(lambda: not exists(pid), what="the hub to leave")
    editor.wait_registered(30)
    assert hub.pid != pid
    assert editor.messages() == ""


def test_a_stopped_hub_whose_lock_was_made_again_serves_nobody_when_it_wakes(
    hub: Hub, sandbox: Sandbox
) -> None:
    pid = hub.pid
    hub.freeze()
    renew_lock(sandbox)
    # The stopped one still takes connections into its backlog; the next waits a moment for it.
    with start(sandbox, "hub") as child:
        found = wait_until(
            lambda: hub_status(sandbox, seconds=0.2), seconds=20, what="the next hub to serve"
        )
        assert found["pid"] == child.pid
        with Peer(sandbox) as peer:
            peer.register("x-work-1")
            hub.thaw()
            wait_until(lambda: not exists(pid), what="the old hub to leave")
            # It took nothing of the other's with it.
            assert (hub_status(sandbox) or {})["pid"] == child.pid
            wait_until(lambda: registry(sandbox).keys() == {"x-work-1"}, what="the registry")
        child.terminate()


def test_starters_who_find_the_lock_made_again_and_again_make_one_hub_in_the_end(
    hub: Hub, sandbox: Sandbox
) -> None:
    for _ in range(5):
        children = [start(sandbox, "hub", "--ensure") for _ in range(4)]
        renew_lock(sandbox)
        for child in children:
            assert child.communicate(timeout=30 * slow()) == (b"", b"")
            assert child.returncode == 0
    assert run(sandbox, "hub", "--ensure")[0] == 0
    wait_until(lambda: len(hubs(sandbox)) == 1, what="all hubs but one to leave")
    assert (hub_status(sandbox) or {})["pid"] == hubs(sandbox)[0]


def hubs(sandbox: Sandbox) -> list[int]:
    """The hubs that run in a sandbox."""
    return [one.pid for one in sandbox.processes() if command_line(one.pid).endswith(HUBS)]


# --- spoilt before a hub starts -----------------------------------------------------------------


def opened(path: Path) -> None:
    path.chmod(0o770)


def given_away(path: Path) -> None:
    os.chown(path, 12345, 12345)


def unmapped(path: Path) -> None:
    os.chown(path, 65534, 65534)


def mount(path: Path, options: str) -> None:
    """Put a small file system of its own at a path; the test is skipped where that is forbidden."""
    command = ["mount", "-t", "tmpfs", "-o", f"mode=0700,{options}", "none", str(path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")


@pytest.fixture
def unmount(sandbox: Sandbox) -> Iterator[None]:
    yield
    # Lazily: a hub may still be there.
    subprocess.run(["umount", "-l", str(sandbox.run)], capture_output=True, check=False)


def read_only(path: Path) -> None:
    if os.getuid() == 0:
        mount(path, "ro")
    else:
        path.chmod(0o500)


SPOILT: dict[str, tuple[Callable[[Path], None], str]] = {
    "open to others": (opened, "its mode is 770, not 700"),
    "of another": (given_away, "it belongs to uid 12345"),
    "of nobody": (unmapped, "its owner is not mapped here; run with the same uid"),
    "read-only": (read_only, "it is not writable"),
}


@pytest.mark.usefixtures("unmount")
@pytest.mark.parametrize("what", SPOILT)
def test_a_directory_that_cannot_be_used_is_told_in_one_line(sandbox: Sandbox, what: str) -> None:
    spoil, why = SPOILT[what]
    if spoil in (given_away, unmapped) and os.getuid() != 0:
        pytest.skip("only root gives files away")
    spoil(sandbox.run)
    for args in (["hub", "--ensure"], ["hub"], []):
        code, out, err = run(sandbox, *args)
        assert (code, out) == (1, "")
        assert err.startswith(f"vim-mcp: cannot use {sandbox.run}: {why}; ")
        assert "set VIM_MCP_RUNTIME_DIR" in err
        assert err.count("\n") == 1


@pytest.mark.usefixtures("unmount")
def test_a_full_disk_stops_no_hub_and_what_was_not_written_is_written_later(
    sandbox: Sandbox, new_editor: Callable[..., Editor], new_assistant: Callable[..., Assistant]
) -> None:
    if os.getuid() != 0:
        pytest.skip("only root mounts a small disk")
    mount(sandbox.run, "size=256k")
    assert run(sandbox, "hub", "--ensure") == (0, "", "")
    fill = sandbox.run / "fill"
    with fill.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    editor, assistant = new_editor(), new_assistant()
    editor.type("ione<Esc>")
    assert assistant.call("vim_read").text.endswith("1\tone")
    assert not assistant.call("vim_edit", bufnr=1, line=1, content="two").is_error
    assert editor.lines() == ["two"]
    assert editor.messages() == ""
    assert not any(path.name.endswith(".tmp") for path in sandbox.run.iterdir())
    fill.unlink()
    wait_until(
        lambda: registry(sandbox).keys() == {editor.instance_id}, what="the registry to be written"
    )
    assert "Traceback" not in (sandbox.run / "hub.log").read_text()


@pytest.mark.usefixtures("unmount")
def test_a_disk_that_is_full_before_a_hub_starts_is_told_in_one_line(sandbox: Sandbox) -> None:
    if os.getuid() != 0:
        pytest.skip("only root mounts a small disk")
    mount(sandbox.run, "nr_inodes=2")
    (sandbox.run / "fill").touch()
    code, out, err = run(sandbox, "hub")
    assert (code, out) == (1, "")
    assert err.startswith(
        f"vim-mcp: cannot use {sandbox.run / 'hub.lock'}: No space left on device"
    )
    assert err.count("\n") == 1
    code, out, err = run(sandbox, "hub", "--ensure")
    assert (code, out) == (1, "")
    assert "No space left on device" in err
    assert err.count("\n") == 1
    # Retried, not remembered.
    (sandbox.run / "fill").unlink()
    subprocess.run(["mount", "-o", "remount,nr_inodes=100", str(sandbox.run)], check=True)
    assert run(sandbox, "hub", "--ensure") == (0, "", "")
