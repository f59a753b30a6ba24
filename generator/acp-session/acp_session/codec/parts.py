"""Parts of messages from one version to the other: content blocks, what tool calls show, options, commands, MCP servers.

What v1 cannot hold goes on as text that people can read, with the part itself in `_meta`, from where the way back takes it.

Sources: the pages on content, tool calls, configuration options, slash commands and session setup of both versions; the migration page.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

from acp_session.diffs import as_object, diff_to_v1, diff_to_v2

from .losses import CARRIER, Place

Json: TypeAlias = "dict[str, Any]"

BLOCKS: Final = frozenset({"text", "image", "audio", "resource_link", "resource"})
ROLES: Final = frozenset({"user", "assistant"})
ON: Final = {True: "true", False: "false"}
"""The values of a selection that stands for a switch."""


def without(source: Mapping[str, Any], *keys: str) -> Json:
    """An object without some of its fields."""
    return {key: value for key, value in source.items() if key not in keys}


def carried(source: Mapping[str, Any], original: Mapping[str, Any]) -> Json:
    """An object that brings its original along."""
    return {**source, "_meta": {**as_object(source.get("_meta")), CARRIER: dict(original)}}


def original(source: Mapping[str, Any]) -> Json | None:
    """What an object brings along, if it does."""
    found = as_object(source.get("_meta")).get(CARRIER)
    return as_object(found) if isinstance(found, dict) else None


# --- content ---------------------------------------------------------------------------------------------------------


def block_to_v2(block: Any, place: Place) -> Any:  # noqa: ARG001 - the twin of `block_to_v1`
    """A content block; one of an unknown type stays what it is."""
    found = original(as_object(block))
    return block if found is None or found.get("type") in BLOCKS else found


def block_to_v1(block: Any, place: Place) -> Any:
    """A content block; of a type that v1 does not have, a text that says so."""
    source = as_object(block)
    kind = source.get("type")
    if kind not in BLOCKS:
        place.lose("v1 has no content of this type", block, "carried")
        return carried({"type": "text", "text": f"[{kind}]"}, source)
    annotations = as_object(source.get("annotations"))
    audience: Any = annotations.get("audience")
    if not isinstance(audience, list) or ROLES.issuperset(audience):  # pyright: ignore[reportUnknownArgumentType]
        return block
    place.at("annotations", "audience").lose("v1 knows only the user and the assistant", audience, "changed")
    known: list[Any] = [role for role in annotations["audience"] if role in ROLES]
    return {**source, "annotations": {**annotations, "audience": known}}


def blocks_to_v1(found: Sequence[Any], place: Place) -> list[Any]:
    """Content blocks, one by one."""
    return [block_to_v1(one, place.at(index)) for index, one in enumerate(found)]


def blocks_to_v2(found: Sequence[Any], place: Place) -> list[Any]:
    """Content blocks, one by one."""
    return [block_to_v2(one, place.at(index)) for index, one in enumerate(found)]


# --- what a tool call shows ------------------------------------------------------------------------------------------


def item_to_v2(item: Any, place: Place, terminals: Collection[str] | None) -> Any | None:
    """An item of a tool call's content, `None` for a terminal that is none of `terminals`, which may be all."""
    source = as_object(item)
    found = original(source)
    if found is not None:
        return found
    match source.get("type"):
        case "content":
            return {**source, "content": block_to_v2(source.get("content"), place.at("content"))}
        case "diff":
            return diff_to_v2(source)
        case "terminal" if terminals is not None and source.get("terminalId") not in terminals:
            place.lose("the client owns terminals in v1, the agent in v2; this one is unknown", item)
            return None
        case _:
            return item


def item_to_v1(item: Any, place: Place, terminals: Mapping[str, str]) -> Any:
    """An item of a tool call's content. `terminals` are the texts that terminals of the agent show."""
    source = as_object(item)
    match source.get("type"):
        case "content":
            return {**source, "content": block_to_v1(source.get("content"), place.at("content"))}
        case "diff":
            made = diff_to_v1(source)
            if made is not None:
                return made
            place.lose("v1 shows the old and the new text of one file", item, "carried")
            return _shown(_changes(source), source)
        case "terminal":
            place.lose("the client owns terminals in v1; the output of this one is sent as text", item, "carried")
            return _shown(_fenced(terminals.get(str(source.get("terminalId")), ""), "console"), source)
        case kind:
            place.lose("v1 has no content of this type", item, "carried")
            return _shown(f"[{kind}]", source)


