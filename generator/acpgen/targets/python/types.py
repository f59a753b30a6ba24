"""Types of the IR as Python annotations: those that msgspec reads, and those that a hook of the run-time package reads for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any, Final, NamedTuple, assert_never

from acpgen import ir
from acpgen.input.equality import exact, whole
from acpgen.input.expressions import quick_in_python
from acpgen.input.numbers import ExactNumber
from acpgen.meaning.definition_order import ordered
from acpgen.meaning.discriminators import tags_by_type
from acpgen.meaning.limits import limits_of
from acpgen.targets.python.literals import json_literal, literal
from acpgen.targets.python.naming import Names
from acpgen.targets.python.tags import Tag, class_tags, is_native, unknown_records

_LARGEST: Final = 2**63 - 1
"""The largest integer of limits and constants that msgspec takes, and what the length of anything in memory is below."""

_LARGEST_LIMIT: Final = 10**300
"""Up to here msgspec takes limits of numbers: it makes binary numbers of them."""

MOST_IN_A_ROW: Final = 200
"""Types that one row of `|` joins."""


class Atom(NamedTuple):
    """What msgspec tells one kind of value from others by. Of a class: the field of its tag, and the type of that."""

    kind: str
    tag_field: str = ""
    tag: str | int | None = None


_HOOK: Final = (Atom("hook"),)
_UNKNOWN: Final = "unknown "
"""What the tag of a record that keeps unknown ones begins with here."""


@dataclass(frozen=True, slots=True)
class Hint:
    """An annotation: as type checkers read it, and as a hook reads it where the two differ.

    `atoms` are what msgspec reads by it; none where it cannot. `how` says how a hook tells the members of a union apart. `is_judged`: the
    schema asserts more than the annotation says.
    """

    source: str
    atoms: tuple[Atom, ...] = ()
    read: str = ""
    how: str = ""
    is_judged: bool = False

    @property
    def for_hook(self) -> str:
        """The annotation that a hook reads."""
        return self.read or self.source


class Hints:
    """The annotations of one protocol. What msgspec cannot read inside a record becomes an alias of its own, among `inner`."""

    def __init__(self, protocol: ir.Protocol, names: Names) -> None:
        self.protocol = protocol
        self.names = names
        self.tags: Mapping[str, Tag] = class_tags(protocol)
        self.unknown = unknown_records(protocol)
        self.used: set[str] = set()
        self.inner: dict[tuple[str, str, str], str] = {}
        self._taken = {*names.taken, *(f"_{name}" for name in names.taken)}
        self._recursive = recursive_aliases(protocol)
        self._defined: dict[str, Hint] = {}

    def ours(self, name: str) -> str:
        """What the module calls something that it imports."""
        self.used.add(name)
        return self.names.ours(name)

    def without_names(self) -> Mapping[str, Hint]:
        """The types that the schema has no name for and that hooks read, by the name that they are given."""
        return {name: Hint(source, (), read, how) for (source, read, how), name in self.inner.items()}

    def of_field(self, type_: ir.Type, place: str) -> Hint:
        """What msgspec reads a type by; `place` names a type that it cannot."""
        return self._readable(self.of(type_, place), place)

    def of_definition(self, name: str) -> Hint:
        """What a definition that is no record is, with whether msgspec can read it; a type that is a part of itself it cannot."""
        if name not in self._defined:
            definition = self.protocol.definitions[name]
            found = self._definition(definition)
            found = replace(found, is_judged=found.is_judged or bool(definition.unenforced))
            self._defined[name] = replace(found, atoms=()) if name in self._recursive else found
        return self._defined[name]

    def _definition(self, definition: ir.Definition) -> Hint:
        name = self.names.classes[definition.name]
        match definition:
            case ir.TaggedUnion():
                return self._tagged(definition)
            case ir.Enum():
                values = ir.Constant(tuple(value.value for value in definition.values))
                if definition.name in self.names.members:
                    return Hint(name, (Atom("text"),))
                is_open = definition.openness != "closed"
                return self._either((values, definition.base), name) if is_open else self.of(values, name)
            case ir.Alias():
                return self.of(definition.type, f"{name}Item")
            case ir.Record():
                return Hint(name, (self._atom(definition),))
            case _:
                assert_never(definition)

    def of(self, type_: ir.Type, place: str) -> Hint:
        """The annotation of a type."""
        match type_:
            case ir.Anything():
                return Hint(self.ours("Any"), (Atom("any"),))
            case ir.Nothing():
                return Hint(self.ours("Never"))
            case ir.Null():
                return Hint("None", (Atom("null"),))
            case ir.Boolean():
                return Hint("bool", (Atom("bool"),))
            case ir.Number():
                return self._number(type_)
            case ir.String():
                return self._text(type_)
            case ir.Constant():
                return self._constants(type_.values)
            case ir.Array():
                items = self._readable(self.of(type_.items, place), place)
                found = Hint(f"list[{items.source}]", (Atom("list"),), is_judged=items.is_judged or type_.unique)
                return self._limited(found, _lengths(type_.min_items, type_.max_items))
            case ir.Tuple():
                return self._tuple(type_, place)
            case ir.Map():
                values = self._readable(self.of(type_.values, place), place)
                return Hint(f"dict[str, {values.source}]", (Atom("dict"),), is_judged=values.is_judged)
            case ir.Ref():
                return self._reference(type_.name)
            case ir.AnyOf():
                return self._either(type_.types, place, type_)
            case _:
                assert_never(type_)

    # --- names ---

    def _reference(self, name: str) -> Hint:
        class_ = self.names.classes[name]
        definition = self.protocol.definitions[name]
        if isinstance(definition, ir.Record):
            return Hint(class_, (self._atom(definition),))
        if name in self._recursive:
            unenforced = any(self.protocol.definitions[one].unenforced for one in self._recursive)
            return Hint(class_, _HOOK, is_judged=unenforced)
        found = self.of_definition(name)
        return Hint(class_, found.atoms or _HOOK, is_judged=found.is_judged)

    def _atom(self, record: ir.Record) -> Atom:
        """What msgspec tells the objects of a record by: its own tag, or that of its base."""
        base: ir.Definition | None = record
        while isinstance(base, ir.Record):
            if base.name in self.tags:
                tag = self.tags[base.name]
                return Atom("object", tag.field, tag.value)
            if base.name in self.unknown:
                return Atom("object", self.unknown[base.name].tag, _UNKNOWN + base.name)
            base = self.protocol.definitions.get(base.base or "")
        return Atom("object")

    def _readable(self, hint: Hint, place: str) -> Hint:
        """A hint that msgspec can read: what it cannot gets a name, and a hook reads it."""
        if hint.atoms:
            return hint
        key = (hint.source, hint.for_hook, hint.how)
        if key not in self.inner:
            found, count = f"_{place}", 1
            while found in self._taken:
                count += 1
                found = f"_{place}{count}"
            self.inner[key] = found
            self._taken.add(found)
        return Hint(self.inner[key], _HOOK, is_judged=hint.is_judged)

    # --- unions ---

    def _either(self, types: Sequence[ir.Type], place: str, union: ir.AnyOf | None = None) -> Hint:
        rest = [one for one in types if one != ir.Null()]
        null = [Hint("None", (Atom("null"),))] if len(rest) < len(types) else []
        members = [self.of(one, place) for one in rest]
        is_exclusive = union is not None and union.exclusive
        if is_exclusive and (any(len(one.atoms) > 1 for one in members) or (null and any(map(self._takes_null, rest)))):
            found = self._joined([*(self._readable(one, place) for one in members), *null])
            return replace(found, is_judged=True)  # Python joins unions, which then do not say what two of them accept
        if len(rest) == 1:
            return self._joined([self._readable(members[0], place), *null])
        found = self._joined(members)
        if found.atoms and not (is_exclusive and (_overlap(found.atoms) or self._shares_constants(rest))):
            return self._joined([found, *null]) if null else found
        shapes = ir.AnyOf(tuple(rest), exclusive=is_exclusive)
        hooked = replace(found, atoms=(), read=either(one.for_hook for one in members), how=self._shapes(shapes))
        return self._joined([self._readable(hooked, place), *null]) if null else hooked

    def _takes_null(self, type_: ir.Type, through: frozenset[str] = frozenset()) -> bool:
        match type_:
            case ir.Anything() | ir.Null():
                return True
            case ir.Constant(values=values):
                return None in values
            case ir.AnyOf(types=types):
                return any(self._takes_null(one, through) for one in types)
            case ir.Ref(name=name) if name not in through:
                match self.protocol.definitions[name]:
                    case ir.Alias(type=inner):
                        return self._takes_null(inner, through | {name})
                    case ir.Enum() as enum:
                        return any(one.value is None for one in enum.values) or self._takes_null(enum.base, through)
                    case _:
                        return False
            case _:
                return False

    def _shares_constants(self, types: Sequence[ir.Type]) -> bool:
        """Whether two of several types take one constant."""
        named = [constant for type_ in types for constant in self._constants_of(type_, frozenset())]
        return len(set(named)) < len(named)

    def _constants_of(self, type_: ir.Type, seen: frozenset[str]) -> set[str]:
        """The constants that a type names, as JSON."""
        match type_:
            case ir.Constant():
                return set(map(json_literal, type_.values))
            case ir.AnyOf():
                return set[str]().union(*(self._constants_of(one, seen) for one in type_.types))
            case ir.Ref(name) if name not in seen:
                match self.protocol.definitions[name]:
                    case ir.Enum(values=values):
                        return {json_literal(one.value) for one in values}
                    case ir.Alias(type=inner):
                        return self._constants_of(inner, seen | {name})
                    case _:
                        return set()
            case _:
                return set()

    def _joined(self, members: Sequence[Hint]) -> Hint:
        atoms = tuple(dict.fromkeys(atom for one in members for atom in one.atoms))
        can = all(one.atoms for one in members) and _are_told_apart([one.atoms for one in members])
        judged = any(one.is_judged for one in members)
        source = either(dict.fromkeys(one.source for one in members))
        return Hint(source, atoms if can else (), either(one.for_hook for one in members), is_judged=judged)

    def _shapes(self, union: ir.AnyOf) -> str:
        """How a hook tells the members of a union apart."""
        return self._call("Shapes", ["exclusive=True"] if union.exclusive else [])

    def _tagged(self, union: ir.TaggedUnion) -> Hint:
        fallbacks = union.fallback_shapes or ((union.fallback,) if union.fallback is not None else ())
        own = tags_by_type(union)
        members = [name for name in own if name != union.default]
        members += [*fallbacks, *([union.default] if union.default is not None else [])]
        source = either(self.names.classes[name] for name in members)
        if is_native(union, self.tags, self.protocol):
            atoms = tuple(atom for name in members for atom in self._reference(name).atoms)
            if len(members) > 1:  # which pydantic asks
                source = f"{self.ours('Annotated')}[{source}, {self._call('Tagged', [literal(union.tag)])}]"
            return Hint(source, atoms)
        tags = [*own.get(union.default or "", ()), *([union.default_tag] if union.default_tag is not None else [])]
        given = {
            "default_tags": _tuple(map(literal, tags)) if tags else "",
            "default_admits_known": union.default_admits_known,
            "default_admits_unknown": union.default_admits_unknown,
            "exclusive": union.fallback_exclusive,
        }
        arguments = [f"{name}={value}" for name, value in given.items() if value]
        return Hint(source, (), how=self._call("Tagged", [literal(union.tag), *arguments]))

    def _call(self, name: str, arguments: Iterable[str]) -> str:
        return f"{self.ours(name)}({', '.join(arguments)})"

    # --- scalars, lists ---

    def _number(self, number: ir.Number) -> Hint:
        limits, is_exact = _limits(number)
        if not number.integer:
            found = Hint(self.ours("Number"), _HOOK, is_judged=not is_exact)
            return replace(self._limited(found, limits), atoms=() if limits else _HOOK)
        is_small = all(isinstance(limit, int) and abs(limit) <= _LARGEST for limit in limits.values())
        base = Hint("int", (Atom("int"),), is_judged=not is_exact or number.without_fraction)
        found = self._limited(base, limits)
        return found if is_small else replace(found, atoms=())

    def _text(self, type_: ir.String) -> Hint:
        pattern = quick_in_python(type_.pattern) if type_.pattern is not None else None
        base = Hint("str", (Atom("str"),), is_judged=type_.pattern is not None and pattern is None)
        return self._limited(base, {**_lengths(type_.min_length, type_.max_length), "pattern": pattern})

    def _constants(self, values: tuple[ir.JSON, ...]) -> Hint:
        """A set of constants. A constant that no double equals is left out: nothing that is read of a message is equal to it."""
        values = tuple(value for value in values if not isinstance(value, ExactNumber))
        if not values:
            return Hint(self.ours("Never"))
        small = [value for value in values if not _is_beyond_literals(value)]
        written = [f"{self.ours('Literal')}[{', '.join(map(literal, small))}]"] if small else []
        if len(small) == len(values):
            kinds = dict.fromkeys(_LITERALS[type(value)] for value in values)
            return Hint(written[0], tuple(map(Atom, kinds)))
        others = dict.fromkeys("float" if isinstance(value, float) else "int" for value in values if value not in small)
        return Hint(either([*written, *others]), (), f"{self.ours('Literal')}[{', '.join(map(literal, values))}]")

    def _tuple(self, type_: ir.Tuple, place: str) -> Hint:
        entries = [self._readable(self.of(one, place), place) for one in type_.first]
        is_closed = type_.rest == ir.Nothing()
        rest = None if is_closed else self._readable(self.of(type_.rest, place), place)
        judged = type_.unique or any(one.is_judged for one in (*entries, *([rest] if rest is not None else [])))
        least, most = type_.min_items or 0, type_.max_items
        after = [f"*tuple[{rest.source}, ...]"] if rest is not None else []
        found = Hint(f"tuple[{', '.join([*(one.source for one in entries), *after]) or '()'}]", (), is_judged=judged)
        if is_closed and least == len(entries) and (most is None or most >= least):
            return replace(found, atoms=(Atom("list"),))
        limited = self._limited(found, {"min_length": least, "max_length": most})
        return replace(limited, atoms=())

    def _limited(self, base: Hint, limits: Mapping[str, str | int | float | None]) -> Hint:
        arguments = ", ".join(f"{name}={literal(value)}" for name, value in limits.items() if value is not None)
        if not arguments:
            return base
        kinds = tuple(Atom("text") if atom.kind == "str" else atom for atom in base.atoms)
        return replace(
            base, source=f"{self.ours('Annotated')}[{base.source}, {self.ours('Meta')}({arguments})]", atoms=kinds
        )


_LITERALS: Final[Mapping[type, str]] = {str: "literal", int: "integer", bool: "bool", type(None): "null"}


def _is_beyond_literals(value: ir.JSON) -> bool:
    """Whether a constant cannot stand in a `Literal` that type checkers and msgspec read."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) > _LARGEST)


