"""Schemas as nodes: what each one says, where it stands, and what follows from it, computed once.

A node is read-only. References are looked up among the definitions of its `Schemas`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from acpgen.input.equality import get_kind, index_by_key, is_equal
from acpgen.input.positions import relocate
from acpgen.input.step_budget import spend
from acpgen.input.tagged_unions import (
    Tag,
    Tagged,
    Tags,
    find_branches,
    find_common,
    find_constant,
    find_lone_reference,
    is_null,
    is_of_type,
    list_type_names,
    list_types,
    read_excluded_tags,
    read_excluded_text,
    recognise,
)
from acpgen.input.walk import ASSERTIONS, BY_KIND, Schema, asserts, is_object
from acpgen.pointers import follow, read_reference, write_plain_pointer

if TYPE_CHECKING:
    from functools import cached_property as once
else:

    class once:  # noqa: N801 - it stands for a function
        """`functools.cached_property` without its lock before Python 3.12, which costs a tenth of bundling."""

        def __init__(self, find):
            self.find = find

        def __get__(self, node, _):
            value = node.__dict__[self.find.__name__] = self.find(node)
            return value


Fact = TypeVar("Fact")

ALL_KINDS: Final = frozenset(BY_KIND)
OBJECTS: Final = frozenset({"object"})

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Schemas(Mapping[str, "Node"]):
    """Definitions by name, each as a node at its origin (`file#/pointer`).

    `unions` holds the tagged unions among them that are already known; `places` maps places of a derived document to its source.
    """

    def __init__(
        self,
        definitions: Mapping[str, Schema],
        origins: Mapping[str, str] = _NOTHING,
        *,
        unions: Mapping[str, Tagged | None] = _NOTHING,
        places: Mapping[str, str] = _NOTHING,
    ) -> None:
        self.written: Final = definitions
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

    def make_node(self, schema: Any, at: str = "") -> Node:
        """A node of a schema that is not a definition."""
        return Node(self, schema, at)

    def find(self, name: str, keys: Sequence[str]) -> Node:
        """The node at these keys of a definition."""
        return self[name].make(follow(self.written[name], keys), *keys) if keys else self[name]

    def forget(self, *names: str) -> None:
        """Discard the cached nodes of changed definitions, or of all."""
        for name in names or [*self._nodes]:
            self._nodes.pop(name, None)

    def get_fact(self, name: str, attribute: str, otherwise: Fact) -> Fact:
        """An attribute of a definition's node; `otherwise` if there is no definition or its attribute depends on itself."""
        if name not in self.written or (name, attribute) in self._open:
            return otherwise
        self._open.add((name, attribute))
        try:
            return getattr(self[name], attribute)  # type: ignore[no-any-return]
        finally:
            self._open.discard((name, attribute))

    def locate_keyword(self, at: str) -> str:
        """The source place of a keyword: that of its schema, followed by the keyword."""
        schema, _, keyword = at.rpartition("/")
        return f"{relocate(schema, self.places)}/{keyword}"


