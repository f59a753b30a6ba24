"""The table of what differs between v1 and v2 is that of the schemas: nothing that one version has and the other has not is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import pytest

from acp_session.adapter import AgentAsV1, AgentAsV2
from acp_session.codec.tables import METHODS, TABLE
from acp_session.codec.walker import Object, Union, Values
from acp_session.services import SERVICE_METHODS

SCHEMA: Final = Path(__file__).parents[2] / "generated" / "schema" / "acp"
Json = dict[str, Any]

RENAMED: Final = {
    "AuthenticateRequest": "LoginAuthRequest",
    "AuthenticateResponse": "LoginAuthResponse",
    "LogoutRequest": "LogoutAuthRequest",
    "LogoutResponse": "LogoutAuthResponse",
    "CancelNotification": "CancelSessionNotification",
    "SessionNotification": "UpdateSessionNotification",
    "UnstructuredCommandInput": "TextCommandInput",
}
"""Definitions with another name in v2 and the same meaning."""
ONLY_V1: Final = frozenset({"session/set_mode", *SERVICE_METHODS})
"""Methods that only v1 has: in v2 modes are options, and files and terminals are the agent's own."""
ONLY_V2: Final = frozenset({"terminal/cancel", "tool_call/cancel"})
"""Methods that only v2 has: a v1 client cannot cancel a part of a turn."""
EXTRA: Final = {"ToolCall": "ToolCallUpdate", "AvailableCommand": "Command"}
"""Definitions of v1 that v2 has in another one."""


@cache
def schema(version: int) -> tuple[Json, Json]:
    folder = SCHEMA / f"v{version}"
    return (
        json.loads((folder / "schema.json").read_text("utf-8"))["$defs"],
        json.loads((folder / "meta.json").read_text("utf-8")),
    )


def branches(definition: Json) -> list[Json]:
    return [*definition.get("oneOf", ()), *definition.get("anyOf", ())]


def flat(defs: Json, definition: Json) -> Json:
    """A definition as an object: its properties and those of what it extends, and which are required."""
    properties: Json = dict(definition.get("properties", {}))
    required: list[str] = list(definition.get("required", ()))
    for part in (*definition.get("allOf", ()), *([definition] if "$ref" in definition else [])):
        if "$ref" in part:
            more = flat(defs, defs[part["$ref"].removeprefix("#/$defs/")])
            properties |= more["properties"]
            required += more["required"]
    return {"properties": properties, "required": required}


def words(definition: Json) -> set[str]:
    return {one["const"] for one in branches(definition) if isinstance(one.get("const"), str)}


def tags(defs: Json, definition: Json, tag: str) -> set[str]:
    """The tags of a union, those of unions in it included."""
    found: set[str] = set()
    for one in branches(definition):
        const = flat(defs, one)["properties"].get(tag, {}).get("const")
        target = defs.get(one.get("$ref", "").removeprefix("#/$defs/"), {})
        found |= {const} if const is not None else tags(defs, target, tag)
    return found


def row_of(defs: Json, name: str) -> Any:
    """The row of a definition, or of the one that it extends by a tag."""
    parts = [defs[name], *defs[name].get("allOf", ())]
    bases = [part["$ref"].removeprefix("#/$defs/") for part in parts if "$ref" in part]
    return next((TABLE[one] for one in (name, *bases) if one in TABLE), None)


def named_methods(meta: Json) -> set[str]:
    tables = [cast("dict[str, str]", table) for table in meta.values() if isinstance(table, dict)]
    return {method for table in tables for method in table.values()}


def missing(one: Json, two: Json, methods: tuple[Json, Json]) -> Iterator[str]:
    """What one version has, the other has not, and the table does not say."""
    pairs = {**{name: name for name in one if name in two}, **RENAMED}
    for first, second in pairs.items():
        yield from _missing(one, two, first, second, row_of(two, second))
    for first, second in EXTRA.items():
        yield from _fields(one, two, first, second, TABLE[first if first == "ToolCall" else second])
    old, new = map(named_methods, methods)
    yield from sorted({METHODS.get(method, method) for method in old - ONLY_V1} ^ (new - ONLY_V2))


