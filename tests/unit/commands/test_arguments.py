"""What `key=value` means, by a tool's schema."""

from __future__ import annotations

from typing import Any

import pytest

from vim_mcp.commands.arguments import parse
from vim_mcp.errors import CommandFailed

SCHEMA: dict[str, Any] = {
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"type": ["integer", "string"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "lines": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        "at": {"$ref": "#/$defs/Place"},
        "scope": {"enum": ["current", "all"]},
    },
    "$defs": {"Place": {"type": "object"}},
}

FILES = {"-": "from stdin\n", "notes.txt": "from a file\n"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["text=12"], {"text": "12"}),
        (["text="], {"text": ""}),
        (["text=a=b"], {"text": "a=b"}),
        (["text=null"], {"text": "null"}),
        (["text=@notes.txt"], {"text": "from a file\n"}),
        (["text=-"], {"text": "from stdin\n"}),
        (['text:="@x"'], {"text": "@x"}),
        (["text=:=x"], {"text": ":=x"}),
        (["count=-3"], {"count": -3}),
        (["ratio=2"], {"ratio": 2}),
        (["ratio=2.5"], {"ratio": 2.5}),
        (["flag=true"], {"flag": True}),
        (["flag=No"], {"flag": False}),
        (["maybe=7"], {"maybe": 7}),
        (["maybe=null"], {"maybe": None}),
        (["either=7"], {"either": 7}),
        (["either=seven"], {"either": "seven"}),
        (["names=a"], {"names": ["a"]}),
        (["names=a", "names=b"], {"names": ["a", "b"]}),
        (['names=["a", "b"]'], {"names": ["a", "b"]}),
        (["lines=1", "lines=2"], {"lines": [1, 2]}),
        (['at={"line": 1}'], {"at": {"line": 1}}),
        (['at:={"line": 1}'], {"at": {"line": 1}}),
        (["scope=all"], {"scope": "all"}),
        (["count=1", "count=2"], {"count": 2}),
        ([], {}),
    ],
)
def test_a_word_becomes_what_the_schema_wants(words: list[str], expected: dict[str, Any]) -> None:
    found = parse(words, SCHEMA, FILES.__getitem__)
    assert found == expected
    # True equals 1.
    assert [type(value) for value in found.values()] == [type(v) for v in expected.values()]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("text", "write key=value"),
        ("=x", "write key=value"),
        ("nope=1", "no argument 'nope'; there are text, count,"),
        ("count=x", "count=x: integer is wanted"),
        ("count=1.5", "integer is wanted"),
        ("ratio=nan", "number is wanted"),
        ("flag=maybe", "boolean is wanted"),
        ("maybe=x", "integer is wanted"),
        ("at=x", "at: this is no JSON"),
        ("text:=x", "text: this is no JSON"),
        ("names=[", "names: this is no JSON"),
    ],
)
def test_a_word_without_sense_is_a_usage_error(word: str, told: str) -> None:
    with pytest.raises(CommandFailed) as caught:
        parse([word], SCHEMA, FILES.__getitem__)
    assert told in str(caught.value)
    assert caught.value.status == 2


def test_a_tool_without_arguments_says_so() -> None:
    with pytest.raises(CommandFailed, match="the tool takes none"):
        parse(["x=1"], {"type": "object", "properties": {}}, FILES.__getitem__)
