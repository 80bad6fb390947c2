"""Answers on their way: bounded in memory, and no session waits for another's."""

from __future__ import annotations

import json
import re
import select
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import (
    Assistant,
    Editor,
    Hub,
    RawAssistant,
    Sandbox,
    Stage,
    WaitTimeout,
    slow,
    wait_until,
)
from harness.wait import pause
from tests.integration.fake_hub import Json
from tests.integration.peer import Peer
from tests.integration.test_forwarder import HANDSHAKE

pytestmark = pytest.mark.private

CURRENT = {"uri": "vim://buffer/current"}
LINE = "x" * 1023
MB = 1024 * 1024


def fill(editor: Editor, megabytes: int) -> None:
    """Put so much text into an editor's buffer."""
    editor.command(f"call setline(1, repeat(['{LINE}'], {megabytes * 1024}))")


def memory(pid: int, what: str) -> int:
    """A process's VmRSS or VmHWM, in bytes."""
    found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) * 1024


# --- others go on -------------------------------------------------------------------------------


def test_an_assistant_that_asks_for_much_and_reads_nothing_costs_no_other(
    editor: Editor, hub: Hub, raw_assistant: RawAssistant, assistant: Assistant
) -> None:
    raw_assistant.initialize()
    fill(editor, 8)
    before = memory(hub.pid, "VmRSS")
    requests = [raw_assistant.send_request("resources/read", CURRENT) for _ in range(30)]
    for n in range(50):
        assert assistant.call("vim_execute", command=f"echo {n}").text == str(n)
    # Also one that asks for much itself.
    (read,) = assistant.read(CURRENT["uri"])
    assert len(getattr(read, "text", "")) == 8 * MB
    for request in requests:
        answer = raw_assistant.answer(request, 60)
        assert len(answer["result"]["contents"][0]["text"]) == 8 * MB
    # All of them at once would be 240 MB of text alone.
    assert memory(hub.pid, "VmHWM") - before < 200 * MB


def test_small_calls_are_answered_while_a_big_answer_is_under_way(
    editor: Editor, new_assistant: Callable[..., Assistant]
) -> None:
    fill(editor, 9)
    one, other = new_assistant(name="big"), new_assistant(name="small")
    big, beside = one.read_async(CURRENT["uri"]), 0
    while not big.done():
        assert other.call("vim_read", last_line=1).text.endswith(LINE)
        beside += not big.done()
    assert beside > 0
    (read,) = big.result().contents
    assert getattr(read, "text", "") == f"{LINE}\n" * 9 * 1024


# --- editors and assistants made of bare lines --------------------------------------------------


class Text:
    """An editor that has one endless text and gives slices of it as long as the test wants."""

    def __init__(self, sandbox: Sandbox, number: int) -> None:
        self.peer = Peer(sandbox)
        self.id = f"x-work-{number}"
        self.given = 0
        self.asked: Json | None = None
        assert self.peer.register(self.id)["type"] == "registered"

    def give(self, most: int) -> None:
        """Answer requests for text until so many bytes are given, or none is asked for."""
        while self.given < most:
            if self.asked is None and not select.select([self.peer.socket], [], [], slow())[0]:
                return
            self.asked = self.asked or self.peer.recv()
            self._answer(following={"line": self.asked["params"]["first"] + 64})
            self.given += 64 * 1024

    def end(self) -> None:
        """Answer the request that is open, or the next, with the last slice."""
        self.peer.socket.settimeout(20 * slow())
        self.asked = self.asked or self.peer.recv()
        self._answer(following=None)

    def _answer(self, following: Json | None) -> None:
        assert self.asked is not None
        assert self.asked["method"] == "get_lines"
        facts = {"bufnr": 1, "changedtick": 1, "line_count": 10**6, "lines": [LINE] * 64}
        self.peer.send({"id": self.asked["id"], "result": {**facts, "next": following}})
        self.asked = None


