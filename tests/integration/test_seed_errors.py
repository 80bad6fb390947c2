"""Section 8 of the first seed: what goes wrong is mended or told, with these codes and facts."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness import Assistant, Editor, Hub, RawAssistant, Sandbox, hub_status, wait_until
from tests.integration.conftest import Wired
from tests.integration.fake_hub import Json
from tests.integration.peer import Peer
from tests.integration.test_hub import registry, run

pytestmark = pytest.mark.private


# --- 8.1 conditions -----------------------------------------------------------------------------
# No instances, crashes of editor and hub: test_instances.py, test_faults.py, test_survival.py.


def test_8_1_an_editor_whose_socket_fails_connects_again(wired: Wired) -> None:
    editor, line, hub = wired
    # Closed with something unread: the other side gets an error, not an end.
    editor.type("ione<Esc>")
    line.close()
    assert hub.greet()[1]["instance_id"] == editor.eval("$VIM_MCP_INSTANCE")
    assert editor.messages() == ""


IN_THE_WAY: dict[str, Callable[[Path], object]] = {
    "file": lambda path: path.write_text("mine"),
    "directory": lambda path: path.mkdir(),
    "full directory": lambda path: (path / "x").mkdir(parents=True),
    "dangling link": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("what", IN_THE_WAY)
def test_8_1_what_is_in_the_sockets_place_is_set_aside(sandbox: Sandbox, what: str) -> None:
    IN_THE_WAY[what](sandbox.socket)
    assert run(sandbox, "hub", "--ensure") == (0, "", "")
    assert hub_status(sandbox) is not None
    aside = sandbox.socket.with_name(sandbox.socket.name + ".aside")
    assert aside.is_symlink() or aside.exists()
    assert "is set aside as" in (sandbox.run / "hub.log").read_text()


@pytest.mark.parametrize("what", IN_THE_WAY)
def test_8_1_outside_the_runtime_directory_nothing_is_moved(sandbox: Sandbox, what: str) -> None:
    path = sandbox.project() / "own.sock"
    IN_THE_WAY[what](path)
    before = path.lstat()
    code, out, err = run(sandbox, "hub", VIM_MCP_SOCKET=str(path))
    assert (code, out) == (1, "")
    assert f"cannot use {path}: something that is no socket is in its place" in err
    assert path.lstat() == before


@pytest.mark.parametrize("name", ["hub.lock", "hub.log"])
def test_8_1_a_file_of_the_hub_that_cannot_be_had_is_named(sandbox: Sandbox, name: str) -> None:
    (sandbox.run / name).mkdir()
    code, out, err = run(sandbox, "hub")
    assert (code, out) == (1, "")
    assert err.startswith(f"vim-mcp: cannot use {sandbox.run / name}: ")
    assert "Traceback" not in err


def test_8_1_a_directory_that_cannot_be_made_is_named(sandbox: Sandbox) -> None:
    code, _, err = run(sandbox, "hub", "--ensure", VIM_MCP_RUNTIME_DIR="/proc/vim-mcp")
    assert code == 1
    assert err.startswith("vim-mcp: cannot use /proc/vim-mcp: ")


def test_8_1_a_directory_in_the_registrys_place_is_set_aside(sandbox: Sandbox) -> None:
    path = sandbox.run / "vim-mcp-registry.json"
    (path / "x").mkdir(parents=True)
    with Hub(sandbox), Peer(sandbox) as peer:
        peer.register("x-work-1")
        wait_until(lambda: path.is_file() and "x-work-1" in registry(sandbox), what="a registry")


# --- 8.2, 8.3 codes and data --------------------------------------------------------------------


class Scene(NamedTuple):
    """How many editors there are, what the one that is asked answers, and what comes of it."""

    editors: int
    reply: Json | str
    code: int
    words: str
    data: Json


X = {"instance_id": "x-work-0"}
SCENES = {
    "none selected": Scene(
        2,
        "is not asked",
        1001,
        "none is selected",
        {"instances": [{"instance_id": f"x-work-{n}", "cwd": "/"} for n in range(2)]},
    ),
    "none there": Scene(0, "is not asked", 1002, "run :VimMCPReconnect in Vim", {}),
    "lost": Scene(1, "dies", 1003, "was lost", X | {"effect_unknown": False}),
    "no answer": Scene(
        1, "is silent", 1003, "did not answer", X | {"effect_unknown": False, "reason": "busy"}
    ),
    "refused": Scene(
        1,
        {"error": {"code": 1004, "message": "It is private.", "data": {"reason": "private"}}},
        1004,
        "It is private.",
        X | {"reason": "private"},
    ),
    "failed": Scene(
        1,
        {"error": {"code": 1004, "message": "E1", "data": {"original_error": "E1: in Vim"}}},
        1004,
        "E1",
        X | {"original_error": "E1: in Vim"},
    ),
    "parameters": Scene(1, {"error": {"code": -32602, "message": "No line 7."}}, -32602, "7", X),
    "no method": Scene(
        1,
        {"error": {"code": -32601, "message": "What?"}},
        -32601,
        "is older than this vim-mcp",
        X | {"plugin_version": ""},
    ),
    "no reason": Scene(1, {"error": {}}, -32603, "gave no reason", X),
    "no sense": Scene(1, {"result": {}}, -32603, "makes no sense", X),
}


def ask(raw: RawAssistant, face: str) -> int:
    """Send a request for the current buffer's text, as a tool call or a resource."""
    if face == "tool":
        return raw.send_request("tools/call", {"name": "vim_read", "arguments": {}})
    return raw.send_request("resources/read", {"uri": f"vim://{face}"})


