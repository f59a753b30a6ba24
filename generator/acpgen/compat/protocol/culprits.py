"""Why a message is refused or not understood: the schema of what is at the place of a change, and the path that leads there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from acpgen import ir
from acpgen.compat.changes import Change, FieldChange, FormatChange, LimitChange
from acpgen.compat.diff.definitions import Walk
from acpgen.compat.diff.pairs import EXTENSION, Pair, Step
from acpgen.compat.diff.shapes import (
    Alternative,
    Constants,
    Objects,
    kind_of,
    type_of_object,
)
from acpgen.compat.findings import Revision, opposite
from acpgen.compat.protocol.sender_schemas import schema_of
from acpgen.input.equality import make_key
from acpgen.input.walk import BY_KIND, Schema

if TYPE_CHECKING:
    from schema_inclusion import Culprit, Part

Way: TypeAlias = "list[str | int | Part | dict[str, Any]]"
"""A path into a value, in the form that the prover expects."""

_NULL: Final[Schema] = {"type": "null"}


def refused_culprit(change: Change, pair: Pair, sender: Revision) -> Culprit | None:
    """The culprit that the receiver refuses in a sender's value because of a change of a pair; `None` if there is none."""
    receiver = schema_of(pair.on(opposite(sender)))
    one, is_own = change.one, (change.new if sender == "new" else change.old) is not None
    match change.kind:
        case "field" if isinstance(change, FieldChange) and change.what != "field-changed":
            if is_own:
                return _member(one.name) if isinstance(_others(change, sender).extra, ir.Nothing) else None
            if one.required:
                return _value(_lacking(one.name))
            schema = schema_of(one.type) if change.schema is None else change.schema
            return _member(one.name, refused=schema) if change.is_extension else None
        case "field":
            return _value(object_with((change.old if sender == "old" else change.new).name), receiver)
        case "required":
            return None if is_own else _value(_lacking(one.name))
        case "null" if is_own:
            return _member(change.name, _NULL) if change.name else _value(_NULL, receiver)
        case "openness" if is_own:
            return _value(_extended(one), receiver) if one else _member(EXTENSION)
        case "type" if is_own:
            alone = change.old if sender == "old" else change.new
            kinds: Schema = {} if ir.Anything() in alone else {"type": [*dict.fromkeys(map(kind_of, alone))]}
            return _value(kinds, receiver)
        case "limit" if isinstance(change, LimitChange):
            schemas = (_beyond(part) for part in change.parts if part.admitted_by == sender)
            return next((_value(each, receiver) for each in schemas), None)
        case "format" if isinstance(change, FormatChange):
            return next((_value({"const": text}) for by, text in change.refused if by == sender), None)
        case "unknown" if (change.old if sender == "old" else change.new) == "open":
            return _value(_unknown(change), receiver)
        case "value" if is_own:
            return _value({"const": one.value}, receiver)
        case "variant" if is_own:
            side = 0 if sender == "old" else 1
            return _value(_variant(change.within[side].tag, (change.old, change.new)[side]), receiver)
        case "untagged" if is_own:
            return _value(_schema(ir.Ref(one)), receiver)
        case "alternative" if is_own:
            return _value(_schema(type_of(one, ir.Anything())), receiver)
        case "tag" | "undecided":
            return _value({}, receiver)
        case _:
            return None


def lost_culprit(change: Change, pair: Pair, sender: Revision) -> Culprit | None:
    """The culprit in a sender's value that has lost its meaning for the receiver by a change, whether it is refused or not."""
    match change.kind:
        case "field":
            return _member((change.new if change.old is None else change.old).name)
        case "default":
            return _value(_lacking(change.name))
        case "null-meaning":
            return _member(change.name, _NULL)
        case "values" if change.old is not None:
            return _value({"const": change.old.values[0].value})
        case "unknown":
            return _value(_unknown(change))
        case _:
            culprit = refused_culprit(change, pair, sender)
            return None if culprit is None else replace(culprit, refused=_NOTHING)


def remainder(change: Change, pair: Pair, sender: Revision) -> Schema | None:
    """The schema of a sender's values of a pair without those that the receiver refuses because of a change; `None` if no schema
    expresses it.
    """
    culprit = refused_culprit(change, pair, sender)
    if culprit is None:
        return None
    if change.kind == "openness":
        unnamed: Schema = {"anyOf": [{"pattern": each} for each in change.one]}
        names: Schema = {"enum": [each.name for each in _others(change, sender).fields]}
        return {"propertyNames": {"not": unnamed} if change.one else names}
    if change.kind == "unknown":
        union = change.within[1 if sender == "old" else 0]
        if isinstance(union, Constants):
            return {"enum": [each.value for each in union.values]}
        return object_with(union.tag, {"enum": [each.tag for each in union.variants]})
    inside: Schema = {"not": culprit.accepted}
    return {"properties": {str(culprit.at[0]): inside}} if culprit.at else inside


