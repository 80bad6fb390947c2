"""What the decorator derives, and the paths that `file` may be."""

from __future__ import annotations

import json

import pytest

from vim_mcp.errors import InvalidParams
from vim_mcp.tools import buffers, instances, state
from vim_mcp.tools.base import TOOLS, file_path

FAMILIES = (buffers, instances, state)


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("/a/b.c", "/a/b.c"),
        ("b.c", "/cwd/b.c"),
        ("./x/../b.c", "/cwd/b.c"),
        ("file:///a/b%20c", "/a/b c"),
        ("file://localhost/a/b", "/a/b"),
        ("/a//b/./c", "/a/b/c"),
        ("/a/with:colon", "/a/with:colon"),
        ("100%", "/cwd/100%"),
    ],
)
def test_file_becomes_an_absolute_path(file: str, path: str) -> None:
    assert file_path(file, "/cwd") == path


@pytest.mark.parametrize("file", ["", "http://x/y", "file://otherhost/x", "a\0b"])
def test_what_is_no_local_file_is_refused(file: str) -> None:
    with pytest.raises(InvalidParams):
        file_path(file, "/cwd")


def test_a_relative_path_needs_a_directory() -> None:
    with pytest.raises(InvalidParams, match="relative"):
        file_path("b.c", "")


def test_bad_arguments_are_named() -> None:
    with pytest.raises(InvalidParams, match=r"vim_read: first_line: .*greater than or equal to 1"):
        TOOLS["vim_read"].parse({"first_line": 0})
    with pytest.raises(InvalidParams, match="colour"):
        TOOLS["vim_read"].parse({"colour": "red"})
    with pytest.raises(InvalidParams, match="command: Field required"):
        TOOLS["vim_execute"].parse({})


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_schemas_are_plain_objects_without_references(name: str) -> None:
    tool = TOOLS[name]
    for schema in (tool.input_schema(), tool.output_schema()):
        if schema is not None:
            assert schema["type"] == "object"
            assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_and_argument_is_explained(name: str) -> None:
    tool = TOOLS[name]
    assert tool.description
    unexplained = [
        argument
        for argument, schema in tool.input_schema()["properties"].items()
        if "description" not in schema
    ]
    assert unexplained == []


def test_editor_tools_can_name_the_editor_and_others_cannot() -> None:
    for tool in TOOLS.values():
        named = {"instance_id", "workspace_path"} <= tool.input_schema()["properties"].keys()
        assert named == tool.on_editor
