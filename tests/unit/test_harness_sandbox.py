from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import process
from harness.errors import ProcessesLeft
from harness.sandbox import Sandbox, sweep
from harness.wait import wait_until

# A process that starts another, detached as a daemon is, and ends.
_DOUBLE_FORK = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(60)
    os._exit(0)
os.wait()
"""


def test_directories_are_private_and_the_socket_path_is_short() -> None:
    with Sandbox() as sandbox:
        for path in (sandbox.root, sandbox.home, sandbox.run):
            assert path.stat().st_mode & 0o777 == 0o700
        assert len(str(sandbox.socket)) < 103
        assert (sandbox.project() / ".git").is_dir()
        assert sandbox.project("other") == sandbox.root / "other"
    assert not sandbox.root.exists()


def test_the_environment_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "me")
    monkeypatch.setenv("VIM_MCP_SOCKET", "/nowhere")
    monkeypatch.setenv("HARNESS_SLOW", "2")
    with Sandbox() as sandbox:
        env = sandbox.env(EXTRA="1")
    assert env["VIM_MCP_RUNTIME_DIR"] == str(sandbox.run)
    assert env["HOME"] == str(sandbox.home)
    assert env["VIM_MCP_TIMEOUT_SCALE"] == "2"
    assert env["EXTRA"] == "1"
    assert not {"SUDO_USER", "VIM_MCP_SOCKET"} & env.keys()


def test_projects_are_emptied_and_stay() -> None:
    with Sandbox() as sandbox:
        (sandbox.project() / "deep" / "er").mkdir(parents=True)
        (sandbox.project() / "a.txt").write_text("x")
        (sandbox.home / ".vimrc").write_text("x")
        sandbox.clear_projects()
        assert [entry.name for entry in sandbox.project().iterdir()] == [".git"]
        assert (sandbox.home / ".vimrc").exists()


@pytest.mark.skipif(not process.LINUX, reason="needs /proc")
class TestProcesses:
    def test_a_daemon_ends_with_the_sandbox(self) -> None:
        sandbox = Sandbox()
        subprocess.run([sys.executable, "-c", _DOUBLE_FORK], env=sandbox.env(), check=True)
        (daemon,) = sandbox.processes()
        assert daemon.ppid == os.getpid(), "orphans are adopted"
        sandbox.close()
        assert not process.exists(daemon.pid)

    def test_what_is_left_is_told_when_asked_for(self) -> None:
        sandbox = Sandbox()
        subprocess.run([sys.executable, "-c", _DOUBLE_FORK], env=sandbox.env(), check=True)
        with pytest.raises(ProcessesLeft, match="python"):
            sandbox.close(strict=True)
        assert not sandbox.root.exists()

    def test_another_sandboxs_processes_are_left_alone(self) -> None:
        with Sandbox() as one, Sandbox() as other:
            subprocess.run([sys.executable, "-c", _DOUBLE_FORK], env=one.env(), check=True)
            assert len(one.processes()) == 1
            assert other.end_processes() == []
            assert len(one.processes()) == 1

    def test_the_sandbox_of_a_killed_owner_is_swept(self, tmp_path: Path) -> None:
        # The owner starts a daemon in its sandbox, says where it is, and kills itself.
        script = f"""
import os, subprocess, sys
from harness.sandbox import Sandbox
sandbox = Sandbox()
subprocess.run(
    [sys.executable, "-c", {_DOUBLE_FORK!r}],
    env=sandbox.env(),
    stdout=subprocess.DEVNULL,  # it would keep our pipe open
    stderr=subprocess.DEVNULL,
    check=True,
)
print(sandbox.root, sandbox.processes()[0].pid, flush=True)
os.kill(os.getpid(), 9)
"""
        process.adopt_orphans()
        with Sandbox() as mine:
            done = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, check=False
            )
            root, pid = done.stdout.split()
            assert Path(root).is_dir()
            swept = sweep()
            assert root in swept or not Path(root).exists()  # another worker's sweep may have won
            assert mine.root.is_dir()
        wait_until(lambda: not process.exists(int(pid)), what="the daemon to be gone")

    def test_a_thread_that_ran_is_noticed(self) -> None:
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
            before = wait_until(lambda: process.asleep(child.pid), what="it to wait for input")
            assert process.asleep(child.pid) == before
            child.communicate(b"\n")
        assert process.asleep(child.pid) is None