def _others(change: Change, sender: Revision) -> Objects:
    """The object on the other side."""
    objects: Objects = change.within[1 if sender == "old" else 0]
    return objects


_NOTHING: Final[Schema] = {"not": {}}


def _value(accepted: Schema, refused: Schema | bool = _NOTHING) -> Culprit:
    from schema_inclusion import Culprit

    return Culprit((), accepted, refused)


def _member(name: str, accepted: Schema | None = None, refused: Schema | bool = _NOTHING) -> Culprit:
    from schema_inclusion import Culprit

    return Culprit((name,), accepted or {}, refused)


def _unknown(change: Change) -> Schema:
    """The schema of a tag or constant that is in no revision."""
    union = change.within[1]
    is_enum = isinstance(union, Constants)
    return {"enum": [EXTENSION, _UNKNOWN_NUMBER]} if is_enum else object_with(union.tag, {"const": EXTENSION})


_UNKNOWN_NUMBER: Final = -1_000_001
"""A number that no enumeration has."""


def object_with(name: str, schema: Schema | bool = True) -> Schema:
    """The schema of an object with the member."""
    return {"type": "object", "required": [name], **({} if schema is True else {"properties": {name: schema}})}


def _lacking(name: str) -> Schema:
    """The schema of an object without the member."""
    return {"type": "object", "not": {"required": [name]}}


def _extended(patterns: Sequence[str]) -> Schema:
    """The schema of an object with a member whose name matches one of the patterns."""
    return {"type": "object", "not": {"propertyNames": {"not": {"anyOf": [{"pattern": each} for each in patterns]}}}}


def _beyond(limit: LimitChange) -> Schema:
    """The schema of values that violate one of the limits, as far as the limits are known as schemas."""
    kinds = [kind for kind, keywords in BY_KIND.items() if limit.keyword in keywords]
    of_type: Schema = {"type": kinds[0]} if kinds else {}
    demands = [each.demand for each in limit.all]
    return {**of_type, "not": {"allOf": demands}} if all(demands) else of_type


def _variant(tag: str, variant: ir.Variant) -> Schema:
    return {**_schema(ir.Ref(variant.type)), **object_with(tag, {"const": variant.tag})}


def _schema(type_: ir.Type) -> Schema:
    schema = schema_of(type_)
    return schema if isinstance(schema, dict) else {} if schema else _NOTHING


def type_of(alternative: Alternative | None, whole: ir.Type) -> ir.Type:
    """The type of one alternative of a whole type."""
    match alternative:
        case Objects() | ir.TaggedUnion():
            return type_of_object(alternative)
        case ir.Array() | ir.Tuple() | ir.Number() | ir.String() | ir.Boolean():
            return alternative
        case _:
            return whole


# --- the way to a place ----------------------------------------------------------------------------------------------


def way(steps: Sequence[Step], sender: Revision, root: Pair, walk: Walk) -> Way:
    """The path that corresponds to the steps from a pair in the sender's values."""
    from schema_inclusion import Part

    number: Literal[0, 1] = 0 if sender == "old" else 1
    path: Way = []
    for depth, step in enumerate(steps):
        around, child = (walk.below(root, steps[:end]) for end in (depth, depth + 1))
        alternatives = () if around is None else walk.shape(around.on(sender), number).alternatives
        type_ = ir.Anything() if child is None else child.on(sender)
        picked = step.old if sender == "old" else step.new
        match step.kind:
            case "field":
                path.append(str(step.on(sender)))
            case "item" if isinstance(step.name, int):
                path.append(step.name)
            case "item":
                if len(alternatives) > 1 and isinstance(picked, ir.Array):
                    path.append(_schema(picked))
                path.append(Part.ITEM)
            case "value":
                path.append(Part.MEMBER)
            case "variant":
                key = make_key(step.on(sender))
                unions = (each for each in alternatives if isinstance(each, ir.TaggedUnion))
                tags = (each.tag for each in unions if each.fallback or key in {make_key(v.tag) for v in each.variants})
                tag = next(tags, step.tag)
                path.append(object_with(tag, {"const": step.on(sender)}) if tag else _schema(type_))
            case "untagged":
                path.append(_schema(type_))
            case "alternative":
                path.append(_schema(type_of(picked, type_)))
    return path
