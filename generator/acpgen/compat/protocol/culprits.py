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
    find_kind,
    get_object_type,
)
from acpgen.compat.findings import Revision, get_opposite
from acpgen.compat.protocol.sender_schemas import write_schema
from acpgen.input.equality import make_key
from acpgen.input.walk import BY_KIND, Schema, as_object

if TYPE_CHECKING:
    from schema_inclusion import Culprit, Part

Way: TypeAlias = "list[str | int | Part | dict[str, Any]]"
"""A path into a value, in the form that the prover expects."""

_NULL: Final[Schema] = {"type": "null"}


def make_refused_culprit(change: Change, pair: Pair, sender: Revision) -> Culprit | None:
    """The culprit that the receiver refuses in a sender's value because of a change of a pair; `None` if there is none."""
    receiver = write_schema(pair.on(get_opposite(sender)))
    one, is_own = change.one, (change.new if sender == "new" else change.old) is not None
    match change.kind:
        case "field" if isinstance(change, FieldChange) and change.what != "field-changed":
            if is_own:
                return (
                    _make_member_culprit(one.name)
                    if isinstance(_get_other_object(change, sender).extra, ir.Nothing)
                    else None
                )
            if one.required:
                return _make_value_culprit(_exclude_member(one.name))
            schema = write_schema(one.type) if change.schema is None else change.schema
            return _make_member_culprit(one.name, refused=schema) if change.is_extension else None
        case "field":
            return _make_value_culprit(require_member((change.old if sender == "old" else change.new).name), receiver)
        case "required":
            return None if is_own else _make_value_culprit(_exclude_member(one.name))
        case "null" if is_own:
            return _make_member_culprit(change.name, _NULL) if change.name else _make_value_culprit(_NULL, receiver)
        case "openness" if is_own:
            return _make_value_culprit(_require_pattern(one), receiver) if one else _make_member_culprit(EXTENSION)
        case "type" if is_own:
            alone = change.old if sender == "old" else change.new
            kinds: Schema = {} if ir.Anything() in alone else {"type": [*dict.fromkeys(map(find_kind, alone))]}
            return _make_value_culprit(kinds, receiver)
        case "limit" if isinstance(change, LimitChange):
            own = _write_type(pair.on(sender))
            schemas = (_write_violation(part, own) for part in change.parts if part.admitted_by == sender)
            return next((_make_value_culprit(each, receiver) for each in schemas), None)
        case "format" if isinstance(change, FormatChange):
            return next((_make_value_culprit({"const": text}) for by, text in change.refused if by == sender), None)
        case "unknown" if (change.old if sender == "old" else change.new) == "open":
            return _make_value_culprit(_write_unknown(change), receiver)
        case "value" if is_own:
            return _make_value_culprit({"const": one.value}, receiver)
        case "variant" if is_own:
            side = 0 if sender == "old" else 1
            return _make_value_culprit(
                _write_variant(change.within[side].tag, (change.old, change.new)[side]), receiver
            )
        case "untagged" if is_own:
            return _make_value_culprit(_write_type(ir.Ref(one)), receiver)
        case "alternative" if is_own:
            return _make_value_culprit(_write_type(select_type(one, ir.Anything())), receiver)
        case "tag" | "undecided":
            return _make_value_culprit(_write_type(pair.on(sender)), receiver)
        case _:
            return None


def make_lost_culprit(change: Change, pair: Pair, sender: Revision) -> Culprit | None:
    """The culprit in a sender's value that has lost its meaning for the receiver by a change, whether it is refused or not."""
    match change.kind:
        case "field":
            return _make_member_culprit((change.new if change.old is None else change.old).name)
        case "default":
            return _make_value_culprit(_exclude_member(change.name))
        case "null-meaning":
            return _make_member_culprit(change.name, _NULL)
        case "values" if change.old is not None:
            return _make_value_culprit({"const": change.old.values[0].value})
        case "unknown":
            return _make_value_culprit(_write_unknown(change))
        case _:
            culprit = make_refused_culprit(change, pair, sender)
            return None if culprit is None else replace(culprit, refused=_NOTHING)


def write_remainder(change: Change, pair: Pair, sender: Revision) -> Schema | None:
    """The schema of a sender's values of a pair without those that the receiver refuses because of a change; `None` if no schema
    expresses it.
    """
    culprit = make_refused_culprit(change, pair, sender)
    if culprit is None:
        return None
    if change.kind == "openness":
        unnamed: Schema = {"anyOf": [{"pattern": each} for each in change.one]}
        names: Schema = {"enum": [each.name for each in _get_other_object(change, sender).fields]}
        return {"propertyNames": {"not": unnamed} if change.one else names}
    if change.kind == "unknown":
        union = change.within[1 if sender == "old" else 0]
        if isinstance(union, Constants):
            return {"enum": [each.value for each in union.values]}
        return require_member(union.tag, {"enum": [each.tag for each in union.variants]})
    inside: Schema = {"not": culprit.accepted}
    return {"properties": {str(culprit.at[0]): inside}} if culprit.at else inside


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