_JSON_KIND: Final[Mapping[str, str]] = {
    "literal": "string",
    "str": "string",
    "text": "string",
    "integer": "number",
    "int": "number",
    "dict": "object",
}
"""The kinds of JSON values that several atoms take."""


_OBJECTS: Final = ("object", "dict")


def _are_told_apart(members: Sequence[tuple[Atom, ...]]) -> bool:
    """Whether msgspec tells the members of a union apart exactly: by the kind of a value, and of objects by their tags.

    `str` and `int` take constants beside them.
    """
    if len(members) == 1:
        return True
    atoms = [atom for one in members for atom in one]
    kinds = [atom.kind for atom in atoms]
    if "hook" in kinds or "any" in kinds:
        return set(kinds) in ({"hook", "null"}, {"any", "null"}) and kinds.count("hook") < 2
    objects = [atom for atom in atoms if atom.kind in _OBJECTS]
    if len(objects) > 1:
        if any(not atom.tag_field for atom in objects) or len({atom.tag_field for atom in objects}) > 1:
            return False
        if len({atom.tag for atom in objects}) < len(objects) or len({type(atom.tag) for atom in objects}) > 1:
            return False
        several = sum(any(atom.kind in _OBJECTS for atom in one) for one in members) > 1
        if several and any(str(atom.tag).startswith(_UNKNOWN) for atom in objects):  # it would take the tags of others
            return False
    texts = [kind for kind in kinds if kind in ("literal", "str", "text")]
    plain = [kind for kind in kinds if kind not in ("object", "dict", "literal", "integer")]
    return len(set(plain)) == len(plain) and not ("text" in texts and len(texts) > 1)


