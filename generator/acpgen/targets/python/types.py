"""Types of the IR as Python annotations. The runtime package decodes by the same annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import ceil, floor
from typing import Any, Final, NamedTuple, TypeAlias, assert_never

from acpgen import ir
from acpgen.errors import Faults
from acpgen.input.complexity import LONGEST_CHAIN
from acpgen.input.equality import to_fraction, to_integer
from acpgen.input.expressions import translate_to_python
from acpgen.input.faults import TOO_LONG_CHAIN
from acpgen.input.numbers import ExactNumber
from acpgen.meaning.definition_order import list_parts, list_references, order_definitions
from acpgen.meaning.discriminators import group_tags
from acpgen.meaning.limits import list_limits
from acpgen.targets.python.literals import write_json, write_literal
from acpgen.targets.python.naming import Names
from acpgen.targets.python.tags import Tag, find_class_tags, find_unknown_records

_LARGEST: Final = 2**63 - 1
"""The largest integer of a `Literal`, and an upper bound for lengths in memory."""

_LARGEST_LIMIT: Final = 10**300
"""The largest limit of numbers in annotations, as they are compared with floats."""

MOST_IN_A_ROW: Final = 200
"""The maximum number of types in one row of `|`."""

_Values: TypeAlias = tuple[str, str]
"""A JSON type and a particular value or tag; all values if that is empty."""


class Hint(NamedTuple):
    """An annotation. `is_judged`: the schema asserts more than the annotation expresses."""

    source: str
    is_judged: bool = False


class Hints:
    """The annotations of one protocol."""

    def __init__(self, protocol: ir.Protocol, names: Names) -> None:
        self.protocol = protocol
        self.names = names
        self.tags: Mapping[str, Tag] = find_class_tags(protocol)
        self.unknown = find_unknown_records(protocol)
        self.used: set[str] = set()
        self.recursive = find_recursive_aliases(protocol)
        self._defined: dict[str, Hint] = {}
        self._define_from_the_leaves()

    def _define_from_the_leaves(self) -> None:
        """Define the types that others refer to first. Raises `Faults` if more lie in one another than Python's stack holds."""
        depths: dict[str, int] = {}
        for definition in chain.from_iterable(order_definitions(self.protocol)):
            name = definition.name
            if isinstance(definition, ir.Record) or name in self.recursive:
                continue
            depths[name] = _measure_depth(definition.type, depths) if isinstance(definition, ir.Alias) else 0
            if depths[name] > LONGEST_CHAIN:
                raise Faults([TOO_LONG_CHAIN(at=definition.at, limit=LONGEST_CHAIN)])
            self.annotate_definition(name)

    def use_import(self, name: str) -> str:
        """The module's name for an import, which is recorded as used."""
        self.used.add(name)
        return self.names.name_import(name)

    def annotate_definition(self, name: str) -> Hint:
        """The annotation of a definition that is not a record."""
        if name not in self._defined:
            definition = self.protocol.definitions[name]
            source, is_judged = self._hint_definition(definition)
            self._defined[name] = Hint(source, is_judged or bool(definition.unenforced))
        return self._defined[name]

    def _hint_definition(self, definition: ir.Definition) -> Hint:
        match definition:
            case ir.TaggedUnion():
                return Hint(self._write_tagged_union(definition))
            case ir.Enum() if definition.name in self.names.members:
                return Hint(self.names.classes[definition.name])
            case ir.Enum():
                values = ir.Constant(tuple(value.value for value in definition.values))
                return (
                    self.annotate(values)
                    if definition.openness == "closed"
                    else self._join_types((values, definition.base))
                )
            case ir.Alias(type=ir.AnyOf() as union):
                hint = self.annotate(union)
                if union.exclusive or not _overlap(map(self._list_values, _drop_null(union))):
                    return hint
                return hint._replace(source=self._annotate(hint.source, "Shapes"))
            case ir.Alias():
                return self.annotate(definition.type)
            case ir.Record():
                return Hint(self.names.classes[definition.name])
            case _:
                assert_never(definition)

    def annotate(self, type_: ir.Type) -> Hint:
        """The annotation of a type."""
        match type_:
            case ir.Anything():
                return Hint(self.use_import("Any"))
            case ir.Nothing():
                # pydantic asks the marker: it has no schema of `Never`.
                return Hint(self._annotate(self.use_import("Never"), "Shapes"))
            case ir.Null():
                return Hint("None")
            case ir.Boolean():
                return Hint("bool")
            case ir.Number():
                limits, is_exact = _find_limits(type_)
                source = "int" if type_.integer else self.use_import("Number")
                return Hint(self._annotate_limits(source, limits), not is_exact or type_.without_fraction)
            case ir.String():
                pattern = translate_to_python(type_.pattern) if type_.pattern is not None else None
                source = self._annotate_limits(
                    "str", {**_find_lengths(type_.min_length, type_.max_length), "pattern": pattern}
                )
                return Hint(source, type_.pattern is not None and pattern is None)
            case ir.Constant():
                return Hint(self._write_constants(type_.values))
            case ir.Array():
                items = self.annotate(type_.items)
                source = self._annotate_limits(f"list[{items.source}]", _find_lengths(type_.min_items, type_.max_items))
                return Hint(source, items.is_judged or type_.unique)
            case ir.Tuple():
                return self._hint_tuple(type_)
            case ir.Map():
                values = self.annotate(type_.values)
                return Hint(f"dict[str, {values.source}]", values.is_judged)
            case ir.Ref():
                return self._hint_reference(type_.name)
            case ir.AnyOf():
                return self._hint_any_of(type_)
            case _:
                assert_never(type_)

    def _hint_reference(self, name: str) -> Hint:
        """A reference by name, marked if its target needs validation by the schema; records carry that mark themselves."""
        source = self.names.classes[name]
        if name in self.recursive:
            return Hint(source, any(self.protocol.definitions[alias].unenforced for alias in self.recursive))
        if isinstance(self.protocol.definitions[name], ir.Record):
            return Hint(source)
        hint = self.annotate_definition(name)
        return hint if hint == Hint("None") else hint._replace(source=source)  # Python joins no None to None

    # --- unions ---

    def _join_types(self, types: Sequence[ir.Type]) -> Hint:
        members = [self.annotate(member) for member in types]
        return Hint(join_types(dict.fromkeys(hint.source for hint in members)), any(hint.is_judged for hint in members))

    def _hint_any_of(self, union: ir.AnyOf) -> Hint:
        non_null = _drop_null(union)
        hint = self._join_types(non_null)
        null = " | None" if len(non_null) < len(union.types) and hint.source != "None" else ""
        if union.exclusive:
            several = [list(self._list_values(member)) for member in union.types]
            nullable = [values for values in several if not {"any", "null"}.isdisjoint(kind for kind, _ in values)]
            is_joined = any(
                len(values) > 1 or any(kind != "object" and which for kind, which in values) for values in several
            )
            if _overlap(several) and (len(nullable) > 1 or is_joined):
                hint = hint._replace(is_judged=True)  # Python joins them, and does not say what two of them accept
            elif _overlap(several):
                hint = hint._replace(source=self._annotate(hint.source, "Shapes", "exclusive=True"))
        return hint._replace(source=f"{hint.source}{null}")

    def _list_values(self, type_: ir.Type, visited: frozenset[str] = frozenset()) -> Iterator[_Values]:
        """Yield the values that a type admits, as far as they discriminate it: objects by a tag, constants by value."""
        match type_:
            case ir.Anything():
                yield from (("any", ""),)
            case ir.Nothing():
                return
            case ir.Constant(values=values):
                yield from ((_name_json_type(value), write_json(value)) for value in values)
            case ir.AnyOf(types=types):
                for member in types:
                    yield from self._list_values(member, visited)
            case ir.Ref(name=name) if name in self.tags:
                tag = self.tags[name]
                yield "object", f"{tag.field} {tag.value!r}"
            case ir.Ref(name=name) if name not in visited:
                match self.protocol.definitions[name]:
                    case ir.Alias(type=inner):
                        yield from self._list_values(inner, visited | {name})
                    case ir.Enum(values=enum_values, base=base) as enum:
                        yield from ((_name_json_type(member.value), write_json(member.value)) for member in enum_values)
                        yield from self._list_values(base, visited) if enum.openness != "closed" else ()
                    case ir.TaggedUnion(variants=variants, fallback=fallback, default=default):
                        names = [*(variant.type for variant in variants), *filter(None, (fallback, default))]
                        yield from (
                            pair for member in names for pair in self._list_values(ir.Ref(member), visited | {name})
                        )
                    case ir.Record():
                        yield "object", ""
            case _:
                yield _JSON_TYPES.get(type(type_), "any"), ""

    def _write_tagged_union(self, union: ir.TaggedUnion) -> str:
        fallbacks = union.fallback_shapes or ((union.fallback,) if union.fallback is not None else ())
        tags = group_tags(union)
        members = [name for name in tags if name != union.default]
        members += [*fallbacks, *([union.default] if union.default is not None else [])]
        exclusive = ["exclusive=True"] if union.fallback_exclusive else []
        source = join_types(self.names.classes[name] for name in members)
        return self._annotate(source, "Tagged", write_literal(union.tag), *exclusive) if len(members) > 1 else source

    # --- scalars, lists ---

    def _annotate(self, source: str, name: str, *arguments: str) -> str:
        return f"{self.use_import('Annotated')}[{source}, {self.use_import(name)}({', '.join(arguments)})]"

    def _write_constants(self, values: tuple[ir.JSON, ...]) -> str:
        """The annotation of constants. Those that no float equals exactly are left out: no decoded value is equal to them."""
        values = tuple(value for value in values if not isinstance(value, ExactNumber))
        if not values:
            return self.use_import("Never")
        small = [value for value in values if not _is_beyond_literals(value)]
        literal_types = [f"{self.use_import('Literal')}[{', '.join(map(write_literal, small))}]"] if small else []
        if len(small) == len(values):
            return literal_types[0]
        types = dict.fromkeys("float" if isinstance(value, float) else "int" for value in values if value not in small)
        return self._annotate(
            join_types([*literal_types, *types]), "Constants", _write_tuple(map(write_literal, values))
        )

    def _hint_tuple(self, type_: ir.Tuple) -> Hint:
        entries = [self.annotate(item) for item in type_.first]
        is_closed = type_.rest == ir.Nothing()
        rest_hints = [] if is_closed else [self.annotate(type_.rest)]
        minimum, maximum = type_.min_items or 0, type_.max_items
        sources = [*(hint.source for hint in entries), *(f"*tuple[{hint.source}, ...]" for hint in rest_hints)]
        source = f"tuple[{', '.join(sources) or '()'}]"
        if not is_closed or minimum != len(entries) or (maximum is not None and maximum < minimum):
            source = self._annotate_limits(source, {"min_length": minimum, "max_length": maximum})
        return Hint(source, type_.unique or any(hint.is_judged for hint in (*entries, *rest_hints)))

    def _annotate_limits(self, source: str, limits: Mapping[str, str | int | float | None]) -> str:
        arguments = [f"{name}={write_literal(value)}" for name, value in limits.items() if value is not None]
        return self._annotate(source, "Meta", *arguments) if arguments else source


