"""Fields and values: A message has only fields and values that its type names. Those that the documents leave to implementations are
marked as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from .events import Event, Found, json_pointer, reach, shown
from .rule import ACP, rule
from .state import Connection
from .upstream import UNSTABLE_FIELDS

MOST: Final = 16
"""Unknown fields of one message that are told, and as many unknown values."""

_TAGS: Final = ("action", "mode", "operation", "outcome", "sessionUpdate", "state", "stopReason")
"""Fields that say more in a sentence than the name of their union."""

_TOLD_ELSEWHERE: Final = frozenset({"_meta", "additionalDirectories"})
"""What every type has, and fields that have a rule of their own wherever they do not belong."""

_DROPPED: Final = frozenset({"load", "list", "resume", "close"})
"""Markers among the capabilities of sessions that version 2 has dropped, and that have a rule of their own."""


@rule("request", "notification", "result", protocols=ACP, requirements=(100,), sees="unknown")
def field_unknown(event: Event, _connection: Connection) -> Iterator[Found]:
    """A message has a field that its type does not have. Every name at the root of a type is the protocol's own; what an
    implementation adds stands in `_meta`. A note where upstream's unstable schemas have the field, or had it.
    """
    yield from islice(_unknown(event), MOST)


@rule("request", "notification", "result", protocols=ACP, level="note", sees="unknown")
def value_unknown(event: Event, _connection: Connection) -> Iterator[Found]:
    """A value is none of those that its type names, and does not begin with `_` as those of extensions do. A note: a later revision of
    the version may have it.
    """
    name = event.strict.contract.name if event.strict is not None else "the protocol"
    told: set[tuple[str, Any]] = set()
    for path, types, is_value in event.unknown:
        value = reach(event.body, *path)
        of = types[0] if types and path[-1] not in _TAGS else str(path[-1])
        if not is_value or (of, value) in told or len(told) == MOST:
            continue
        told.add((of, value))
        sentence = f"{name} does not define {shown(value)} for {of}; a custom value must begin with `_`"
        yield Found(event.below(*path), sentence, word=of)


def _unknown(event: Event) -> Iterator[Found]:
    protocol = event.strict.contract.name if event.strict is not None else ""
    lacking = {problem.pointer for problem in event.problems if problem.missing}
    strange = tuple(problem.pointer.rpartition("/")[0] for problem in event.problems if problem.rule == "tag")
    at = json_pointer(event.at)
    for path, types, is_value in event.unknown:
        if is_value:
            continue
        name = str(path[-1])
        holder = json_pointer(event.below(*path[:-1])).removeprefix(at)
        if name in _TOLD_ELSEWHERE or holder in lacking:
            continue
        if any(f"{holder}/".startswith(f"{place}/") for place in strange):
            continue  # of a variant that is not known, nobody knows the fields
        if event.method == "initialize" and name in _DROPPED and "SessionCapabilities" in types:
            continue
        of = f"the type {types[0]}" if types else "this object"
        unstable = UNSTABLE_FIELDS.get(protocol, {})
        if any(name in unstable.get(each, ()) for each in types):
            yield Found(
                event.below(*path),
                f"{of} has the field {shown(name)} only upstream, as unstable",
                requirements=(),
                level="note",
            )
            continue
        numbers = (100,) if path == ("toolCall",) and event.method == "session/request_permission" else ()
        sentence = f"{of} has no field {shown(name)}; custom data must go into `_meta`"
        yield Found(event.below(*path), sentence, requirements=numbers)
