"""Why a message is refused or not understood: the schema of what is at the place of a change, and the path that leads there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from acpgen import ir
from acpgen.compat.diff.definitions import Walk
from acpgen.compat.diff.pairs import Pair, Step
from acpgen.compat.diff.shapes import Alternative, Objects, get_object_type
from acpgen.compat.findings import Revision, get_opposite
from acpgen.compat.protocol.sender_schemas import write_schema
from acpgen.compat.protocol.value_parts import ValuePath
from acpgen.input.equality import make_key
from acpgen.input.walk import Schema, as_object

if TYPE_CHECKING:
    from schema_inclusion import Culprit


def write_inside(steps: Sequence[Step], schema: Schema | bool | None, sender: Revision) -> Schema | bool | None:
    """The schema of a sender's values that satisfy `schema` wherever the steps lead in them; `None` if no schema expresses it."""
    for step in reversed(steps if schema is not None else ()):
        match step.kind:
            case "field":
                schema = {"properties": {str(step.on(sender)): schema}}
            case "value":
                schema = {"additionalProperties": schema}
            case "item" if not isinstance(step.name, int):
                schema = {"items": schema}
            case "item":
                return None
            case _:
                pass  # a branch is about the same value
    return schema


NULL: Final[Schema] = {"type": "null"}
NOTHING: Final[Schema] = {"not": {}}


def make_value_culprit(accepted: Schema, refused: Schema | bool = NOTHING) -> Culprit:
    """The values that one schema accepts and the other does not."""
    from schema_inclusion import Culprit

    return Culprit((), accepted, refused)


def make_member_culprit(name: str, accepted: Schema | None = None, refused: Schema | bool = NOTHING) -> Culprit:
    """The members of a name that one schema accepts and the other does not."""
    from schema_inclusion import Culprit

    return Culprit((name,), accepted or {}, refused)


def require_member(name: str, schema: Schema | bool = True) -> Schema:
    """The schema of an object with the member."""
    return {"type": "object", "required": [name], **({} if schema is True else {"properties": {name: schema}})}


def make_refused_culprit(accepted: Schema, pair: Pair, sender: Revision) -> Culprit:
    """The values that a schema accepts and that the receiver's side of a pair refuses."""
    return make_value_culprit(accepted, write_schema(pair.on(get_opposite(sender))))


def write_type(type_: ir.Type) -> Schema:
    """The schema of a type that is no boolean schema."""
    return as_object(write_schema(type_))


def select_type(alternative: Alternative | None, whole: ir.Type) -> ir.Type:
    """The type of one alternative of a whole type."""
    match alternative:
        case Objects() | ir.TaggedUnion():
            return get_object_type(alternative)
        case ir.Array() | ir.Tuple() | ir.Number() | ir.String() | ir.Boolean():
            return alternative
        case _:
            return whole


# --- the path to a place ---------------------------------------------------------------------------------------------


def find_value_path(steps: Sequence[Step], sender: Revision, root: Pair, walk: Walk) -> ValuePath:
    """The path that corresponds to the steps from a pair in the sender's values."""
    from schema_inclusion import Part

    path: ValuePath = []
    for depth, step in enumerate(steps):
        around, child = (walk.find_below(root, steps[:end]) for end in (depth, depth + 1))
        alternatives = () if around is None else walk.get_shape(around.on(sender), sender).alternatives
        type_ = ir.Anything() if child is None else child.on(sender)
        picked, opposite = (step.old, step.new) if sender == "old" else (step.new, step.old)
        match step.kind:
            case "field":
                path.append(str(step.on(sender)))
            case "item" if isinstance(step.name, int):
                path.append(step.name)
            case "item":
                if len(alternatives) > 1 and isinstance(picked, ir.Array):
                    path.append(write_type(picked))
                # Refused at most because of the items.
                if isinstance(picked, ir.Array) and isinstance(opposite, ir.Array):
                    path.append(write_type(replace(opposite, items=ir.Anything())))
                path.append(Part.ITEM)
            case "value":
                path.append(Part.MEMBER)
            case "variant":
                key = make_key(step.on(sender))
                unions = (union for union in alternatives if isinstance(union, ir.TaggedUnion))
                tags = (
                    union.tag for union in unions if union.fallback or key in {make_key(v.tag) for v in union.variants}
                )
                tag = next(tags, step.tag)
                path.append(require_member(tag, {"const": step.on(sender)}) if tag else write_type(type_))
            case "untagged":
                path.append(write_type(type_))
            case "alternative":
                path.append(write_type(select_type(picked, type_)))
    return path