def test_two_big_answers_are_made_at_once(sandbox: Sandbox, stage: Stage) -> None:
    # Slices are not waited for while the others are looked at.
    stage.need_hub().restart(VIM_MCP_TIMEOUT_SCALE=f"{30 * slow():g}")
    texts = [Text(sandbox, n) for n in range(4)]
    raws = [stage.new_raw_assistant() for _ in texts]
    try:
        for raw, text in zip(raws, texts, strict=True):
            raw.initialize()
            raw.send_request("resources/read", {"uri": f"vim://instance/{text.id}/buffer/1"})
        for _ in range(2):
            for text in texts:
                text.give(3 * MB)
        given = sorted(text.given for text in texts)
        assert given[2:] == [3 * MB, 3 * MB]
        # Those that wait hold little.
        assert given[1] <= MB + 64 * 1024
        for text in sorted(texts, key=lambda text: -text.given):
            text.end()
        for raw, text in zip(raws, texts, strict=True):
            whole = raw.answer(2, 30)["result"]["contents"][0]["text"]
            assert len(whole) == text.given + 64 * 1024
    finally:
        for text in texts:
            text.peer.close()


def session(sandbox: Sandbox) -> Peer:
    """An assistant's session without a forwarder, shaken hands."""
    peer = Peer(sandbox)
    peer.send(b"#hello {}")
    peer.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE})
    peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return peer


def ask(peer: Peer, number: int) -> None:
    """Ask for the current buffer's text."""
    request = {"jsonrpc": "2.0", "id": number, "method": "resources/read", "params": CURRENT}
    peer.send(request)


def test_a_session_with_too_much_unread_is_not_read_from(
    editor: Editor, hub: Hub, sandbox: Sandbox
) -> None:
    fill(editor, 9)
    with session(sandbox) as peer:
        peer.socket.settimeout(60 * slow())
        for number in range(2, 8):
            ask(peer, number)
        # Soon the hub has as much for it as it may, and what else it sends stays in the socket.
        ping = json.dumps({"jsonrpc": "2.0", "id": "p", "method": "ping"}).encode()
        peer.socket.setblocking(False)
        full = 0

        def stays_full() -> bool:
            # One request a look, 256 in flight would stop it, too. Empty lines cost nothing, and
            # may be cut anywhere.
            nonlocal full
            try:
                peer.socket.send(ping + b"\n" * 65536)
                full = 0
            except BlockingIOError:
                full += 1
            return full >= 20

        wait_until(stays_full, seconds=20, what="the hub to stop reading")
        assert len(hub.instances()) == 1
        peer.socket.settimeout(60 * slow())
        answered: set[object] = set()
        while not answered >= set(range(2, 8)):
            line = peer.recv_line()
            if not line.startswith(b"#"):
                answered.add(json.loads(line).get("id"))


def test_an_assistant_that_takes_nothing_is_dropped_and_a_slow_one_is_not(
    quick_hub: Hub, editor: Editor, sandbox: Sandbox
) -> None:
    fill(editor, 4)
    with session(sandbox) as deaf, session(sandbox) as slow_one:
        ask(deaf, 2)
        ask(slow_one, 2)
        taken = bytearray()

        def dropped() -> bool:
            # 64 KB now and then: it would take longer than what the deaf one is given.
            taken.extend(slow_one.socket.recv(32 * 1024))
            pause(0.1)
            return "it does not read" in quick_hub.log_text()

        wait_until(dropped, seconds=30, what="the deaf one to be dropped")
        status = quick_hub.status()
        assert status is not None
        assert len(status["sessions"]) == 1
        while b'"id":2' not in taken or not taken.endswith(b"\n"):
            taken.extend(slow_one.socket.recv(MB))
        answer = next(line for line in taken.splitlines() if b'"id":2' in line[:40])
        assert len(json.loads(answer)["result"]["contents"][0]["text"]) == 4 * MB
    assert quick_hub.log_text().count("it does not read") == 1


