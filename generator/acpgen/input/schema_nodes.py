"""Schemas as nodes: what each says, where it stands, and what follows from it, found out once.

A node is read, never changed. What it refers to is looked up among the definitions that it lives among.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from acpgen.input.equality import by_key, kind_of, same
from acpgen.input.positions import relocated
from acpgen.input.step_budget import spend
from acpgen.input.tagged_unions import (
    Tag,
    Tagged,
    Tags,
    branches_of,
    common,
    constant,
    excluded_tags,
    excluded_text,
    is_null,
    is_of_type,
    lone_reference,
    recognise,
    types_of,
)
from acpgen.input.walk import ASSERTIONS, BY_KIND, Schema, asserts, is_array, is_object
from acpgen.pointers import follow, plain_pointer, target

if TYPE_CHECKING:
    from functools import cached_property as once
else:

    class once:  # noqa: N801 - it stands for a function
        """`functools.cached_property` without the lock that it has before Python 3.12, which takes a tenth of all bundling."""

        def __init__(self, find):
            self.find = find

        def __get__(self, node, _):
            found = node.__dict__[self.find.__name__] = self.find(node)
            return found


Fact = TypeVar("Fact")

ALL_KINDS: Final = frozenset(BY_KIND)
OBJECTS: Final = frozenset({"object"})

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Schemas(Mapping[str, "Node"]):
    """Definitions by name, each a node that stands at its origin (`file#/pointer`).

    `unions` are the tagged unions that definitions are, where that is known already; `places` lead to the places in a document of what
    was made of it.
    """

    def __init__(
        self,
        written: Mapping[str, Schema],
        origins: Mapping[str, str] = _NOTHING,
        *,
        unions: Mapping[str, Tagged | None] = _NOTHING,
        places: Mapping[str, str] = _NOTHING,
    ) -> None:
        self.written: Final = written
        self.unions: Final = unions
        self.places: Final = places
        self._origins: Final = origins
        self._nodes: Final = dict[str, Node]()
        self._open: Final = set[tuple[str, str]]()

    def __getitem__(self, name: str) -> Node:
        if name not in self._nodes:
            self._nodes[name] = Node(self, self.written[name], self._origins.get(name, ""), name)
        return self._nodes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.written)

    def __len__(self) -> int:
        return len(self.written)

    def node(self, schema: Any, at: str = "") -> Node:
        """A schema that is no definition."""
        return Node(self, schema, at)

    def find(self, name: str, keys: Sequence[str]) -> Node:
        """The schema to which keys lead from a definition."""
        return self[name].make(follow(self.written[name], keys), *keys) if keys else self[name]

    def forget(self, *names: str) -> None:
        """Read these definitions anew, which have changed; without a name, all."""
        for name in names or [*self._nodes]:
            self._nodes.pop(name, None)

    def fact(self, name: str, attribute: str, otherwise: Fact) -> Fact:
        """An attribute of a definition's node; `otherwise` where there is none, or where it leads back to itself."""
        if name not in self.written or (name, attribute) in self._open:
            return otherwise
        self._open.add((name, attribute))
        try:
            return getattr(self[name], attribute)  # type: ignore[no-any-return]
        finally:
            self._open.discard((name, attribute))

    def place_of_keyword(self, at: str) -> str:
        """The place in the documents of a keyword: that of its schema, and the keyword."""
        schema, _, keyword = at.rpartition("/")
        return f"{relocated(schema, self.places)}/{keyword}"


