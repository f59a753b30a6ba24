"""What a message holds that its protocol does not have, and the unstable channel of that protocol has: methods, fields and variants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .events import Event, Found, Path, shown
from .json_types import is_array, is_object

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

Declared: TypeAlias = "dict[tuple[Path, str], set[Any]]"
"""By place in a value and name of a field: the constants that the schema has for the field; `None` stands for the field itself."""

MOST_STEPS: Final = 20_000
"""Schemas that are looked at for one message. What is left of a larger one is passed over: nothing but notes rests on it."""

MOST_SHAPES: Final = 4096
"""Shapes of messages that are remembered, so that none is looked at twice. One that is not is looked at again."""

MOST_TOLD: Final = 1024
"""Notes of one connection. Each says something that was not said before."""


class Beyond:
    """The unstable channels of some protocols, which `read` gives when the first is needed. Says each thing once."""

    def __init__(self, read: Callable[[], Iterable[Strict]]) -> None:
        self._read = read
        self._channels: dict[Any, Strict] | None = None
        self._told: set[tuple[str, str, str]] = set()
        self._judge: Strict | None = None
        self._tags: frozenset[str] = frozenset()
        self._shapes: dict[int, bool] = {}
        """Those that were looked at, and whether the protocol has all that they hold."""

    def look(self, event: Event, strict: Strict | None) -> Iterator[Found]:
        """What of a message the channel of its version has beyond what judges it."""
        if strict is None or event.kind not in ("request", "notification", "result"):
            return
        if event.route is None or event.definition is None:
            is_call = event.route is None and event.kind != "result" and not event.method.startswith(("_", "$/"))
            channel = self._channel(strict) if is_call and len(self._told) < MOST_TOLD else None
            route = channel and channel.route(event.method, is_request=event.kind == "request")
            if channel is not None and route is not None and self._is_news("method", event.method, ""):
                yield _found((*event.at, "method"), f"the method {shown(event.method)}", channel, strict)
            return
        shape = self._shape(strict, event.definition, event.body)
        if shape in self._shapes:
            return
        known = declared(strict.schema, event.definition, event.body)
        missing = list(_named(event.body, known))
        if len(self._shapes) < MOST_SHAPES:
            self._shapes[shape] = not missing
        channel = self._channel(strict) if missing and len(self._told) < MOST_TOLD else None
        route = channel and channel.route(event.method, is_request=event.kind != "notification")
        definition: Any = route and (route.result if event.kind == "result" else route.params)
        if channel is None or not definition:
            return
        more = declared(channel.schema, definition, event.body)
        for path, name, value in missing:
            there = more.get((path, name), set())
            if value is not None and value in there:
                if self._is_news(name, event.method, value):
                    yield _found(event.below(*path, name), f"{shown(value)} as {name!r}", channel, strict)
            elif None in there and (path, name) not in known and self._is_news("field", event.method, name):
                yield _found(event.below(*path, name), f"the field {shown(name)}", channel, strict)

    def has_told(self, method: str, field: str) -> bool:
        """Whether a field of the messages of a method was told."""
        return ("field", method, field) in self._told

    def has_told_value(self, method: str, field: str, value: object) -> bool:
        """Whether a value of a field of the messages of a method was told."""
        return (field, method, value) in self._told

    def _channel(self, strict: Strict) -> Strict | None:
        if self._channels is None:
            self._channels = {one.contract.version: one for one in self._read()}
        return self._channels.get(strict.contract.version)

    def has_all(self, strict: Strict, definition: str, body: Any) -> bool:
        """Whether it is known of a message that was looked at that its protocol has all that it holds."""
        return self._shapes.get(self._shape(strict, definition, body), False)

    def _shape(self, strict: Strict, definition: str, body: Any) -> int:
        """The fields and tags of a message."""
        if strict is not self._judge:
            self._judge, self._tags, self._shapes = strict, _tags_of(strict), {}
        return hash((definition, _shape(body, self._tags)))

    def _is_news(self, kind: str, method: str, name: str) -> bool:
        what = (kind, method, name)
        if what in self._told:
            return False
        self._told.add(what)
        return True


@lru_cache(16)
def _tags_of(strict: Strict) -> frozenset[str]:
    """Those of the schema of a protocol, which its monitors share."""
    return tags(strict.schema)


def tags(schema: Any) -> frozenset[str]:
    """The names of all fields for which a bundled schema has constants."""
    found: set[str] = set()
    definitions = schema["$defs"]
    waiting: list[Any] = [schema["$defs"]]
    while waiting:
        node = waiting.pop()
        if is_object(node):
            fields = node.get("properties")
            if is_object(fields):
                found.update(name for name, field in fields.items() if any(_texts(field, definitions)))
            waiting.extend(node.values())
        elif is_array(node):
            waiting.extend(node)
    return frozenset(found)


def _shape(value: Any, known: frozenset[str]) -> Any:
    """The names of a value's fields, and the texts of those that may be tags."""
    if is_object(value):
        return tuple(
            (name, one if isinstance(one, str) and name in known else _shape(one, known)) for name, one in value.items()
        )
    return frozenset(_shape(one, known) for one in value) if is_array(value) else None