def test_a_client_that_takes_nothing_for_long_gets_its_answers_in_the_end(
    quick_hub: Hub, editor: Editor, raw_assistant: RawAssistant
) -> None:
    fill(editor, 9)
    raw_assistant.initialize()
    requests = [raw_assistant.send_request("resources/read", CURRENT) for _ in range(3)]
    wait_until(
        lambda: "it does not read" in quick_hub.log_text(), seconds=30, what="it to be dropped"
    )
    for request in requests:
        answer = raw_assistant.answer(request, 60)
        assert len(answer["result"]["contents"][0]["text"]) == 9 * MB


# --- progress, and calls taken back -------------------------------------------------------------

META: Json = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "piped", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def begin(raw: RawAssistant, era: str) -> Json:
    """Shake hands if the era does; return what a request's `_meta` holds that wants progress."""
    if era == "legacy":
        raw.initialize()
        return {"progressToken": "tok"}
    return META | {"progressToken": "tok"}


def progress(raw: RawAssistant) -> list[Json]:
    """What was told of the progress of that request, checked for growing."""
    told = [m["params"] for m in raw.notifications if m["method"] == "notifications/progress"]
    assert all(one["progressToken"] == "tok" for one in told)
    numbers = [one["progress"] for one in told]
    assert numbers == sorted(set(numbers))
    return told


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_long_read_tells_its_progress(
    editor: Editor, raw_assistant: RawAssistant, era: str
) -> None:
    fill(editor, 6)
    meta = begin(raw_assistant, era)
    answer = raw_assistant.request("resources/read", {**CURRENT, "_meta": meta}, seconds=30)
    assert len(answer["result"]["contents"][0]["text"]) == 6 * MB
    told = progress(raw_assistant)
    assert len(told) == 5
    assert {one["total"] for one in told} == {6 * 1024}
    assert re.fullmatch(r"\d+ of 6144 lines are read", told[0]["message"])


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_an_act_that_waits_tells_for_what(
    editor: Editor, raw_assistant: RawAssistant, era: str
) -> None:
    meta = begin(raw_assistant, era)
    editor.type("iabc")
    arguments = {"bufnr": 1, "line": 1, "content": "new"}
    params: dict[str, Any] = {"name": "vim_edit", "arguments": arguments, "_meta": meta}
    request = raw_assistant.send_request("tools/call", params)
    while not (told := progress(raw_assistant)):
        raw_assistant.notifications.append(raw_assistant.recv(4))
    assert "The user is typing in Insert mode" in told[0]["message"]
    assert 0 < told[0]["progress"] < told[0]["total"]
    editor.type("<Esc>")
    assert not raw_assistant.answer(request, 30)["result"].get("isError")
    assert editor.lines() == ["new"]


def test_who_asks_for_no_progress_hears_of_none(
    editor: Editor, raw_assistant: RawAssistant
) -> None:
    fill(editor, 3)
    raw_assistant.initialize()
    assert "result" in raw_assistant.request("resources/read", CURRENT, seconds=30)
    assert progress(raw_assistant) == []


def test_a_cancelled_long_read_ends_and_gets_no_answer(
    sandbox: Sandbox, hub: Hub, raw_assistant: RawAssistant
) -> None:
    raw_assistant.initialize()
    text = Text(sandbox, 1)
    request = raw_assistant.send_request("resources/read", CURRENT)
    text.give(2 * MB)
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    raw_assistant.send({**cancelled, "params": {"requestId": request, "reason": "enough"}})
    assert "result" in raw_assistant.request("ping")
    # The slice that was asked for is taken back, and none is asked for after it.
    asked = text.asked or text.peer.recv()
    taken_back = text.peer.recv()
    assert taken_back == {"type": "cancel", "id": asked["id"]}
    text.asked = asked
    text.end()
    assert not text.peer.closed()
    with pytest.raises(WaitTimeout):
        raw_assistant.answer(request, 0.1)
    text.peer.close()
