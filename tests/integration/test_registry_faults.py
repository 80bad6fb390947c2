"""The registry under faults: what is no registry of ours, and editors whose pids mean nothing here."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest

from harness import Hub, Sandbox, Stage, wait_until
from tests.integration.peer import Peer
from tests.integration.test_hub import registry

pytestmark = pytest.mark.private

VALID = json.dumps({"stranger-x-1": {"pid": os.getpid(), "cwd": "/", "last_seen": "2999-01-01"}})


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    other = path.with_name("elsewhere.json")
    other.write_text(VALID)
    path.symlink_to(other)


def of_another(path: Path) -> None:
    path.write_text(VALID)
    try:
        os.chown(path, 12345, 12345)
    except PermissionError:
        pytest.skip("only root gives files away")


FOREIGN: dict[str, Callable[[Path], None]] = {"pipe": pipe, "link": link, "another's": of_another}


@pytest.mark.parametrize("what", FOREIGN)
def test_8_1_a_registry_that_is_not_ours_is_set_aside_and_rebuilt(
    sandbox: Sandbox, what: str
) -> None:
    path = sandbox.run / "vim-mcp-registry.json"
    FOREIGN[what](path)
    with Hub(sandbox) as hub, Peer(sandbox) as peer:
        peer.register("x-work-1")
        wait_until(lambda: path.is_file() and registry(sandbox).keys() == {"x-work-1"})
        assert not path.is_symlink()
        assert path.lstat().st_uid == os.getuid()
        assert hub.log_text().count(f"registry {path} is set aside") == 1
    assert os.path.lexists(f"{path}.corrupt")


#: Registers as an editor in a pid namespace of its own, where every first process is 1.
REGISTER = """
import json, os, socket, sys
hub = socket.socket(socket.AF_UNIX)
hub.connect(sys.argv[1])
info = {"pid": os.getpid(), "cwd": sys.argv[2], "nonce": sys.argv[2]}
line = {"type": "register", "instance_id": f"x-work-{os.getpid()}", "info": info}
hub.sendall(json.dumps(line).encode() + b"\\n")
lines = hub.makefile()
print(lines.readline(), end="", flush=True)
sys.stdin.readline()
"""


def in_a_container(sandbox: Sandbox, name: str) -> subprocess.Popen[str]:
    """Start an editor's stand-in where it has pid 1."""
    command = ["unshare", "--pid", "--fork", "--kill-child", sys.executable, "-c", REGISTER]
    return subprocess.Popen(
        [*command, str(sandbox.socket), f"/{name}"],
        env=sandbox.env(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_editors_of_two_pid_namespaces_are_told_apart(hub: Hub, sandbox: Sandbox) -> None:
    probe = subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("no namespace can be made here")
    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(in_a_container(sandbox, name)) for name in ("one", "two")]
        for child in children:
            stack.callback(child.kill)
        ids = []
        for child in children:
            assert child.stdout is not None
            ids.append(json.loads(child.stdout.readline())["instance_id"])
        assert sorted(ids) == ["x-work-1", "x-work-1.2"]
        found = {i["instance_id"]: i["cwd"] for i in hub.instances()}
        assert found == dict(zip(ids, ["/one", "/two"], strict=True))
        assert {i["pid"] for i in hub.instances()} == {1}
        wait_until(lambda: registry(sandbox).keys() == set(ids), what="the registry")
        # One ends: it is gone, and not the one that claims the same pid.
        assert children[0].stdin is not None
        children[0].stdin.close()
        children[0].wait()
        wait_until(lambda: [i["instance_id"] for i in hub.instances()] == ids[1:])


def test_an_editor_that_is_dead_is_not_awaited_because_another_has_the_pid_it_claimed(
    sandbox: Sandbox, stage: Stage
) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    entry = {
        # Of its own namespace; here it is somebody else's.
        "pid": 1,
        "peer_pid": dead.pid,
        "cwd": "/",
        "last_seen": datetime.now(timezone.utc).isoformat(),
    }
    (sandbox.run / "vim-mcp-registry.json").write_text(json.dumps({"x-work-1": entry}))
    # With this scale one that may come back would be waited for longer than the test.
    hub = Hub(sandbox).start(VIM_MCP_TIMEOUT_SCALE="100")
    with hub, Peer(sandbox) as peer:
        peer.register("y-work-2")
        raw = stage.new_raw_assistant()
        raw.initialize()
        number = raw.send_request("tools/call", {"name": "vim_read", "arguments": {}})
        request = peer.recv()
        peer.send({"id": request["id"], "error": {"code": 1004, "message": "asked"}})
        assert "asked" in str(raw.answer(number, 20))
