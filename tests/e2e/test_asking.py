"""A client that can ask its user is asked which editor is meant, in both eras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp.types as t
import pytest
from mcp import MCPError

from harness import Assistant, Editor, Hub, RawAssistant, Sandbox
from harness.assistant import Era
from tests.e2e.support import done, refused, write

# Choices are remembered for a project.
pytestmark = pytest.mark.private

NewEditor = Callable[..., Editor]
ERAS: tuple[Era, ...] = ("modern", "legacy")


class User:
    """Answers what the client shows, and remembers it."""

    def __init__(self) -> None:
        self.asked: list[t.ElicitRequestFormParams] = []
        self.answer = t.ElicitResult(action="decline")

    async def __call__(self, ctx: Any, params: Any) -> t.ElicitResult:
        self.asked.append(params)
        return self.answer

    def choose(self, instance_id: str) -> None:
        self.answer = t.ElicitResult(action="accept", content={"instance_id": instance_id})


@pytest.fixture
def two(new_editor: NewEditor, sandbox: Sandbox) -> tuple[Editor, Editor]:
    """Two editors of one project, so that nothing but the user can tell which is meant."""
    return (
        new_editor(files=[write(sandbox, "first.txt", "text of the first")]),
        new_editor(files=[write(sandbox, "second.txt", "text of the second")]),
    )


@pytest.fixture
def user() -> User:
    return User()


@pytest.mark.parametrize("era", ERAS)
def test_the_user_chooses_once(
    two: tuple[Editor, Editor], new_assistant: Callable[..., Assistant], user: User, era: Era
) -> None:
    first, second = two
    assistant = new_assistant(era=era, elicitation=user)
    user.choose(second.instance_id)
    done(assistant, "vim_edit", bufnr=1, line=1, content="edited")
    assert (first.lines(), second.lines()) == (["text of the first"], ["edited"])
    (form,) = user.asked
    offered = form.requested_schema["properties"]["instance_id"]["enum"]
    assert sorted(offered) == sorted(e.instance_id for e in two)
    assert all(e.instance_id in form.message for e in two)
    # It is the selection from now on.
    assert "edited" in done(assistant, "vim_read")
    assert done(assistant, "list_vim_instances")["selected"] == second.instance_id
    assert len(user.asked) == 1


@pytest.mark.parametrize("era", ERAS)
def test_a_resource_asks_too(
    two: tuple[Editor, Editor], new_assistant: Callable[..., Assistant], user: User, era: Era
) -> None:
    assistant = new_assistant(era=era, elicitation=user)
    user.choose(two[0].instance_id)
    assert assistant.read_json("vim://state")["instance_id"] == two[0].instance_id
    assert len(user.asked) == 1


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "answer",
    [
        t.ElicitResult(action="decline"),
        t.ElicitResult(action="cancel"),
        t.ElicitResult(action="accept", content={"instance_id": "vim-nowhere-1"}),
        t.ElicitResult(action="accept", content={"instance_id": 7}),
        t.ElicitResult(action="accept"),
    ],
    ids=["declined", "cancelled", "unknown", "number", "empty"],
)
def test_without_a_choice_nothing_is_done(
    two: tuple[Editor, Editor],
    new_assistant: Callable[..., Assistant],
    user: User,
    era: Era,
    answer: t.ElicitResult,
) -> None:
    assistant = new_assistant(era=era, elicitation=user)
    user.answer = answer
    assert refused(assistant, "vim_edit", bufnr=1, line=1, content="edited")["code"] == 1001
    assert [e.lines() for e in two] == [["text of the first"], ["text of the second"]]
    assert done(assistant, "list_vim_instances")["selected"] is None
    with pytest.raises(MCPError) as caught:
        assistant.read("vim://state")
    assert caught.value.error.code == 1001
    assert len(user.asked) == 2


def asked(raw: RawAssistant) -> dict[str, Any]:
    """Shake hands as a client of the first era that can ask, call, and return the question."""
    raw.request(
        "initialize",
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "raw", "version": "1"},
        },
        seconds=10,
    )
    raw.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return question(raw)


def question(raw: RawAssistant) -> dict[str, Any]:
    """Call a tool that needs a choice and return the question that comes back."""
    raw.send_request("tools/call", {"name": "vim_read", "arguments": {}})
    return next_question(raw)


def next_question(raw: RawAssistant) -> dict[str, Any]:
    """Return the next question, whatever else comes before it."""
    while (message := raw.recv(10)).get("method") != "elicitation/create":
        pass
    return message


def choice(call_id: object, instance_id: str) -> dict[str, Any]:
    content = {"instance_id": instance_id}
    return {"jsonrpc": "2.0", "id": call_id, "result": {"action": "accept", "content": content}}


def test_a_question_of_a_dead_hub_is_withdrawn_and_asked_again(
    two: tuple[Editor, Editor], raw_assistant: RawAssistant, hub: Hub
) -> None:
    first, second = two
    old = asked(raw_assistant)["id"]
    hub.kill()
    note = raw_assistant.recv(10)
    assert note["method"] == "notifications/cancelled"
    assert note["params"]["requestId"] == old
    new = next_question(raw_assistant)["id"]
    assert new != old
    # The late answer to the first question is not one to the second.
    raw_assistant.send(choice(old, first.instance_id))
    raw_assistant.send(choice(new, second.instance_id))
    answer = raw_assistant.answer(2, 10)
    assert "text of the second" in answer["result"]["content"][0]["text"]


def test_an_answer_nobody_asked_for_hurts_nobody(
    two: tuple[Editor, Editor], raw_assistant: RawAssistant
) -> None:
    call_id = asked(raw_assistant)["id"]
    for wrong in ("", "-", "1", f"{call_id}x", f"x{call_id}", call_id.rpartition("-")[0], 1, -5):
        raw_assistant.send(choice(wrong, two[0].instance_id))
    raw_assistant.send(choice(call_id, two[1].instance_id))
    answer = raw_assistant.answer(2, 10)
    assert "text of the second" in answer["result"]["content"][0]["text"]


def test_a_cancelled_call_withdraws_its_question(
    two: tuple[Editor, Editor], raw_assistant: RawAssistant
) -> None:
    call_id = asked(raw_assistant)["id"]
    raw_assistant.send(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    )
    note = raw_assistant.recv(10)
    assert note["method"] == "notifications/cancelled"
    assert note["params"]["requestId"] == call_id
