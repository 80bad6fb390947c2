"""The process an MCP client starts: what it writes, how it ends, and that it outlives hubs."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from harness import Assistant, AssistantGone, Editor, Hub, RawAssistant, Sandbox, slow, wait_until
from harness.assistant import Era
from harness.raw import PROTOCOL

Json = dict[str, Any]

HANDSHAKE: Json = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "piped", "version": "1"},
}
#: What a client of the later era says of itself in each request.
META: Json = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "piped", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

ERAS: tuple[Era, ...] = ("modern", "legacy")


def request(number: int | str, method: str, **params: Any) -> str:
    """One request line."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def call_line(number: int | str, tool: str, **arguments: Any) -> str:
    """One line that calls a tool."""
    return request(number, "tools/call", name=tool, arguments=arguments)


INITIALIZED = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n"


def pipe(sandbox: Sandbox, text: str | bytes, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run a forwarder with all its input at once and its stdin closed after it."""
    return subprocess.run(
        [sys.executable, "-m", "vim_mcp"],
        input=text.encode() if isinstance(text, str) else text,
        env=sandbox.env(**env),
        cwd=sandbox.project(),
        capture_output=True,
        check=False,
        timeout=30 * slow(),
    )


def messages(output: bytes) -> list[Json]:
    """The messages on a stdout that holds JSON-RPC lines and nothing else."""
    assert not output or output.endswith(b"\n")
    found = [json.loads(line) for line in output.splitlines()]
    for message in found:
        assert message["jsonrpc"] == "2.0"
        assert ("method" in message) or ("result" in message) != ("error" in message)
    return found


# --- pipes --------------------------------------------------------------------------------------


def test_piped_requests_are_all_answered_before_it_exits(editor: Editor, sandbox: Sandbox) -> None:
    editor.type("ione<Esc>")
    lines = [request("hand", "initialize", **HANDSHAKE), INITIALIZED]
    lines += [call_line(n, "vim_execute", command=f"echo {n}") for n in range(20)]
    lines += [request("list", "tools/list"), request("read", "resources/read", uri="vim://state")]
    done = pipe(sandbox, "".join(lines))
    assert done.returncode == 0
    answers = {m["id"]: m["result"] for m in messages(done.stdout) if "id" in m}
    assert answers.keys() == {"hand", "list", "read", *range(20)}
    for n in range(20):
        assert answers[n]["content"][0]["text"] == str(n)
    assert done.stderr == b""


def test_stdout_holds_json_rpc_alone(
    editor: Editor, new_editor: Callable[..., Editor], raw_assistant: RawAssistant
) -> None:
    raw_assistant.initialize()
    for uri in ("vim://instances", "vim://state"):
        raw_assistant.request("resources/subscribe", {"uri": uri})
    editor.type("isome text<Esc>")
    raw_assistant.call("vim_edit", bufnr=1, line=1, content="changed")
    other = new_editor()
    raw_assistant.call("select_vim_instance", instance_id=other.instance_id)
    other.stop()
    raw_assistant.close_stdin()
    seen = bytearray()
    with contextlib.suppress(AssistantGone):
        while True:
            seen += raw_assistant.recv_line() + b"\n"
    assert raw_assistant.wait() == 0
    for message in [*messages(bytes(seen)), *raw_assistant.notifications]:
        assert message["jsonrpc"] == "2.0"
    methods = {m["method"] for m in raw_assistant.notifications}
    assert "notifications/resources/updated" in methods


def test_nothing_is_written_to_stdout_unasked(raw_assistant: RawAssistant, hub: Hub) -> None:
    wait_until(lambda: (hub.status() or {})["sessions"], what="the hub to know the session")
    assert raw_assistant.returncode is None
    raw_assistant.close_stdin()
    assert raw_assistant.wait() == 0
    with pytest.raises(AssistantGone):
        raw_assistant.recv_line()
    assert raw_assistant.stderr() == ""


def test_it_ends_when_the_client_leaves(raw_assistant: RawAssistant, hub: Hub) -> None:
    raw_assistant.initialize()
    raw_assistant.close_stdin()
    assert raw_assistant.wait() == 0
    wait_until(lambda: not (hub.status() or {})["sessions"], what="the session to be gone")


def test_it_ends_when_nobody_reads_its_answers(raw_assistant: RawAssistant) -> None:
    raw_assistant.initialize()
    out = raw_assistant._running().stdout
    assert out is not None
    out.close()
    raw_assistant.send_request("tools/list")
    assert raw_assistant.wait() == 0


GARBAGE = [
    (b"hello\n", None, -32700),
    (b"{\n", None, -32700),
    (b'{"jsonrpc": "2.0", "id": 7, "method": \n', None, -32700),
    (b"\xff\xfe\x00\n", None, -32700),
    (b"[" * 100_000 + b"\n", None, -32700),
    (b"null\n", None, -32600),
    (b"5\n", None, -32600),
    (b"[]\n", None, -32600),
    (b"{}\n", None, -32600),
    (b'{"id": 7, "method": "ping"}\n', 7, -32600),
    (b'{"jsonrpc": "1.0", "id": "x", "method": "ping"}\n', "x", -32600),
    (b'{"jsonrpc": "2.0", "id": 8, "method": 5}\n', 8, -32600),
]


def test_garbage_lines_are_answered_as_such(sandbox: Sandbox, hub: Hub) -> None:
    start = request("hand", "initialize", **HANDSHAKE) + INITIALIZED
    for line, number, code in GARBAGE:
        done = pipe(sandbox, start.encode() + line + request("end", "ping").encode())
        assert done.returncode == 0, line
        answers = [m for m in messages(done.stdout) if m.get("id") not in ("hand", "end")]
        assert [(m.get("id"), m["error"]["code"]) for m in answers] == [(number, code)], line[:80]
        assert {"hand", "end"} <= {m.get("id") for m in messages(done.stdout)}, line[:80]


def test_lines_that_are_private_to_hub_and_forwarder_are_no_clients(
    sandbox: Sandbox, hub: Hub
) -> None:
    lines = ['#state {"selected":"x"}\n', "#ack 1 r\n", "#hello {}\n", "\n", "\r\n"]
    start = [request("hand", "initialize", **HANDSHAKE), INITIALIZED]
    done = pipe(sandbox, "".join([*lines, *start, *lines, request("end", "ping")]))
    assert done.returncode == 0
    assert {m["id"] for m in messages(done.stdout)} == {"hand", "end"}


@pytest.mark.private
@pytest.mark.parametrize("what", ["mode", "file", "parent"])
def test_an_unusable_runtime_directory_is_told_on_stderr(sandbox: Sandbox, what: str) -> None:
    path = sandbox.root / "other"
    if what == "mode":
        path.mkdir(mode=0o755)
        path.chmod(0o755)
    elif what == "file":
        path.touch()
    else:
        path = path / "deep"
    done = pipe(sandbox, request(1, "ping"), VIM_MCP_RUNTIME_DIR=str(path))
    assert done.returncode == 1
    assert done.stdout == b""
    told = done.stderr.decode()
    assert told.startswith(f"vim-mcp: cannot use {path}: ")
    assert "VIM_MCP_RUNTIME_DIR" in told
    assert len(told.splitlines()) == 1


@pytest.mark.private
def test_7_2_1_it_starts_a_hub_when_none_runs(sandbox: Sandbox) -> None:
    done = pipe(sandbox, request("hand", "initialize", **HANDSHAKE))
    assert done.returncode == 0
    assert [m["result"]["serverInfo"]["name"] for m in messages(done.stdout)] == ["vim-mcp"]


# --- eras ---------------------------------------------------------------------------------------


def test_both_eras_see_the_same(editor: Editor, new_assistant: Callable[..., Assistant]) -> None:
    editor.type("ione<Esc>")
    modern, legacy = (new_assistant(era=era) for era in ERAS)
    assert modern.protocol_version > legacy.protocol_version
    assert modern.instructions == legacy.instructions
    assert modern.tools() == legacy.tools()
    assert modern.resources() == legacy.resources()
    assert modern.call("vim_read").text == legacy.call("vim_read").text
    assert modern.call("vim_read", bufnr=4711).error == legacy.call("vim_read", bufnr=4711).error
    assert modern.read_json("vim://state") == legacy.read_json("vim://state")


def test_discover_may_be_followed_by_initialize(
    editor: Editor, raw_assistant: RawAssistant
) -> None:
    found = raw_assistant.request("server/discover", {"_meta": META}, seconds=10)
    assert "2026-07-28" in found["result"]["supportedVersions"]
    assert raw_assistant.initialize()["result"]["protocolVersion"] == PROTOCOL
    answer = raw_assistant.call("vim_execute", command="echo 1")
    assert answer["result"]["content"][0]["text"] == "1"


def test_a_later_client_needs_no_handshake(editor: Editor, raw_assistant: RawAssistant) -> None:
    params = {"name": "vim_execute", "arguments": {"command": "echo 1"}, "_meta": META}
    answer = raw_assistant.request("tools/call", params, seconds=10)
    assert answer["result"]["content"][0]["text"] == "1"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_3_1_every_earlier_protocol_is_spoken(
    hub: Hub, raw_assistant: RawAssistant, version: str
) -> None:
    assert raw_assistant.initialize(version)["result"]["protocolVersion"] == version
    assert "result" in raw_assistant.request("tools/list")
