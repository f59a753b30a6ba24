"""Content of a single message, beyond the schema: These rules check what the schema cannot express: that values which refer to one
another agree, that names are unique, and that text with a syntax of its own is well formed.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from .bounded import make_key
from .connection import Connection
from .events import Event, Finding
from .json_values import Path, Place, get_items, get_text, is_object, reach, show
from .paths import is_absolute
from .rule import ACP, V2, rule
from .updates import ENCODED, OUTPUTS

_OPENING: Final = ("session/new", "session/load", "session/resume", "session/fork")
_WITH_CONTENT: Final = ("session/prompt", "session/update", "session/request_permission")
_HUNK: Final = re.compile(r"@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@")
_FILE_HEADERS: Final = ("--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to ")


@rule(
    "result",
    "notification",
    methods=(*_OPENING, "session/set_config_option", "session/update"),
    updates=("config_option_update",),
    protocols=V2,
)
def config_option_inconsistent(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A choice among the configuration options offers one value twice, or stands at a value that it does not offer."""
    for path, option in _list_members(event, "configOptions"):
        if get_text(option, "type") != "select":
            continue
        choices = [((*path, *place, "value"), get_text(value, "value")) for place, value in _list_choices(option)]
        for place, value in _find_repeated(choices):
            yield Finding(place, f"the value {show(value)} occurs twice", words=("unique",))
        values, current = [value for _, value in choices], get_text(option, "currentValue")
        if values and current is not None and current not in values:
            sentence = f"{show(current)} is not one of the {len(values)} values"
            yield Finding((*path, "currentValue"), sentence, words=("currentValue",))


@rule(
    "result",
    "notification",
    methods=(*_OPENING, "session/update"),
    updates=("available_commands_update",),
    protocols=V2,
)
def command_name_invalid(event: Event, _connection: Connection) -> Iterator[Finding]:
    """The name of a command has white space in it, or two commands of one list have the same name."""
    commands = [
        ((*path, "name"), get_text(command, "name")) for path, command in _list_members(event, "availableCommands")
    ]
    for path, name in commands:
        if name is not None and any(character.isspace() for character in name):
            yield Finding(path, f"the name {show(name)} contains white space", words=("whitespace",))
    for path, name in _find_repeated(commands):
        yield Finding(path, f"the command {show(name)} occurs twice", words=("unique",))