def _get_other_object(change: Change, sender: Revision) -> Objects:
    """The object on the other side."""
    objects: Objects = change.within[1 if sender == "old" else 0]
    return objects


_NOTHING: Final[Schema] = {"not": {}}


def _make_value_culprit(accepted: Schema, refused: Schema | bool = _NOTHING) -> Culprit:
    from schema_inclusion import Culprit

    return Culprit((), accepted, refused)


def _make_member_culprit(name: str, accepted: Schema | None = None, refused: Schema | bool = _NOTHING) -> Culprit:
    from schema_inclusion import Culprit

    return Culprit((name,), accepted or {}, refused)


def _write_unknown(change: Change) -> Schema:
    """The schema of a tag or constant that is in no revision."""
    union = change.within[1]
    is_enum = isinstance(union, Constants)
    return {"enum": [EXTENSION, _UNKNOWN_NUMBER]} if is_enum else require_member(union.tag, {"const": EXTENSION})


_UNKNOWN_NUMBER: Final = -1_000_001
"""A number that no enumeration has."""


def require_member(name: str, schema: Schema | bool = True) -> Schema:
    """The schema of an object with the member."""
    return {"type": "object", "required": [name], **({} if schema is True else {"properties": {name: schema}})}


def _exclude_member(name: str) -> Schema:
    """The schema of an object without the member."""
    return {"type": "object", "not": {"required": [name]}}


def _require_pattern(patterns: Sequence[str]) -> Schema:
    """The schema of an object with a member whose name matches one of the patterns."""
    return {"type": "object", "not": {"propertyNames": {"not": {"anyOf": [{"pattern": each} for each in patterns]}}}}


def _write_violation(limit: LimitChange, own: Schema) -> Schema:
    """The schema of values that violate one of the limits; if one is not known as a schema, of all values of the sender's `own` schema."""
    kinds = [kind for kind, keywords in BY_KIND.items() if limit.keyword in keywords]
    of_type: Schema = {"type": kinds[0]} if kinds else {}
    demands = [each.demand for each in limit.all]
    return {**of_type, "not": {"allOf": demands}} if all(demands) else {"allOf": [own, of_type]}


def _write_variant(tag: str, variant: ir.Variant) -> Schema:
    return {**_write_type(ir.Ref(variant.type)), **require_member(tag, {"const": variant.tag})}


def _write_type(type_: ir.Type) -> Schema:
    return as_object(write_schema(type_))


def _write_limits(array: ir.Array) -> Schema:
    """The schema of the arrays that a receiver refuses at most because of their items."""
    return _write_type(replace(array, items=ir.Anything()))


def select_type(alternative: Alternative | None, whole: ir.Type) -> ir.Type:
    """The type of one alternative of a whole type."""
    match alternative:
        case Objects() | ir.TaggedUnion():
            return get_object_type(alternative)
        case ir.Array() | ir.Tuple() | ir.Number() | ir.String() | ir.Boolean():
            return alternative
        case _:
            return whole


# --- the way to a place ----------------------------------------------------------------------------------------------


def find_way(steps: Sequence[Step], sender: Revision, root: Pair, walk: Walk) -> Way:
    """The path that corresponds to the steps from a pair in the sender's values."""
    from schema_inclusion import Part

    number: Literal[0, 1] = 0 if sender == "old" else 1
    path: Way = []
    for depth, step in enumerate(steps):
        around, child = (walk.find_below(root, steps[:end]) for end in (depth, depth + 1))
        alternatives = () if around is None else walk.get_shape(around.on(sender), number).alternatives
        type_ = ir.Anything() if child is None else child.on(sender)
        picked = step.old if sender == "old" else step.new
        match step.kind:
            case "field":
                path.append(str(step.on(sender)))
            case "item" if isinstance(step.name, int):
                path.append(step.name)
            case "item":
                if len(alternatives) > 1 and isinstance(picked, ir.Array):
                    path.append(_write_type(picked))
                if isinstance(step.old, ir.Array) and isinstance(step.new, ir.Array):
                    path.append(_write_limits(step.new if sender == "old" else step.old))
                path.append(Part.ITEM)
            case "value":
                path.append(Part.MEMBER)
            case "variant":
                key = make_key(step.on(sender))
                unions = (each for each in alternatives if isinstance(each, ir.TaggedUnion))
                tags = (each.tag for each in unions if each.fallback or key in {make_key(v.tag) for v in each.variants})
                tag = next(tags, step.tag)
                path.append(require_member(tag, {"const": step.on(sender)}) if tag else _write_type(type_))
            case "untagged":
                path.append(_write_type(type_))
            case "alternative":
                path.append(_write_type(select_type(picked, type_)))
    return path
