"""Places of a message: fields and values that its types do not declare though the schema is open, what depends on capabilities, and
objects with data, links or patches.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice, starmap
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from .json_values import Path, get_text, is_array, is_object
from .updates import CONTENT_TYPES, OUTPUTS

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

MAX_PLACES: Final = 200_000
"""The maximum number of searched places of one message."""

MAX_SHAPES: Final = 4_096
"""The maximum number of remembered shapes."""

MAX_SHAPED: Final = 10_000
"""The maximum number of places of a message with a shape; less than `MAX_PLACES`, so that such a message is searched completely."""

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}

UndeclaredKind: TypeAlias = Literal["field", "value", "open field", "closed value"]
"""`field`: the type of its object does not declare it; `value`: a text that its type does not name, and that is no extension. `open
field`: its object may have any field, or is an unknown variant. `closed value`: the schema refuses all other values.
"""


class Undeclared(NamedTuple):
    """A field or value that a type does not declare. `types` are the definitions that describe the object or the text."""

    path: Path
    types: tuple[str, ...]
    kind: UndeclaredKind


class Use(NamedTuple):
    """A place in a message that depends on a capability. `kind` says how: it is present, or (`absent`) it is required and missing."""

    path: Path
    capability: str
    kind: Literal["field", "variant", "value", "absent"]
    name: str


class Content(NamedTuple):
    """An object of a message with data, links or patches."""

    path: Path
    value: Any


Found: TypeAlias = Undeclared | Use | Content

_FREE: Final = frozenset({("_meta",), ("rawInput",), ("rawOutput",)})
"""The last steps of paths to fields that may hold anything."""


class _TooLarge(Exception):
    """A message with too many places to have a shape."""


class _Place(NamedTuple):
    """A value with its path, and the schemas that apply to it."""

    path: Path
    value: Any
    schemas: list[Any]


@dataclass(slots=True)
class _Node:
    """A schema merged with its references and parts, without unions. `enum` are the only values that it allows, if it names some.

    `is_open`: any other field is allowed. `capability` gates this field or variant, `required_with` makes fields required.
    """

    names: list[str] = field(default_factory=list[str])
    fields: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    constants: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    required: set[str] = field(default_factory=set[str])
    items: list[Any] = field(default_factory=list[Any])
    values: list[Any] = field(default_factory=list[Any])
    unions: list[list[Any]] = field(default_factory=list["list[Any]"])
    enum: list[Any] = field(default_factory=list[Any])
    types: set[type] | None = None
    is_open: bool = False
    capability: str | None = None
    required_with: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_free(self) -> bool:
        """Whether it says nothing about which fields are allowed."""
        return self.is_open or not (self.fields or self.unions)


class Types:
    """The fields and values that the types of one bundled schema declare. It remembers up to `shapes` shapes of messages without
    findings.
    """

    def __init__(self, schema: Any, shapes: int = MAX_SHAPES) -> None:
        self._definitions: Final[Mapping[str, Any]] = schema["$defs"]
        self._roots: Final = {name: {"$ref": f"#/$defs/{name}"} for name in self._definitions}
        self._nodes: dict[int, _Node] = {}
        self._union_tags: dict[int, Mapping[str, tuple[frozenset[str], bool]]] = {}
        constants = list(_list_constants(schema))
        self._constants: Final = frozenset(value for value in constants if not is_array(value) and not is_object(value))
        self._longest: Final = max((len(value) for value in self._constants if isinstance(value, str)), default=0)
        self._room: Final = 0 if any(is_array(value) or is_object(value) for value in constants) else shapes
        self._known: dict[int, frozenset[tuple[str, bool]]] = {}
        self._left = 0

    def _find_shape(self, definition: str, value: Any) -> int | None:
        """The shape of an instance of a definition, which similar instances share; `None` if it is too large."""
        if not self._room:
            return None
        self._left = MAX_SHAPED
        try:
            return hash((definition, self._make_shape(value)))
        except _TooLarge:
            return None

    def find_undeclared(
        self, definition: str, value: Any, on_limit: Callable[[], None] = lambda: None
    ) -> Iterator[Undeclared]:
        """The fields of an instance that its types do not declare, and the values that they do not name; see `look`."""
        places = self.look(definition, value, on_limit, lambda capability, is_absent: False)
        return (place for place in places if isinstance(place, Undeclared))

    def look(
        self,
        definition: str,
        value: Any,
        on_limit: Callable[[], None],
        concerns: Callable[[str, bool], bool],
    ) -> Iterator[Found]:
        """Yield what is undeclared in an instance of a definition, what depends on capabilities, and its content, with paths from the
        instance.

        `on_limit` is called if the instance is not searched completely. If nothing else is found, uses of capabilities for which
        `concerns` is false may be omitted; it is also asked about capabilities that require a field.
        """
        shape = self._find_shape(definition, value)
        gates_of_shape = None if shape is None else self._known.get(shape)
        if gates_of_shape is not None and not any(starmap(concerns, gates_of_shape)):
            return
        is_plain = True
        gates: set[tuple[str, bool]] = set()
        for place in self._walk(definition, value, on_limit):
            if isinstance(place, Use):
                gates.add((place.capability, place.kind == "absent"))
            elif not isinstance(place, _Place):
                is_plain = False
            if not isinstance(place, _Place):
                yield place
        if is_plain and shape is not None and len(self._known) < self._room:
            self._known[shape] = frozenset(gates)

    def find_declared(self, definition: str, value: Any) -> set[Path]:
        """The places of an instance that its types declare, with a declared value if they name values."""
        places: set[Path] = set()
        undeclared: set[Path] = set()
        for place in self._walk(definition, value, lambda: None):
            if isinstance(place, _Place | Undeclared):
                (undeclared if isinstance(place, Undeclared) else places).add(place.path)
        return places - undeclared

    def has_field(self, definition: str, name: str) -> bool:
        """Whether a definition, or a variant of it, has a field of this name."""
        waiting = [self._roots[definition]]
        nodes: dict[int, _Node] = {}
        while waiting:
            schema = waiting.pop()
            if id(schema) not in nodes:
                node = nodes[id(schema)] = self._get_node(schema)
                waiting += [branch for union in node.unions for branch in union]
        return any(name in node.fields for node in nodes.values())

    def _make_shape(self, value: Any) -> Hashable:
        """Everything in a value on which `undeclared` depends, so that similar messages without findings are not searched again.

        That search is most of the monitor's time. Texts and numbers that are no constants of the schema are distinguished by type and
        leading underscore only.
        """
        kind = value.__class__
        if kind is dict or kind is list:
            self._left -= len(value)
            if self._left < 0:
                raise _TooLarge
        if kind is dict:
            return tuple([(name, self._make_shape(member)) for name, member in value.items()])
        if kind is list:
            return frozenset([self._make_shape(item) for item in value])
        if isinstance(value, str):
            is_word = len(value) <= self._longest and value in self._constants
            return value if is_word else value[:1] == "_"
        return (kind, value if value in self._constants else None)

    def _walk(self, definition: str, value: Any, on_limit: Callable[[], None]) -> Iterator[_Place | Found]:
        """Yield every declared place of an instance, what is undeclared, and what depends on capabilities."""
        visited = 0
        stack: list[Iterator[_Place | Found]] = [iter([_Place((), value, [self._roots[definition]])])]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
                continue
            if isinstance(item, _Place):
                if visited == MAX_PLACES:
                    on_limit()
                    return
                visited += 1
                stack.append(self._walk_place(item))
            yield item

    def _walk_place(self, place: _Place) -> Iterator[_Place | Found]:
        """Yield the findings at a place and the places directly below it, lazily."""
        path, value, schemas = place
        nodes = list(self._find_fitting(value, schemas))
        yield from dict.fromkeys(self._find_uses(place, nodes))
        if is_array(value):
            below = [schema for node in nodes for schema in node.items]
            yield from (_Place((*path, index), item, below) for index, item in enumerate(value) if below)
        elif isinstance(value, str):
            yield from (Undeclared(path, names, kind) for names, kind in self._find_undeclared_text(value, nodes))
        elif is_object(value):
            is_output = path[-1:] == ("update",) and value.get("sessionUpdate") in OUTPUTS
            if is_output or (get_text(value, "type") in CONTENT_TYPES and path[-1:] not in _FREE):
                yield Content(path, value)
            is_free = any(node.is_free for node in nodes)
            has_fields = any(node.fields or node.unions for node in nodes)
            for tag, (types, kind) in self._find_undeclared_tags(value, nodes).items():
                yield Undeclared((*path, tag), types, kind)
            for name, member in value.items():
                below = [schema for node in nodes for schema in node.fields.get(name, node.values)]
                if below:
                    yield _Place((*path, name), member, below)
                elif has_fields and not any(name in node.fields for node in nodes):
                    if not is_free:
                        yield Undeclared((*path, name), _list_names(nodes), "field")
                    elif not name.startswith("_"):
                        yield Undeclared((*path, name), _list_names(nodes), "open field")

    def _find_uses(self, place: _Place, nodes: Iterable[_Node]) -> Iterator[Use]:
        """Yield the uses of capabilities at a place: its field, its variant or value, and fields that come with a capability."""
        path, value, schemas = place
        fields = [self._get_node(schema) for schema in schemas]
        for node in nodes:
            if node.capability is None:
                pass
            elif any(node is field_node for field_node in fields):
                yield Use(path, node.capability, "field", str(path[-1]))
            elif is_object(value):
                constants = (row for variant in self._list_variants(node) for row in variant.constants.items())
                tags = (name for name, values in constants if value.get(name) in values)
                yield from (Use((*path, tag), node.capability, "variant", str(value[tag])) for tag in islice(tags, 1))
            elif value in node.enum:
                yield Use(path, node.capability, "value", str(value))
            for name, capability in node.required_with.items():
                if is_object(value) and name not in value:
                    yield Use(path, capability, "absent", name)

    def _find_fitting(self, value: Any, schemas: Iterable[Any]) -> Iterator[_Node]:
        """Yield the schemas that describe a value: of each union, the variants that match by constants, or may match by type."""
        for schema in schemas:
            node = self._get_node(schema)
            yield node
            for union in node.unions:
                fits = [(self._count_agreement(value, branch), branch) for branch in union]
                best = max((agreed for agreed, _ in fits if agreed is not None), default=None)
                if best is None:
                    yield _Node()  # a variant that is not known here
                for agreed, branch in fits:
                    if agreed is not None and agreed == best:
                        yield from self._find_fitting(value, [branch])

    def _find_undeclared_text(self, text: str, nodes: list[_Node]) -> Iterator[tuple[tuple[str, ...], UndeclaredKind]]:
        """Yield the types that name some texts but not this one, unless it has the prefix of extensions."""
        if text.startswith("_") or any(text in node.enum for node in nodes):
            return
        closed_types: list[tuple[str, ...]] = []
        for node in nodes:
            branches = [self._get_node(branch) for union in node.unions for branch in union]
            constants = [value for branch in (node, *branches) for value in branch.enum]
            if str in map(type, constants) and text not in constants:
                if any(not branch.enum and branch.types is not None and str in branch.types for branch in branches):
                    yield tuple(node.names), "value"
                else:
                    closed_types.append(tuple(node.names))
        for names in closed_types[:1]:
            yield names, "closed value"

    def _find_undeclared_tags(
        self, value: Mapping[str, Any], nodes: Iterable[_Node]
    ) -> dict[str, tuple[tuple[str, ...], UndeclaredKind]]:
        """The tags of an object whose text belongs to no variant and has no prefix of extensions, with the definitions of the union."""
        tags: dict[str, tuple[tuple[str, ...], UndeclaredKind]] = {}
        matched_tags: set[tuple[str, str]] = set()
        for node in nodes:
            for union in node.unions:
                for tag, (texts, is_open) in self._find_tags(union).items():
                    text = value.get(tag)
                    is_new = tag not in tags or (is_open and tags[tag][1] == "closed value")
                    if isinstance(text, str) and text in texts:
                        matched_tags.add((tag, text))
                    elif isinstance(text, str) and not text.startswith("_") and is_new:
                        tags[tag] = (tuple(node.names), "value" if is_open else "closed value")
        return {
            tag: (types, kind)
            for tag, (types, kind) in tags.items()
            if kind == "value" or (tag, value[tag]) not in matched_tags
        }

    def _find_tags(self, union: list[Any]) -> Mapping[str, tuple[frozenset[str], bool]]:
        """The fields that discriminate the variants of a union, inner unions included, with their texts, and whether the union is open."""
        tags_of_union = self._union_tags.get(id(union))
        if tags_of_union is None:
            variants = [variant for branch in union for variant in self._list_variants(self._get_node(branch))]
            tags: dict[str, tuple[frozenset[str], bool]] = {}
            for name in dict.fromkeys(name for variant in variants for name in variant.constants):
                texts = {
                    value for variant in variants for value in variant.constants.get(name, ()) if isinstance(value, str)
                }
                members = [variant.fields.get(name) for variant in variants if name not in variant.constants]
                if not any(members):
                    tags[name] = frozenset(texts), False
                elif all(members) and any(self._is_text(member) for member in members if member is not None):
                    tags[name] = frozenset(texts), True
            tags_of_union = self._union_tags[id(union)] = tags
        return tags_of_union

    def _list_variants(self, node: _Node) -> Iterator[_Node]:
        """Yield a variant of a union, or those of the unions that it consists of."""
        if node.constants or not node.unions:
            yield node
            return
        for branch in chain.from_iterable(node.unions):
            yield from self._list_variants(self._get_node(branch))

    def _is_text(self, schemas: Iterable[Any]) -> bool:
        return all((types := self._get_node(schema).types) is None or str in types for schema in schemas)

    def _count_agreement(self, value: Any, schema: Any) -> int | None:
        """The number of constants of a variant that a value has; `None` if it contradicts one or has another type."""
        node = self._get_node(schema)
        if node.types is not None and type(value) not in node.types:
            return None
        agreed = 0
        for name, constants in node.constants.items():
            if not is_object(value) or name not in value:
                if name in node.required:
                    return None
            elif value[name] in constants:
                agreed += 1
            else:
                return None
        below = [[self._count_agreement(value, branch) for branch in union] for union in node.unions]
        if any(all(agreement is None for agreement in union) for union in below):
            return None
        return agreed + sum(max(agreement for agreement in union if agreement is not None) for union in below)

    def _get_node(self, schema: Any) -> _Node:
        node = self._nodes.get(id(schema))
        if node is None:
            node = _Node(capability=schema.get("x-capability") if is_object(schema) else None)
            self._add(schema, node, frozenset())
            self._nodes[id(schema)] = node  # the schema is kept, so that no other has its id
        return node

    def _add(self, schema: Any, node: _Node, visited: frozenset[str]) -> None:
        if not is_object(schema):
            return
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in visited:
            name = reference.removeprefix("#/$defs/")
            node.names.append(name)
            self._add(self._definitions.get(name), node, visited | {reference})
        for part in schema.get("allOf", ()):
            self._add(part, node, visited)
        node.unions.extend(schema[key] for key in ("anyOf", "oneOf") if key in schema)
        for name, member in schema.get("properties", {}).items():
            node.fields.setdefault(name, []).append(member)
            if is_object(member) and "x-required-with" in member:
                node.required_with[name] = member["x-required-with"]
            if is_object(member) and ("const" in member or "enum" in member):
                node.constants.setdefault(name, []).extend(member.get("enum", [member.get("const")]))
        node.required.update(schema.get("required", ()))
        if "const" in schema or "enum" in schema:
            node.enum.extend(schema.get("enum", [schema.get("const")]))
        if is_object(schema.get("items")):
            node.items.append(schema["items"])
        additional = schema.get("additionalProperties")
        if is_object(additional):
            node.values.append(additional)
        node.is_open = node.is_open or additional is True or "patternProperties" in schema
        types = schema.get("type")
        if types is not None:
            type_names = [types] if isinstance(types, str) else types
            allowed_types = {type_ for name in type_names for type_ in _TYPES.get(name, ())}
            node.types = allowed_types if node.types is None else node.types & allowed_types


@lru_cache(32)
def get_types(strict: Strict) -> Types:
    """The types of a protocol, shared by its monitors: building them takes as long as judging a hundred messages."""
    return Types(strict.schema)


def _list_names(nodes: Iterable[_Node]) -> tuple[str, ...]:
    """The definitions that describe an object, the variant of a union before the union."""
    return tuple(dict.fromkeys(name for node in reversed(list(nodes)) for name in node.names))


def _list_constants(schema: Any) -> Iterator[Any]:
    """Yield every constant of a schema."""
    for node in walk_objects(schema):
        yield from node.get("enum", ())
        yield node.get("const")


def walk_objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every subschema that is an object."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if is_array(node):
            waiting.extend(node)
        elif is_object(node):
            yield node
            for key, part in node.items():
                if key in ("$defs", "properties", "patternProperties"):  # names that stand for themselves
                    waiting.extend(part.values())
                elif key not in ("const", "enum", "default", "examples"):
                    waiting.append(part)