def _overlap(atoms: Sequence[Atom]) -> bool:
    """Whether two members may take one value."""
    kinds = [_JSON_KIND.get(atom.kind, atom.kind) for atom in atoms if atom.kind != "object"]
    return len(set(kinds)) < len(kinds) or "any" in kinds


def _limits(number: ir.Number) -> tuple[dict[str, int | float], bool]:
    """The limits of a number as msgspec names them, one on a side, and whether they say all of it. Those of an integer are whole."""
    limits: dict[str, Any] = limits_of(number)
    is_exact = not any(isinstance(limit, ExactNumber) for limit in limits.values()) or number.integer
    found: dict[str, int | float] = {}
    for least, most, name in (("minimum", "exclusiveMinimum", "ge"), ("maximum", "exclusiveMaximum", "le")):
        sign = 1 if name == "ge" else -1
        given = [(sign * exact(limits[key]), key) for key in (least, most) if key in limits]
        if not given:
            continue
        bound, key = max(given, key=lambda one: (one[0], one[1] == most))  # of equal ones that without the limit itself
        if number.integer and abs(bound) < _LARGEST_LIMIT:
            found[name] = sign * (floor(bound) + 1 if key == most else ceil(bound))
        elif abs(bound) > _LARGEST_LIMIT:
            is_exact = False
        elif not isinstance(limits[key], ExactNumber):
            integer = whole(limits[key])
            found[name if key == least else "gt" if name == "ge" else "lt"] = (
                limits[key] if integer is None else integer
            )
    step = limits.get("multipleOf")
    if step is not None:
        integer = whole(step)
        if number.integer and integer is None:
            integer = exact(step).numerator
        if integer is not None and integer > _LARGEST_LIMIT:
            is_exact = False
        elif not isinstance(step, ExactNumber) or integer is not None:
            found["multiple_of"] = step if integer is None else integer
    return found, is_exact


