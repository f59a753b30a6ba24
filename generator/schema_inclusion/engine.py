"""The adapter of the experimental functions of `jsonschema_rs`: the only file that touches them.

`covers` is trusted for "yes" and for nothing else; `subtract` only suggests where to look for a witness. The engine
cannot be interrupted and a small schema can keep it busy for long, so it runs in a subprocess with a time budget.
Whatever it cannot read, or answers with a fault of its own, is no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

import jsonschema_rs
from jsonschema_rs import CanonicalSchema, canonical

from schema_inclusion.apart import OutOfTime, asked
from schema_inclusion.automaton import machine
from schema_inclusion.document import Dialect, SchemaDocument, every_schema, patterns_of
from schema_inclusion.syntax import UnsupportedPattern, parse
from schema_inclusion.values import Json

_DRAFTS: Final = {
    Dialect.DRAFT_04: jsonschema_rs.Draft4,
    Dialect.DRAFT_06: jsonschema_rs.Draft6,
    Dialect.DRAFT_07: jsonschema_rs.Draft7,
    Dialect.DRAFT_2019_09: jsonschema_rs.Draft201909,
    Dialect.DRAFT_2020_12: jsonschema_rs.Draft202012,
}
_UNREAD: Final = frozenset(
    {
        *("contentEncoding", "contentMediaType", "contentSchema", "$vocabulary"),
        *("$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef"),
    }
)
"""Keywords that the engine reads as assertions in some drafts, and we do not; and those of dynamic scope, in which it
takes the outermost anchor where a plain reference means another."""


@dataclass(frozen=True, slots=True)
class Covering:
    """What the engine says: whether inclusion is proven, and a schema of what is left over, if it has one."""

    covered: bool
    remainder: Json | None


NO_ANSWER: Final = Covering(covered=False, remainder=None)


def compared(old: SchemaDocument, old_schema: Json, new: SchemaDocument, new_schema: Json) -> Covering:
    """What the engine says of "everything valid under the old schema is valid under the new one"."""
    if not (_readable(old, old_schema) and _readable(new, new_schema)):
        return NO_ANSWER
    order: Json = [
        [_DRAFTS[document.dialect], _placed(document, schema)]
        for document, schema in ((old, old_schema), (new, new_schema))
    ]
    try:
        answer = asked(__name__, order)
    except OutOfTime:
        return NO_ANSWER
    assert isinstance(answer, dict)
    return Covering(answer["covered"] is True, answer["remainder"])


def serve(order: Any) -> dict[str, Json]:
    """In the subprocess: the engine's answer."""
    ours, theirs = (_canonical(draft, schema) for draft, schema in order)
    if ours is None or theirs is None:
        return {"covered": False, "remainder": None}
    try:
        covered = theirs.covers(ours) == canonical.Containment.YES
    except canonical.CanonicalizationError:
        return {"covered": False, "remainder": None}
    return {"covered": covered, "remainder": None if covered else _remainder(ours, theirs)}


def _remainder(ours: CanonicalSchema, theirs: CanonicalSchema) -> Json | None:
    try:
        return cast("Json", ours.subtract(theirs).to_json_schema())
    except canonical.CanonicalizationError:
        return None


def _canonical(draft: int, schema: Any) -> CanonicalSchema | None:
    try:
        return jsonschema_rs.canonicalize(schema, draft=draft, validate_formats=False, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None


def _readable(document: SchemaDocument, schema: Json) -> bool:
    """Whether the engine reads the schema as we do: no keyword that it takes differently, no reference out of reach."""
    if not isinstance(schema, (dict, bool)):
        return False
    for each in every_schema(_placed(document, schema)):
        if not (_UNREAD.isdisjoint(each) and all(map(_is_read_by_both, patterns_of(each)))):
            return False
        if schema is not document.root and not _refers_to_definitions(each):
            return False
    return True


def _is_read_by_both(pattern: str) -> bool:
    """Whether the engine reads the pattern as ECMA-262 does: one that every engine reads in this way."""
    try:
        return parse(pattern).is_plain and machine(pattern) is not None
    except UnsupportedPattern:
        return False


def _placed(document: SchemaDocument, schema: Json) -> Json:
    """The schema with the document's definitions around it."""
    if schema is document.root or not isinstance(document.root, dict) or not isinstance(schema, dict):
        return schema
    kept: dict[str, Json] = {
        keyword: document.root[keyword] for keyword in ("$defs", "definitions") if keyword in document.root
    }
    return {**kept, **schema}


def _refers_to_definitions(schema: dict[str, Json]) -> bool:
    if not {"$id", "id", "$anchor", "$dynamicRef", "$recursiveRef"}.isdisjoint(schema):
        return False
    reference = schema.get("$ref", "#/$defs/")
    return isinstance(reference, str) and reference.startswith(("#/$defs/", "#/definitions/"))