@dataclass(slots=True)
class ObjectShape:
    """What a schema demands of an object, with its parts and what they refer to.

    `excluded` are constants that a property must not have, `closed` the properties that may hold no text, or but the one given;
    `says_more`: it demands what does not stand here.
    """

    properties: dict[str, list[Node]] = field(default_factory=dict[str, "list[Node]"])
    required: set[str] = field(default_factory=set[str])
    excluded: dict[str, dict[Hashable, Tag]] = field(default_factory=dict[str, "dict[Hashable, Tag]"])
    closed: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    is_object: bool = False
    says_more: bool = False

    def tags(self, name: str) -> Tags:
        """The constants that a property has at most; none where it may have other values."""
        lists = [sub.listed for sub in self.properties.get(name, ()) if sub.listed is not None]
        tags = common(lists) if lists else []
        return by_key(tags) if all(isinstance(tag, str | int | float) for tag in tags) else {}

    def add(self, other: ObjectShape) -> None:
        """Add what a part demands, which several parts may have in common."""
        spend(1 + len(other.properties) + len(other.required))
        self.is_object = self.is_object or other.is_object
        for name, subs in other.properties.items():
            own = self.properties.setdefault(name, [])
            spend(len(own) * len(subs))
            own.extend([sub for sub in subs if all(sub.schema is not one.schema for one in own)])
        self.required |= other.required
        self.exclude(other.excluded)
        self.closed.update(other.closed)
        self.says_more |= other.says_more

    def add_common(self, branches: Sequence[Node]) -> None:
        """Add what every branch of a nested union of objects demands alike, so that a union can be a variant of another."""
        shapes = [branch.shape for branch in branches]
        if not all(shape.is_object for shape in shapes):
            return
        self.is_object = True
        first = shapes[0]
        for name, (sub, *_) in first.properties.items():
            others = [shape.properties[name][0] for shape in shapes if name in shape.properties]
            if len(others) < len(shapes):
                continue
            if all(same(other.schema, sub.schema) for other in others):
                self.properties.setdefault(name, []).append(sub)
            elif all(tags := [shape.tags(name) for shape in shapes]):  # the union owns the tags of its branches
                together = by_key(tag for own in tags for tag in own.values())
                self.properties.setdefault(name, []).append(sub.make({"enum": list(together.values())}))
        self.required.update(first.required.intersection(*(shape.required for shape in shapes)))
        for name, values in first.excluded.items():
            everywhere = values.keys() & set(values).intersection(*(shape.excluded.get(name, {}) for shape in shapes))
            if everywhere:
                self.exclude({name: {key: value for key, value in values.items() if key in everywhere}})

    def exclude(self, constants: Mapping[str, Tags]) -> None:
        """Add constants that properties must not have."""
        for name, values in constants.items():
            self.excluded.setdefault(name, {}).update(values)


