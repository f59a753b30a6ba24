"""Fields and values: A message has only fields and values that its type names. Those that the documents leave to implementations are
marked as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from .connection import Connection
from .events import Event, Finding
from .json_values import is_redacted, reach, show, write_pointer
from .rule import ACP, rule
from .unstable import UNSTABLE_FIELDS

MAX_FINDINGS: Final = 16
"""The maximum number of reported undeclared fields of one message, and of values."""

_TAGS: Final = ("action", "mode", "operation", "outcome", "sessionUpdate", "state", "stopReason")
"""Fields that say more in a sentence than the name of their union."""

_OTHER_RULES: Final = frozenset({"_meta", "additionalDirectories"})
"""A field of every type, and fields with their own rule wherever they do not belong."""

_DROPPED: Final = frozenset({"load", "list", "resume", "close"})
"""Capability markers of sessions that version 2 has dropped, with their own rule."""


@rule("request", "notification", "result", protocols=ACP, needs="undeclared")
def field_unknown(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A message has a field that its type does not have. Every name at the root of a type is the protocol's own; what an
    implementation adds stands in `_meta`. A note where upstream's unstable schemas have the field, or had it.
    """
    yield from islice(_report_unknown_fields(event), MAX_FINDINGS)


@rule("request", "notification", "result", protocols=ACP, level="note", needs="undeclared")
def value_unknown(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A value is none of those that its type names, and does not begin with `_` as those of extensions do. A note: a later revision of
    the version may have it.
    """
    name = event.strict.contract.name if event.strict is not None else "the protocol"
    reported_values: set[tuple[str, Any]] = set()
    for path, types, kind in event.undeclared:
        value = reach(event.body, *path)
        of = types[0] if types and path[-1] not in _TAGS else str(path[-1])
        if (
            kind != "value"
            or is_redacted(value)
            or (of, value) in reported_values
            or len(reported_values) == MAX_FINDINGS
        ):
            continue
        reported_values.add((of, value))
        sentence = f"{name} does not define {show(value)} for {of}; a custom value must begin with `_`"
        yield Finding(event.extend_path(*path), sentence, words=(of,))


def _report_unknown_fields(event: Event) -> Iterator[Finding]:
    protocol = event.strict.contract.name if event.strict is not None else ""
    lacking = {problem.pointer for problem in event.problems if problem.missing}
    unknown_variants = tuple(problem.pointer.rpartition("/")[0] for problem in event.problems if problem.rule == "tag")
    at = write_pointer(event.at)
    for path, types, kind in event.undeclared:
        name = str(path[-1])
        holder = write_pointer(event.extend_path(*path[:-1])).removeprefix(at)
        if kind != "field" or name in _OTHER_RULES or holder in lacking:
            continue
        if any(f"{holder}/".startswith(f"{place}/") for place in unknown_variants):
            continue  # of a variant that is not known, nobody knows the fields
        if event.method == "initialize" and name in _DROPPED and "SessionCapabilities" in types:
            continue
        of = f"the type {types[0]}" if types else "this object"
        unstable = UNSTABLE_FIELDS.get(protocol, {})
        if any(name in unstable.get(type_name, ()) for type_name in types):
            sentence = f"{of} has the field {show(name)} only upstream, as unstable"
            yield Finding(event.extend_path(*path), sentence, level="note")
            continue
        words = ("toolCall",) if path == ("toolCall",) and event.method == "session/request_permission" else ()
        yield Finding(
            event.extend_path(*path), f"{of} has no field {show(name)}; custom data must go into `_meta`", words=words
        )
