"""`@tool`: a function becomes a tool; everything else is derived from its signature.

The first parameter says what it works on: a `Call` (one editor, chosen by the dispatcher) or a
`Desk` (the session and all editors). A result model gives the output schema and structured
content with the same facts as text; a `str` result is text alone.
"""

from __future__ import annotations

import inspect
import os.path
import re
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from vim_mcp.editors.call import Call
from vim_mcp.editors.fleet import Fleet
from vim_mcp.editors.session import Session
from vim_mcp.errors import InvalidParams
from vim_mcp.wire.messages import Json


@dataclass(frozen=True)
class Desk:
    """What a tool about instances works on."""

    session: Session
    fleet: Fleet


class Answer(BaseModel):
    """Base of structured results."""

    model_config = ConfigDict(extra="ignore")

    def preface(self) -> str | None:
        """Return what a person should read before the data, if anything."""
        return None


class BufferFacts(Answer):
    """Facts that every answer about a buffer's text has."""

    bufnr: int
    file: str
    changedtick: int
    line_count: int
    modified: bool


InstanceId = Annotated[
    str | None,
    Field(description="The Vim instance to use, if it is not the selected or only one."),
]
WorkspacePath = Annotated[
    str | None,
    Field(description="Absolute path of a project: use the Vim instance that works there."),
]


@dataclass(frozen=True)
class Tool:
    """One tool: its function and what is derived from it."""

    name: str
    title: str
    description: str
    run: Callable[..., Awaitable[BaseModel | str]]
    arguments: type[BaseModel]
    result: type[BaseModel] | None
    on_editor: bool
    acts: bool
    destructive: bool
    idempotent: bool
    always_load: bool

    def input_schema(self) -> Json:
        """Return the JSON schema of the arguments."""
        return _plain(self.arguments.model_json_schema())

    def output_schema(self) -> Json | None:
        """Return the JSON schema of structured answers, None for text tools."""
        if self.result is None:
            return None
        return _plain(self.result.model_json_schema(mode="serialization"), nullable=True)

    def parse(self, raw: Json) -> Json:
        """Return validated arguments by name.

        Raises:
            InvalidParams: They do not fit; says which and why.
        """
        try:
            model = self.arguments.model_validate(raw)
        except ValidationError as error:
            problems = [
                f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}"
                for e in error.errors(include_url=False)
            ]
            raise InvalidParams(f"{self.name}: {'; '.join(problems)}") from None
        return {name: getattr(model, name) for name in type(model).model_fields}


TOOLS: dict[str, Tool] = {}


def tool(
    *,
    title: str,
    acts: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    always_load: bool = False,
) -> Callable[[Callable[..., Awaitable[BaseModel | str]]], Callable[..., Any]]:
    """Register a function as a tool.

    `acts` tools change what the user sees and are named as acts to the editor; `destructive` ones may
    overwrite text; `always_load` ones are shown to the model without a search.
    """

    def register(function: Callable[..., Awaitable[BaseModel | str]]) -> Callable[..., Any]:
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = list(inspect.signature(function).parameters.values())
        on_editor = hints[parameters[0].name] is Call
        given: dict[str, Any] = {
            p.name: (hints[p.name], ... if p.default is p.empty else p.default)
            for p in parameters[1:]
        }
        if on_editor:
            given["instance_id"] = (InstanceId, None)
            given["workspace_path"] = (WorkspacePath, None)
        result = hints["return"]
        name = function.__name__
        TOOLS[name] = Tool(
            name=name,
            title=title,
            description=inspect.cleandoc(function.__doc__ or ""),
            run=function,
            arguments=create_model(
                name, __config__=ConfigDict(extra="forbid", strict=False), **given
            ),
            result=None if result is str else result,
            on_editor=on_editor,
            acts=acts,
            destructive=destructive,
            idempotent=idempotent,
            always_load=always_load,
        )
        return function

    return register


def _plain(schema: Json, nullable: bool = False) -> Json:
    """Drop pydantic's titles and references, and for arguments `anyOf null`.

    A model reads every byte of a schema; an optional argument is simply left out.
    """
    schema.pop("title", None)
    schema.pop("description", None)
    defs = schema.pop("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(n) for n in node]
        if not isinstance(node, dict):
            return node
        options = [o for o in node.get("anyOf", []) if o != {"type": "null"}]
        if not nullable and len(options) == 1 and node.get("default", ...) is None:
            node = {
                **options[0],
                **{k: v for k, v in node.items() if k not in ("anyOf", "default")},
            }
        if "$ref" in node:
            target = defs[node["$ref"].rpartition("/")[2]]
            node = {**target, **{k: v for k, v in node.items() if k != "$ref"}}
        properties = node.get("properties")
        result = {k: walk(v) for k, v in node.items() if k not in ("title", "properties")}
        if properties is not None:
            result["properties"] = {k: walk(v) for k, v in properties.items()}
        return result

    plain = walk(schema)
    assert isinstance(plain, dict)
    return plain


FILE = "Absolute path, file:// URL, or path relative to the assistant's working directory."


def file_path(file: str, cwd: str) -> str:
    """Return the absolute, normalised path that a tool's `file` means.

    Raises:
        InvalidParams: It is empty, not a file: URL, or relative with no directory known.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", file):
        try:
            url = urlsplit(file)
        except ValueError:
            raise InvalidParams(f"{file!r} is not a file:// URL") from None
        if url.scheme != "file" or url.netloc not in ("", "localhost"):
            raise InvalidParams(f"{file!r} is not a local file; give a path or a file:// URL")
        file = unquote(url.path)
    if not file or "\0" in file:
        raise InvalidParams("file is empty; give an absolute path")
    if file.startswith("~/"):
        file = os.path.expanduser(file)
    if not file.startswith("/"):
        if not cwd:
            raise InvalidParams(f"{file!r} is relative and no directory is known; give it whole")
        file = os.path.join(cwd, file)
    return os.path.normpath(file)


def target(file: str | None, bufnr: int | None) -> Json:
    """Return the wire's target of a call: a file, a buffer number, or the current buffer.

    `file` is absolute here: the dispatcher made it so before it chose the editor.

    Raises:
        InvalidParams: Both were given.
    """
    if file is not None and bufnr is not None:
        raise InvalidParams("give file or bufnr, not both")
    if file is not None:
        return {"file": file}
    return {} if bufnr is None else {"bufnr": bufnr}