@dataclass(eq=False)
class Node:
    """One schema. `at` is its place in the source (`file#/pointer`), `owner` the definition that it belongs to, `keys` lead there."""

    schemas: Schemas = field(repr=False)
    schema: Any
    at: str
    owner: str = ""
    keys: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Its place in the documents: `at`, unless the schema was made of another document, or a field was moved here."""
        return relocated(self.at, self.schemas.places)

    # --- what it says ---

    @once
    def says(self) -> Schema:
        """Its keywords; none, if it is `true` or `false`."""
        return self.schema if is_object(self.schema) else {}

    @once
    def demands(self) -> frozenset[str]:
        """The keywords by which it can refuse a value."""
        return frozenset(key for key in self.says if key in ASSERTIONS)

    @property
    def refuses_all(self) -> bool:
        """Whether it is `false`."""
        return self.schema is False

    def text(self, keyword: str) -> str:
        """What a keyword says, as text; empty if it says nothing."""
        return str(self.says.get(keyword, ""))

    @property
    def types(self) -> list[str]:
        """What `type` names."""
        named = self.says.get("type", [])
        return list(named) if is_array(named) else [named]

    @property
    def constant(self) -> Tag | None:
        """The one value that it admits, where it says so by `const` or a single `enum` value."""
        return constant(self.schema)

    @once
    def is_null(self) -> bool:
        """Whether it admits null, and null alone."""
        return is_null(self.schema)

    # --- the schemas in it ---

    def make(self, schema: Any, *below: str) -> Node:
        """A schema that stands at a place below this one, or is made of it."""
        at = self.at + plain_pointer(*below) if below else self.at
        return Node(self.schemas, schema, at, self.owner, (*self.keys, *below))

    def with_keywords(self, **keywords: Any) -> Node:
        """The same schema with other values of some keywords."""
        return self.make({**self.says, **keywords})

    def without(self, *keywords: str) -> Node:
        """The same schema less some keywords."""
        return self.make({key: value for key, value in self.says.items() if key not in keywords})

    def inside(self, keyword: str) -> Node:
        """The schema of a keyword that holds one; everything is accepted where the keyword is not there."""
        return self.make(self.says.get(keyword, True), keyword)

    def each(self, keyword: str) -> list[Node]:
        """The schemas of a keyword that holds a list of them."""
        if keyword not in self.says:
            return []
        if keyword not in self._below:
            listed = enumerate(self.says[keyword])
            self._below[keyword] = [self.make(schema, keyword, str(index)) for index, schema in listed]
        return self._below[keyword]  # type: ignore[no-any-return]

    def named(self, keyword: str) -> dict[str, Node]:
        """The schemas of a keyword that holds them by name."""
        if keyword not in self.says:
            return {}
        if keyword not in self._below:
            held = self.says[keyword].items()
            self._below[keyword] = {name: self.make(schema, keyword, name) for name, schema in held}
        return self._below[keyword]  # type: ignore[no-any-return]

    @once
    def _below(self) -> dict[str, Any]:
        return {}

    @once
    def parts(self) -> list[Node]:
        """The schemas that judge the same value as this one does: those of `allOf`, and what `$ref` leads to."""
        whole = [self.make({"$ref": self.says["$ref"]})] if "$ref" in self.says else []
        return [*self.each("allOf"), *whole]

    @once
    def whole(self) -> list[Node]:
        """It, its parts and theirs, at any depth: all that judges the same value, each definition once, a part after what has it."""
        schemas: list[Node] = []
        seen: set[str] = set()
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            name = node.reference
            if name is not None and node is not self:
                if name in seen:
                    continue
                seen.add(name)
                node = node.schemas[name]
            schemas.append(node)
            pending.extend(reversed(node.parts))
        return schemas

    @once
    def lineage(self) -> frozenset[str]:
        """The definitions whose demands are all its own: itself, if it is one, and what it and its parts refer to."""
        return frozenset(part.owner for part in self.whole if part is self.schemas.get(part.owner))

    @once
    def union(self) -> tuple[str, list[Node]] | None:
        """The keyword and branches of the first union that stands directly in it."""
        union = branches_of(self.says)
        return None if union is None else (union[0], self.each(union[0]))

    @property
    def branches(self) -> list[Node]:
        """The branches of its union; none, if it is no union."""
        return self.union[1] if self.union is not None else []

    @property
    def beside_null(self) -> Node:
        """What it accepts beside null, where that is one schema and all that it says; else itself."""
        left = [branch for branch in self.branches if not branch.is_null]
        is_all = len(left) == 1 and self.union is not None and self.demands == frozenset({self.union[0]})
        return left[0] if is_all and is_object(left[0].schema) else self

    # --- what follows ---

    @once
    def reference(self) -> str | None:
        """The definition that it only refers to."""
        return lone_reference(self.schema)

    @property
    def referred(self) -> Node | None:
        """The definition that it only refers to, as a node."""
        return None if self.reference is None else self.schemas[self.reference]

    @once
    def target(self) -> str | None:
        """The definition that its `$ref` names."""
        ref = self.says.get("$ref")
        return target(ref) if isinstance(ref, str) else None

    @once
    def kinds(self) -> frozenset[str]:
        """The JSON types that it can accept at most, by what judges the value itself; an integer is a number."""
        if not is_object(self.schema):
            return frozenset() if self.refuses_all else ALL_KINDS
        spend()
        says = self.schema
        if "not" in says and says["not"] in (True, {}):
            return frozenset()
        kinds = types_of(says) if "type" in says else ALL_KINDS
        if "const" in says:
            kinds &= {kind_of(says["const"])}
        if "enum" in says:
            kinds &= {kind_of(value) for value in says["enum"]}
        if self.target is not None:
            kinds &= self.schemas.fact(self.target, "kinds", ALL_KINDS)
        for part in self.each("allOf"):
            kinds &= part.kinds
        for keyword in ("anyOf", "oneOf"):
            if self.each(keyword):
                kinds &= frozenset[str]().union(*(branch.kinds for branch in self.each(keyword)))
        return kinds

    @once
    def listed(self) -> list[Any] | None:
        """The values that it admits at most, where it lists them as constants; references, parts and alternatives are followed."""
        if not is_object(self.schema):
            return None
        spend()
        lists = [[self.schema["const"]]] if "const" in self.schema else []
        lists += [self.schema["enum"]] if "enum" in self.schema else []
        lists += [part.listed for part in self.each("allOf") if part.listed is not None]
        if self.target is not None and (own := self.schemas.fact(self.target, "listed", _UNLISTED)) is not None:
            lists.append(own)
        for keyword in ("anyOf", "oneOf"):
            branches = [branch.listed for branch in self.each(keyword)]
            if branches and None not in branches:
                lists.append([value for branch in branches for value in branch or ()])
        return [value for value in common(lists) if is_of_type(value, self.schema)] if lists else None

    @once
    def shape(self) -> ObjectShape:
        """What it demands of an object. Unions inside it are left out."""
        shape = ObjectShape()
        if not is_object(self.schema):
            return shape
        says, properties = self.schema, self.named("properties")
        spend(1 + len(properties))
        shape.is_object = says.get("type") == "object" or "properties" in says
        shape.properties = {name: [sub] for name, sub in properties.items() if is_object(sub.schema)}
        shape.required.update(says.get("required", ()))
        shape.exclude(self.excluded or {})
        for name, (sub, *_) in shape.properties.items():
            refused = sub.says.get("not")
            for one in refused.get("anyOf", [refused]) if is_object(refused) else ():
                shape.exclude(excluded_tags({"required": [name], "properties": {name: one}}) or {})
        closing = excluded_text(says.get("not"))
        shape.closed.update([closing] if closing is not None else [])
        shape.says_more = (closing is None and self.excluded is None) or any(
            key not in _OF_SHAPES and asserts(key) and value is not True and value != {} for key, value in says.items()
        )
        if self.target is not None:
            shape.add(self.schemas.fact(self.target, "shape", ObjectShape()))
        for part in self.each("allOf"):
            shape.add(part.shape)
        if self.branches and all(is_object(branch.schema) for branch in self.branches):
            shape.add_common(self.branches)
        return shape

    @once
    def excluded(self) -> Mapping[str, Tags] | None:
        """The constants per property that `not` refuses; `None` if `not` says anything else."""
        return excluded_tags(self.says["not"]) if "not" in self.says else {}

    @once
    def is_of_objects(self) -> bool:
        """Whether it accepts objects alone: by its type, or because two branches of a `oneOf` accept every other value."""
        if self.kinds == OBJECTS or self.union is None or self.union[0] != "oneOf":
            return self.kinds == OBJECTS
        return sum(all(one.demands <= _OF_OBJECTS for one in branch.whole) for branch in self.union[1]) > 1

    @once
    def tagged(self) -> Tagged | None:
        """The tagged union that it is: a union of objects with a tag, and nothing else."""
        if self.union is None or not self.demands <= {self.union[0], "type"} or not self.is_of_objects:
            return None
        is_known = self.owner in self.schemas.unions and self is self.schemas[self.owner]
        tagged = self.schemas.unions[self.owner] if is_known else recognise([one.shape for one in self.branches])
        if tagged is not None and any(branch.kinds != OBJECTS for branch in self.branches):
            return tagged if tagged.default is None and tagged.fallback is None else None
        return tagged

    # --- objects with named fields ---

    @once
    def fields(self) -> dict[str, list[Node]]:
        """Each property with the schemas that judge it, own ones first, in source order."""
        fields: dict[str, list[Node]] = {}
        for part in self.whole:
            for name, schema in part.named("properties").items():
                fields.setdefault(name, []).append(schema)
        return fields

    @once
    def required(self) -> frozenset[str]:
        """The properties that an object must have."""
        return frozenset(name for part in self.whole for name in part.says.get("required", ()))

    def narrows(self, fields: Mapping[str, object]) -> bool:
        """Whether it only narrows an object with these fields: it says nothing of other fields, and nothing of other values."""
        if not is_object(self.schema):
            return True
        if not self.demands <= _NARROWING or self.schema.get("type", "object") != "object":
            return False
        inner = [*self.each("allOf"), *self.each("anyOf"), *self.each("oneOf")]
        return self.named("properties").keys() <= fields.keys() and all(one.narrows(fields) for one in inner)

    @property
    def lone_key(self) -> str | None:
        """The one key that it lets an object have, and asks for."""
        if self.demands != _OF_KEYED or self.says["type"] != "object" or self.says["additionalProperties"] is not False:
            return None
        names = list(self.says["properties"])
        return names[0] if self.says["required"] == names and len(names) == 1 else None


def keyed(branches: Sequence[Node]) -> dict[int, str]:
    """The key of each branch that is an object with this key alone, where these keys tell all objects of a union apart; else none."""
    keys: dict[int, str] = {}
    for index, branch in enumerate(branches):
        if (key := branch.lone_key) is not None:
            keys[index] = key
        elif "object" in branch.kinds:
            return {}
    return keys if len(set(keys.values())) == len(keys) else {}


_UNLISTED: Final[list[Any] | None] = None
_OF_OBJECTS: Final = BY_KIND["object"] | {"$ref", "allOf"}
_OF_KEYED: Final = frozenset({"type", "properties", "required", "additionalProperties"})
_OF_SHAPES: Final = frozenset({"type", "properties", "required", "not", "$ref", "allOf"})
"""Keywords that a shape tells."""

_NARROWING: Final = frozenset(
    {
        *("type", "properties", "required", "not", "if", "then", "else", "dependentRequired", "propertyNames"),
        *("minProperties", "maxProperties", "allOf", "anyOf", "oneOf"),
    }
)
"""Keywords that may only narrow an object."""
