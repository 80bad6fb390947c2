"""How the hub comes, goes, and is asked; its files; how many editors it takes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import Hub, HubFailed, RawAssistant, Sandbox, Stage, hub_status, slow, wait_until
from harness.process import exists
from tests.integration.fake_hub import Json
from tests.integration.peer import Peer

pytestmark = pytest.mark.private


def start(sandbox: Sandbox, *args: str, **env: str) -> subprocess.Popen[bytes]:
    """Start the command line; the sandbox ends it if nothing else does."""
    return subprocess.Popen(
        [sys.executable, "-m", "vim_mcp", *args],
        env=sandbox.env(**env),
        cwd=sandbox.project(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(sandbox: Sandbox, *args: str, **env: str) -> tuple[int, str, str]:
    """Run the command line; return exit status, stdout and stderr."""
    with start(sandbox, *args, **env) as child:
        out, err = child.communicate(timeout=30 * slow())
        return child.returncode, out.decode(), err.decode()


def status(sandbox: Sandbox) -> Json:
    """What `--status --json` prints."""
    return dict(json.loads(run(sandbox, "hub", "--status", "--json")[1]))


def mode(path: Path) -> int:
    """The permission bits of a file."""
    return stat.S_IMODE(path.lstat().st_mode)


def registry(sandbox: Sandbox) -> Json:
    """What the registry file holds, nothing when there is none yet."""
    path = sandbox.run / "vim-mcp-registry.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def starts(sandbox: Sandbox) -> int:
    """How many hubs have begun to serve in a sandbox."""
    return (sandbox.run / "hub.log").read_text().count(" starts in ")


# --- one hub ------------------------------------------------------------------------------------


def test_40_starters_at_once_make_one_hub(sandbox: Sandbox) -> None:
    children = [start(sandbox, "hub", "--ensure") for _ in range(40)]
    for child in children:
        out, err = child.communicate(timeout=60 * slow())
        assert (child.returncode, out, err) == (0, b"", b"")
    assert hub_status(sandbox) is not None
    assert starts(sandbox) == 1


def test_40_assistants_at_once_are_all_on_one_hub(stage: Stage, sandbox: Sandbox) -> None:
    raws = [stage.new_raw_assistant(name=f"raw-{n}") for n in range(40)]
    for raw in raws:
        number = raw.send_request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": raw.name, "version": "1"},
            },
        )
        assert number == 1
    for raw in raws:
        assert raw.answer(1, 60)["result"]["serverInfo"]["name"] == "vim-mcp"
        raw.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert "result" in raw.request("tools/list", seconds=60)
    found = hub_status(sandbox)
    assert found is not None
    assert {s["client"] for s in found["sessions"]} == {f"raw-{n} 1" for n in range(40)}
    assert starts(sandbox) == 1


def test_40_foreground_hubs_at_once_leave_one(sandbox: Sandbox) -> None:
    children = [start(sandbox, "hub") for _ in range(40)]
    wait_until(
        lambda: sum(child.poll() is None for child in children) == 1,
        seconds=60,
        what="all hubs but one to leave",
    )
    (left,) = (child for child in children if child.poll() is None)
    assert {child.returncode for child in children if child is not left} == {0}
    found = wait_until(lambda: hub_status(sandbox), what="the hub to answer")
    assert found["pid"] == left.pid
    left.terminate()
    for child in children:
        assert child.communicate(timeout=30 * slow()) == (b"", b"")


def test_a_second_hub_exits_quietly(hub: Hub, sandbox: Sandbox) -> None:
    pid = hub.pid
    assert run(sandbox, "hub") == (0, "", "")
    assert run(sandbox, "hub", "--ensure") == (0, "", "")
    assert hub.pid == pid
    assert starts(sandbox) == 1


def test_8_1_a_stale_socket_is_replaced(sandbox: Sandbox) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(sandbox.socket))
    assert sandbox.socket.is_socket()
    with Hub(sandbox) as hub:
        assert hub.status()


@pytest.mark.parametrize("name", ["hub.lock", "vim-mcp-server.sock"])
def test_a_hub_whose_lock_or_socket_was_taken_away_leaves(
    hub: Hub, sandbox: Sandbox, name: str
) -> None:
    pid = hub.pid
    path = sandbox.run / name
    path.unlink()
    if name == "hub.lock":
        path.touch()
    # It looks every five seconds; meanwhile another may be started.
    assert run(sandbox, "hub", "--ensure")[0] == 0
    wait_until(lambda: not exists(pid), seconds=20, what="the old hub to leave")
    assert run(sandbox, "hub", "--ensure")[0] == 0
    found = hub_status(sandbox)
    assert found is not None
    assert found["pid"] != pid


def test_a_newer_assistant_ends_an_older_hub(hub: Hub, sandbox: Sandbox) -> None:
    for version in ("0.0.1", "", "x.y.z", "1"):
        with Peer(sandbox) as peer:
            peer.send(f'#hello {{"version": "{version}"}}'.encode())
            assert peer.socket.recv(9) == b"#welcome "
    assert hub.status()
    with Peer(sandbox) as editor, Peer(sandbox) as peer:
        editor.register("a-x-1")
        peer.send(b'#hello {"version": "99.0.0"}')
        assert editor.recv() == {"type": "goodbye", "reason": "superseded"}
    wait_until(lambda: hub_status(sandbox) is None, what="the hub to leave")
    assert not sandbox.socket.exists()


# --- asked --------------------------------------------------------------------------------------


def test_appendix_b_the_status_has_one_word_for_each_state(sandbox: Sandbox, stage: Stage) -> None:
    code, out, err = run(sandbox, "hub", "--status")
    assert (code, out) == (1, "")
    assert err.startswith("vim-mcp: no vim-mcp hub answers at ")
    assert "vim-mcp hub --ensure" in err
    code, out, err = run(sandbox, "hub", "--status", "--json")
    assert (code, json.loads(out)["status"], err) == (1, "ERROR", "")
    with Hub(sandbox) as hub:
        assert status(sandbox)["status"] == "READY"
        assert run(sandbox, "hub", "--status")[1].startswith(f"READY  hub 0.1.0, pid {hub.pid}, ")
        raw = stage.new_raw_assistant()
        raw.initialize()
        raw.request("tools/list")
        wait_until(lambda: status(sandbox)["status"] == "WAITING", what="the assistant to be seen")
        assert f"assistant harness-raw 1, pid {raw.pid}, " in run(sandbox, "hub", "--status")[1]
        with Peer(sandbox) as peer:
            peer.register("x-work-1", editor="vim", version="9.0.1", cwd="/w", pid=17)
            assert status(sandbox)["status"] == "CONNECTED"
            told = run(sandbox, "hub", "--status")[1]
            assert "\n  x-work-1  vim 9.0.1, pid 17, /w\n" in told


def test_appendix_b_a_hub_that_does_not_answer_is_an_error(hub: Hub, sandbox: Sandbox) -> None:
    hub.freeze()
    try:
        code, out, err = run(sandbox, "hub", "--status", "--json")
    finally:
        hub.thaw()
    assert (code, err) == (1, "")
    told = json.loads(out)
    assert told["status"] == "ERROR"
    assert told["error"].startswith(f"no vim-mcp hub answers at {sandbox.socket}: ")


def test_the_status_as_json_says_who_is_there(
    hub: Hub, sandbox: Sandbox, raw_assistant: RawAssistant
) -> None:
    raw_assistant.initialize()
    with Peer(sandbox) as peer:
        peer.register("x-work-1", pid=17, cwd="/w", root="/w", main_file="/w/x", editor="nvim")
        found = status(sandbox)
    assert found["pid"] == hub.pid
    assert found["protocol"] == 1
    assert found["socket"] == str(sandbox.socket)
    (instance,) = found["instances"]
    assert instance == {
        "instance_id": "x-work-1",
        "pid": 17,
        "cwd": "/w",
        "root": "/w",
        "main_file": "/w/x",
        "editor": "nvim",
        "version": "0",
        "plugin_version": "",
        "paused": False,
    }
    (session,) = found["sessions"]
    assert session["pid"] == raw_assistant.pid
    assert session["cwd"] == str(raw_assistant.cwd)
    assert session["selected"] is None


def test_stop_ends_the_hub(hub: Hub, sandbox: Sandbox) -> None:
    pid = hub.pid
    with Peer(sandbox) as peer:
        peer.register("x-work-1")
        assert run(sandbox, "hub", "--stop") == (0, "", "")
        assert peer.recv() == {"type": "goodbye", "reason": "stopped"}
        assert peer.closed()
    wait_until(lambda: not exists(pid), what="the hub to end")
    assert not sandbox.socket.exists()
    assert (sandbox.run / "hub.lock").exists()
    code, out, err = run(sandbox, "hub", "--stop")
    assert (code, out) == (1, "")
    assert "none is running" in err


@pytest.mark.parametrize("args", [["hub", "--what"], ["what"], ["hub", "--status", "--what"]])
def test_an_unknown_argument_is_told(sandbox: Sandbox, args: list[str]) -> None:
    code, out, err = run(sandbox, *args)
    assert (code, out) == (2, "")
    assert "usage: vim-mcp" in err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_hub_tidily(hub: Hub, sandbox: Sandbox, number: signal.Signals) -> None:
    pid = hub.pid
    os.kill(pid, number)
    wait_until(lambda: not exists(pid), what="the hub to end")
    assert not sandbox.socket.exists()
    assert "Traceback" not in hub.log_text()


# --- files --------------------------------------------------------------------------------------


def test_the_hubs_files_are_the_users_alone(sandbox: Sandbox) -> None:
    sandbox.run.rmdir()
    before = os.umask(0)
    try:
        assert run(sandbox, "hub", "--ensure")[0] == 0
        with Peer(sandbox) as peer:
            peer.register("x-work-1")
            wait_until(lambda: "x-work-1" in registry(sandbox), what="the registry")
    finally:
        os.umask(before)
    assert mode(sandbox.run) == 0o700
    files = {path.name: mode(path) for path in sandbox.run.iterdir()}
    assert files.keys() == {
        "vim-mcp-server.sock",
        "vim-mcp-registry.json",
        "hub.lock",
        "hub.log",
    }
    assert set(files.values()) == {0o600}


def test_4_1_the_registry_holds_exactly_the_connected_instances(hub: Hub, sandbox: Sandbox) -> None:
    with contextlib.ExitStack() as stack:
        peers = {f"{n}-work-{n}": stack.enter_context(Peer(sandbox)) for n in range(5)}
        for name, peer in peers.items():
            peer.register(name, pid=os.getpid(), cwd="/w", main_file="/w/x", buffers=["/w/x"])
        wait_until(lambda: registry(sandbox).keys() == peers.keys(), what="all to be there")
        entry = registry(sandbox)["3-work-3"]
        assert {k: entry[k] for k in ("socket", "pid", "cwd", "main_file", "buffers")} == {
            "socket": str(sandbox.socket),
            "pid": os.getpid(),
            "cwd": "/w",
            "main_file": "/w/x",
            "buffers": ["/w/x"],
        }
        peers.pop("3-work-3").close()
        wait_until(lambda: registry(sandbox).keys() == peers.keys(), what="one to be gone")
        peers["1-work-1"].send({"type": "update", "seq": 1, "info": {"main_file": "/w/y"}})
        wait_until(lambda: registry(sandbox)["1-work-1"]["main_file"] == "/w/y", what="the news")
    wait_until(lambda: registry(sandbox) == {}, what="all to be gone")


@pytest.mark.parametrize("text", ["{broken", "[]", "", '"x"', "\udcff", "[" * 100_000])
def test_8_1_a_corrupt_registry_is_set_aside(sandbox: Sandbox, text: str) -> None:
    path = sandbox.run / "vim-mcp-registry.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with Hub(sandbox), Peer(sandbox) as peer:
        peer.register("x-work-1")
        wait_until(lambda: path.exists() and "x-work-1" in registry(sandbox), what="a new one")
    aside = path.with_name(path.name + ".corrupt")
    assert aside.read_bytes() == text.encode(errors="surrogateescape")


@pytest.mark.parametrize(
    "entries",
    [{"a": 5}, {"a-b-1": {}}, {"a-b-1": {"last_seen": 5, "pid": "x"}}, {"a": {"pid": None}}],
)
def test_odd_entries_of_a_registry_are_forgotten(sandbox: Sandbox, entries: Json) -> None:
    (sandbox.run / "vim-mcp-registry.json").write_text(json.dumps(entries))
    with Hub(sandbox) as hub, Peer(sandbox) as peer:
        peer.register("x-work-1")
        wait_until(lambda: registry(sandbox).keys() == {"x-work-1"}, what="a tidy registry")
        assert len(hub.instances()) == 1


def test_a_directory_open_to_others_is_refused(sandbox: Sandbox) -> None:
    sandbox.run.chmod(0o755)
    code, out, err = run(sandbox, "hub", "--ensure")
    assert (code, out) == (1, "")
    assert "its mode is 755, not 700" in err
    with pytest.raises(HubFailed):
        Hub(sandbox).start()
    assert not sandbox.socket.exists()


# --- instances ----------------------------------------------------------------------------------


def register(sandbox: Sandbox, stack: contextlib.ExitStack, **info: Any) -> tuple[Peer, str]:
    """A peer registered as x-work-1, and the id that it was given."""
    peer = stack.enter_context(Peer(sandbox))
    return peer, str(peer.register("x-work-1", **info)["instance_id"])


def test_the_same_id_and_nonce_replace_the_old_connection(hub: Hub, sandbox: Sandbox) -> None:
    with contextlib.ExitStack() as stack:
        old, first = register(sandbox, stack, nonce="n", cwd="/old")
        _, second = register(sandbox, stack, nonce="n", cwd="/new")
        assert (first, second) == ("x-work-1", "x-work-1")
        assert old.closed()
        assert [(i["instance_id"], i["cwd"]) for i in hub.instances()] == [("x-work-1", "/new")]


def test_another_nonce_gets_another_id(hub: Hub, sandbox: Sandbox) -> None:
    with contextlib.ExitStack() as stack:
        ids = [register(sandbox, stack, nonce=nonce)[1] for nonce in ("a", "b", "", "")]
        assert ids == ["x-work-1", "x-work-1.2", "x-work-1.3", "x-work-1.4"]
        assert {i["instance_id"] for i in hub.instances()} == set(ids)