@dataclass(slots=True)
class ObjectShape:
    """What a schema demands of an object, merged with its parts and references.

    `excluded` maps properties to constants that they must not have. `closed` maps properties that may hold no string to `None`, or to
    the single string that is allowed. `says_more`: it demands something that is not represented here.
    """

    properties: dict[str, list[Node]] = field(default_factory=dict[str, "list[Node]"])
    required: set[str] = field(default_factory=set[str])
    excluded: dict[str, dict[Hashable, Tag]] = field(default_factory=dict[str, "dict[Hashable, Tag]"])
    closed: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    is_object: bool = False
    says_more: bool = False

    def find_tags(self, name: str) -> Tags:
        """The constants that a property is limited to; empty if it may have other values."""
        lists = [sub.listed_values for sub in self.properties.get(name, ()) if sub.listed_values is not None]
        tags = find_common(lists) if lists else []
        return index_by_key(tags) if all(isinstance(tag, str | int | float) for tag in tags) else {}

    def add(self, part: ObjectShape) -> None:
        """Merge the demands of a part; parts may overlap."""
        spend(1 + len(part.properties) + len(part.required))
        self.is_object = self.is_object or part.is_object
        for name, subs in part.properties.items():
            subschemas = self.properties.setdefault(name, [])
            spend(len(subschemas) * len(subs))
            subschemas.extend([sub for sub in subs if all(sub.schema is not known.schema for known in subschemas)])
        self.required |= part.required
        self.exclude(part.excluded)
        self.closed.update(part.closed)
        self.says_more |= part.says_more

    def add_common(self, branches: Sequence[Node]) -> None:
        """Merge what all branches of a nested union of objects demand, so that a union can be a variant of another one."""
        shapes = [branch.shape for branch in branches]
        if not all(shape.is_object for shape in shapes):
            return
        self.is_object = True
        first = shapes[0]
        for name, (sub, *_) in first.properties.items():
            nodes = [shape.properties[name][0] for shape in shapes if name in shape.properties]
            if len(nodes) < len(shapes):
                continue
            if all(is_equal(node.schema, sub.schema) for node in nodes):
                self.properties.setdefault(name, []).append(sub)
            elif all(tags := [shape.find_tags(name) for shape in shapes]):  # the union owns the tags of its branches
                together = index_by_key(tag for branch_tags in tags for tag in branch_tags.values())
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
    """One schema. `at` is its place in the source (`file#/pointer`), `owner` the definition that contains it, `keys` the path in that
    definition.
    """

    schemas: Schemas = field(repr=False)
    schema: Any
    at: str
    owner: str = ""
    keys: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Its source place: `at`, unless the schema is derived or its field was moved."""
        return relocate(self.at, self.schemas.places)

    # --- what it says ---

    @once
    def says(self) -> Schema:
        """Its keywords; empty for `true` and `false`."""
        return self.schema if is_object(self.schema) else {}

    @once
    def demands(self) -> frozenset[str]:
        """Its asserting keywords."""
        return frozenset(key for key in self.says if key in ASSERTIONS)

    @property
    def refuses_all(self) -> bool:
        """Whether it is `false`."""
        return self.schema is False

    def get_text(self, keyword: str) -> str:
        """The value of a keyword as text; empty if it is missing."""
        return str(self.says.get(keyword, ""))

    @property
    def types(self) -> list[str]:
        """The values of `type`."""
        return list_type_names(self.says)

    @property
    def constant(self) -> Tag | None:
        """The only value that it admits, if given by `const` or a single `enum` value."""
        return find_constant(self.schema)

    @once
    def is_null(self) -> bool:
        """Whether it admits exactly null."""
        return is_null(self.schema)

    # --- the schemas in it ---

    def make(self, schema: Any, *below: str) -> Node:
        """A node of a schema at a place below this one, or derived from it."""
        at = self.at + write_plain_pointer(*below) if below else self.at
        return Node(self.schemas, schema, at, self.owner, (*self.keys, *below))

    def with_keywords(self, **keywords: Any) -> Node:
        """The same schema with other values of some keywords."""
        return self.make({**self.says, **keywords})

    def without(self, *keywords: str) -> Node:
        """The same schema without some keywords."""
        return self.make({key: value for key, value in self.says.items() if key not in keywords})

    def get_subschema(self, keyword: str) -> Node:
        """The subschema of a keyword; `true` if the keyword is missing."""
        return self.make(self.says.get(keyword, True), keyword)

    def get_subschemas(self, keyword: str) -> list[Node]:
        """The subschemas of a keyword that holds a list."""
        if keyword not in self.says:
            return []
        if keyword not in self._lists:
            items = enumerate(self.says[keyword])
            self._lists[keyword] = [self.make(schema, keyword, str(index)) for index, schema in items]
        return self._lists[keyword]

    def get_subschema_map(self, keyword: str) -> dict[str, Node]:
        """The subschemas of a keyword that holds a map."""
        if keyword not in self.says:
            return {}
        if keyword not in self._maps:
            members = self.says[keyword].items()
            self._maps[keyword] = {name: self.make(schema, keyword, name) for name, schema in members}
        return self._maps[keyword]

    @once
    def _lists(self) -> dict[str, list[Node]]:
        return {}

    @once
    def _maps(self) -> dict[str, dict[str, Node]]:
        return {}

    @once
    def parts(self) -> list[Node]:
        """The schemas that apply to the same instance: those of `allOf`, and the target of `$ref`."""
        whole = [self.make({"$ref": self.says["$ref"]})] if "$ref" in self.says else []
        return [*self.get_subschemas("allOf"), *whole]

    @once
    def all_parts(self) -> list[Node]:
        """It and its parts at any depth: everything that applies to the same instance, each definition once, parts after their owner."""
        schemas: list[Node] = []
        visited: set[str] = set()
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            name = node.reference
            if name is not None and node is not self:
                if name in visited:
                    continue
                visited.add(name)
                node = node.schemas[name]
            schemas.append(node)
            pending.extend(reversed(node.parts))
        return schemas

    @once
    def lineage(self) -> frozenset[str]:
        """The definitions whose demands all apply to it: itself, if it is one, and those that it and its parts refer to."""
        return frozenset(part.owner for part in self.all_parts if part is self.schemas.get(part.owner))

    @once
    def union(self) -> tuple[str, list[Node]] | None:
        """The keyword and branches of the first union directly in it."""
        union = find_branches(self.says)
        return None if union is None else (union[0], self.get_subschemas(union[0]))

    @property
    def branches(self) -> list[Node]:
        """The branches of its union; empty if it is not a union."""
        return self.union[1] if self.union is not None else []

    @property
    def beside_null(self) -> Node:
        """What it accepts besides null, if that is a single schema and all that it says; else itself."""
        non_null = [branch for branch in self.branches if not branch.is_null]
        is_all = len(non_null) == 1 and self.union is not None and self.demands == frozenset({self.union[0]})
        return non_null[0] if is_all and is_object(non_null[0].schema) else self

    # --- what follows ---

    @once
    def reference(self) -> str | None:
        """The definition that it only refers to."""
        return find_lone_reference(self.schema)

    @property
    def referred(self) -> Node | None:
        """The node of the definition that it only refers to."""
        return None if self.reference is None else self.schemas[self.reference]

    @once
    def target(self) -> str | None:
        """The definition that its `$ref` names."""
        ref = self.says.get("$ref")
        return read_reference(ref) if isinstance(ref, str) else None

    @once
    def kinds(self) -> frozenset[str]:
        """An upper bound of the JSON types that it accepts, from the schemas that apply in place; an integer is a number."""
        if not is_object(self.schema):
            return frozenset() if self.refuses_all else ALL_KINDS
        spend()
        says = self.schema
        if "not" in says and says["not"] in (True, {}):
            return frozenset()
        kinds = list_types(says) if "type" in says else ALL_KINDS
        if "const" in says:
            kinds &= {get_kind(says["const"])}
        if "enum" in says:
            kinds &= {get_kind(value) for value in says["enum"]}
        if self.target is not None:
            kinds &= self.schemas.get_fact(self.target, "kinds", ALL_KINDS)
        for part in self.get_subschemas("allOf"):
            kinds &= part.kinds
        for keyword in ("anyOf", "oneOf"):
            if self.get_subschemas(keyword):
                kinds &= frozenset[str]().union(*(branch.kinds for branch in self.get_subschemas(keyword)))
        return kinds

    @once
    def listed_values(self) -> list[Any] | None:
        """The values that it is limited to, if constants list them; references, parts and alternatives are followed."""
        if not is_object(self.schema):
            return None
        spend()
        lists = [[self.schema["const"]]] if "const" in self.schema else []
        lists += [self.schema["enum"]] if "enum" in self.schema else []
        lists += [part.listed_values for part in self.get_subschemas("allOf") if part.listed_values is not None]
        if (
            self.target is not None
            and (target_values := self.schemas.get_fact(self.target, "listed_values", _UNLISTED)) is not None
        ):
            lists.append(target_values)
        for keyword in ("anyOf", "oneOf"):
            branches = [branch.listed_values for branch in self.get_subschemas(keyword)]
            if branches and None not in branches:
                lists.append([value for branch in branches for value in branch or ()])
        return [value for value in find_common(lists) if is_of_type(value, self.schema)] if lists else None

    @once
    def shape(self) -> ObjectShape:
        """What it demands of an object, without unions inside it."""
        shape = ObjectShape()
        if not is_object(self.schema):
            return shape
        says, properties = self.schema, self.get_subschema_map("properties")
        spend(1 + len(properties))
        shape.is_object = says.get("type") == "object" or "properties" in says
        shape.properties = {name: [sub] for name, sub in properties.items() if is_object(sub.schema)}
        shape.required.update(says.get("required", ()))
        shape.exclude(self.exclusions or {})
        for name, (sub, *_) in shape.properties.items():
            negation = sub.says.get("not")
            for excluded in negation.get("anyOf", [negation]) if is_object(negation) else ():
                shape.exclude(read_excluded_tags({"required": [name], "properties": {name: excluded}}) or {})
        closing = read_excluded_text(says.get("not"))
        shape.closed.update([] if closing is None else [closing])
        shape.says_more = (closing is None and self.exclusions is None) or any(
            key not in _OF_SHAPES and asserts(key) and value is not True and value != {} for key, value in says.items()
        )
        if self.target is not None:
            shape.add(self.schemas.get_fact(self.target, "shape", ObjectShape()))
        for part in self.get_subschemas("allOf"):
            shape.add(part.shape)
        if self.branches and all(is_object(branch.schema) for branch in self.branches):
            shape.add_common(self.branches)
        return shape

    @once
    def exclusions(self) -> Mapping[str, Tags] | None:
        """The constants per property that `not` refuses; `None` if `not` says anything else."""
        return read_excluded_tags(self.says["not"]) if "not" in self.says else {}

    @once
    def is_of_objects(self) -> bool:
        """Whether it accepts only objects: by its type, or because two branches of a `oneOf` accept all other values."""
        if self.kinds == OBJECTS or self.union is None or self.union[0] != "oneOf":
            return self.kinds == OBJECTS
        return sum(all(part.demands <= _OF_OBJECTS for part in branch.all_parts) for branch in self.union[1]) > 1

    @once
    def tagged_union(self) -> Tagged | None:
        """The tagged union that it is: a union of objects with a tag, and nothing else."""
        if self.union is None or not self.demands <= {self.union[0], "type"} or not self.is_of_objects:
            return None
        is_known = self.owner in self.schemas.unions and self is self.schemas[self.owner]
        tagged = self.schemas.unions[self.owner] if is_known else recognise([branch.shape for branch in self.branches])
        if tagged is not None and any(branch.kinds != OBJECTS for branch in self.branches):
            return tagged if tagged.default is None and tagged.fallback is None else None
        return tagged

    # --- objects with named fields ---

    @once
    def fields(self) -> dict[str, list[Node]]:
        """Each property with the schemas that apply to it, own ones first, in source order."""
        fields: dict[str, list[Node]] = {}
        for part in self.all_parts:
            for name, schema in part.get_subschema_map("properties").items():
                fields.setdefault(name, []).append(schema)
        return fields

    @once
    def required(self) -> frozenset[str]:
        """The required properties."""
        return frozenset(name for part in self.all_parts for name in part.says.get("required", ()))

    def narrows(self, fields: Mapping[str, object]) -> bool:
        """Whether it only narrows an object with these fields: it says nothing about other fields or other values."""
        if not is_object(self.schema):
            return True
        if not self.demands <= _NARROWING or self.schema.get("type", "object") != "object":
            return False
        inner = [*self.get_subschemas("allOf"), *self.get_subschemas("anyOf"), *self.get_subschemas("oneOf")]
        return self.get_subschema_map("properties").keys() <= fields.keys() and all(
            part.narrows(fields) for part in inner
        )

    @property
    def lone_key(self) -> str | None:
        """The only key that it allows and requires of an object."""
        if self.demands != _OF_KEYED or self.says["type"] != "object" or self.says["additionalProperties"] is not False:
            return None
        names = list(self.says["properties"])
        return names[0] if self.says["required"] == names and len(names) == 1 else None


def find_keys(branches: Sequence[Node]) -> dict[int, str]:
    """The key of each branch of an externally tagged union: an object with exactly this key. Empty if the keys do not discriminate the
    objects.
    """
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
"""Keywords that a shape represents."""

_NARROWING: Final = frozenset(
    {
        *("type", "properties", "required", "not", "if", "then", "else", "dependentRequired", "propertyNames"),
        *("minProperties", "maxProperties", "allOf", "anyOf", "oneOf"),
    }
)
"""Keywords that can only narrow an object."""
