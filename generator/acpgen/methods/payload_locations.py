"""What stands in definitions as a profile names it: messages, their members, and the payloads that templates name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from acpgen.input.schema_nodes import ALL_KINDS, Node, Schemas
from acpgen.input.walk import Schema, demands, is_array, is_object
from acpgen.methods.profile import Profile, Rule
from acpgen.pointers import place_parts, reference_to

_ENDS: Final = ("Request", "Notification", "Event", "Call", "Message")
"""Words at the end of a message's name that say what it is."""

_WRAPS: Final = frozenset({"jsonrpc", "id", "error"})
"""Members that stand beside the result in a response."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message: its place, the rule that found it, and what its name says of the method."""

    place: Node
    rule: Rule
    stem: str


class Reader:
    """Reads the definitions of a schema as a profile says."""

    def __init__(self, schemas: Schemas, profile: Profile) -> None:
        self.schemas = schemas
        self.profile = profile
        self.written: dict[str, list[Node]] = {}
        for node in schemas.values():
            for name in dict.fromkeys((written_name(node), node.owner)):
                self.written.setdefault(name, []).append(node)

    def rule_stem(self, rule: Rule, definition: Node) -> str | None:
        """What a rule's `{name}` stands for in the name of a definition, as its file or the bundle has it."""
        return rule.stem(written_name(definition)) or rule.stem(definition.owner)

    def is_message(self, node: Node) -> bool:
        """Whether a schema has the method of a message, as some rule says."""
        return any(self.method(node, rule) is not None for rule in self.profile.rules)

    def method(self, message: Node, rule: Rule) -> str | None:
        """The name of the method: the constant in a property of the message."""
        place = find_property(message, rule.method, is_message=True)
        return place.constant if place is not None and isinstance(place.constant, str) else None

    def branches(self, union: Node) -> Iterator[Node]:
        """The messages that a union holds, those of unions in it included; each once. A union of one may be written as the message."""
        if union.union is None and self.is_message(union):
            yield union
        seen = {union.owner}
        pending = [*reversed([*_branches_of(union)])]
        while pending:
            node = pending.pop()
            if node.keys or node.union is None:
                yield node
            elif node.owner not in seen:
                seen.add(node.owner)
                pending.extend(reversed([*_branches_of(node)]))

    def stem(self, message: Node) -> str:
        """What the title or the definition of a message calls it, less the word for what it is."""
        is_titled = message.keys and "title" in message.says
        name = message.text("title") if is_titled else written_name(self.definition(message))
        return next((name.removesuffix(end) for end in _ENDS if name.endswith(end)), name)

    def definition(self, node: Node) -> Node:
        """The definition that a schema stands in."""
        return self.schemas[node.owner]

    def params_name(self, params: Node | None) -> str:
        """What the params' definition is called, without the word for params."""
        definition = None if params is None else params.referred if params.keys else params
        return "" if definition is None else written_name(definition).removesuffix("Params")

    def payload(self, template: str, stem: str = "", params: str = "", message: Node | None = None) -> Node | None:
        """What a template names; `None` where there is no such definition or property."""
        if ("{name}" in template and not stem) or ("{params}" in template and not params) or not template:
            return None
        name = template.replace("{name}", stem).replace("{params}", params)
        whole = self._nearest(name, message)
        is_guess = self.profile.how == "guessed"
        if whole is not None:
            return None if is_guess and find_property(whole, "jsonrpc") else whole
        name, dot, member = name.rpartition(".")
        holder = self._nearest(name, message) if dot else None
        if holder is None:
            return None
        is_response = not is_guess or any(find_property(holder, one) is not None for one in _WRAPS)
        return find_property(holder, member) if is_response else None

    def _nearest(self, name: str, message: Node | None) -> Node | None:
        """The definition of this name; of several in groups, the one beside the message, else the outermost."""
        named = self.written.get(name, [])
        if len(named) < 2:
            return named[0] if named else None
        group = place_parts(self.definition(message).at)[:-1] if message is not None else ()
        parents = [(place_parts(one.at)[:-1], one) for one in named]
        return next((one for place, one in parents if place == group), min(parents, key=lambda each: len(each[0]))[1])

    def named(self, names: Sequence[str]) -> list[Node]:
        """The definitions of these names."""
        return [node for name in names for node in self.written.get(name, ())]


def _branches_of(union: Node) -> Iterator[Node]:
    """The branches of one union: definitions, and those that are written out in it."""
    for branch in union.branches:
        yield branch if branch.referred is None else branch.referred


def one_of(definitions: Iterable[str]) -> Schema:
    """What is any one of some definitions."""
    return {"anyOf": [{"$ref": reference_to(name)} for name in definitions]}


def find_params(message: Message) -> Node | None:
    """The params of a message; `None` where it has none, or says nothing of them."""
    if message.rule.spelled:
        return message.place
    place = find_property(message.place, message.rule.params, is_message=True)
    return place if place is not None and not says_nothing(place) else None


def find_property(node: Node, name: str, *, is_message: bool = False) -> Node | None:
    """What describes an object's property: in the schema itself, in a part of it, in what it refers to, or in one branch alone.

    A message is no choice of others, so branches of one are not looked at.
    """
    return _find_property(node, name, {}, is_message=is_message)


def _find_property(node: Node, name: str, known: dict[Node, Node | None], *, is_message: bool) -> Node | None:
    """The same; `known` are the schemas that were looked at."""
    if node not in known:
        known[node] = node.named("properties").get(name)
        references = [node.schemas[node.target]] if node.target is not None else []
        for part in sorted(
            [*references, *node.each("allOf")], key=lambda part: part in references or "$ref" in part.says
        ):
            known[node] = known[node] or _find_property(part, name, known, is_message=is_message)
        if known[node] is None and not is_message:
            each = [_find_property(branch, name, known, is_message=False) for branch in node.branches]
            places = {place for place in each if place is not None}
            known[node] = places.pop() if len(places) == 1 else None
    return known[node]


def may_lack(result: Node | None) -> bool:
    """Whether a response may come without the property that holds its result."""
    if result is None or result.keys[-2:-1] != ("properties",):
        return False
    ends = (2, 4) if result.keys[-4:-3] == ("allOf",) else (2,)
    holders = (result.schemas.find(result.owner, result.keys[:-end]) for end in ends)
    return not any(result.keys[-1] in holder.required for holder in holders)


def is_same(one: Node | None, other: Node | None) -> bool:
    """Whether two payloads are one: the same definition, or schemas that demand the same."""
    if one is None or other is None or one is other:
        return one is other
    first, second = (each.says if each.keys else {"$ref": reference_to(each.owner)} for each in (one, other))
    return demands(first) == demands(second)


def says_nothing(node: Node) -> bool:
    """Whether every value fits, or its type is not known."""
    if not is_object(node.schema):
        return not node.refuses_all
    is_any = is_array(node.says.get("type")) and {*node.types} >= ALL_KINDS
    return not node.demands or (node.demands == frozenset({"type"}) and is_any)


def written_name(definition: Node) -> str:
    """What a definition is called in its file, whatever it is called here."""
    parts = place_parts(definition.at)
    return parts[-1] if parts else definition.owner