def _found(path: Path, what: str, channel: Strict, strict: Strict) -> Found:
    return Found(path, f"{what} is not in {strict.contract.name}; the unstable {channel.contract.name} has it")


def _named(value: Any, known: Declared) -> Iterator[tuple[Path, str, Any]]:
    """The fields of a value that are not declared, and the constants that are not among those that are."""
    objects = {path for path, _ in known}
    for path, node in _nodes(value):
        if path not in objects:
            continue
        for name, one in node.items():
            there = known.get((path, name))
            if there is None and not name.startswith("_"):
                yield path, name, one if isinstance(one, str) else None
            elif there and there != {None} and isinstance(one, str) and one not in there:
                yield path, name, one


def _nodes(value: Any) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, node = waiting.pop()
        if is_object(node):
            yield path, node
            waiting.extend(((*path, name), one) for name, one in node.items())
        elif is_array(node):
            waiting.extend(((*path, index), one) for index, one in enumerate(node))


def declared(schema: Any, definition: str, value: Any) -> Declared:
    """The fields that a definition of a bundled schema declares, at each object of a value; and what constants it has for them.

    A branch of a union counts where its tag fits, or where it has none.
    """
    definitions: Mapping[str, Any] = schema["$defs"]
    found: Declared = {}
    waiting: list[tuple[Path, Any, Any]] = [((), definitions.get(definition), value)]
    seen: set[tuple[Path, int]] = set()
    while waiting and len(seen) < MOST_STEPS:
        path, node, one = waiting.pop()
        if not is_object(node) or (path, id(node)) in seen:
            continue
        seen.add((path, id(node)))
        reference = node.get("$ref")
        if isinstance(reference, str):
            waiting.append((path, definitions.get(reference.rpartition("/")[2]), one))
        branches = (*node.get("allOf", ()), *node.get("anyOf", ()), *node.get("oneOf", ()))
        waiting.extend((path, each, one) for each in branches if _fits(each, definitions, one, path, found))
        if is_array(one) and "items" in node:
            waiting.extend(((*path, index), node["items"], item) for index, item in enumerate(one))
        if not is_object(one):
            continue
        for name, field in node.get("properties", {}).items():
            constants = found.setdefault((path, name), set())
            constants.add(None)
            constants.update(_texts(field, definitions))
            if name in one:
                waiting.append(((*path, name), field, one[name]))
    return found


def _texts(schema: Any, definitions: Mapping[str, Any], depth: int = 4) -> Iterator[str]:
    """The texts that a schema names: its own, and those of its union."""
    if not is_object(schema) or not depth:
        return
    constant, reference = schema.get("const"), schema.get("$ref")
    if isinstance(constant, str):
        yield constant
    if isinstance(reference, str):
        yield from _texts(definitions.get(reference.rpartition("/")[2]), definitions, depth - 1)
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _texts(branch, definitions, depth - 1)


def _fits(branch: Any, definitions: Mapping[str, Any], value: Any, path: Path, found: Declared) -> bool:
    """Whether a branch of a union is about a value, as far as its tags tell. Its tags are noted."""
    if is_object(branch) and isinstance(branch.get("$ref"), str) and "properties" not in branch:
        branch = definitions.get(branch["$ref"].rpartition("/")[2])
    if not is_object(branch) or not is_object(value):
        return True
    for name, field in branch.get("properties", {}).items():
        constant = field.get("const") if is_object(field) else None
        if isinstance(constant, str) and name in value:
            found.setdefault((path, name), set()).add(constant)
            if value[name] != constant:
                return False
    return True