def told(raw: RawAssistant, number: int) -> Json:
    """What went wrong with a request: {code, message, data}, from the result or the error."""
    response = raw.answer(number, 30)
    if "error" in response:
        return {"data": {}, **response["error"]}
    assert response["result"]["isError"], response
    return {"data": {}, **json.loads(response["result"]["content"][0]["text"])}


@pytest.mark.parametrize("face", ["tool", "buffer/current", "state"])
@pytest.mark.parametrize("name", SCENES)
def test_8_2_8_3_an_error_has_its_code_and_data_on_tools_and_resources(
    quick_hub: Hub, sandbox: Sandbox, raw_assistant: RawAssistant, name: str, face: str
) -> None:
    scene = SCENES[name]
    raw_assistant.initialize()
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(Peer(sandbox)) for _ in range(scene.editors)]
        for n, peer in enumerate(peers):
            peer.register(f"x-work-{n}")
        number = ask(raw_assistant, face)
        if scene.reply != "is not asked":
            request = peers[0].recv()
            assert request["method"] == ("get_state" if face == "state" else "get_lines")
            reply = scene.reply
            if name == "no sense" and face == "state":
                # Of a state that lacks everything an assistant is told all there is.
                reply = {"result": {"current_buffer": {"name": "a"}}}
            if reply == "dies":
                peers[0].close()
            elif isinstance(reply, dict):
                peers[0].send({"id": request["id"]} | reply)
        error = told(raw_assistant, number)
    assert error["code"] == scene.code
    assert scene.words in error["message"]
    assert (error["data"] or {}) == scene.data


#: Lines of a client after its handshake, and the code and the id of the answer.
PROTOCOL: dict[str, tuple[str, int, Any]] = {
    "not JSON": ('{"id": 7', -32700, None),
    "no message": ('{"jsonrpc": "2.0", "id": 7}', -32600, 7),
    "a list": ("[1, 2]", -32600, None),
    "method is no string": ('{"jsonrpc": "2.0", "id": 7, "method": 5}', -32600, 7),
    "id is no id": ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
    "unknown method": ('{"jsonrpc": "2.0", "id": 7, "method": "vim/dance"}', -32601, 7),
    "unknown tool": (
        '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "vim_dance"}}',
        -32602,
        7,
    ),
    "no tool": ('{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {}}', -32602, 7),
    "odd arguments": (
        '{"jsonrpc": "2.0", "id": 7, "method": "tools/call",'
        ' "params": {"name": "vim_read", "arguments": 5}}',
        -32602,
        7,
    ),
    "unknown resource": (
        '{"jsonrpc": "2.0", "id": 7, "method": "resources/read",'
        ' "params": {"uri": "vim://nothing"}}',
        -32602,
        7,
    ),
    "no resource": (
        '{"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {}}',
        -32602,
        7,
    ),
}


@pytest.mark.parametrize("case", PROTOCOL)
def test_8_3_a_request_that_is_none_is_answered_with_json_rpcs_codes(
    hub: Hub, raw_assistant: RawAssistant, case: str
) -> None:
    line, code, number = PROTOCOL[case]
    raw_assistant.initialize()
    raw_assistant.send(line)
    answer = raw_assistant.recv(20)
    assert answer["error"]["code"] == code
    assert answer["id"] == number
    assert answer["error"]["message"]
    # The session goes on.
    assert "result" in raw_assistant.request("tools/list", seconds=20)


def test_8_3_a_command_that_fails_gives_vims_own_words(
    editor: Editor, assistant: Assistant
) -> None:
    error = assistant.call("vim_execute", command="%s/nothing here/x/").error
    assert error["code"] == 1004
    assert error["data"]["instance_id"] == editor.instance_id
    assert error["data"]["original_error"].startswith("E486: ")


@pytest.mark.parametrize("uri", ["vim://buffer/current", "vim://state"])
def test_8_3_a_resource_of_an_editor_at_a_prompt_is_read_or_says_why_not(
    quick_hub: Hub, editor: Editor, raw_assistant: RawAssistant, uri: str
) -> None:
    raw_assistant.initialize()
    known = editor.instance_id
    editor.type("iabc<Esc>:echo 'a'|echo 'b'<CR>", sync=False)
    wait_until(lambda: editor.waiting, what="the prompt")
    response = raw_assistant.request("resources/read", {"uri": uri}, seconds=20)
    if editor.kind == "vim" or "result" in response:
        assert "abc" in response["result"]["contents"][0]["text"]
    else:
        assert response["error"]["code"] == 1003
        assert response["error"]["data"] == {
            "instance_id": known,
            "reason": "hit_enter",
            "effect_unknown": False,
        }
    editor.type("<CR>")
