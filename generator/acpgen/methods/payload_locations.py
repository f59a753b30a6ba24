"""Messages, their members, and payloads in definitions, located as a profile describes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from acpgen.input.schema_nodes import ALL_KINDS, Node, Schemas
from acpgen.input.walk import Schema, find_reachable, is_array, is_object, strip_prose
from acpgen.methods.profile import Profile, Rule
from acpgen.pointers import split_place, write_reference

_ENDS: Final = ("Request", "Notification", "Event", "Call", "Message")
"""Suffixes of a message's name that state its kind."""

_WRAPS: Final = frozenset({"jsonrpc", "id", "error"})
"""Members beside the result in a response."""


class Message(Struct, frozen=True):
    """A message: its place, the rule that found it, and the part of its name that stands for the method."""

    place: Node
    rule: Rule
    stem: str


class Reader:
    """Reads the definitions of a schema by a profile."""

    def __init__(self, schemas: Schemas, profile: Profile) -> None:
        self.schemas = schemas
        self.profile = profile
        self.nodes_by_name: dict[str, list[Node]] = {}
        for node in schemas.values():
            for name in dict.fromkeys((get_written_name(node), node.owner)):
                self.nodes_by_name.setdefault(name, []).append(node)

    def find_rule_stem(self, rule: Rule, definition: Node) -> str | None:
        """The value of `{name}` of a rule in the name of a definition, in its file or in the bundle."""
        return rule.find_stem(get_written_name(definition)) or rule.find_stem(definition.owner)

    def is_message(self, node: Node) -> bool:
        """Whether a schema has a method member that some rule accepts."""
        return any(self.find_method(node, rule) is not None for rule in self.profile.rules)

    def find_method(self, message: Node, rule: Rule) -> str | None:
        """The name of the method: the constant in a property of the message; `None` without one."""
        place = find_property(message, rule.method, is_message=True)
        return place.constant if place is not None and isinstance(place.constant, str) else None

    def list_branches(self, union: Node) -> Iterator[Node]:
        """Yield the messages in a union and its nested unions, without duplicates. A union of one may be written as the message."""
        if union.union is None and self.is_message(union):
            yield union
        for node in find_reachable(_order_branches(union), lambda node: () if node.keys else _order_branches(node)):
            if node.keys or node.union is None:
                yield node

    def find_stem(self, message: Node) -> str:
        """The name of a message, from its title or definition, without the suffix for its kind."""
        is_titled = message.keys and "title" in message.says
        name = message.get_text("title") if is_titled else get_written_name(self.find_definition(message))
        return next((name.removesuffix(end) for end in _ENDS if name.endswith(end)), name)

    def find_definition(self, node: Node) -> Node:
        """The definition that contains a schema."""
        return self.schemas[node.owner]

    def find_params_name(self, params: Node | None) -> str:
        """The name of the params' definition, without the suffix `Params`."""
        definition = None if params is None else params.referred if params.keys else params
        return "" if definition is None else get_written_name(definition).removesuffix("Params")

    def find_payload(self, template: str, stem: str = "", params: str = "", message: Node | None = None) -> Node | None:
        """The payload that a template names; `None` if there is no such definition or property."""
        if ("{name}" in template and not stem) or ("{params}" in template and not params) or not template:
            return None
        name = template.replace("{name}", stem).replace("{params}", params)
        whole = self._find_nearest(name, message)
        is_guess = self.profile.how == "guessed"
        if whole is not None:
            return None if is_guess and find_property(whole, "jsonrpc") else whole
        name, dot, member = name.rpartition(".")
        holder = self._find_nearest(name, message) if dot else None
        if holder is None:
            return None
        is_response = not is_guess or any(find_property(holder, wrapper) is not None for wrapper in _WRAPS)
        return find_property(holder, member) if is_response else None

    def _find_nearest(self, name: str, message: Node | None) -> Node | None:
        """The definition with this name; of several in groups, the one beside the message, otherwise the outermost."""
        candidates = self.nodes_by_name.get(name, [])
        if len(candidates) < 2:
            return candidates[0] if candidates else None
        group = split_place(self.find_definition(message).at)[:-1] if message is not None else ()
        parents = [(split_place(candidate.at)[:-1], candidate) for candidate in candidates]
        outermost = min(parents, key=lambda parent: len(parent[0]))[1]
        return next((candidate for place, candidate in parents if place == group), outermost)

    def get_definitions(self, names: Sequence[str]) -> list[Node]:
        """The definitions with these names."""
        return [node for name in names for node in self.nodes_by_name.get(name, ())]


def _order_branches(union: Node) -> Sequence[Node]:
    """The branches of a union, last first: definitions, and inline schemas."""
    return [branch if branch.referred is None else branch.referred for branch in reversed(union.branches)]


def make_union(definitions: Iterable[str]) -> Schema:
    """A union of definitions."""
    return {"anyOf": [{"$ref": write_reference(name)} for name in definitions]}


def find_params(message: Message) -> Node | None:
    """The params of a message; `None` if it has none, or does not describe them."""
    if message.rule.spelled:
        return message.place
    place = find_property(message.place, message.rule.params, is_message=True)
    return place if place is not None and not says_nothing(place) else None


def find_property(node: Node, name: str, *, is_message: bool = False) -> Node | None:
    """The schema of an object's property: in the schema itself, in a part of it, in what it refers to, or in exactly one of its
    branches.

    A message is not a union of others, so branches of one are ignored.
    """
    return _find_property(node, name, {}, is_message=is_message)


def _find_property(node: Node, name: str, cache: dict[Node, Node | None], *, is_message: bool) -> Node | None:
    """Find a property with a `cache` of the schemas visited."""
    if node not in cache:
        cache[node] = node.get_subschema_map("properties").get(name)
        references = [] if node.target is None else [node.schemas[node.target]]
        inline = [part for part in node.get_subschemas("allOf") if "$ref" not in part.says]
        for part in (*inline, *references, *(part for part in node.get_subschemas("allOf") if part not in inline)):
            cache[node] = cache[node] or _find_property(part, name, cache, is_message=is_message)
        if cache[node] is None and not is_message:
            properties = [_find_property(branch, name, cache, is_message=False) for branch in node.branches]
            places = {place for place in properties if place is not None}
            cache[node] = places.pop() if len(places) == 1 else None
    return cache[node]


def is_optional_result(result: Node | None) -> bool:
    """Whether a response may lack the property of its result."""
    if result is None or result.keys[-2:-1] != ("properties",):
        return False
    ends = (2, 4) if result.keys[-4:-3] == ("allOf",) else (2,)
    holders = (result.schemas.find(result.owner, result.keys[:-end]) for end in ends)
    return not any(result.keys[-1] in holder.required for holder in holders)


def is_same(left: Node | None, right: Node | None) -> bool:
    """Whether two payloads are the same definition, or have the same assertions."""
    if left is None or right is None or left is right:
        return left is right
    first, second = (
        payload.says if payload.keys else {"$ref": write_reference(payload.owner)} for payload in (left, right)
    )
    return strip_prose(first) == strip_prose(second)


def says_nothing(node: Node) -> bool:
    """Whether a schema accepts every value, or describes no type."""
    if not is_object(node.schema):
        return not node.refuses_all
    is_any = is_array(node.says.get("type")) and {*node.types} >= ALL_KINDS
    return not node.demands or (node.demands == frozenset({"type"}) and is_any)


def get_written_name(definition: Node) -> str:
    """The name of a definition in its file, which may differ from the one in the bundle."""
    parts = split_place(definition.at)
    return parts[-1] if parts else definition.owner
