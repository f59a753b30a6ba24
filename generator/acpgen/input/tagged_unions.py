"""How unions are recognised: by their marks, never by trying branches and falling through.

A *tagged* union has one property whose constants tell its branches apart: each branch owns one or several. Beside the tagged
branches there may be one *fallback* (the tag is any string but the known ones) and one *default* (the tag may be omitted). Every
other union is told apart *by shape*.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, TypeAlias

from acpgen.input.equality import by_key, key_of, kind_of, same, whole
from acpgen.input.step_budget import spend
from acpgen.input.walk import BY_KIND, Schema, asserts, demands, is_array, is_object
from acpgen.pointers import target

Tag: TypeAlias = "str | int | float | bool"
Tags: TypeAlias = Mapping[Hashable, Tag]
"""Tags by what tells them apart as JSON."""


@dataclass(slots=True)
class Flat:
    """What a schema demands of an object, its in-place references and `allOf` followed."""

    properties: dict[str, list[Schema]] = field(default_factory=dict[str, list[Schema]])
    required: set[str] = field(default_factory=set[str])
    excluded: dict[str, dict[Hashable, Tag]] = field(default_factory=dict[str, "dict[Hashable, Tag]"])
    closed: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    """The properties that may hold no text, or but the one given."""
    is_object: bool = False
    says_more: bool = False
    """Whether it demands what does not stand here."""


@dataclass(frozen=True, slots=True)
class Tagged:
    """A recognised tagged union: positions of its branches, by role. `variants` has each tag with the branch that owns it.

    The default branch is for objects without a tag. It may own tags, too.
    """

    tag: str
    variants: tuple[tuple[int, Tag], ...]
    fallback: int | None
    default: int | None

    @property
    def first_tags(self) -> dict[int, Tag]:
        """The tag that names a branch: the first of those that it owns."""
        return dict(reversed(self.variants))

    def among(self, places: Sequence[int]) -> Tagged:
        """The same union where its branches are some of several: those at these places."""
        variants = tuple((places[index], tag) for index, tag in self.variants)
        roles = (None if role is None else places[role] for role in (self.fallback, self.default))
        return Tagged(self.tag, variants, *roles)


def constant(schema: object) -> Tag | None:
    """The one value that a schema admits, where it says so by `const` or a single `enum` value."""
    if not is_object(schema):
        return None
    if "const" in schema and isinstance(schema["const"], str | int | float | bool):
        return schema["const"]
    values = schema.get("enum")
    if is_array(values) and len(values) == 1 and isinstance(values[0], str | int | float | bool):
        return values[0]
    return None


def constants(schema: object) -> list[Any] | None:
    """The values that a schema admits, where it is a list of constants and nothing else."""
    if not is_object(schema):
        return None
    said = {key for key in schema if asserts(key)}
    lists = [*([[schema["const"]]] if "const" in said else []), *([schema["enum"]] if "enum" in said else [])]
    if not lists or not said <= {"const", "enum", "type"}:
        return None
    return [
        value
        for value in lists[0]
        if is_of_type(value, schema) and all(any(same(value, one) for one in other) for other in lists[1:])
    ]


def tags_of(
    flat: Flat, name: str, definitions: Mapping[str, Schema], known: dict[str, list[Any] | None] | None = None
) -> Tags:
    """The constants that a property has at most; none where it may have other values. `known` is that of `listed_values`."""
    known = {} if known is None else known
    lists = [
        listed
        for sub in flat.properties.get(name, ())
        if (listed := listed_values(sub, definitions, known)) is not None
    ]
    tags = _common(lists) if lists else []
    return by_key(tags) if all(isinstance(tag, str | int | float) for tag in tags) else {}


def listed_values(
    schema: object, definitions: Mapping[str, Schema], known: dict[str, list[Any] | None]
) -> list[Any] | None:
    """The values that a schema admits at most, where it lists them as constants; references, parts and alternatives are followed.

    `known` remembers definitions between calls.
    """
    if not is_object(schema):
        return None
    spend()
    lists = [[schema["const"]]] if "const" in schema else []
    lists += [schema["enum"]] if is_array(schema.get("enum")) else []
    parts = [listed_values(part, definitions, known) for part in schema.get("allOf", ())]
    if isinstance(schema.get("$ref"), str):
        name = target(schema["$ref"])
        if name not in known:
            known[name] = None  # until it is known: a definition may lead back here
            known[name] = listed_values(definitions.get(name), definitions, known)
        parts.append(known[name])
    for keyword in ("anyOf", "oneOf"):
        if is_array(schema.get(keyword)) and schema[keyword]:
            branches = [listed_values(branch, definitions, known) for branch in schema[keyword]]
            whole = [value for branch in branches if branch is not None for value in branch]
            parts.append(None if None in branches else whole)
    lists += [part for part in parts if part is not None]
    return [value for value in _common(lists) if is_of_type(value, schema)] if lists else None


def _common(lists: Sequence[Sequence[Any]]) -> list[Any]:
    """The values that are in all lists, each once."""
    spend(sum(map(len, lists)))
    first, *others = map(by_key, lists)
    return [value for key, value in first.items() if all(key in other for other in others)]


def is_of_type(value: Any, schema: Schema) -> bool:
    """Whether a value is of the types that a schema names."""
    if "type" not in schema:
        return True
    names = schema["type"] if is_array(schema["type"]) else [schema["type"]]
    kind = kind_of(value)
    return kind in names or (kind == "number" and "integer" in names and whole(value) is not None)


def excluded_tags(negated: object) -> dict[str, dict[Hashable, Tag]] | None:
    """The constants per property that a `not` refuses; `None` if the `not` says anything else."""
    if not is_object(negated):
        return None
    if set(negated) <= {"anyOf", "description"} and is_array(negated.get("anyOf")):
        merged: dict[str, dict[Hashable, Tag]] = {}
        for branch in negated["anyOf"]:
            found = excluded_tags(branch)
            if found is None:
                return None
            for name, values in found.items():
                merged.setdefault(name, {}).update(values)
        return merged
    properties = negated.get("properties")
    required = negated.get("required")
    if not set(negated) <= {"type", "properties", "required"} or not is_object(properties):
        return None
    if len(properties) != 1 or required != list(properties) or negated.get("type", "object") != "object":
        return None
    ((name, schema),) = properties.items()
    listed = constants(schema)
    if listed is None or not all(isinstance(value, str | int | float) for value in listed):
        return None
    return {name: by_key(listed)}


def excluded_text(negated: object) -> tuple[str, str | None] | None:
    """The property that a `not` lets hold no text at all, or but the one given; `None` if the `not` says anything else."""
    properties = negated.get("properties") if is_object(negated) else None
    if not is_object(negated) or not is_object(properties) or len(properties) != 1:
        return None
    ((name, schema),) = properties.items()
    rest = {key: value for key, value in negated.items() if key != "properties"}
    if rest not in ({"type": "object", "required": [name]}, {"required": [name]}) or not is_object(schema):
        return None
    kept = constant(schema.get("not"))
    whole = {"type": "string"} if kept is None else {"type": "string", "not": schema["not"]}
    return (name, kept if isinstance(kept, str) else None) if schema == whole else None


def flatten(schema: Schema, definitions: Mapping[str, Schema], known: dict[str, Flat] | None = None) -> Flat:
    """Collect what `schema` demands of an object. Unions inside it are left out. Each definition is read once.

    `known` remembers definitions between calls; none of them may change meanwhile, though others may come.
    """
    reading = _Reading(definitions, {} if known is None else known)
    flat = _flat(schema, reading)
    if known is not None and reading.is_whole:
        known.update(reading.found)
    return flat


@dataclass(slots=True)
class _Reading:
    """One call of `flatten`: the definitions that earlier ones have read, and those that this one does.

    `is_whole`: none led back to itself from inside a part, so that what was found would depend on where the reading began, and none was
    missing.
    """

    definitions: Mapping[str, Schema]
    known: Mapping[str, Flat]
    found: dict[str, Flat] = field(default_factory=dict[str, Flat])
    open: set[str] = field(default_factory=set[str])
    listed: dict[str, list[Any] | None] = field(default_factory=dict[str, "list[Any] | None"])
    is_whole: bool = True

    def of(self, name: str) -> Flat:
        """What a definition demands of an object."""
        if name in self.known:
            return self.known[name]
        if name in self.found:
            self.is_whole &= name not in self.open
            return self.found[name]
        if name not in self.definitions:
            self.is_whole = False
            return Flat()
        self.found[name] = Flat()  # until it is read
        self.open.add(name)
        self.found[name] = _flat(self.definitions[name], self)
        self.open.discard(name)
        return self.found[name]


def _flat(schema: object, reading: _Reading) -> Flat:
    """What a schema demands of an object."""
    flat = Flat()
    if not is_object(schema):
        return flat
    spend(1 + len(schema.get("properties", ())))
    flat.is_object = schema.get("type") == "object" or "properties" in schema
    for name, sub in schema.get("properties", {}).items():
        if is_object(sub):
            flat.properties.setdefault(name, []).append(sub)
    flat.required.update(schema.get("required", ()))
    for name, values in chain.from_iterable((excluded_tags(one) or {}).items() for one in _refused(schema)):
        flat.excluded.setdefault(name, {}).update(values)
    closing = excluded_text(schema.get("not"))
    flat.closed.update([closing] if closing is not None else [])
    is_known = "not" not in schema or closing is not None or excluded_tags(schema["not"]) is not None
    flat.says_more |= not is_known or any(
        key not in _FLATTENED and asserts(key) and value is not True and value != {} for key, value in schema.items()
    )
    if isinstance(schema.get("$ref"), str):
        _add(flat, reading.of(target(schema["$ref"])))
    for member in schema.get("allOf", ()):
        _add(flat, _flat(member, reading))
    union = branches_of(schema)
    if union is not None and all(is_object(branch) for branch in union[1]):
        _add_common(flat, [_flat(branch, reading) for branch in union[1]], reading)
    return flat


def _refused(schema: Schema) -> Iterator[object]:
    """What a schema refuses of an object by `not`, its own and those of its properties."""
    yield schema.get("not")
    for name, sub in schema.get("properties", {}).items():
        if is_object(sub) and is_object(sub.get("not")):
            yield from (
                {"required": [name], "properties": {name: one}} for one in sub["not"].get("anyOf", [sub["not"]])
            )


_FLATTENED: Final = frozenset({"type", "properties", "required", "not", "$ref", "allOf"})


def _add(flat: Flat, other: Flat) -> None:
    """Add what a part demands, which several parts may have in common."""
    spend(1 + len(other.properties) + len(other.required))
    flat.is_object = flat.is_object or other.is_object
    for name, subs in other.properties.items():
        own = flat.properties.setdefault(name, [])
        spend(len(own) * len(subs))
        own.extend([sub for sub in subs if all(sub is not one for one in own)])
    flat.required |= other.required
    for name, values in other.excluded.items():
        flat.excluded.setdefault(name, {}).update(values)
    flat.closed.update(other.closed)
    flat.says_more |= other.says_more


def _add_common(flat: Flat, branches: Sequence[Flat], reading: _Reading) -> None:
    """Add what every branch of a nested union of objects demands alike, so that a union can be a variant of another."""
    if not all(branch.is_object for branch in branches):
        return
    flat.is_object = True
    first = branches[0]
    for name, subs in first.properties.items():
        if all(same(branch.properties.get(name, [None])[0], subs[0]) for branch in branches):
            flat.properties.setdefault(name, []).append(subs[0])
        elif all(name in branch.properties for branch in branches):
            tags = [tags_of(branch, name, reading.definitions, reading.listed) for branch in branches]
            if all(tags):  # the union owns the tags of its branches
                together = by_key(tag for own in tags for tag in own.values())
                flat.properties.setdefault(name, []).append({"enum": list(together.values())})
    flat.required.update(first.required.intersection(*(branch.required for branch in branches)))
    for name, values in first.excluded.items():
        everywhere = values.keys() & set(values).intersection(*(branch.excluded.get(name, {}) for branch in branches))
        shared = {key: value for key, value in values.items() if key in everywhere}
        if shared:
            flat.excluded.setdefault(name, {}).update(shared)


def recognise(
    branches: Sequence[Schema], definitions: Mapping[str, Schema], known: dict[str, Flat] | None = None
) -> Tagged | None:
    """The tagged union that these branches make, or `None` where they are discriminated by shape. `known` is that of `flatten`."""
    known = {} if known is None else known
    flats = [flatten(branch, definitions, known) for branch in branches]
    if not flats or not all(flat.is_object for flat in flats):
        return None
    found = (_by_tag(name, marks, flats, definitions) for name, marks in marks_of(flats, definitions).items())
    tagged = [one for one in found if one is not None]
    return max(tagged, key=lambda one: (len(one.first_tags), -len(one.variants)), default=None)


def marks_of(flats: Sequence[Flat], definitions: Mapping[str, Schema]) -> dict[str, dict[int, Tags]]:
    """The tags of each branch by its position, for each property that some branch requires to be one of some constants."""
    known: dict[str, list[Any] | None] = {}
    found: dict[str, dict[int, Tags]] = {}
    for index, flat in enumerate(flats):
        for name in (name for name in flat.properties if name in flat.required):
            if tags := tags_of(flat, name, definitions, known):
                found.setdefault(name, {})[index] = tags
    return found


def _by_tag(
    name: str, marks: Mapping[int, Tags], flats: Sequence[Flat], definitions: Mapping[str, Schema]
) -> Tagged | None:
    spend(len(flats))
    variants = [(index, tag) for index, own in marks.items() for tag in own.values()]
    others = [index for index in range(len(flats)) if index not in marks]
    tags = by_key(tag for _, tag in variants)
    if len(tags) != len(variants) or len(others) > 2:
        return None
    fallbacks = [i for i in others if _is_fallback(name, tags, flats[i], definitions)]
    defaults = [i for i in others if i not in fallbacks]
    if len(fallbacks) > 1 or len(defaults) > 1:
        return None
    if fallbacks and defaults and not _gives_way(name, tags, flats[fallbacks[0]], flats[defaults[0]], definitions):
        return None
    for index in defaults:
        own = tags_of(flats[index], name, definitions)
        if own.keys().isdisjoint(tags) and all(own.keys() <= flats[one].excluded[name].keys() for one in fallbacks):
            variants += [(index, tag) for tag in own.values()]
    if len(variants) > 1 and len({index for index, _ in variants}) == 1:
        return None  # an enumeration of one branch is no mark
    return Tagged(name, tuple(variants), *(found[0] if found else None for found in (fallbacks, defaults)))


def _is_fallback(name: str, tags: Tags, flat: Flat, definitions: Mapping[str, Schema]) -> bool:
    """Whether a branch is for objects whose tag is text, and none of the known ones."""
    if name not in flat.required or not tags.keys() <= flat.excluded.get(name, {}).keys():
        return False
    return any(kinds(sub, definitions) <= _TEXT for sub in flat.properties.get(name, ()))


def _gives_way(name: str, tags: Tags, fallback: Flat, default: Flat, definitions: Mapping[str, Schema]) -> bool:
    """Whether the fallback takes every object that the default branch takes and whose tag is text but no tag of the variants."""
    more = fallback.excluded[name].keys() - tags.keys()
    if name in default.closed:
        own = default.closed[name]
        return own is None or key_of(own) in more
    if any("string" not in kinds(sub, definitions) for sub in default.properties.get(name, ())):
        return True
    return (
        not more
        and not fallback.says_more
        and fallback.required <= default.required | {name}
        and all(demands(sub) == {"type": "string"} for sub in fallback.properties[name])
        and all(
            not any(map(asserts, sub))
            or any(same(demands(sub), demands(one)) for one in default.properties.get(key, ()))
            for key, subs in fallback.properties.items()
            if key != name
            for sub in subs
        )
    )


def kinds(
    schema: object, definitions: Mapping[str, Schema], known: dict[str, frozenset[str]] | None = None
) -> frozenset[str]:
    """The JSON types that a schema can accept at most, told by what judges the value itself; an integer is a number.

    `known` remembers definitions between calls.
    """
    if not is_object(schema):
        return frozenset() if schema is False else ALL_KINDS
    spend()
    if "not" in schema and schema["not"] in (True, {}):
        return frozenset()
    known = {} if known is None else known
    found = ALL_KINDS
    if "type" in schema:
        found &= types_of(schema)
    if "const" in schema:
        found &= {kind_of(schema["const"])}
    if is_array(schema.get("enum")):
        found &= {kind_of(value) for value in schema["enum"]}
    if isinstance(schema.get("$ref"), str):
        name = target(schema["$ref"])
        if name not in known:
            known[name] = ALL_KINDS  # until it is known: a definition may lead back here from inside a part
            known[name] = kinds(definitions.get(name, {}), definitions, known)
        found &= known[name]
    for part in schema.get("allOf", ()):
        found &= kinds(part, definitions, known)
    for keyword in ("anyOf", "oneOf"):
        if is_array(schema.get(keyword)) and schema[keyword]:
            found &= frozenset().union(*(kinds(branch, definitions, known) for branch in schema[keyword]))
    return found


ALL_KINDS: Final = frozenset(BY_KIND)
OBJECTS: Final = frozenset({"object"})
_TEXT: Final = frozenset({"string"})


def types_of(schema: Schema) -> frozenset[str]:
    """What `type` names, an integer as a number."""
    types = schema["type"] if is_array(schema["type"]) else [schema["type"]]
    return frozenset("number" if name == "integer" else name for name in types)


def own_tag(found: Tagged, default: Schema, definitions: Mapping[str, Schema]) -> str | None:
    """The tag with which the default branch may be written out: the one that it lets be, or its title, if that is a word."""
    closed = flatten(default, definitions).closed
    if found.default in found.first_tags:
        return None
    if found.tag in closed or found.fallback is not None:
        return closed.get(found.tag)
    title = default.get("title")
    is_tag = isinstance(title, str) and re.fullmatch(r"[A-Za-z0-9_.-]+", title) is not None
    return title if is_tag and title not in {tag for _, tag in found.variants} else None


def keyed(branches: Sequence[object], definitions: Mapping[str, Schema]) -> dict[int, str]:
    """The key of each branch that is an object with this key alone, where these keys tell all objects of a union apart; else none."""
    found: dict[int, str] = {}
    for index, branch in enumerate(branches):
        key = lone_key(branch)
        if key is not None:
            found[index] = key
        elif "object" in kinds(branch, definitions):
            return {}
    return found if len(set(found.values())) == len(found) else {}


def lone_key(branch: object) -> str | None:
    """The one key that a schema lets an object have, and asks for."""
    if (
        not is_object(branch)
        or frozenset(key for key in branch if asserts(key)) != _OF_KEYED
        or branch["type"] != "object"
    ):
        return None
    named = list(branch["properties"])
    return (
        named[0]
        if branch["required"] == named and len(named) == 1 and branch["additionalProperties"] is False
        else None
    )


_OF_KEYED: Final = frozenset({"type", "properties", "required", "additionalProperties"})


def constrains(branch: object, fields: Collection[str]) -> bool:
    """Whether a schema beside an object with these fields only narrows it: it says nothing of other fields, and nothing of other values."""
    if not is_object(branch):
        return True
    demands = {key: value for key, value in branch.items() if asserts(key)}
    if not demands.keys() <= _NARROWING or demands.get("type", "object") != "object":
        return False
    inner = [*demands.get("allOf", ()), *demands.get("anyOf", ()), *demands.get("oneOf", ())]
    return demands.get("properties", {}).keys() <= set(fields) and all(constrains(one, fields) for one in inner)


_NARROWING: Final = frozenset(
    {
        *("type", "properties", "required", "not", "if", "then", "else", "dependentRequired", "propertyNames"),
        *("minProperties", "maxProperties", "allOf", "anyOf", "oneOf"),
    }
)
"""Keywords that may only narrow an object."""


def lone_reference(schema: object) -> str | None:
    """The definition that a schema only refers to (`$ref`, or `allOf` of one), annotations aside."""
    spend()
    if not is_object(schema):
        return None
    demands = {key for key in schema if asserts(key)}
    if demands == {"$ref"}:
        return target(schema["$ref"])
    if demands == {"allOf"} and len(schema["allOf"]) == 1:
        return lone_reference(schema["allOf"][0])
    return None


def is_null(schema: object) -> bool:
    """Whether a schema admits null, and null alone."""
    spend()
    if is_object(schema) and {key for key in schema if asserts(key)} == {"type"}:
        return schema["type"] in ("null", ["null"])
    return constants(schema) == [None]


def branches_of(schema: Schema) -> tuple[str, list[Any]] | None:
    """The keyword and branches of the first union that stands directly in `schema`."""
    for keyword in ("oneOf", "anyOf"):
        if is_array(schema.get(keyword)) and schema[keyword]:
            return keyword, schema[keyword]
    return None
