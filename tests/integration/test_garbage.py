"""What comes over the hub's socket: only who sends garbage is dropped; pieces of lines are joined."""

from __future__ import annotations

import contextlib
import json
import os
import random
from collections.abc import Callable, Iterator

import pytest

from harness import Assistant, Editor, Hub, RawAssistant, Sandbox, slow, wait_until
from tests.integration.fake_hub import Json, taken
from tests.integration.peer import Peer

pytestmark = pytest.mark.private

REGISTER = b'{"type":"register","instance_id":"peer-x-1","info":{"pid":1}}'


def first_lines() -> Iterator[tuple[str, bytes]]:
    """Openings that no peer makes, each with a name."""
    rng = random.Random(20261120)
    yield "not_json", b"hello, are you there?\n"
    yield "empty_object", b"{}\n"
    yield "array", b"[1, 2, 3]\n"
    yield "number", b"7\n"
    yield "null", b"null\n"
    yield "unfinished_json", b'{"type":"register"\n'
    yield "type_is_number", b'{"type":5}\n'
    yield "unknown_type", b'{"type":"a_later_one"}\n'
    yield "reply_first", b'{"id":1,"result":{}}\n'
    yield "no_instance_id", b'{"type":"register"}\n'
    yield "instance_id_is_number", b'{"type":"register","instance_id":7,"info":{}}\n'
    yield "instance_id_is_path", b'{"type":"register","instance_id":"../x","info":{}}\n'
    yield "info_is_list", b'{"type":"register","instance_id":"a-b-1","info":[]}\n'
    yield "deep", b"[" * 200_000 + b"\n"
    yield "binary", bytes(rng.randrange(256) for _ in range(100_000)) + b"\n"
    yield "zeros", bytes(100_000) + b"\n"
    yield "http", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    yield "tls", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n"
    yield "mcp_without_hello", b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
    yield "long_line", b"x" * 20_000_000
    yield "long_json", b'{"type":"register","instance_id":"' + b"x" * 20_000_000


