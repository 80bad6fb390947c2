"""What the forwarder sends again after a hub's death, and what it keeps from the client."""

from __future__ import annotations

import json
from typing import Any

from vim_mcp.client.journal import Journal


def request(call_id: int | str, method: str, **params: Any) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}
    ).encode()


def note(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


def result(call_id: int | str, **fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": call_id, "result": fields}).encode()


INITIALIZE = request(0, "initialize", protocolVersion="2025-11-25")
INITIALIZED = note("notifications/initialized")


def shaken() -> Journal:
    journal = Journal()
    journal.from_client(INITIALIZE)
    assert journal.from_hub(result(0, protocolVersion="2025-11-25", capabilities={}))
    journal.from_client(INITIALIZED)
    return journal


def test_private_lines_are_kept_from_the_client() -> None:
    journal = Journal()
    assert not journal.from_hub(b'#welcome {"version":"1"}')
    assert not journal.from_hub(b"#ack 3 w")
    assert not journal.from_hub(b'#state {"selected":"a-b-1","subscriptions":["vim://state"]}')
    assert not journal.from_hub(b"#something of a later protocol")
    assert journal.welcomed
    assert journal.state == {"selected": "a-b-1", "subscriptions": ["vim://state"]}


def test_the_handshake_is_replayed_and_its_second_answer_swallowed() -> None:
    journal = shaken()
    assert journal.replay() == [INITIALIZE, INITIALIZED]
    assert not journal.from_hub(result(0, protocolVersion="2025-11-25", capabilities={}))
    assert not journal.renegotiated


def test_a_hub_that_negotiates_something_else_is_noticed() -> None:
    journal = shaken()
    journal.replay()
    journal.from_hub(result(0, protocolVersion="2026-07-28", capabilities={}))
    assert journal.renegotiated


def test_unanswered_requests_are_sent_again_in_order_answered_ones_not() -> None:
    journal = shaken()
    first, second, third = (request(i, "tools/call", name="vim_read") for i in (1, 2, 3))
    for line in (first, second, third):
        journal.from_client(line)
    assert journal.from_hub(result(2))
    assert journal.waiting == 2
    assert journal.replay() == [INITIALIZE, INITIALIZED, first, third]


def test_a_handshake_under_way_is_sent_once() -> None:
    journal = Journal()
    journal.from_client(INITIALIZE)
    assert journal.replay() == [INITIALIZE]
    assert journal.from_hub(result(0, protocolVersion="2025-11-25", capabilities={}))


def test_cancelled_requests_are_forgotten() -> None:
    journal = shaken()
    journal.from_client(request(1, "tools/call"))
    journal.from_client(note("notifications/cancelled", requestId=1))
    assert journal.waiting == 0
    assert journal.replay() == [INITIALIZE, INITIALIZED]


def test_a_subscription_is_sent_again_and_acknowledged_once() -> None:
    listen = request("L", "subscriptions/listen")
    acknowledged = note(
        "notifications/subscriptions/acknowledged",
        _meta={"io.modelcontextprotocol/subscriptionId": "L"},
    )
    journal = Journal()
    journal.from_client(listen)
    assert journal.from_hub(acknowledged)
    assert journal.waiting == 0, "a subscription is open for ever: nobody waits for its end"
    assert journal.replay() == [listen]
    assert not journal.from_hub(acknowledged)
    assert journal.from_hub(acknowledged), "only the repeated one is swallowed"


def test_requests_of_the_hub_and_odd_lines_pass() -> None:
    journal = shaken()
    assert journal.from_hub(request("hub:1", "elicitation/create"))
    assert journal.from_hub(note("notifications/resources/list_changed"))
    assert journal.from_hub(b"not json at all")
    journal.from_client(b"not json either")
    assert journal.replay() == [INITIALIZE, INITIALIZED]


def test_a_string_id_and_a_number_are_two_requests() -> None:
    journal = shaken()
    journal.from_client(request(1, "ping"))
    journal.from_client(request("1", "ping"))
    journal.from_hub(result(1))
    assert journal.replay()[2:] == [request("1", "ping")]


def test_a_goodbye_is_remembered_until_the_next_hub_s_welcome() -> None:
    journal = shaken()
    assert not journal.from_hub(b"#goodbye stopped")
    assert journal.goodbye == "stopped"
    journal.from_hub(b'#welcome {"version":"1"}')
    assert journal.goodbye == ""


def test_requests_that_a_hub_had_taken_are_named_however_many_hubs_die() -> None:
    journal = shaken()
    for number in (1, 2):
        journal.from_client(request(number, "tools/call"))
    journal.from_hub(b"#ack 1 w")
    assert journal.taken() == [1]
    journal.replay()
    assert journal.taken() == [1]
    journal.from_hub(result(1))
    assert journal.taken() == []