def _shown(text: str, source: Json) -> Json:
    return carried({"type": "content", "content": {"type": "text", "text": text}}, source)


def _changes(diff: Json) -> str:
    """A diff as people read it: its patch, else a line for each file."""
    patch = as_object(diff.get("patch")).get("text")
    if isinstance(patch, str) and patch:
        return _fenced(patch, "diff")
    lines: list[str] = []
    for one in map(as_object, diff.get("changes") or ()):
        lines.append(" → ".join(f"{one[key]}" for key in ("oldPath", "path") if key in one))
        lines[-1] = f"{one.get('operation', 'change')} {lines[-1]}"
    return "\n".join(lines)


def _fenced(text: str, language: str) -> str:
    """Text as a block of Markdown that it cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}"


# --- configuration options -------------------------------------------------------------------------------------------


def option_to_v2(option: Any, place: Place) -> Json | None:
    """A configuration option, `None` where it offers nothing."""
    source = as_object(option)
    found = original(source)
    if found is not None:
        return {**found, "currentValue": source.get("currentValue") == ON[True]}
    made: Json = {**without(source, "id"), "configId": source.get("id")}
    if source.get("type") == "select":
        choices = [one for one in map(as_object, source.get("options") or ()) if one.get("options") != []]
        if not choices:
            place.at("options").lose("an option of v2 offers at least one value", option)
            return None
        made["options"] = [
            {**without(one, "group"), "groupId": one["group"]} if "group" in one else one for one in choices
        ]
    return made


def option_to_v1(option: Any, place: Place, *, has_switches: bool) -> Json | None:
    """A configuration option, `None` where v1 does not know its type. For a client without switches, one is a choice of two."""
    source = as_object(option)
    kind = source.get("type")
    made: Json = {**without(source, "configId"), "id": source.get("configId")}
    if kind == "select":
        choices = [as_object(one) for one in source.get("options") or ()]
        made["options"] = [
            {**without(one, "groupId"), "group": one["groupId"]} if "groupId" in one else one for one in choices
        ]
        return made
    if kind == "boolean" and has_switches:
        return made
    if kind == "boolean":
        place.lose("the client has no boolean options; a choice of two is offered", option, "carried")
        names = [{"value": ON[True], "name": "On"}, {"value": ON[False], "name": "Off"}]
        now = ON[source.get("currentValue") is True]
        return carried({**made, "type": "select", "currentValue": now, "options": names}, source)
    place.lose("v1 has no option of this type", option)
    return None


# --- commands and MCP servers ----------------------------------------------------------------------------------------


def command_to_v2(command: Any) -> Json:
    """A command that the user can call."""
    source = as_object(command)
    spec = source.get("input")
    more = {"input": {"type": "text", **as_object(spec)}} if isinstance(spec, dict) else {}
    return {**source, **more, "type": "command"}


def command_to_v1(command: Any, place: Place) -> Json | None:
    """A command that the user can call, `None` where v1 does not know its kind."""
    source = as_object(command)
    if source.get("type") != "command":
        place.lose("v1 has no command of this type", command)
        return None
    spec = as_object(source.get("input"))
    if not spec:
        return without(source, "type")
    if spec.get("type") == "text":
        return {**without(source, "type"), "input": without(spec, "type")}
    place.at("input").lose("v1 has no input of this type", spec)
    return without(source, "type", "input")


def server_to_v1(server: Any) -> Any:
    """An MCP server; one of an unknown type stays what it is, for the types of v1 to refuse."""
    source = as_object(server)
    match source.get("type"):
        case "stdio":
            return {"args": [], "env": [], **without(source, "type")}
        case "http":
            return {"headers": [], **source}
        case _:
            return server


def server_to_v2(server: Any) -> Any:
    """An MCP server. v2 has no `sse`: it stays what it is, and the agent knows nothing of it."""
    source = as_object(server)
    return source if "type" in source else {**source, "type": "stdio"}