def _lengths(least: int | None, most: int | None) -> dict[str, int | None]:
    """The limits of a length: nothing is longer than the largest."""
    return {
        "min_length": None if not least else min(least, _LARGEST),
        "max_length": None if most is None or most > _LARGEST else most,
    }


def either(members: Iterable[str], joint: str = " | ") -> str:
    """A union of types. Very many stand in groups: compilers and formatters go down a level with each operator."""
    listed = list(members)
    if len(listed) <= MOST_IN_A_ROW:
        return joint.join(listed)
    groups = [listed[start : start + MOST_IN_A_ROW] for start in range(0, len(listed), MOST_IN_A_ROW)]
    return either([f"({' | '.join(group)})" for group in groups], joint)


def _tuple(items: Iterable[str]) -> str:
    listed = list(items)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def references(type_: ir.Type) -> set[str]:
    """The definitions that a type refers to."""
    match type_:
        case ir.Ref(name=name):
            return {name}
        case ir.Array(items=inner) | ir.Map(values=inner):
            return references(inner)
        case ir.Tuple(first=first, rest=rest):
            return set[str]().union(*map(references, (*first, rest)))
        case ir.AnyOf(types=types):
            return set[str]().union(*(references(member) for member in types))
        case _:
            return set()


def recursive_aliases(protocol: ir.Protocol) -> set[str]:
    """The aliases that are parts of themselves without a record between."""
    aliases = {name: one for name, one in protocol.definitions.items() if isinstance(one, ir.Alias)}
    return {
        one.name
        for group in ordered(replace(protocol, definitions=aliases))
        for one in group
        if len(group) > 1 or one.name in references(aliases[one.name].type)
    }
