"""What a message has that its types do not declare, though the schema leaves it open, and what of it depends on capabilities."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from .content_objects import CONTENT_TYPES
from .json_values import Path, is_array, is_object

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

MAX_PLACES: Final = 200_000
"""Places of one message that are looked at."""

MAX_SHAPES: Final = 4_096
"""Shapes of messages that are remembered."""

MAX_SHAPED: Final = 10_000
"""Places of a message that has a shape: less than `MAX_PLACES`, so that all of such a message is looked at."""

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
"""`field`: the type of its object does not have it; `value`: a text that is none of those that its type names, and no extension.
`open field`: its object may have any, or is a variant that is not known. `closed value`: the schema refuses all other values.
"""


class Undeclared(NamedTuple):
    """A field or value that a type does not declare. `types` are the definitions that describe the object or the text."""

    path: Path
    types: tuple[str, ...]
    kind: UndeclaredKind


class Use(NamedTuple):
    """A place in a message that depends on a capability. `kind` says how: it is there, or (`absent`) it is required and is not."""

    path: Path
    capability: str
    kind: Literal["field", "variant", "value", "absent"]
    name: str


Found: TypeAlias = Undeclared | Use


class _TooLarge(Exception):
    """A message has too many places to have a shape."""


class _Place(NamedTuple):
    """A value with its path, and the schemas that speak of it."""

    path: Path
    value: Any
    schemas: list[Any]


@dataclass(slots=True)
class _Node:
    """A schema with what it refers to and all that it adds up, unions apart. `own` are the only values that it has, if it names some.
    `is_open`: there may be any other fields. `capability` gates this field or variant, `required_with` makes fields required.
    """

    names: list[str] = field(default_factory=list[str])
    fields: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    constants: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    required: set[str] = field(default_factory=set[str])
    items: list[Any] = field(default_factory=list[Any])
    values: list[Any] = field(default_factory=list[Any])
    unions: list[list[Any]] = field(default_factory=list["list[Any]"])
    own: list[Any] = field(default_factory=list[Any])
    types: set[type] | None = None
    is_open: bool = False
    capability: str | None = None
    required_with: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_free(self) -> bool:
        """Whether nothing is said about which fields there are."""
        return self.is_open or not (self.fields or self.unions)


class Types:
    """The fields and values that the types in one bundled schema declare. It remembers as many `shapes` of messages in which nothing is
    found. `words` are texts that shapes distinguish beside the constants of the schema; `plain` is for shapes of which the caller
    knows more.
    """

    def __init__(self, schema: Any, shapes: int = MAX_SHAPES, words: Iterable[str] = ()) -> None:
        self._definitions: Final[Mapping[str, Any]] = schema["$defs"]
        self._roots: Final = {name: {"$ref": f"#/$defs/{name}"} for name in self._definitions}
        self._nodes: dict[int, _Node] = {}
        self._union_tags: dict[int, Mapping[str, tuple[frozenset[str], bool]]] = {}
        constants = list(_constants(schema))
        scalars = frozenset(each for each in constants if not is_array(each) and not is_object(each))
        self._constants: Final = scalars.union(words)
        self._longest: Final = max((len(each) for each in self._constants if isinstance(each, str)), default=0)
        self._room: Final = 0 if any(is_array(each) or is_object(each) for each in constants) else shapes
        self._known: dict[int, frozenset[tuple[str, bool]]] = {}
        self.plain: Final[set[int]] = set()
        self._left = 0

    def shape(self, definition: str, value: Any) -> int | None:
        """What an instance of a definition has in common with others like it; `None` where it is too large to tell."""
        if not self._room:
            return None
        self._left = MAX_SHAPED
        try:
            return hash((definition, self._shape(value)))
        except _TooLarge:
            return None

    def add_plain(self, shape: int | None) -> None:
        """Keep a shape in `plain`, as far as there is room."""
        if shape is not None and len(self.plain) < self._room:
            self.plain.add(shape)

    def undeclared(
        self, definition: str, value: Any, on_limit: Callable[[], None] = lambda: None, shape: int | None = None
    ) -> Iterator[Undeclared]:
        """The fields in an instance of a definition that its types do not declare, and values that they do not name; see `look`."""
        found = self.look(definition, value, on_limit, shape, lambda capability, is_absent: False)
        return (one for one in found if isinstance(one, Undeclared))

    def look(
        self,
        definition: str,
        value: Any,
        on_limit: Callable[[], None],
        shape: int | None,
        concerns: Callable[[str, bool], bool],
    ) -> Iterator[Found]:
        """What is undeclared in an instance of a definition, and what depends on capabilities, with paths from the instance. `on_limit`
        is called where more is left than is looked at. `shape` is that of the instance, where the caller has asked for it. Where nothing
        is undeclared, uses may be left out of a capability that `concerns` nobody; it is also asked about one that demands a field.
        """
        shape = self.shape(definition, value) if shape is None else shape
        known = None if shape is None else self._known.get(shape)
        if known is not None and not any(starmap(concerns, known)):
            return
        is_declared = True
        gates: set[tuple[str, bool]] = set()
        for found in self._walk(definition, value, on_limit):
            if isinstance(found, Use):
                gates.add((found.capability, found.kind == "absent"))
            elif isinstance(found, Undeclared):
                is_declared = False
            if not isinstance(found, _Place):
                yield found
        if is_declared and shape is not None and len(self._known) < self._room:
            self._known[shape] = frozenset(gates)

    def is_gated(self, shape: int) -> bool:
        """Whether something of a shape in which nothing is undeclared depends on capabilities."""
        return bool(self._known.get(shape))

    def declared(self, definition: str, value: Any) -> set[Path]:
        """The places of an instance of a definition that its types declare, with a value that they name where they name any."""
        places: set[Path] = set()
        undeclared: set[Path] = set()
        for found in self._walk(definition, value, lambda: None):
            if not isinstance(found, Use):
                (undeclared if isinstance(found, Undeclared) else places).add(found.path)
        return places - undeclared

    def has_field(self, definition: str, name: str) -> bool:
        """Whether a definition, or a variant of it, has a field of this name."""
        waiting = [self._roots[definition]]
        nodes: dict[int, _Node] = {}
        while waiting:
            schema = waiting.pop()
            if id(schema) not in nodes:
                node = nodes[id(schema)] = self._node(schema)
                waiting += [branch for union in node.unions for branch in union]
        return any(name in node.fields for node in nodes.values())

    def _shape(self, value: Any) -> Hashable:
        """All of a value that `undeclared` depends on, so that a message like one without findings is not looked at again: this is most of
        the time that the monitor takes. Texts and numbers that are no constant of the schema are distinguished by type and mark alone.
        """
        kind = value.__class__
        if kind is dict or kind is list:
            self._left -= len(value)
            if self._left < 0:
                raise _TooLarge
        if kind is dict:
            return tuple([(name, self._shape(member)) for name, member in value.items()])
        if kind is list:
            return frozenset([self._shape(item) for item in value])
        if isinstance(value, str):
            is_word = len(value) <= self._longest and value in self._constants
            return value if is_word else value[:1] == "_"
        return (kind, value if value in self._constants else None)

    def _walk(self, definition: str, value: Any, on_limit: Callable[[], None]) -> Iterator[_Place | Found]:
        """Every place of an instance that its types declare, what they do not, and what depends on capabilities."""
        visited = 0
        stack: list[Iterator[_Place | Found]] = [iter([_Place((), value, [self._roots[definition]])])]
        while stack:
            found = next(stack[-1], None)
            if found is None:
                stack.pop()
                continue
            if isinstance(found, _Place):
                if visited == MAX_PLACES:
                    on_limit()
                    return
                visited += 1
                stack.append(self._inside(found))
            yield found

    def _inside(self, place: _Place) -> Iterator[_Place | Found]:
        """What is found at a place, and the places right below it, one after the other: few are held at a time."""
        path, found, schemas = place
        nodes = list(self._fitting(found, schemas))
        yield from dict.fromkeys(self._uses(place, nodes))
        if is_array(found):
            below = [schema for node in nodes for schema in node.items]
            yield from (_Place((*path, index), item, below) for index, item in enumerate(found) if below)
        elif isinstance(found, str):
            yield from (Undeclared(path, names, kind) for names, kind in self._undeclared_text(found, nodes))
        elif is_object(found):
            is_free = any(node.is_free for node in nodes)
            has_fields = any(node.fields or node.unions for node in nodes)
            for tag, (types, kind) in self._undeclared_tags(found, nodes).items():
                yield Undeclared((*path, tag), types, kind)
            for name, member in found.items():
                below = [schema for node in nodes for schema in node.fields.get(name, node.values)]
                if below:
                    yield _Place((*path, name), member, below)
                elif has_fields and not any(name in node.fields for node in nodes):
                    if not is_free:
                        yield Undeclared((*path, name), _names(nodes), "field")
                    elif not name.startswith("_"):
                        yield Undeclared((*path, name), _names(nodes), "open field")

    def _uses(self, place: _Place, nodes: Iterable[_Node]) -> Iterator[Use]:
        """What depends on capabilities at a place: its field, its variant or value, and fields that come with a capability."""
        path, found, schemas = place
        fields = [self._node(schema) for schema in schemas]
        for node in nodes:
            if node.capability is None:
                pass
            elif any(node is one for one in fields):
                yield Use(path, node.capability, "field", str(path[-1]))
            elif is_object(found):
                constants = (row for one in self._variants(node) for row in one.constants.items())
                tags = (name for name, values in constants if found.get(name) in values)
                yield from (Use((*path, tag), node.capability, "variant", str(found[tag])) for tag in islice(tags, 1))
            elif found in node.own:
                yield Use(path, node.capability, "value", str(found))
            for name, capability in node.required_with.items():
                if is_object(found) and name not in found:
                    yield Use(path, capability, "absent", name)

    def _fitting(self, value: Any, schemas: Iterable[Any]) -> Iterator[_Node]:
        """The schemas that describe a value: of each union the variants that it is by its constants, or may be by its type."""
        for schema in schemas:
            node = self._node(schema)
            yield node
            for union in node.unions:
                fits = [(self._agreement(value, branch), branch) for branch in union]
                best = max((agreed for agreed, _ in fits if agreed is not None), default=None)
                if best is None:
                    yield _Node()  # a variant that is not known here
                for agreed, branch in fits:
                    if agreed is not None and agreed == best:
                        yield from self._fitting(value, [branch])

    def _undeclared_text(self, text: str, nodes: list[_Node]) -> Iterator[tuple[tuple[str, ...], UndeclaredKind]]:
        """The types that name some texts and not this one, which has not the mark of extensions."""
        if text.startswith("_") or any(text in node.own for node in nodes):
            return
        closed: list[tuple[str, ...]] = []
        for node in nodes:
            branches = [self._node(branch) for union in node.unions for branch in union]
            named = [value for branch in (node, *branches) for value in branch.own]
            if str in map(type, named) and text not in named:
                if any(not one.own and one.types is not None and str in one.types for one in branches):
                    yield tuple(node.names), "value"
                else:
                    closed.append(tuple(node.names))
        for names in closed[:1]:
            yield names, "closed value"

    def _undeclared_tags(
        self, value: Mapping[str, Any], nodes: Iterable[_Node]
    ) -> dict[str, tuple[tuple[str, ...], UndeclaredKind]]:
        """The tags of an object whose text is that of no variant, and has no mark of extensions; with the definitions of the union."""
        found: dict[str, tuple[tuple[str, ...], UndeclaredKind]] = {}
        named: set[tuple[str, str]] = set()
        for node in nodes:
            for union in node.unions:
                for tag, (texts, is_open) in self._tags(union).items():
                    text = value.get(tag)
                    is_new = tag not in found or (is_open and found[tag][1] == "closed value")
                    if isinstance(text, str) and text in texts:
                        named.add((tag, text))
                    elif isinstance(text, str) and not text.startswith("_") and is_new:
                        found[tag] = (tuple(node.names), "value" if is_open else "closed value")
        return {
            tag: (types, kind)
            for tag, (types, kind) in found.items()
            if kind == "value" or (tag, value[tag]) not in named
        }

    def _tags(self, union: list[Any]) -> Mapping[str, tuple[frozenset[str], bool]]:
        """The fields that tell the variants of a union apart, those of inner unions included, with their texts, and whether the union is
        open to others.
        """
        found = self._union_tags.get(id(union))
        if found is None:
            variants = [one for branch in union for one in self._variants(self._node(branch))]
            tags: dict[str, tuple[frozenset[str], bool]] = {}
            for name in dict.fromkeys(name for one in variants for name in one.constants):
                texts = {each for one in variants for each in one.constants.get(name, ()) if isinstance(each, str)}
                others = [one.fields.get(name) for one in variants if name not in one.constants]
                if not any(others):
                    tags[name] = frozenset(texts), False
                elif all(others) and any(self._is_text(each) for each in others if each is not None):
                    tags[name] = frozenset(texts), True
            found = self._union_tags[id(union)] = tags
        return found

    def _variants(self, node: _Node) -> Iterator[_Node]:
        """A variant of a union, or those of the unions that it is."""
        if node.constants or not node.unions:
            yield node
            return
        for branch in (one for union in node.unions for one in union):
            yield from self._variants(self._node(branch))

    def _is_text(self, schemas: Iterable[Any]) -> bool:
        return all((types := self._node(schema).types) is None or str in types for schema in schemas)

    def _agreement(self, value: Any, schema: Any) -> int | None:
        """How many constants of a variant a value has; `None` where it has another or is of another type."""
        node = self._node(schema)
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
        below = [[self._agreement(value, branch) for branch in union] for union in node.unions]
        if any(all(each is None for each in union) for union in below):
            return None
        return agreed + sum(max(each for each in union if each is not None) for union in below)

    def _node(self, schema: Any) -> _Node:
        node = self._nodes.get(id(schema))
        if node is None:
            node = _Node(capability=schema.get("x-capability") if is_object(schema) else None)
            self._add(schema, node, frozenset())
            self._nodes[id(schema)] = node  # the schema is kept, so that no other has its id
        return node

    def _add(self, schema: Any, node: _Node, seen: frozenset[str]) -> None:
        if not is_object(schema):
            return
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            name = reference.removeprefix("#/$defs/")
            node.names.append(name)
            self._add(self._definitions.get(name), node, seen | {reference})
        for part in schema.get("allOf", ()):
            self._add(part, node, seen)
        node.unions.extend(schema[key] for key in ("anyOf", "oneOf") if key in schema)
        for name, member in schema.get("properties", {}).items():
            node.fields.setdefault(name, []).append(member)
            if is_object(member) and "x-required-with" in member:
                node.required_with[name] = member["x-required-with"]
            if is_object(member) and ("const" in member or "enum" in member):
                node.constants.setdefault(name, []).extend(member.get("enum", [member.get("const")]))
        node.required.update(schema.get("required", ()))
        if "const" in schema or "enum" in schema:
            node.own.extend(schema.get("enum", [schema.get("const")]))
        if is_object(schema.get("items")):
            node.items.append(schema["items"])
        more = schema.get("additionalProperties")
        if is_object(more):
            node.values.append(more)
        node.is_open = node.is_open or more is True or "patternProperties" in schema
        types = schema.get("type")
        if types is not None:
            named = [types] if isinstance(types, str) else types
            own = {each for name in named for each in _TYPES.get(name, ())}
            node.types = own if node.types is None else node.types & own


@lru_cache(32)
def types_of(strict: Strict) -> Types:
    """The types of a protocol, which its monitors share: to read them takes as long as to judge a hundred messages."""
    return Types(strict.schema, words=CONTENT_TYPES)


def _names(nodes: Iterable[_Node]) -> tuple[str, ...]:
    """What describes an object, the variant of a union before the union."""
    return tuple(dict.fromkeys(name for node in reversed(list(nodes)) for name in node.names))


def _constants(schema: Any) -> Iterator[Any]:
    """Every value that a schema names."""
    for node in objects_in(schema):
        yield from node.get("enum", ())
        yield node.get("const")


def objects_in(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object of a schema that is a schema itself."""
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
