"""What a forwarder makes of a hub's death, with hubs whose every line is in the test's hands."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from harness import AssistantGone, RawAssistant, Sandbox, wait_until
from harness.raw import PROTOCOL
from tests.integration.fake_hub import FakeHub, Json, Line

pytestmark = pytest.mark.private

INITIALIZE = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


@pytest.fixture
def hub(sandbox: Sandbox) -> Iterator[FakeHub]:
    with FakeHub(sandbox) as hub:
        yield hub


@pytest.fixture
def raw(hub: FakeHub, sandbox: Sandbox) -> Iterator[RawAssistant]:
    with RawAssistant(sandbox).start() as raw:
        yield raw


def greeted(hub: FakeHub) -> tuple[Line, Json]:
    """Take the forwarder's call, answer its greeting, and return what it said."""
    line = hub.accept()
    hello = line.raw_line()
    assert hello.startswith(b"#hello ")
    line.send(b'#welcome {"version":"0","protocol":1}\n#state {"session":"s"}\n')
    return line, dict(json.loads(hello.partition(b" ")[2]))


def initialized(line: Line, version: str = PROTOCOL) -> int:
    """Answer the handshake, and return the id it had."""
    request = json.loads(line.raw_line())
    assert request["method"] == "initialize"
    result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "x"}}
    line.send({"jsonrpc": "2.0", "id": request["id"], "result": result})
    return int(request["id"])


def answer(call_id: object, word: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": call_id, "result": {"word": word}}).encode()


def test_a_line_that_a_dying_hub_has_only_begun_is_dropped(hub: FakeHub, raw: RawAssistant) -> None:
    call = raw.send_request("ping")
    first, _ = greeted(hub)
    assert json.loads(first.raw_line())["id"] == call
    first.socket.sendall(b"#ack %d r\n" % call + answer(call, "of the first")[:25])
    first.close()
    second, hello = greeted(hub)
    assert hello["again"] == [call]
    assert hello["state"] == {"session": "s"}
    # It is asked again, and its answer does not begin in the middle of the other.
    assert json.loads(second.raw_line())["id"] == call
    second.send(answer(call, "of the second") + b"\n")
    assert raw.recv() == {"jsonrpc": "2.0", "id": call, "result": {"word": "of the second"}}


def test_a_replayed_handshake_is_not_answered_twice(hub: FakeHub, raw: RawAssistant) -> None:
    number = raw.send_request("initialize", INITIALIZE)
    first, _ = greeted(hub)
    initialized(first)
    assert raw.answer(number)["result"]["protocolVersion"] == PROTOCOL
    raw.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert json.loads(first.raw_line())["method"] == "notifications/initialized"
    first.close()
    second, _ = greeted(hub)
    assert initialized(second) == number
    assert json.loads(second.raw_line())["method"] == "notifications/initialized"
    call = raw.send_request("ping")
    assert json.loads(second.raw_line())["id"] == call
    second.send(answer(call, "pong") + b"\n")
    assert raw.recv()["id"] == call


def test_where_a_hub_negotiates_something_else_the_client_has_to_start_anew(
    hub: FakeHub, raw: RawAssistant
) -> None:
    number = raw.send_request("initialize", INITIALIZE)
    first, _ = greeted(hub)
    initialized(first)
    raw.answer(number)
    first.close()
    second, _ = greeted(hub)
    initialized(second, "2024-11-05")
    with pytest.raises(AssistantGone):
        raw.recv()
    wait_until(lambda: raw.returncode is not None, what="the forwarder to end")
    assert raw.returncode == 1
    assert "the hub changed under the session" in raw.stderr()


def test_a_cancelled_request_is_not_sent_again(hub: FakeHub, raw: RawAssistant) -> None:
    gone, kept = raw.send_request("ping"), raw.send_request("ping")
    cancel = {"method": "notifications/cancelled", "params": {"requestId": gone}}
    raw.send({"jsonrpc": "2.0"} | cancel)
    first, _ = greeted(hub)
    for _ in range(3):
        first.raw_line()
    first.close()
    second, _ = greeted(hub)
    assert json.loads(second.raw_line())["id"] == kept
    second.send(answer(kept, "pong") + b"\n")
    assert raw.recv()["id"] == kept
