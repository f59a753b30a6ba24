"""Content of a single message, beyond the schema: These rules check what the schema cannot express: that values which refer to one
another agree, that names are unique, and that text with a syntax of its own is well formed.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterable, Iterator
from typing import Any, Final

from .events import Event, Found, Place, items, reach, shown, text
from .json_types import is_object
from .kept import key
from .objects import BLOCKS, ENCODED
from .patches import objections
from .rule import ACP, rule
from .state import Connection

_OPENING: Final = ("session/new", "session/load", "session/resume", "session/fork")


@rule(
    "result",
    "notification",
    methods=(*_OPENING, "session/set_config_option", "session/update"),
    updates=("config_option_update",),
    protocols=("acp/v2",),
)
def config_option_inconsistent(event: Event, connection: Connection) -> Iterator[Found]:
    """A choice among the configuration options offers one value twice, or stands at a value that it does not offer."""
    if connection.version != 2:
        return
    for path, option in _listed(event, "configOptions", "config_option_update"):
        if text(option, "type") != "select":
            continue
        places = list(_values(option))
        values = [text(value, "value") for _, value in places]
        for place, value in _repeated(zip((place for place, _ in places), values, strict=True)):
            yield Found((*path, *place, "value"), f"the value {shown(value)} occurs twice", word="unique")
        current = text(option, "currentValue")
        if values and current is not None and current not in values:
            sentence = f"{shown(current)} is not one of the {len(values)} values"
            yield Found((*path, "currentValue"), sentence, word="currentValue")


@rule(
    "result",
    "notification",
    methods=(*_OPENING, "session/update"),
    updates=("available_commands_update",),
    protocols=("acp/v2",),
)
def command_name_invalid(event: Event, connection: Connection) -> Iterator[Found]:
    """The name of a command has white space in it, or two commands of one list have the same name."""
    if connection.version != 2:
        return
    commands = list(_listed(event, "availableCommands", "available_commands_update"))
    for path, command in commands:
        name = text(command, "name")
        if name is not None and any(character.isspace() for character in name):
            yield Found((*path, "name"), f"the name {shown(name)} contains white space", word="whitespace")
    for path, name in _repeated((path, text(command, "name")) for path, command in commands):
        yield Found((*path, "name"), f"the command {shown(name)} occurs twice", word="unique")


@rule("result", methods=("initialize",), protocols=("acp/v2",))
def login_variable_repeated(event: Event, _connection: Connection) -> Iterator[Found]:
    """An authentication method at a terminal sets one environment variable twice."""
    if reach(event.body, "protocolVersion") != 2:
        return
    for index, method in enumerate(items(event.body, "authMethods")):
        if text(method, "type") == "terminal":
            yield from _variables(method, event.below("authMethods", index))


@rule("request", methods=_OPENING, level="should", protocols=("acp/v2",))
def server_variable_repeated(event: Event, connection: Connection) -> Iterator[Found]:
    """An MCP server is to be started with one environment variable twice. Which value counts is up to the agent."""
    if connection.version != 2:
        return
    for index, server in enumerate(items(event.body, "mcpServers")):
        if text(server, "type") == "stdio":
            yield from _variables(server, event.below("mcpServers", index))


@rule("request", "notification", methods=BLOCKS, protocols=ACP, sees="contents")
def base64_malformed(event: Event, connection: Connection) -> Iterator[Found]:
    """An image, a sound, an embedded resource or the output of a terminal holds text that is not base64 as RFC 4648 has it."""
    if connection.strict is None:
        return
    for path, value in event.contents:
        kind = text(value, "type")
        held = reach(value, "resource") if kind == "resource" else value
        field = ENCODED.get(kind or "")
        if field is not None and is_object(held):
            inner = ("resource",) if kind == "resource" else ()
            yield from _encoded(event.below(*path, *inner, field), held.get(field), kind or "")
    update = reach(event.body, "update")
    match text(update, "sessionUpdate"):
        case "terminal_output_chunk" as kind:
            yield from _encoded(event.below("update", "data"), reach(update, "data"), kind)
        case "terminal_update" as kind:
            yield from _encoded(event.below("update", "output", "data"), reach(update, "output", "data"), kind)
        case _:
            pass


@rule(
    "request",
    "notification",
    methods=("session/update", "session/request_permission"),
    protocols=("acp/v2",),
    sees="contents",
)
def patch_malformed(event: Event, connection: Connection) -> Iterator[Found]:
    """A patch of format `git_patch` does not begin with its first file, or names a file by a path that is not absolute."""
    if connection.version != 2:
        return
    for path, value in event.contents:
        patch = reach(value, "patch")
        if text(value, "type") == "diff" and text(patch, "format") == "git_patch":
            for word, sentence in objections(text(patch, "text") or ""):
                yield Found(event.below(*path, "patch", "text"), sentence, word=word)


@rule("request", "notification", methods=BLOCKS, protocols=("acp/v2",), sees="contents")
def icon_not_fetchable(event: Event, connection: Connection) -> Iterator[Found]:
    """The icon of a linked resource is neither a URI of `https:` nor one of `data:`."""
    if connection.version != 2:
        return
    for path, value in event.contents:
        for index, icon in enumerate(items(value, "icons") if text(value, "type") == "resource_link" else ()):
            source = text(icon, "src")
            if source is not None and not source.lower().startswith(("https:", "data:")):
                yield Found(event.below(*path, "icons", index, "src"), f"{shown(source)} is not an https: or data: URI")


@rule("batch", protocols=("acp/v2",))
def terminal_updates_in_one_batch(event: Event, connection: Connection) -> Iterator[Found]:
    """A batch holds two pieces of output of one terminal. Receivers may read a batch in any order."""
    if connection.version != 2:
        return
    places: list[tuple[tuple[str | int, ...], str | None]] = []
    for index, message in enumerate(event.value):
        update = reach(message, "params", "update")
        has_output = text(update, "sessionUpdate") == "terminal_output_chunk" or (
            text(update, "sessionUpdate") == "terminal_update" and "output" in update
        )
        name = text(update, "terminalId")
        if has_output and name is not None:
            places.append(((index,), f"{key(text(message, 'params', 'sessionId'))}\0{name}"))
    for place, name in _repeated(places):
        yield Found(place, f"the batch holds output of the terminal {shown(name.rpartition(chr(0))[2])} before this")


def _listed(event: Event, field: str, kind: str) -> Iterator[Place]:
    """The members of a list that a result or an update holds, with their paths in the message."""
    if event.kind == "result":
        for index, item in enumerate(items(event.body, field)):
            yield event.below(field, index), item
    elif text(event.body, "update", "sessionUpdate") == kind:
        for index, item in enumerate(items(event.body, "update", field)):
            yield event.below("update", field, index), item


def _values(option: Any) -> Iterator[Place]:
    """The values of a choice, in groups or not."""
    for index, choice in enumerate(items(option, "options")):
        if is_object(choice) and "groupId" in choice:
            for place, value in enumerate(items(choice, "options")):
                yield ("options", index, "options", place), value
        else:
            yield ("options", index), choice


def _variables(holder: Any, path: tuple[str | int, ...]) -> Iterator[Found]:
    names = ((("env", index, "name"), text(variable, "name")) for index, variable in enumerate(items(holder, "env")))
    for place, name in _repeated(names):
        yield Found((*path, *place), f"the variable {shown(name)} occurs twice")


def _repeated(named: Iterable[tuple[tuple[str | int, ...], str | None]]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The places whose name stood at an earlier place."""
    seen: set[str] = set()
    for place, name in named:
        if name is not None and name in seen:
            yield place, name
        if name is not None:
            seen.add(name)


def _encoded(path: tuple[str | int, ...], value: Any, word: str) -> Iterator[Found]:
    if isinstance(value, str) and not _is_base64(value):
        yield Found(path, "the text is not base64 as RFC 4648 has it", word=word)


def _is_base64(value: str) -> bool:
    if len(value) % 4 or not value.isascii():
        return False
    try:
        binascii.a2b_base64(value, strict_mode=True)
    except binascii.Error:
        return False
    return True
