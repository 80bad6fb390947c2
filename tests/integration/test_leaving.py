"""How a hub leaves: idle, told to, for a later version; nobody who comes meanwhile is lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import vim_mcp
from harness import Assistant, Editor, Hub, Sandbox, Stage, slow, wait_until
from harness.process import exists
from tests.integration.peer import Peer
from tests.integration.test_forwarder import HANDSHAKE

pytestmark = pytest.mark.private

#: A hub that leaves about as soon as it has come, for want of peers.
RESTLESS = {"VIM_MCP_IDLE_S": "0.05", "VIM_MCP_TIMEOUT_SCALE": "0.001"}


def install(sandbox: Sandbox, version: str = vim_mcp.__version__) -> str:
    """Put a copy of the package, of another version, into a sandbox; return its $PYTHONPATH.

    What is there already is replaced, as an upgrade does.
    """
    place = sandbox.root / "site"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(
        Path(vim_mcp.__file__).parent,
        place / "vim_mcp",
        ignore=shutil.ignore_patterns("__pycache__"),
        copy_function=shutil.copyfile,
    )
    first = place / "vim_mcp" / "__init__.py"
    text = first.read_text()
    first.write_text(text.replace(f'"{vim_mcp.__version__}"', f'"{version}"'))
    return str(place)


def has_dialled(pid: int) -> bool:
    """Whether a process has a socket."""
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        # One may be closed while we look.
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(descriptor).startswith("socket:"):
                return True
    return False


# --- idle ---------------------------------------------------------------------------------------


def test_an_idle_hub_stays_60_seconds_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    from vim_mcp.hub.idle import idle_seconds

    monkeypatch.delenv("VIM_MCP_IDLE_S", raising=False)
    assert idle_seconds() == 60


@pytest.mark.parametrize("kind", ["editor", "session"])
def test_a_hub_with_a_peer_does_not_leave_and_without_one_it_does(
    sandbox: Sandbox, kind: str
) -> None:
    with Hub(sandbox).start(VIM_MCP_IDLE_S="0.3", VIM_MCP_TIMEOUT_SCALE="0.05") as hub:
        pid = hub.pid
        with Peer(sandbox) as peer:
            if kind == "editor":
                peer.register("x-work-1")
            else:
                peer.send(b"#hello {}")
            # Longer than it would stay alone, grace and a look at the clock included.
            with pytest.raises(AssertionError):
                wait_until(lambda: not exists(pid), seconds=4, what="the hub not to leave")
        wait_until(lambda: not exists(pid), seconds=20, what="the idle hub to leave")
        assert "leaving: idle" in hub.log_text()


@pytest.mark.parametrize("kind", ["editor", "session"])
def test_who_has_dialled_when_an_idle_hub_would_leave_keeps_it(sandbox: Sandbox, kind: str) -> None:
    with Hub(sandbox).start(**RESTLESS) as hub:
        pid = hub.pid
        hub.freeze()
        # When it wakes its time is over, and somebody is in the backlog.
        with Peer(sandbox) as peer:
            if kind == "editor":
                peer.send({"type": "register", "instance_id": "x-work-1", "info": {}})
            else:
                peer.send(b"#hello {}")
            os.kill(pid, signal.SIGCONT)
            assert peer.recv_line().startswith((b'{"type":"registered"', b"#welcome "))
            # Asked over that connection or a later one, it is the same hub.
            assert (hub.status() or {})["pid"] == pid
        wait_until(lambda: not exists(pid), seconds=20, what="the idle hub to leave")


def test_an_assistant_that_has_dialled_a_hub_that_leaves_is_served_by_the_next(
    hub: Hub, editor: Editor, stage: Stage
) -> None:
    editor.type("ione<Esc>")
    pid = hub.pid
    hub.freeze()
    hub.kill(signal.SIGTERM)
    raw = stage.new_raw_assistant()
    raw.send_request("initialize", HANDSHAKE)
    raw.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    raw.send_request("tools/list")
    wait_until(lambda: has_dialled(raw.pid), what="the forwarder to have dialled")
    os.kill(pid, signal.SIGCONT)
    assert "serverInfo" in raw.answer(1, 20)["result"]
    assert "tools" in raw.answer(2, 20)["result"]
    assert hub.pid != pid
    editor.wait_registered(30)
    assert raw.call("vim_read")["result"]["content"][0]["text"].endswith("1\tone")


# --- for a later version ------------------------------------------------------------------------


def test_a_newer_assistant_replaces_an_older_hub_after_draining_it(
    editor: Editor, hub: Hub, assistant: Assistant, stage: Stage, sandbox: Sandbox
) -> None:
    editor.type("ione<Esc>")
    pid, known = hub.pid, editor.instance_id
    editor.freeze()
    reading = assistant.call_async("vim_read")
    assert not assistant.call("list_vim_instances").is_error
    newer = stage.new_raw_assistant(env={"PYTHONPATH": install(sandbox, "99.0.0")})
    newer.send_request("initialize", HANDSHAKE)
    wait_until(lambda: "a newer version 99.0.0" in hub.log_text(), what="the newer one to be seen")
    editor.thaw()
    # The call in flight on the old hub is answered, and the newer assistant by a newer hub.
    assert reading.result(30 * slow()).text.endswith("1\tone")
    assert newer.answer(1, 20)["result"]["serverInfo"]["version"] == "99.0.0"
    wait_until(lambda: not exists(pid), what="the old hub to leave")
    editor.wait_registered(20)
    found = hub.status() or {}
    assert found["version"] == "99.0.0"
    assert [i["instance_id"] for i in found["instances"]] == [known]
    # The older assistant goes on with the newer hub, which no older client replaces.
    assert assistant.call("vim_read").text.endswith("1\tone")
    older = stage.new_raw_assistant()
    assert older.initialize()["result"]["serverInfo"]["version"] == "99.0.0"
    assert (hub.status() or {})["pid"] == found["pid"]
    assert editor.messages() == ""


@pytest.mark.parametrize("version", [vim_mcp.__version__, "99.0.0", "0.0.1"])
def test_a_package_replaced_under_a_hub_is_noticed_before_it_is_imported(
    sandbox: Sandbox, stage: Stage, new_editor: Callable[..., Editor], version: str
) -> None:
    path = install(sandbox)
    # Started by nobody who needs MCP, it has not loaded what serves it.
    hub = stage.need_hub().restart(PYTHONPATH=path)
    editor = new_editor()
    editor.type("ione<Esc>")
    pid, known = hub.pid, editor.instance_id
    install(sandbox, version)
    # That of the hub, and not the newer one that was put in its place.
    raw = stage.new_raw_assistant(env={"PYTHONPATH": path})
    assert raw.initialize()["result"]["serverInfo"]["version"] == version
    assert not exists(pid)
    editor.wait_registered(20)
    assert editor.instance_id == known
    assert raw.call("vim_read")["result"]["content"][0]["text"].endswith("1\tone")
    log = hub.log_text()
    assert "Traceback" not in log
    assert "the package was replaced under this hub" in log
    assert raw.stderr() == ""


# --- protocols ----------------------------------------------------------------------------------


@pytest.mark.parametrize("theirs", [None, 0, 1, 2])
def test_an_editor_is_spoken_to_in_the_latest_protocol_that_both_know(
    hub: Hub, sandbox: Sandbox, theirs: int | None
) -> None:
    info = {} if theirs is None else {"protocol": theirs}
    with Peer(sandbox) as peer:
        told = peer.register("x-work-1", **info)
        assert (told["type"], told["protocol"]) == ("registered", 1)
