"""Bodies that belong to one variant alone: body and variant become one definition, with the tag.

A definition is such a body if one branch of one union refers to it, and nothing else does. If a second branch, a field or a method
refers to it, it stays a definition of its own, beside those of its variants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from acpgen.bundle.all_of import is_mergeable, merge
from acpgen.input.schema_nodes import Schemas
from acpgen.input.tagged_unions import branches_of, constant, lone_reference
from acpgen.input.walk import Schema, asserts, is_array, is_object, references


@dataclass(frozen=True, slots=True)
class Owner:
    """The only branch that refers to a body: its union, its index, and the number of owners above that union."""

    union: str
    index: int
    depth: int


def owners(schemas: Schemas, root: Schema, *, framing: Collection[str], alone: Collection[str]) -> Mapping[str, Owner]:
    """The owner of each definition that only one branch refers to. `framing` definitions own nothing; those in `alone` have no owner."""
    count = Counter(name for schema in (root, *schemas.written.values()) for name in references(schema))
    branches: dict[str, tuple[str, int]] = {}
    for union, node in schemas.items():
        for index, branch in enumerate(node.branches if union not in framing else ()):
            bodies = [part.reference for part in branch.parts if part.reference is not None]
            if len(bodies) == 1 and bodies[0] != union and count[bodies[0]] == 1 and bodies[0] not in alone:
                branches[bodies[0]] = (union, index)
    depths = ((name, _depth(name, branches)) for name in branches)
    return {name: Owner(*branches[name], depth) for name, depth in depths if depth is not None}


def _depth(name: str, branches: Mapping[str, tuple[str, int]]) -> int | None:
    """The number of owners above a body; `None` for a cycle."""
    visited: set[str] = set()
    while name in branches:
        if name in visited:
            return None
        visited.add(name)
        name = branches[name][0]
    return len(visited)


def without(whole: Schema, body: str) -> Schema:
    """What a branch demands in addition to its body."""
    rest = {key: value for key, value in whole.items() if key not in ("$ref", "allOf")}
    if "$ref" in whole and lone_reference({"$ref": whole["$ref"]}) != body:
        rest["$ref"] = whole["$ref"]
    parts = [part for part in whole.get("allOf", ()) if lone_reference(part) != body]
    return {**rest, "allOf": parts} if parts else rest


def merge_body(body: Schema, rest: Schema, definitions: Mapping[str, Schema]) -> Schema | None:
    """The body merged with what its variant demands in addition; `None` if one schema cannot express both.

    Annotations of the body take precedence.
    """
    if not is_mergeable(body, rest) or (branches_of(body) is not None and branches_of(rest) is not None):
        return None
    combined = merge(body, rest, definitions)
    annotation_keywords = {
        key: value for key, value in rest.items() if key.startswith("x-") and key != "x-name" and not asserts(key)
    }
    annotation_keywords |= {key: value for key, value in body.items() if not asserts(key)}
    if is_array(annotation_keywords.get("examples")):
        annotation_keywords["examples"] = [
            whole for one in annotation_keywords["examples"] if (whole := _complete(one, combined)) is not None
        ]
    return {**annotation_keywords, **{key: value for key, value in combined.items() if asserts(key)}}


def _complete(example: Any, schema: Schema) -> Any:
    """An example of a body completed with the variant's tag; `None` if other required members are missing."""
    if not is_object(example):
        return None
    tags = {name: value for name, sub in schema.get("properties", {}).items() if (value := constant(sub)) is not None}
    required = schema.get("required", ())
    whole = {**{name: value for name, value in tags.items() if name in required}, **example}
    return whole if all(name in whole for name in required) else None
