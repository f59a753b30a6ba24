"""Which fields and values a message has that its type does not: the schema leaves both open, and the documents do not."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from .json_types import is_array, is_object

Path: TypeAlias = "tuple[str | int, ...]"

MOST_PLACES: Final = 200_000
"""Places of one message that are looked at."""

MOST_FORMS: Final = 4_096
"""Forms of messages that are remembered."""

MOST_FORMED: Final = 10_000
"""Places of a message whose form is told: less than `MOST_PLACES`, so that all of such a message is looked at."""

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class Unknown(NamedTuple):
    """A field that the type of its object does not have, or a text that is none of those that its type names (`is_value`) and has no
    leading `_`. `types` are the definitions that describe the object or the text.
    """

    path: Path
    types: tuple[str, ...]
    is_value: bool = False


class _TooLarge(Exception):
    """A message has more places than its form is told of."""


class _Place(NamedTuple):
    """A value with its path, and the schemas that speak of it."""

    path: Path
    value: Any
    schemas: list[Any]


@dataclass(slots=True)
class _Node:
    """A schema with what it refers to and all that it adds up, unions apart. `own` are the only values that it has, if it names some.
    `is_open`: there may be any other fields.
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

    @property
    def is_free(self) -> bool:
        """Whether nothing is said about which fields there are."""
        return self.is_open or not (self.fields or self.unions)


def _names(nodes: Iterable[_Node]) -> tuple[str, ...]:
    """What describes an object, the variant of a union before the union."""
    return tuple(dict.fromkeys(name for node in reversed(list(nodes)) for name in node.names))


