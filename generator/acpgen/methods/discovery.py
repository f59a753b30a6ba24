"""Discovery of a protocol's methods by a profile: which definitions are messages, and where their payloads are.

A payload is the params or the result of a method. It may be in a message, in a response around it, or a definition. The results are
places; `bundle` names each of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from acpgen import ir
from acpgen.errors import Fault, Faults, show
from acpgen.input.schema_nodes import Node, Schemas
from acpgen.input.walk import Schema
from acpgen.methods.faults import NO_METHODS, UNUSED_RULE
from acpgen.methods.payload_locations import (
    Message,
    Reader,
    find_params,
    find_property,
    get_written_name,
    is_optional_result,
    is_same,
    make_union,
    says_nothing,
)
from acpgen.methods.profile import FRAMES, Kind, Profile, Rule
from acpgen.naming.identifiers import make_class_name
from acpgen.pointers import write_plain_pointer

Match: TypeAlias = tuple[Rule, Sequence[Message], Sequence[Message]]
"""A rule, its messages, and those of them that no earlier rule finds."""


class Call(Struct, frozen=True):
    """A method in the schema. `message` is where it is described.

    `is_optional`: its params may be omitted; `has_optional_result`: a response may lack its result.
    """

    name: str
    kind: Kind
    side: ir.Side
    message: Node
    params: Node | None = None
    result: Node | None = None
    is_optional: bool = True
    has_optional_result: bool = False


class Gaps(Struct, frozen=True):
    """What a profile leaves open in a schema, for the report.

    - `doubled`: the places of messages with the method of an earlier message.
    - `unbound`: the places of messages that no rule finds, each with its method.
    - `unsent`: methods whose sender is not stated.
    - `beyond`: members that a message requires in addition to its frame, with their places; they are neither typed nor validated.
    - `unmatched`: entries of the profile that match nothing.
    """

    doubled: tuple[str, ...] = ()
    unbound: tuple[str, ...] = ()
    unsent: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    unmatched: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Calls:
    """The methods of a schema in its order, and the gaps.

    `sides` are those that a guess found, instead of those of its profile.
    """

    calls: tuple[Call, ...] = ()
    gaps: Gaps = field(default_factory=Gaps)
    sides: tuple[ir.Side, ...] = ()


def add_alternatives(definitions: dict[str, Schema], origins: dict[str, str], profile: Profile) -> None:
    """Add the unions that a profile defines, if the schema has all of their members and no definition of the union's name."""
    for name, members in profile.alternatives.items():
        if name not in definitions and all(member in definitions for member in members):
            definitions[name] = make_union(members)
            origins[name] = origins[members[0]]


def find_calls(schemas: Schemas, profile: Profile) -> Calls:
    """The methods that the rules of a profile find. Raises `Faults` if a profile that the user wrote or named does not fit."""
    if profile.marked or profile.document is not None:
        return Calls()
    calls = _Finder(schemas, profile).run()
    if not calls.calls and profile.how == "named":
        at = next((node.at for node in schemas.values()), "").partition("#")[0]
        raise Faults([NO_METHODS(at=at, profile=profile.name)])
    return calls


def list_payloads(calls: Calls) -> Mapping[str, tuple[str, ...]]:
    """The places of payloads inside definitions, each with candidate names."""
    names_by_place: dict[str, tuple[str, ...]] = {}
    for call in calls.calls:
        for place in (call.params, call.result):
            if place is not None and place.keys:
                member_name = make_class_name(place.keys[-1])
                names = (f"{place.owner}{member_name}",) if place.keys[0] not in ("anyOf", "oneOf") else ()
                by_method = f"{make_class_name(call.name)}{member_name}"
                names_by_place.setdefault(place.at, (*names, by_method, f"{place.owner}{by_method}"))
    return names_by_place


def bind(calls: Calls, schemas: Schemas, envelope: ir.Envelope) -> tuple[ir.Method, ...]:
    """The methods, with the names of their payloads."""
    methods: list[ir.Method] = []
    for call in calls.calls:
        params = _name(call.params, schemas)
        methods.append(
            ir.Method(
                name=call.name,
                side=call.side,
                kind=call.kind,
                params=params,
                result=_name(call.result, schemas),
                omitted=find_omitted(schemas, params, envelope, is_optional=call.is_optional),
                optional_result=call.has_optional_result,
                unstable=_read_keyword(call.message, "x-unstable") is True,
                doc=str(_read_keyword(call.message, "description") or ""),
                at=call.message.at,
            )
        )
    return tuple(methods)


