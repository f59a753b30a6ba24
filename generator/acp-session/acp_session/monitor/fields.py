"""Fields: those of the schema, `_meta`, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from .events import Event, Found, json_pointer, shown
from .rule import ACP, rule
from .state import Connection
from .upstream import UNSTABLE_FIELDS

MOST: Final = 16
"""Unknown fields of one message that are told."""

_TOLD_ELSEWHERE: Final = frozenset({"_meta", "additionalDirectories"})
"""What every type has, and fields that have a rule of their own wherever they do not belong."""

_DROPPED: Final = frozenset({"load", "list", "resume", "close"})
"""Markers among the capabilities of sessions that version 2 has dropped, and that have a rule of their own."""


@rule("request", "notification", "result", protocols=ACP, requirements=(100,), sees="unknown")
def field_unknown(event: Event, connection: Connection) -> Iterator[Found]:
    """A message has a field that its type does not have. Every name at the root of a type is the protocol's own; what an
    implementation adds stands in `_meta`. A note where upstream's unstable schemas have the field, or had it.
    """
    yield from islice(_unknown(event, connection), MOST)


def _unknown(event: Event, connection: Connection) -> Iterator[Found]:
    strict = connection.strict
    protocol = strict.contract.name if strict is not None else ""
    lacking = {problem.pointer for problem in event.problems if problem.missing}
    strange = tuple(problem.pointer.rpartition("/")[0] for problem in event.problems if problem.rule == "tag")
    at = json_pointer(event.at)
    for path, types in event.unknown:
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
        sentence = f"{of} has no field {shown(name)}; what implementations add stands in `_meta`"
        yield Found(event.below(*path), sentence, requirements=numbers)
