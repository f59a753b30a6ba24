"""Faults in the definitions of one protocol as a whole. The last five are notes on omitted content and stop nothing."""

from __future__ import annotations

from acpgen.errors import Fault, FaultKind

UNCLEAR_DRAFT = FaultKind(
    "unclear-draft",
    "{keyword!r} has a meaning only in older drafts, and no '$schema' says which draft this file follows.",
    'Add it, such as "$schema": "http://json-schema.org/draft-07/schema#".',
)
SEVERAL_TARGETS = FaultKind(
    "several-targets",
    "'{keyword}' points to {ref!q}, which can mean {places}.",
    "Bindings need a reference with one target: write a '$ref' to the intended one.",
)
NOT_A_DEFINITION = FaultKind(
    "not-a-definition",
    "this has schemas under keys that are not keywords, and other values too, so it is neither a schema nor "
    "a group of definitions.",
    "Move the schemas to '$defs', or remove the other values.",
)
REFERENCE_LOOP = FaultKind(
    "reference-loop",
    "these references only lead to each other: {names}.",
    "Give one of them a type.",
)
NAME_COLLISION = FaultKind(
    "name-collision",
    "the generated name {name!r} is also the name of {other}.",
    "Set 'x-name' on one of them, or map one in the file given to --names.",
)
UNUSED_NAME = FaultKind(
    "unused-name",
    "this entry of the names matches no definition, variant or inline type.",
    "{hint}",
)
STRAY_DEFINITION = FaultKind(
    "stray-definition",
    "this is not a schema, nothing refers to it, and it was left out.",
    "Write it as '$comment', or remove it.",
)
FOREIGN_KEYWORD = FaultKind(
    "foreign-keyword",
    "{keyword!r} has no meaning in {draft}, and was left out.",
    "Remove it, or name the draft that it belongs to in '$schema'.",
)
HIDDEN_KEYWORD = FaultKind(
    "hidden-keyword",
    "{keyword!r} beside '$ref' has no meaning in {draft}, and was left out.",
    "Put the '$ref' into 'allOf', or name a newer draft in '$schema'.",
)
MISSPELT_KEYWORD = FaultKind(
    "misspelt-keyword",
    "{keyword!q} is not a keyword of JSON Schema, and has no effect.",
    "Did you mean {meant}?",
)
UNKNOWN_KEYWORD = FaultKind(
    "unknown-keyword",
    "{keyword!q} is not a keyword of JSON Schema, and has no effect{elsewhere}.",
    "",
)


def report_unused_name(at: str, hint: str = "") -> Fault:
    """The fault for an entry of the names that matches nothing; `hint` is the probable intention."""
    return UNUSED_NAME(at, hint=hint or "Correct the place or remove it.")