def _constants(schema: Any) -> Iterator[Any]:
    """Every value that a schema names."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if is_array(node):
            waiting.extend(node)
        elif is_object(node):
            yield from node.get("enum", ())
            yield node.get("const")
            for key, part in node.items():
                if key in ("$defs", "properties", "patternProperties"):  # names that stand for themselves
                    waiting.extend(part.values())
                elif key not in ("const", "enum", "default", "examples"):
                    waiting.append(part)


class Shapes:
    """The fields of the types in one bundled schema. Of `forms` forms of messages it remembers that nothing in them is unknown. `words`
    are texts that forms distinguish beside the constants of the schema; `plain` is for forms of which the caller knows more.
    """

    def __init__(self, schema: Any, forms: int = MOST_FORMS, words: Iterable[str] = ()) -> None:
        self._definitions: Final[Mapping[str, Any]] = schema["$defs"]
        self._roots: Final = {name: {"$ref": f"#/$defs/{name}"} for name in self._definitions}
        self._nodes: dict[int, _Node] = {}
        self._told: dict[int, Mapping[str, frozenset[str]]] = {}
        constants = list(_constants(schema))
        scalars = frozenset(each for each in constants if not is_array(each) and not is_object(each))
        self._constants: Final = scalars.union(words)
        self._longest: Final = max((len(each) for each in self._constants if isinstance(each, str)), default=0)
        self._room: Final = 0 if any(is_array(each) or is_object(each) for each in constants) else forms
        self._known: set[int] = set()
        self.plain: Final[set[int]] = set()
        self._left = 0

    def form(self, definition: str, value: Any) -> int | None:
        """What an instance of a definition has in common with others like it; `None` where it is too large to tell."""
        if not self._room:
            return None
        self._left = MOST_FORMED
        try:
            return hash((definition, self._form(value)))
        except _TooLarge:
            return None

    def keep_plain(self, form: int | None) -> None:
        """Keep a form in `plain`, as far as there is room."""
        if form is not None and len(self.plain) < self._room:
            self.plain.add(form)

    def unknown(
        self, definition: str, value: Any, stopped: Callable[[], None] = lambda: None, form: int | None = None
    ) -> Iterator[Unknown]:
        """The fields in an instance of a definition that its types do not have, and values that they do not name, with paths from the
        instance. Objects of which the schema does not tell the fields are passed over; so are those that fit no variant of their union.
        `stopped` is called where more is left than is looked at. `form` is that of the instance, where the caller has asked for it.
        """
        form = self.form(definition, value) if form is None else form
        if form in self._known:
            return
        is_known = True
        for found in self._unknown(definition, value, stopped):
            is_known = False
            yield found
        if is_known and form is not None and len(self._known) < self._room:
            self._known.add(form)

    def _form(self, value: Any) -> Hashable:
        """All of a value that `unknown` depends on, so that a message like one without findings is not looked at again: this is most of
        the time that the monitor takes. Texts and numbers that are no constant of the schema are distinguished by type and mark alone.
        """
        kind = value.__class__
        if kind is dict or kind is list:
            self._left -= len(value)
            if self._left < 0:
                raise _TooLarge
        if kind is dict:
            return tuple([(name, self._form(member)) for name, member in value.items()])
        if kind is list:
            return frozenset([self._form(item) for item in value])
        if isinstance(value, str):
            is_word = len(value) <= self._longest and value in self._constants
            return value if is_word else value[:1] == "_"
        return (kind, value if value in self._constants else None)

    def _unknown(self, definition: str, value: Any, stopped: Callable[[], None]) -> Iterator[Unknown]:
        looked = 0
        open_: list[Iterator[_Place | Unknown]] = [iter([_Place((), value, [self._roots[definition]])])]
        while open_:
            found = next(open_[-1], None)
            if found is None:
                open_.pop()
            elif isinstance(found, Unknown):
                yield found
            elif looked == MOST_PLACES:
                stopped()
                return
            else:
                looked += 1
                open_.append(self._inside(found))

    def _inside(self, place: _Place) -> Iterator[_Place | Unknown]:
        """What is not known at a place, and the places right below it, one after the other: few are held at a time."""
        path, found, schemas = place
        nodes = list(self._fitting(found, schemas))
        if is_array(found):
            below = [schema for node in nodes for schema in node.items]
            yield from (_Place((*path, index), item, below) for index, item in enumerate(found) if below)
        elif isinstance(found, str):
            yield from (
                Unknown(path, tuple(node.names), is_value=True) for node in nodes if self._is_unnamed(found, node)
            )
        elif is_object(found):
            is_free = any(node.is_free for node in nodes)
            strange = self._strange(found, nodes).items()
            yield from (Unknown((*path, tag), types, is_value=True) for tag, types in strange)
            for name, member in found.items():
                below = [schema for node in nodes for schema in node.fields.get(name, node.values)]
                if below:
                    yield _Place((*path, name), member, below)
                elif not is_free and not any(name in node.fields for node in nodes):
                    yield Unknown((*path, name), _names(nodes))

    def _fitting(self, value: Any, schemas: Iterable[Any]) -> Iterator[_Node]:
        """The schemas that describe a value: of each union the variants that it is told to be by constants, or may be by type."""
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

    def _is_unnamed(self, text: str, node: _Node) -> bool:
        """Whether a type names some texts and allows others, and this is another one, without the mark of extensions."""
        if text.startswith("_") or not node.unions:
            return False
        branches = [self._node(branch) for union in node.unions for branch in union]
        named = [value for branch in branches for value in branch.own]
        is_open = any(not branch.own and branch.types is not None and str in branch.types for branch in branches)
        return is_open and str in map(type, named) and text not in named

    def _strange(self, value: Mapping[str, Any], nodes: Iterable[_Node]) -> dict[str, tuple[str, ...]]:
        """The tags of an object whose text is that of no variant, where the union allows others, and has no mark of extensions; with
        the definitions of the union.
        """
        found: dict[str, tuple[str, ...]] = {}
        for node in nodes:
            for union in node.unions:
                for tag, named in self._tags(union).items():
                    text = value.get(tag)
                    if isinstance(text, str) and not text.startswith("_") and text not in named:
                        found.setdefault(tag, tuple(node.names))
        return found

    def _tags(self, union: list[Any]) -> Mapping[str, frozenset[str]]:
        """The fields that tell the variants of an open union apart, those of inner unions included, with their texts."""
        found = self._told.get(id(union))
        if found is None:
            variants = list(self._variants(union))
            names = {
                name for one in variants for name in one.constants if all(name in other.fields for other in variants)
            }
            found = {
                name: frozenset(
                    each for one in variants for each in one.constants.get(name, ()) if isinstance(each, str)
                )
                for name in names
                if any(name not in one.constants and self._is_text(one.fields[name]) for one in variants)
            }
            self._told[id(union)] = found
        return found

    def _variants(self, union: list[Any]) -> Iterator[_Node]:
        for node in map(self._node, union):
            if node.constants or not node.unions:
                yield node
            else:
                for inner in node.unions:
                    yield from self._variants(inner)

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
            node = _Node()
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