def find_omitted(schemas: Schemas, name: str | None, envelope: ir.Envelope, *, is_optional: bool) -> ir.Omitted:
    """The meaning of omitted params. JSON-RPC allows every request to omit them."""
    if name is None:
        return "object"
    if envelope == "dap":
        return "nothing" if is_optional else "refused"
    params = schemas[name]
    if "object" in params.kinds and not (is_optional and params.shape.required):
        return "object"
    if "null" in params.kinds:
        return "null"
    if is_optional:
        return "array" if "array" in params.kinds and not params.says.get("minItems") else "nothing"
    return "array" if "array" in params.kinds else "object"


def _read_keyword(message: Node, keyword: str) -> Any:
    """The value of a keyword in a message, or in the last of its inline parts that has it."""
    parts = (message, *reversed(message.get_subschemas("allOf")))
    return next((part.says[keyword] for part in parts if keyword in part.says), None)


def _name(place: Node | None, schemas: Schemas) -> str | None:
    """The definition at a place, or the one referred to there; a union of one branch counts as the branch."""
    if place is None or not place.keys:
        return None if place is None else place.owner
    node = schemas.find(place.owner, place.keys)
    return node.branches[0].reference if len(node.branches) == 1 else node.reference


class _Finder:
    def __init__(self, schemas: Schemas, profile: Profile) -> None:
        self.schemas = schemas
        self.profile = profile
        self.read = Reader(schemas, profile)

    def run(self) -> Calls:
        profile = self.profile
        messages: dict[Node, Message] = {}
        matches: list[Match] = []
        for rule in profile.rules:
            rule_messages = list(self._list_messages(rule))
            new_messages = [message for message in rule_messages if message.place not in messages]
            messages.update({message.place: message for message in new_messages})
            matches.append((rule, rule_messages, new_messages))
        order = {name: index for index, name in enumerate(self.schemas)}
        numbers = {place: tuple(int(key) for key in place.keys if key.isdecimal()) for place in messages}
        ordered = sorted(messages.values(), key=lambda message: (order[message.place.owner], numbers[message.place]))
        senders = self._find_senders(messages)
        calls, senders_of, doubled = self._find_calls(ordered, senders)
        for (name, kind), call in calls.items():
            handlers = [side for side in self._find_sides(senders) if side not in senders_of[name, kind]]
            is_known = len(senders_of[name, kind]) == 1 and len(handlers) == 1
            calls[name, kind] = replace(call, side=call.side or (handlers[0] if is_known else "both"))
        unsent = [name for name, kind in calls if calls[name, kind].side == "both" and not senders_of[name, kind]]
        for name, entry in profile.listed.items():
            params, result = map(self.read.find_payload, (entry.params, entry.result))
            message_at = params or result or next(iter(self.schemas.values()))
            side = entry.side or profile.handled.get(name, "both")
            calls[name, entry.kind] = Call(name, entry.kind, side, message_at, params, result)
            unsent += [name] if side == "both" else []
        names = {call.name for call in calls.values()}
        unused = [*_find_unused(self.read, matches, names)] if profile.at else []
        gaps = Gaps(
            doubled=tuple(doubled),
            unbound=tuple(self._find_unbound(messages, names)),
            unsent=tuple(dict.fromkeys(unsent)),
            beyond=tuple(text for message in ordered for text in self._list_extra_members(message)),
            unmatched=tuple(
                UNUSED_RULE(at=f"{profile.at}#{write_plain_pointer(*keys)}", what_for=reason) for keys, reason in unused
            ),
        )
        if profile.unmatched == "refused" and gaps.unmatched:
            raise Faults(gaps.unmatched)
        return Calls(tuple(calls.values()), gaps, self._find_sides(senders))

    def _find_calls(
        self, ordered: Sequence[Message], senders: Mapping[Node, set[ir.Side]]
    ) -> tuple[dict[tuple[str, Kind], Call], dict[tuple[str, Kind], set[ir.Side]], list[str]]:
        """The calls by name and kind, the senders of each according to unions, and the places of omitted messages.

        A message that only repeats another one still counts for its sender. A union's name does not lead to a result, so a union that is
        itself a message comes last. The sides of the calls are those in the profile, empty if it has none.
        """
        unions = {name for names in self.profile.sent.values() for name in names}
        unions |= {name for rule in self.profile.rules for name in rule.unions}
        calls: dict[tuple[str, Kind], Call] = {}
        senders_of: dict[tuple[str, Kind], set[ir.Side]] = {}
        doubled: list[str] = []
        place = {message.place: index for index, message in enumerate(ordered)}
        places: dict[tuple[str, Kind], int] = {}

        def is_union(message: Message) -> bool:
            return not message.place.keys and get_written_name(message.place) in unions

        for message in sorted(ordered, key=is_union):
            call = self._call(replace(message, stem="") if is_union(message) else message)
            key = (call.name, call.kind)
            first = calls.setdefault(key, call)
            places[key] = min(places.get(key, len(ordered)), place[message.place])
            same_result = is_union(message) or is_same(first.result, call.result)
            if is_same(first.params, call.params) and same_result:
                senders_of.setdefault(key, set()).update(senders.get(message.place, ()))
            else:
                doubled.append(message.place.at)
        return {key: calls[key] for key in sorted(calls, key=places.__getitem__)}, senders_of, doubled

    # --- gaps ---

    def _find_unbound(self, messages: Mapping[Node, Message], methods: set[str]) -> Iterator[str]:
        """Yield definitions that have the form of messages but match no rule; those of a method that was found are omitted."""
        for node in self.schemas.values():
            unbound_methods = {self.read.find_method(node, rule) for rule in self.profile.rules if not rule.spelled} - {
                None
            }
            if node not in messages and unbound_methods and unbound_methods.isdisjoint(methods):
                yield f"{node.at} ({', '.join(sorted(map(str, unbound_methods)))})"

    def _list_extra_members(self, message: Message) -> Iterator[str]:
        """Yield members that a message requires in addition to those of its frame."""
        if message.rule.spelled:
            return
        frame_members = {*FRAMES[self.profile.envelope], message.rule.method, message.rule.params}
        for member in sorted(message.place.required - frame_members):
            yield f"{member!r} of {message.place.at}"

    # --- messages ---

    def _list_messages(self, rule: Rule) -> Iterator[Message]:
        if rule.named:
            for node in self.schemas.values():
                stem = self.read.find_rule_stem(rule, node)
                if stem is not None and (rule.spelled or self.read.find_method(node, rule) is not None):
                    yield Message(node, rule, stem)
        for union in self.schemas.values() if "*" in rule.unions else self.read.get_definitions(rule.unions):
            for branch in self.read.list_branches(union):
                if self.read.find_method(branch, rule) is None or ("*" in rule.unions and not branch.keys):
                    continue
                is_request = find_property(branch, "id") is not None
                branch_rule = (
                    replace(rule, kind="request" if is_request else "notification") if "*" in rule.unions else rule
                )
                yield Message(branch, branch_rule, self.read.find_stem(branch))

    # --- sides ---

    def _find_senders(self, messages: Mapping[Node, Message]) -> Mapping[Node, set[ir.Side]]:
        """The senders of each message, as far as unions state them."""
        senders: dict[Node, set[ir.Side]] = {}
        for side, unions in self._find_sent_unions(messages).items():
            for union in self.read.get_definitions(unions):
                for message in self.read.list_branches(union):
                    senders.setdefault(message, set()).add(side)
        return senders

    def _find_sent_unions(self, messages: Mapping[Node, Message]) -> Mapping[ir.Side, tuple[str, ...]]:
        """The unions of what each side sends; for a guess, those whose names begin with a side and end with their kind of content."""
        if self.profile.how != "guessed":
            return self.profile.sent
        unions_by_side: dict[ir.Side, list[str]] = {}
        for node in self.schemas.values():
            branches = list(self.read.list_branches(node))
            match = re.fullmatch(r"([A-Z][a-z]+)(?:Request|Notification|Event|Message)s?", get_written_name(node))
            if branches == [node] and (match is None or match[1] not in ("Client", "Server")):
                continue
            if match and branches and all(branch in messages for branch in branches):
                unions_by_side.setdefault(match[1].lower(), []).append(node.owner)
        is_known = len(unions_by_side) == 2 or unions_by_side.keys() < {"client", "server"}
        return {side: tuple(names) for side, names in unions_by_side.items()} if is_known else {}

    def _find_sides(self, senders: Mapping[Node, set[ir.Side]]) -> tuple[ir.Side, ...]:
        """The sides of the profile; for a guess, those that send something, if there are two."""
        all_senders = set[ir.Side]().union(*senders.values())
        if self.profile.how != "guessed" or len(all_senders) != 2:
            return self.profile.sides
        return tuple(sorted(all_senders, key=lambda side: (side != "client", side)))

    def _call(self, message: Message) -> Call:
        """The call of a message. Its side is the one in the profile, empty if it has none."""
        rule, place = message.rule, message.place
        name = _spell(message.stem, rule.spelled) if rule.spelled else self.read.find_method(place, rule) or ""
        params = find_params(message)
        is_optional = bool(rule.spelled) or rule.params not in place.required
        side = self.profile.handled.get(name) or rule.side
        templates = (self.profile.results.get(name, ""), *rule.results) if rule.kind == "request" else ()
        about = self.read.find_params_name(params)
        results = (self.read.find_payload(template, message.stem, about, place) for template in templates)
        result = next((node for node in results if node is not None), None)
        result = None if result is None or says_nothing(result) else result
        return Call(name, rule.kind, side, place, params, result, is_optional, is_optional_result(result))


