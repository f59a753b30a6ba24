"""The type of a schema, or a wider one; what the type does not enforce is recorded with its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from acpgen import ir
from acpgen.errors import Fault
from acpgen.input.equality import get_kind, index_by_key
from acpgen.input.expressions import translate_pattern
from acpgen.input.faults import MALFORMED_KEYWORD
from acpgen.input.schema_nodes import ALL_KINDS, OBJECTS, Node
from acpgen.input.tagged_unions import is_of_type, list_values
from acpgen.input.walk import ASSERTIONS, BY_KIND, is_object
from acpgen.meaning.definition_order import list_references
from acpgen.meaning.limits import OF_NUMBERS
from acpgen.meaning.subsumption import add_owner_type, are_apart, find_narrowest, implies, intersect, is_idle, is_within


@dataclass
class Notes:
    """What lowering collects: faults, and places of what types do not enforce.

    `inexact` are the definitions known so far to have such places or to refer, directly or indirectly, to one that does; `dependencies` are
    those whose exactness decides a type of the definition in progress.
    """

    inexact: set[str] = field(default_factory=set[str])
    dependencies: set[str] = field(default_factory=set[str])
    faults: list[Fault] = field(default_factory=list[Fault])
    unenforced: list[str] = field(default_factory=list[str])

    def are_exact(self, definitions: Iterable[str]) -> bool:
        """Whether the types of some definitions accept no more than their schemas do, as far as known so far."""
        names = {*definitions}
        self.dependencies |= names
        return self.inexact.isdisjoint(names)

    def leave(self, node: Node, handled: set[str], kinds: frozenset[str] = ALL_KINDS) -> None:
        """Record as unenforced each assertion that is not `handled` and can reject a value of these JSON types."""
        self.unenforced.extend(
            f"{node.at}/{key}"
            for key in node.says
            if key not in handled and key in ASSERTIONS and not is_idle(node.says, key)
            if _KIND_OF.get(key) is None or _KIND_OF[key] in kinds
        )


def lower_type(notes: Notes, node: Node, *, is_definition: bool = False) -> ir.Type:
    """The type of a schema. `is_definition`: it is that of a definition, where a union can be marked as exclusive."""
    if not is_object(node.schema):
        return ir.Nothing() if node.refuses_all else ir.Anything()
    if node.reference is not None:
        return ir.Ref(node.reference)
    if not node.kinds:
        return ir.Nothing()
    if "const" in node.says or "enum" in node.says:
        if node.demands - _OF_CONSTANTS and (intersection := intersect([node])) is not None:
            return lower_type(notes, intersection, is_definition=is_definition)
        notes.leave(node, {"const", "enum", "type"}, node.kinds)
        return _lower_constants(notes, node)
    adjacent, unions = node.without(*_COMBINING), _list_unions(node)
    candidates = [
        *(node.make({keyword: [branch.schema for branch in branches]}, keyword) for keyword, branches in unions),
        *node.parts,
        adjacent,
    ]
    narrowest_index = find_narrowest(candidates)
    if (
        not all(implies(candidates[narrowest_index], candidate) for candidate in candidates)
        and (intersection := intersect([node])) is not None
    ):
        return lower_type(notes, intersection, is_definition=is_definition)
    for index, candidate in enumerate(candidates[:-1]):
        if index != narrowest_index and not implies(candidates[narrowest_index], candidate):
            notes.unenforced.append(candidate.at if candidate.at != node.at else f"{node.at}/$ref")
    if narrowest_index == len(candidates) - 1:
        return _read_own(notes, adjacent)
    notes.leave(adjacent, {"type"} if is_within(candidates[narrowest_index], adjacent) else set(), node.kinds)
    if narrowest_index < len(unions):
        return _read_any_of(notes, node, *unions[narrowest_index], is_definition=is_definition)
    return lower_type(notes, candidates[narrowest_index], is_definition=is_definition)


def read_kind(notes: Notes, node: Node, kind: str) -> ir.Type:
    """The type of the values of one JSON type that a schema accepts."""
    match kind:
        case "null" | "boolean":
            notes.leave(node, {"type"}, frozenset({kind}))
            return ir.Null() if kind == "null" else ir.Boolean()
        case "integer" | "number":
            return _lower_number(notes, node, is_integer=kind == "integer")
        case "string":
            return _lower_string(notes, node)
        case "array":
            return _lower_array(notes, node)
        case "object":
            has_fields = bool(node.says.get("properties"))
            is_plain = not has_fields and not node.says.get("patternProperties")
            notes.leave(node, {"type", *(["additionalProperties"] if is_plain else [])}, OBJECTS)
            return ir.Map(ir.Anything() if has_fields else lower_extra(notes, node))
        case _:
            notes.faults.append(MALFORMED_KEYWORD(at=node.at, keyword="type", expected="a JSON type"))
            return ir.Nothing()


def lower_extra(notes: Notes, node: Node) -> ir.Type:
    """The type of undeclared fields. With `patternProperties`, the union of all schemas that may apply to a field."""
    patterns, additional = node.get_subschema_map("patternProperties"), node.get_subschema("additionalProperties")
    return _join_types(notes, [*patterns.values(), additional]) if patterns else lower_type(notes, additional)


# --- JSON types ------------------------------------------------------------------------------------------------------


def _read_own(notes: Notes, node: Node) -> ir.Type:
    """The type that `type` and its sibling keywords describe."""
    if "type" not in node.says:
        notes.leave(node, set())
        return ir.Anything()
    members = [read_kind(notes, node, name) for name in sorted(node.types, key="null".__eq__)]
    return _make_union(members)


def _lower_number(notes: Notes, node: Node, *, is_integer: bool) -> ir.Number:
    handled = {"type", *OF_NUMBERS.values(), *(["x-integer"] if is_integer else [])}
    notes.leave(node, handled, frozenset({"number"}))
    bounds = {name: _shorten(node.says.get(keyword)) for name, keyword in OF_NUMBERS.items()}
    is_written = is_integer and "x-integer" in node.says
    return ir.Number(integer=is_integer, format=node.says.get("format"), without_fraction=is_written, **bounds)


def _shorten(limit: float | None) -> float | None:
    """A limit such as 0.0 as 0; unchanged if its text has an exponent or a fraction."""
    return int(limit) if isinstance(limit, float) and repr(limit).endswith(".0") else limit


def _lower_string(notes: Notes, node: Node) -> ir.String:
    is_checked = "pattern" in node.says and translate_pattern(node.says["pattern"]).is_checked
    notes.leave(node, {"type", "minLength", "maxLength", *(["pattern"] if is_checked else [])}, frozenset({"string"}))
    return ir.String(
        min_length=node.says.get("minLength"),
        max_length=node.says.get("maxLength"),
        pattern=node.says.get("pattern"),
        format=node.says.get("format"),
        encoding=node.says.get("contentEncoding"),
    )


def _lower_array(notes: Notes, node: Node) -> ir.Array | ir.Tuple:
    min_items, max_items = node.says.get("minItems"), node.says.get("maxItems")
    unique = node.says.get("uniqueItems") is True
    prefix, items = node.get_subschemas("prefixItems")[:max_items], node.get_subschema("items")
    is_full = max_items is not None and max_items <= len(prefix)
    if prefix and items.refuses_all:
        is_full, max_items = True, len(prefix) if max_items is None else min(max_items, len(prefix))
    handled = {"type", "minItems", "maxItems", "uniqueItems", *(["items"] if is_full or not prefix else [])}
    if not prefix:
        notes.leave(node, {*handled, "prefixItems"}, _ARRAYS)
        return ir.Array(lower_type(notes, items), min_items, max_items, unique)
    if len(prefix) <= (min_items or 0) and (max_items is None or (min_items or 0) <= max_items):
        notes.leave(node, {*handled, "prefixItems", "items"}, _ARRAYS)
        first = tuple(lower_type(notes, item) for item in prefix)
        return ir.Tuple(first, ir.Nothing() if is_full else lower_type(notes, items), min_items, max_items, unique)
    judges = [*prefix, *([] if is_full else [items])]
    if all(implies(judges[0], item) and implies(item, judges[0]) for item in judges[1:]):
        notes.leave(node, {*handled, "prefixItems", "items"}, _ARRAYS)
        return ir.Array(lower_type(notes, prefix[0]), min_items, max_items, unique)
    notes.leave(node, handled, _ARRAYS)  # entries may be missing at the end, which no type can say
    return ir.Array(_join_types(notes, judges), min_items, max_items, unique)


# --- constants and unions --------------------------------------------------------------------------------------------


def _lower_constants(notes: Notes, node: Node) -> ir.Type:
    constants = list_values(node.says)
    assert constants is not None
    matching = [value for value in constants if is_of_type(value, node.says)]
    if any(isinstance(value, dict | list) for value in matching):
        notes.unenforced.append(f"{node.at}/{'const' if 'const' in node.says else 'enum'}")
        return _widen_constants(matching)
    if not matching:
        return ir.Nothing()
    scalars = tuple(value for value in matching if value is not None)
    if not scalars:
        return ir.Null()
    if None in matching:
        return ir.AnyOf((ir.Constant(scalars), ir.Null()))
    return ir.Constant(tuple(matching))


def _widen_constants(constants: list[object]) -> ir.Type:
    """A type of all values that have the JSON type of one of the constants."""
    kinds = {get_kind(value) for value in constants}
    scalars = tuple(value for value in constants if isinstance(value, str | int | float))
    return _make_union(
        [
            *([ir.Constant(scalars)] if scalars else []),
            *([ir.Array(ir.Anything())] if "array" in kinds else []),
            *([ir.Map(ir.Anything())] if "object" in kinds else []),
            *([ir.Null()] if "null" in kinds else []),
        ]
    )


def _list_unions(node: Node) -> list[tuple[str, list[Node]]]:
    """The unions directly in a schema; the `type` beside them is added to branches without one."""
    return [
        (keyword, [add_owner_type(branch, node) for branch in node.get_subschemas(keyword)])
        for keyword in ("oneOf", "anyOf")
        if node.says.get(keyword)
    ]


def _read_any_of(notes: Notes, node: Node, keyword: str, branches: list[Node], *, is_definition: bool) -> ir.Type:
    before = len(notes.unenforced)
    branch_types = [lower_type(notes, branch) for branch in branches]
    is_exact = len(notes.unenforced) == before and notes.are_exact(
        name for type_ in branch_types for name in list_references(type_)
    )
    types = _drop_duplicates(branch_types, flat=keyword == "anyOf")
    is_exclusive = keyword == "oneOf" and not are_apart(branches)
    # In Python, `A | None | None` is `A | None`.
    is_flat = not any(isinstance(type_, ir.AnyOf) for type_ in branch_types)
    if is_exclusive and not (is_definition and is_exact and is_flat and len(types) == len(branch_types)):
        notes.unenforced.append(f"{node.at}/oneOf")  # a branch may take what it should not, or nobody could check it
        is_exclusive = False
    return _make_union(types if is_exclusive else _with_constants_together(types), is_exclusive=is_exclusive)


def _with_constants_together(types: list[ir.Type]) -> list[ir.Type]:
    """The types with all constants merged into one type, at the position of the first."""
    places = [index for index, type_ in enumerate(types) if isinstance(type_, ir.Constant)]
    constants = index_by_key(value for type_ in types if isinstance(type_, ir.Constant) for value in type_.values)
    together = ir.Constant(tuple(constants.values()))
    return [together if index in places else type_ for index, type_ in enumerate(types) if index not in places[1:]]


def _join_types(notes: Notes, nodes: list[Node]) -> ir.Type:
    """The union of the types of several schemas, for a keyword that is itself recorded as unenforced."""
    before = len(notes.unenforced)
    types = _drop_duplicates([lower_type(notes, node) for node in nodes], flat=True)
    del notes.unenforced[before:]
    return ir.Anything() if ir.Anything() in types else _make_union(types)


def _make_union(types: list[ir.Type], *, is_exclusive: bool = False) -> ir.Type:
    if len(types) < 2:
        return types[0] if types else ir.Nothing()
    return ir.AnyOf(tuple(types), exclusive=is_exclusive)


def _drop_duplicates(types: list[ir.Type], *, flat: bool) -> list[ir.Type]:
    """The types without duplicates and without those that have no value, null last."""
    parts = [part for type_ in types for part in (type_.types if flat and isinstance(type_, ir.AnyOf) else (type_,))]
    once = {repr(part): part for part in parts}  # in Python, 1 and true are equal
    non_null = [part for part in once.values() if part not in (ir.Nothing(), ir.Null())]
    return [*non_null, *([ir.Null()] if ir.Null() in parts else [])]


_OF_CONSTANTS: Final = frozenset({"const", "enum", "type"})
_ARRAYS: Final = frozenset({"array"})
_COMBINING: Final = ("allOf", "anyOf", "oneOf", "$ref")

_KIND_OF: Final = {keyword: kind for kind, keywords in BY_KIND.items() for keyword in keywords}