def _is_beyond_literals(value: ir.JSON) -> bool:
    """Whether a constant is not supported in a `Literal`."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) > _LARGEST)


_JSON_TYPES: Final[Mapping[type, str]] = {
    ir.Null: "null",
    ir.Boolean: "boolean",
    ir.Number: "number",
    ir.String: "string",
    ir.Array: "array",
    ir.Tuple: "array",
    ir.Map: "object",
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
}


def _name_json_type(value: ir.JSON) -> str:
    return _JSON_TYPES.get(type(value), "any")


def _drop_null(union: ir.AnyOf) -> list[ir.Type]:
    return [member for member in union.types if member != ir.Null()]


def _overlap(members: Iterable[Iterable[_Values]]) -> bool:
    """Whether two members of a union may admit the same value, judging by their JSON types, constants and tags."""
    values_by_type: dict[str, set[str]] = {}
    for member in map(list, members):
        if any(
            texts and (not which or "" in texts or which in texts)
            for kind, which in member
            if (texts := values_by_type.get(kind))
        ):
            return True
        for kind, which in member:
            values_by_type.setdefault(kind, set()).add(which)
    fields = {which.partition(" ")[0] for which in values_by_type.get("object", ())}
    return len(fields) > 1 or ("any" in values_by_type and len(values_by_type) > 1)


def _find_limits(number: ir.Number) -> tuple[dict[str, int | float], bool]:
    """The limits of a number with the names of msgspec, one in each direction, and whether they are complete. Those of an integer are
    integers.
    """
    limits: dict[str, Any] = list_limits(number)
    is_exact = not any(isinstance(limit, ExactNumber) for limit in limits.values()) or number.integer
    msgspec_limits: dict[str, int | float] = {}
    for inclusive, exclusive, name in (("minimum", "exclusiveMinimum", "ge"), ("maximum", "exclusiveMaximum", "le")):
        sign = 1 if name == "ge" else -1
        bounds = [(sign * to_fraction(limits[key]), key) for key in (inclusive, exclusive) if key in limits]
        if not bounds:
            continue
        # Of equal ones that without the limit itself.
        bound, key = max(bounds, key=lambda pair: (pair[0], pair[1] == exclusive))
        if number.integer and abs(bound) < _LARGEST_LIMIT:
            msgspec_limits[name] = sign * (floor(bound) + 1 if key == exclusive else ceil(bound))
        elif abs(bound) > _LARGEST_LIMIT:
            is_exact = False
        elif not isinstance(limits[key], ExactNumber):
            integer = to_integer(limits[key])
            msgspec_limits[name if key == inclusive else "gt" if name == "ge" else "lt"] = (
                limits[key] if integer is None else integer
            )
    step = limits.get("multipleOf")
    if step is not None:
        integer = to_integer(step)
        if number.integer and integer is None:
            integer = to_fraction(step).numerator
        if integer is not None and integer > _LARGEST_LIMIT:
            is_exact = False
        elif not isinstance(step, ExactNumber) or integer is not None:
            msgspec_limits["multiple_of"] = step if integer is None else integer
    return msgspec_limits, is_exact


def _find_lengths(minimum: int | None, maximum: int | None) -> dict[str, int | None]:
    """The limits of a length, capped at the largest possible length."""
    return {
        "min_length": None if not minimum else min(minimum, _LARGEST),
        "max_length": None if maximum is None or maximum > _LARGEST else maximum,
    }


def join_types(members: Iterable[str], joint: str = " | ") -> str:
    """A union of types. A long one is grouped, as compilers and formatters recurse for each operator."""
    sources = list(members)
    if len(sources) <= MOST_IN_A_ROW:
        return joint.join(sources)
    groups = [sources[start : start + MOST_IN_A_ROW] for start in range(0, len(sources), MOST_IN_A_ROW)]
    return join_types([f"({' | '.join(group)})" for group in groups], joint)


def _write_tuple(items: Iterable[str]) -> str:
    entries = list(items)
    return f"({', '.join(entries)}{',' if len(entries) == 1 else ''})"


def _measure_depth(type_: ir.Type, depths: Mapping[str, int]) -> int:
    """How many arrays and maps lie in one another in a type; `depths` has this of the definitions that are known."""
    if isinstance(type_, ir.Ref):
        return depths.get(type_.name, 0)
    inside = max((_measure_depth(inner, depths) for inner in list_parts(type_)), default=0)
    return inside + isinstance(type_, ir.Array | ir.Map | ir.Tuple)


def find_recursive_aliases(protocol: ir.Protocol) -> set[str]:
    """The aliases that refer to themselves without a record in between."""
    aliases = {
        name: definition for name, definition in protocol.definitions.items() if isinstance(definition, ir.Alias)
    }
    return {
        alias.name
        for group in order_definitions(replace(protocol, definitions=aliases))
        for alias in group
        if len(group) > 1 or alias.name in list_references(aliases[alias.name].type)
    }