def send_all(peer: Peer, data: bytes) -> None:
    """Send until the hub has had enough."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        peer.socket.sendall(data)


@pytest.fixture
def goes_on(hub: Hub, editor: Editor, assistant: Assistant) -> Iterator[Callable[[], None]]:
    """Call it to see that an editor and an assistant, connected before, go on; they do at the end."""
    editor.type("iundisturbed<Esc>")
    pid, known = hub.pid, editor.instance_id
    assert not assistant.call("vim_read").is_error

    def check() -> None:
        assert hub.pid == pid
        assert editor.instance_id == known
        assert assistant.call("vim_read").text.endswith("1\tundisturbed")

    yield check
    check()


def test_a_peer_that_opens_with_garbage_is_dropped_alone(
    goes_on: Callable[[], None], sandbox: Sandbox
) -> None:
    for name, data in first_lines():
        with Peer(sandbox) as peer:
            send_all(peer, data)
            goes_on()
            assert peer.closed(), name


def test_peers_that_open_with_garbage_all_at_once_are_dropped_alone(
    goes_on: Callable[[], None], sandbox: Sandbox
) -> None:
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(sandbox)) for _ in first_lines()]
        for peer, (_, data) in zip(peers, first_lines(), strict=True):
            send_all(peer, data)
        goes_on()
        assert all(peer.closed() for peer in peers)


def test_a_peer_that_does_not_say_who_it_is_is_dropped(
    quick_hub: Hub, goes_on: Callable[[], None], sandbox: Sandbox
) -> None:
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(sandbox)) for _ in range(4)]
        for peer, data in zip(peers, (b"", b"{", REGISTER, b"#hello"), strict=True):
            peer.socket.sendall(data)
        goes_on()
        assert [peer.closed() for peer in peers] == [True] * 4


def test_a_peer_that_leaves_in_the_middle_of_its_first_line_is_forgotten(
    goes_on: Callable[[], None], hub: Hub, sandbox: Sandbox
) -> None:
    for data in (b"", REGISTER[:-10], REGISTER, b"#hello {"):
        with Peer(sandbox) as peer:
            peer.socket.sendall(data)
        goes_on()
    assert len(hub.instances()) == 1


def bad_lines() -> Iterator[tuple[str, bytes]]:
    """What no registered editor sends, each of which costs it its place."""
    yield "nonsense", b"nonsense\n" * 20
    yield "replies_without_result", b'{"id":1}\n' * 20
    yield "long_line", b"x" * 20_000_000
    yield "long_json", b'{"id":1,"result":{"lines":["' + b"x" * 20_000_000 + b'"]}}\n'


def test_an_editor_that_talks_garbage_is_dropped_alone(
    goes_on: Callable[[], None], hub: Hub, sandbox: Sandbox
) -> None:
    for name, data in bad_lines():
        with Peer(sandbox) as peer:
            peer.register(f"{name}-x-1")
            assert len(hub.instances()) == 2
            send_all(peer, data)
            assert peer.closed(), name
        wait_until(lambda: len(hub.instances()) == 1, what="the peer to be gone")
        goes_on()


#: What a later or an earlier protocol, or a careless editor, may send.
ODD_LINES: tuple[Json, ...] = (
    {"type": "a_later_one", "x": 1},
    {"type": "update", "seq": "x", "info": [], "events": 5},
    {"type": "update", "info": {"pid": "x", "cwd": 5, "buffers": {}, "paused": "no"}},
    {"type": "update", "seq": 1, "events": [5, {}, {"event": 7}]},
    {"type": "started", "id": "x"},
    {"type": "started", "id": 4711},
    {"type": "register", "instance_id": "again-x-1", "info": {}},
    {"id": 4711, "result": {}},
    {"id": 4711, "result": []},
    {"id": 4711, "error": "text"},
    {"id": 4711, "error": {"code": "x", "message": 5, "data": []}},
    {"id": "e1", "method": "a_later_one", "params": 5},
    {"type": "status"},
    {"type": "stop"},
)


def test_an_editor_of_another_version_is_understood(
    goes_on: Callable[[], None], sandbox: Sandbox
) -> None:
    with Peer(sandbox) as peer:
        peer.register("peer-x-1", a_later_field={"x": [1]}, protocol=2, features=[1, "x"])
        for n, line in enumerate(ODD_LINES):
            peer.send(line)
            peer.send({"type": "update", "seq": 100 + n, "info": {"cwd": f"/{n}"}})
            while peer.recv() != {"type": "ack", "seq": 100 + n}:
                pass
            assert f"/{n}" in {i["cwd"] for i in peer_instances(peer)}, line
            goes_on()
        peer.send({"type": "bye"})
        assert peer.closed()


def peer_instances(peer: Peer) -> list[Json]:
    """What the hub tells an editor of all editors."""
    peer.send({"id": "e9", "method": "status", "params": {}})
    while (message := peer.recv()).get("id") != "e9":
        pass
    return list(message["result"]["instances"])


#: Answers to `get_lines` that make no sense.
SENSELESS: tuple[Json, ...] = (
    {"result": {}},
    {"result": {"bufnr": "x", "changedtick": None, "line_count": [], "lines": 5}},
    {"result": {"bufnr": 1, "changedtick": 1, "line_count": 1, "lines": [7], "next": 5}},
    {"result": {"bufnr": 1, "changedtick": 1, "line_count": 1, "lines": ["x"], "next": {"x": 1}}},
    {"error": {}},
    {"error": {"code": "x", "message": 5, "data": []}},
)


def test_a_senseless_answer_of_an_editor_is_an_error_of_that_call_alone(
    goes_on: Callable[[], None], sandbox: Sandbox, assistant: Assistant, editor: Editor
) -> None:
    assistant.call("select_vim_instance", instance_id=editor.instance_id)
    with Peer(sandbox) as peer:
        peer.register("peer-x-1")
        for reply in SENSELESS:
            call = assistant.call_async("vim_read", instance_id="peer-x-1")
            request = peer.recv()
            assert request["method"] == "get_lines"
            peer.send({"id": request["id"], **reply})
            assert call.result(30 * slow()).error["code"] == -32603, reply
            goes_on()
        assert len(peer_instances(peer)) == 2


# --- pieces -----------------------------------------------------------------------------------


def send_split(peer: Peer, data: bytes, at: int) -> None:
    """Send in two pieces, the second when the hub has read the first."""
    peer.socket.sendall(data[:at])
    wait_until(lambda: taken(peer.socket), what="the first piece to be read")
    peer.socket.sendall(data[at:])


def test_3_2_a_line_to_the_hub_may_be_split_anywhere(hub: Hub, sandbox: Sandbox) -> None:
    info = {"main_file": "/é/x", "note": 'a "b"'}
    with Peer(sandbox) as peer:
        line = json.dumps(
            {"type": "register", "instance_id": "x-é-1", "info": info}, ensure_ascii=False
        ).encode()
        # In the middle of a character.
        send_split(peer, line + b"\n", line.index("é".encode()) + 1)
        assert peer.recv()["instance_id"] == "x-é-1"
        for cut in range(1, len(line)):
            update = {"type": "update", "seq": cut, "info": {"cwd": f"/é/{cut}"}}
            data = json.dumps(update, ensure_ascii=False).encode() + b"\n"
            send_split(peer, data, min(cut, len(data) - 1))
            assert peer.recv() == {"type": "ack", "seq": cut}
        assert hub.instances()[0]["cwd"] == f"/é/{len(line) - 1}"


def test_lines_that_come_in_one_piece_are_all_read(sandbox: Sandbox, hub: Hub) -> None:
    lines = [REGISTER, *(b'{"type":"update","seq":%d}' % n for n in range(500))]
    with Peer(sandbox) as peer:
        peer.socket.sendall(b"\n".join(lines) + b"\n\n\r\n")
        assert peer.recv()["type"] == "registered"
        assert [peer.recv()["seq"] for _ in range(500)] == list(range(500))


def test_a_request_of_an_assistant_may_be_split_anywhere(raw_assistant: RawAssistant) -> None:
    raw_assistant.initialize()
    request = {"jsonrpc": "2.0", "method": "ping", "params": {"_meta": {"é": 'a "b"'}}}
    size = len(json.dumps(request | {"id": 100}, ensure_ascii=False).encode())
    for cut in range(1, size):
        data = json.dumps(request | {"id": 100 + cut}, ensure_ascii=False).encode() + b"\n"
        raw_assistant.send_bytes(data[:cut])
        raw_assistant.send_bytes(data[cut:])
        assert raw_assistant.answer(100 + cut)["result"] == {}
    # Two at once, and the rest of the second later.
    raw_assistant.send_bytes(data + data[:20].replace(b"2.0", b"2.0"))
    raw_assistant.send_bytes(data[20:])
    assert raw_assistant.answer(100 + cut)["result"] == {}


def test_a_hub_whose_peers_are_all_garbage_keeps_no_files_open(hub: Hub, sandbox: Sandbox) -> None:
    before = len(os.listdir(f"/proc/{hub.pid}/fd"))
    for _ in range(50):
        with Peer(sandbox) as peer:
            peer.send(b"garbage")
            assert peer.closed()
    wait_until(
        lambda: len(os.listdir(f"/proc/{hub.pid}/fd")) <= before, what="connections to be closed"
    )