def _spell(stem: str, spelling: str) -> str:
    """A name in another spelling: `GetThing` as `getThing`, `get_thing` or `get-thing`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", stem) or [stem]
    if spelling == "as-is":
        return stem
    if spelling == "camelCase":
        return "".join([words[0].lower(), *words[1:]])
    return ("_" if spelling == "snake_case" else "-").join(word.lower() for word in words)


# --- entries of a profile that match nothing ---


def _find_unused(
    reader: Reader, matches: Sequence[Match], methods: Collection[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the keys of each entry of a profile that matches nothing, and the reason. `methods` are those of the schema."""
    profile = reader.profile
    for name, side in profile.handled.items():
        if name not in methods:
            yield ("handled", side), f"the schema has no method {show(name)}"
    for name in profile.results:
        if name not in methods:
            yield ("results", name), f"the schema has no method {show(name)}"
    for name, members in profile.alternatives.items():
        if reader.schemas.written.get(name) != make_union(members):
            names = " and ".join(map(show, members))
            yield ("alternatives", name), f"the schema lacks one of {names}, or has a definition {show(name)} itself"
    places = [("results", name, place) for name, place in profile.results.items()]
    places += [
        ("methods", name, place) for name, entry in profile.listed.items() for place in (entry.params, entry.result)
    ]
    for key, name, place in places:
        if place and reader.find_payload(place) is None:
            yield (key, name), f"the schema has no definition or property {show(place)}"
    for side, names_ in profile.sent.items():
        for name in names_:
            if not _is_union(reader, name):
                yield ("sent", side), f"the schema has no union {show(name)}"
    for index, match in enumerate(matches):
        for keys, reason in _explain_rule(reader, *match):
            yield ("messages", str(index), *keys), reason


