"""`key=value` of a shell into a tool's arguments, by the tool's input schema."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from vim_mcp.errors import CommandFailed

_WORDS = {"true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}

Schema = dict[str, Any]


def parse(words: Sequence[str], schema: Schema, read: Callable[[str], str]) -> dict[str, Any]:
    """Return the arguments that the words mean.

    `key=value` is converted to the type that the schema gives `key`; of a list every `key=value`
    adds one entry. `key:=JSON` is taken as it is. `key=@FILE` and `key=-` stand for the content of
    a file and of standard input, which `read(name)` returns.

    Raises:
        CommandFailed: A word makes no sense, or the tool has no such argument. Its status is 2.
    """
    known: dict[str, Schema] = schema.get("properties", {})
    found: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        is_json = key.endswith(":")
        key = key.removesuffix(":")
        if not equals or not key:
            raise _wrong(f"{word!r} is no argument: write key=value, or key:=JSON")
        if key not in known and known:
            raise _wrong(f"there is no argument {key!r}; there are {', '.join(known)}")
        if key not in known:
            raise _wrong(f"there is no argument {key!r}; the tool takes none")
        if is_json:
            found[key] = _decode(key, text)
            continue
        if text == "-" or text.startswith("@"):
            text = read(text.removeprefix("@"))
        types = _types(known[key], schema)
        if "array" in types and not text.startswith("["):
            item = _types(_variant(known[key], "array", schema).get("items", {}), schema)
            found.setdefault(key, []).append(_convert(key, text, item))
        else:
            found[key] = _convert(key, text, types)
    return found


def _types(schema: Schema, root: Schema) -> list[str]:
    """Return the names of the types a value may have, of alternatives all of them."""
    schema = _resolve(schema, root)
    named = schema.get("type")
    if named is not None:
        return list(named) if isinstance(named, list) else [str(named)]
    alternatives = schema.get("anyOf") or schema.get("oneOf") or ()
    return [one for branch in alternatives for one in _types(branch, root)]


def _variant(schema: Schema, wanted: str, root: Schema) -> Schema:
    """Return the alternative of a schema that is of the wanted type."""
    schema = _resolve(schema, root)
    for branch in schema.get("anyOf") or schema.get("oneOf") or ():
        if wanted in _types(branch, root):
            return _variant(branch, wanted, root)
    return schema


def _resolve(schema: Schema, root: Schema) -> Schema:
    reference = schema.get("$ref", "")
    if not reference.startswith("#/"):
        return schema
    found: Any = root
    for name in reference[2:].split("/"):
        found = found[name]
    return dict(found)


def _convert(key: str, text: str, types: Sequence[str]) -> Any:
    """Return the text as the first type that it can be; a string only when it is nothing else."""
    for convert in (_integer, _number, _boolean, _null):
        if convert.__name__.removeprefix("_") in types:
            try:
                return convert(text)
            except ValueError:
                continue
    if "object" in types or "array" in types:
        return _decode(key, text)
    if "string" in types or not types:
        return text
    raise _wrong(f"{key}={text}: {' or '.join(t for t in types if t != 'null')} is wanted")


def _integer(text: str) -> int:
    return int(text)


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _boolean(text: str) -> bool:
    try:
        return _WORDS[text.lower()]
    except KeyError:
        raise ValueError(text) from None


def _null(text: str) -> None:
    if text != "null":
        raise ValueError(text)


def _decode(key: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _wrong(f"{key}: this is no JSON: {error}") from None


def _wrong(message: str) -> CommandFailed:
    return CommandFailed(message, status=2)