def _missing(one: Json, two: Json, first: str, second: str, row: Any) -> Iterator[str]:
    if isinstance(row, Values) or words(one[first]) or words(two[second]):
        near = row.nearest if isinstance(row, Values) else dict[str, str]()
        known = set(row.v1_values) if isinstance(row, Values) else words(one[first])
        for word in (words(two[second]) ^ words(one[first])) - near.keys() | (known ^ words(one[first])):
            yield f"{second}: {word}"
    elif isinstance(row, Union):
        before, after = (tags(defs, defs[name], row.tag) for defs, name in ((one, first), (two, second)))
        before |= {row.default} if row.default else set()
        for tag in (before ^ (row.rows.keys() | row.only_v1)) | (after ^ (row.rows.keys() | row.only_v2)):
            yield f"{second}: {tag}"
    else:
        yield from _fields(one, two, first, second, row)


def _fields(one: Json, two: Json, first: str, second: str, row: Any) -> Iterator[str]:
    row = row if isinstance(row, Object) else Object()
    before, after = flat(one, one[first]), flat(two, two[second])
    old, new = (  # without tags, which the rows of unions have
        {key for key, one in side["properties"].items() if "const" not in one} for side in (before, after)
    )
    for key in old - new - row.rename.keys() - row.only_v1.keys() - row.code:
        yield f"{first}.{key}: only v1"
    for key in new - old - set(row.rename.values()) - row.only_v2.keys() - row.code:
        yield f"{second}.{key}: only v2"
    named1 = row.rename.keys() | row.fields.keys() | row.only_v1.keys()
    named2 = {*row.rename.values(), *row.only_v2}
    for key in (named1 - old) | (named2 - new):
        yield f"{second}.{key}: in the table alone"
    for key in set(before["required"]) - set(after["required"]) - row.rename.keys() - row.code - row.v1_needs.keys():
        if key in new:
            yield f"{second}.{key}: required in v1"


def test_the_table_names_everything_that_differs() -> None:
    (one, methods1), (two, methods2) = schema(1), schema(2)
    assert sorted(missing(one, two, (methods1, methods2))) == []


def test_each_row_of_a_part_is_in_the_table() -> None:
    parts = {name for row in TABLE.values() if isinstance(row, Object) for name in row.fields.values()}
    parts |= {name for row in TABLE.values() if isinstance(row, Union) for name in row.rows.values()} - {""}
    assert parts - TABLE.keys() == {"Implementation", "TextCommandInput", "Terminal", "ToolCallLocation"}


@pytest.mark.parametrize("union", ["SessionUpdate", "ContentBlock", "ToolCallContent", "AvailableCommand", "McpServer"])
def test_a_new_variant_of_v2_is_missing(union: str) -> None:
    (one, methods1), (two, methods2) = schema(1), schema(2)
    new = deepcopy(two)
    row = TABLE[union]
    assert isinstance(row, Union)
    variant = {"properties": {row.tag: {"const": "weather"}}, "required": [row.tag]}
    new["Weather"] = variant
    new[union].setdefault("anyOf", []).append({"$ref": "#/$defs/Weather"})
    assert list(missing(one, new, (methods1, methods2))) == [f"{union}: weather"]


@pytest.mark.parametrize("version", [1, 2])
def test_a_new_field_capability_word_or_method_is_missing(version: int) -> None:
    found = [schema(1), schema(2)]
    defs, methods = deepcopy(found[version - 1])
    for name in ("ToolCallUpdate", "AgentCapabilities", "PromptCapabilities", "ResourceLink", "PromptRequest"):
        defs[name]["properties"]["weather"] = {}
    defs["ToolKind"].setdefault("oneOf" if version == 1 else "anyOf", []).append({"const": "sail"})
    methods["agentMethods"]["weather"] = "session/weather"
    found[version - 1] = defs, methods
    (one, methods1), (two, methods2) = found
    assert set(missing(one, two, (methods1, methods2))) >= {
        *(
            f"{name}.weather: only v{version}"
            for name in ("ToolCallUpdate", "AgentCapabilities", "PromptCapabilities", "ResourceLink", "PromptRequest")
        ),
        "ToolKind: sail",
        "session/weather",
    }


@pytest.mark.parametrize(
    ("side", "more"),
    [
        (AgentAsV1(), ()),
        (AgentAsV2(), ()),
        (AgentAsV2().v1_client, SERVICE_METHODS),
        (AgentAsV1().v2_client, ()),
    ],
)
def test_every_method_is_served(side: Any, more: Any) -> None:
    missing = {*side.requests, *side.notifications} - side.handlers.keys() - {*more}
    assert missing == {"$/cancel_request"} or missing == set()