def _is_union(reader: Reader, name: str) -> bool:
    """Whether the schema has a union with this name; one of a single message may be written as the message."""
    return any(node.union is not None or reader.is_message(node) for node in reader.get_definitions([name]))


def _explain_rule(
    reader: Reader, rule: Rule, messages: Sequence[Message], new_messages: Sequence[Message]
) -> Iterator[tuple[tuple[str, ...], str]]:
    missing = [name for name in rule.unions if name != "*" and not _is_union(reader, name)]
    for name in missing:
        yield (), f"the schema has no union {show(name)}"
    if missing:
        return
    if not messages:
        is_named = rule.named and any(reader.find_rule_stem(rule, node) for node in reader.schemas.values())
        if rule.named and not is_named:
            yield (), f"the schema has no definition that is called like {show(rule.named)}"
            return
        subject = f"the definitions called like {show(rule.named)}" if rule.named else "the branches of the unions"
        yield (), f"{subject} have no property {show(rule.method)} that is a constant, so none is a message"
    elif not new_messages:
        yield (), "rules before this one find each message that it would find"
    else:
        for place, template in enumerate(rule.results):
            results = (
                reader.find_payload(
                    template, message.stem, reader.find_params_name(find_params(message)), message.place
                )
                for message in new_messages
            )
            if all(result is None for result in results):
                yield ("results", str(place)), f"for no message of this rule the schema has {show(template)}"