@rule("result", methods=("initialize",), protocols=V2)
def login_variable_repeated(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An authentication method at a terminal sets one environment variable twice."""
    if reach(event.body, "protocolVersion") == 2:
        yield from _find_repeated_variables(event, "authMethods", "terminal")


@rule("request", methods=_OPENING, level="should", protocols=V2)
def server_variable_repeated(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An MCP server is to be started with one environment variable twice. Which value counts is up to the agent."""
    yield from _find_repeated_variables(event, "mcpServers", "stdio")


@rule("request", "notification", methods=_WITH_CONTENT, protocols=ACP, needs="content")
def base64_malformed(event: Event, connection: Connection) -> Iterator[Finding]:
    """An image, a sound, an embedded resource or the output of a terminal holds text that is not base64 as RFC 4648 has it."""
    if connection.strict is None:
        return
    for path, value in event.content:
        kind = get_text(value, "type") or ""
        field = ENCODED.get(kind)
        inner = ("resource",) if kind == "resource" else ()
        if field is not None:
            yield from _check_base64(event, (*path, *inner, field), reach(value, *inner, field), kind)
    if event.update_kind == "terminal_output_chunk":
        yield from _check_base64(event, ("update", "data"), reach(event.update, "data"), "terminal_output_chunk")
    elif event.update_kind == "terminal_update":
        output = reach(event.update, "output", "data")
        yield from _check_base64(event, ("update", "output", "data"), output, "terminal_update")


@rule("request", "notification", methods=_WITH_CONTENT[1:], protocols=V2, needs="content")
def patch_malformed(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A patch of format `git_patch` does not begin with its first file, or names a file by a path that is not absolute."""
    for path, value in event.content:
        if get_text(value, "type") != "diff" or get_text(value, "patch", "format") != "git_patch":
            continue
        patch, place = get_text(value, "patch", "text"), event.extend_path(*path, "patch", "text")
        if patch is None:
            continue
        if not patch.startswith("diff --git "):
            yield Finding(place, "the patch does not begin with 'diff --git'", words=("envelope",))
        for name in _list_patched_paths(patch):
            if name.rstrip() != "/dev/null" and not is_absolute(name.removeprefix('"')):
                yield Finding(place, f"the patch names {name[:80]!r}, which is not an absolute path", words=("path",))
                break


@rule("request", "notification", methods=_WITH_CONTENT, protocols=V2, needs="content")
def icon_not_fetchable(event: Event, _connection: Connection) -> Iterator[Finding]:
    """The icon of a linked resource is neither a URI of `https:` nor one of `data:`."""
    for path, value in event.content:
        for index, icon in enumerate(get_items(value, "icons") if get_text(value, "type") == "resource_link" else ()):
            source = get_text(icon, "src")
            if source is not None and not source.lower().startswith(("https:", "data:")):
                sentence = f"{show(source)} is not an https: or data: URI"
                yield Finding(event.extend_path(*path, "icons", index, "src"), sentence)


@rule("batch", protocols=V2)
def terminal_updates_in_one_batch(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A batch holds two pieces of output of one terminal. Receivers may read a batch in any order."""
    terminals: set[tuple[str | None, str]] = set()
    for index, message in enumerate(event.value):
        update = reach(message, "params", "update")
        kind, name = get_text(update, "sessionUpdate"), get_text(update, "terminalId")
        if name is None or not (kind == OUTPUTS[0] or (kind == OUTPUTS[1] and "output" in update)):
            continue
        terminal = (make_key(get_text(message, "params", "sessionId")), name)
        if terminal in terminals:
            yield Finding((index,), f"the batch holds output of the terminal {show(name)} before this")
        terminals.add(terminal)


def _list_members(event: Event, field: str) -> Iterator[Place]:
    """Yield the members of a list in a result or an update, with their paths in the message."""
    prefix = () if event.kind == "result" else ("update",)
    for index, item in enumerate(get_items(event.body, *prefix, field)):
        yield event.extend_path(*prefix, field, index), item


def _list_choices(option: Any) -> Iterator[Place]:
    """Yield the values of a select option, grouped or not."""
    for index, choice in enumerate(get_items(option, "options")):
        if is_object(choice) and "groupId" in choice:
            for place, value in enumerate(get_items(choice, "options")):
                yield ("options", index, "options", place), value
        else:
            yield ("options", index), choice


def _find_repeated_variables(event: Event, field: str, kind: str) -> Iterator[Finding]:
    """Report environment variables that one member of a list sets twice, for members of a type."""
    for index, holder in enumerate(get_items(event.body, field)):
        variables = enumerate(get_items(holder, "env") if get_text(holder, "type") == kind else ())
        variable_names = (
            (event.extend_path(field, index, "env", at, "name"), get_text(variable, "name"))
            for at, variable in variables
        )
        for place, name in _find_repeated(variable_names):
            yield Finding(place, f"the variable {show(name)} occurs twice")


def _find_repeated(names: Iterable[tuple[Path, str | None]]) -> Iterator[tuple[Path, str]]:
    """Yield the places whose name occurs at an earlier place."""
    earlier_names: set[str] = set()
    for place, name in names:
        if name is not None and name in earlier_names:
            yield place, name
        if name is not None:
            earlier_names.add(name)


def _check_base64(event: Event, path: Path, value: Any, word: str) -> Iterator[Finding]:
    if isinstance(value, str) and not _is_base64(value):
        yield Finding(event.extend_path(*path), "the text is not base64 as RFC 4648 has it", words=(word,))


def _is_base64(value: str) -> bool:
    if len(value) % 4 or not value.isascii():
        return False
    try:
        binascii.a2b_base64(value, strict_mode=True)
    except binascii.Error:
        return False
    return True


def _list_patched_paths(patch: str) -> Iterator[str]:
    """Yield the paths in the file headers of a patch as `git diff --patch` writes it. Lines of hunks are counted, since a removed line
    can look like a header.
    """
    old = new = 0
    is_header = False
    for line in patch.split("\n"):
        if old > 0 or new > 0:
            old -= line[:1] in (" ", "-", "")
            new -= line[:1] in (" ", "+", "")
            continue
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = (1 if count is None else int(count[:9]) for count in hunk.groups())
        elif line.startswith("diff --git "):
            is_header = True
            yield line.removeprefix("diff --git ")
        elif line.startswith("GIT binary patch"):
            is_header = False
        elif is_header:
            yield from (line.removeprefix(name) for name in _FILE_HEADERS if line.startswith(name))
