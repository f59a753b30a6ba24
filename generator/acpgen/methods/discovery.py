"""Finds the methods of a protocol in its definitions, as a profile says: which are messages, and where their payloads stand.

A payload is the params or the result of a method. It may stand in a message, in a response around it, or be a definition. What is
found are places; `bundle` gives each of them a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from acpgen import ir
from acpgen.errors import Fault, Faults
from acpgen.input.schema_nodes import Node, Schemas
from acpgen.input.walk import Schema
from acpgen.methods.faults import NO_METHODS, UNUSED_RULE
from acpgen.methods.payload_locations import (
    Message,
    Reader,
    find_params,
    find_property,
    is_same,
    may_lack,
    one_of,
    says_nothing,
    written_name,
)
from acpgen.methods.profile import FRAMES, Kind, Profile, Rule
from acpgen.methods.unused_rules import Match, find_unused
from acpgen.naming.identifiers import class_name
from acpgen.pointers import plain_pointer


@dataclass(frozen=True, slots=True)
class Call:
    """A method as the schema has it. `message` is where it is described.

    `is_optional`: its params may be left out; `has_optional_result`: a response may come without its result.
    """

    name: str
    kind: Kind
    side: ir.Side
    message: Node
    params: Node | None = None
    result: Node | None = None
    is_optional: bool = True
    has_optional_result: bool = False


@dataclass(frozen=True, slots=True)
class Gaps:
    """What a profile leaves open in a schema, to be told.

    `doubled` are the places of messages whose method another message has already, `unbound` those of messages that no rule finds, each
    with its method. `unsent` are methods of which nothing says who sends them. `beyond` are members that a message requires beside those
    of its frame, each with its place: they are neither typed nor judged. `unmatched` are entries of the profile that match nothing.
    """

    doubled: tuple[str, ...] = ()
    unbound: tuple[str, ...] = ()
    unsent: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    unmatched: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Calls:
    """The methods of a schema in its order, and what its reader has to know of what was found.

    `sides` are the peers that a guess found, in place of those of its profile.
    """

    calls: tuple[Call, ...] = ()
    gaps: Gaps = field(default_factory=Gaps)
    sides: tuple[ir.Side, ...] = ()


def with_alternatives(definitions: dict[str, Schema], origins: dict[str, str], profile: Profile) -> None:
    """Add the unions that a profile names, where the schema has all of their definitions and none of the union's name."""
    for name, members in profile.alternatives.items():
        if name not in definitions and all(member in definitions for member in members):
            definitions[name] = one_of(members)
            origins[name] = origins[members[0]]


def find_calls(schemas: Schemas, profile: Profile) -> Calls:
    """The methods that the rules of a profile find. Raises `Faults` where a profile that a person wrote or named does not fit."""
    if profile.marked or profile.document is not None:
        return Calls()
    found = _Finder(schemas, profile).run()
    if not found.calls and profile.how == "named":
        at = next((node.at for node in schemas.values()), "").partition("#")[0]
        raise Faults([NO_METHODS(at=at, profile=profile.name)])
    return found


def payloads(calls: Calls) -> Mapping[str, tuple[str, ...]]:
    """The places of payloads that stand inside a definition, each with names that it can have."""
    found: dict[str, tuple[str, ...]] = {}
    for call in calls.calls:
        for place in (call.params, call.result):
            if place is not None and place.keys:
                own = class_name(place.keys[-1])
                names = (f"{place.owner}{own}",) if place.keys[0] not in ("anyOf", "oneOf") else ()
                by_method = f"{class_name(call.name)}{own}"
                found.setdefault(place.at, (*names, by_method, f"{place.owner}{by_method}"))
    return found


def bind(calls: Calls, schemas: Schemas, envelope: ir.Envelope) -> tuple[ir.Method, ...]:
    """The methods with the names that their payloads have got."""
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
                unstable=_said(call.message, "x-unstable") is True,
                doc=str(_said(call.message, "description") or ""),
                at=call.message.at,
            )
        )
    return tuple(methods)


def find_omitted(schemas: Schemas, name: str | None, envelope: ir.Envelope, *, is_optional: bool) -> ir.Omitted:
    """What params stand for that are left out. JSON-RPC lets every request leave them out."""
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


def _said(message: Node, keyword: str) -> Any:
    """What a message says by a keyword, or the last of its inline parts that says something."""
    saying = [one.says[keyword] for one in (message, *reversed(message.each("allOf"))) if keyword in one.says]
    return saying[0] if saying else None


def _name(place: Node | None, schemas: Schemas) -> str | None:
    """The definition that stands at a place, or is referred to there; a union of one branch counts as the branch."""
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
            found = list(self._messages(rule))
            own = [message for message in found if message.place not in messages]
            messages.update({message.place: message for message in own})
            matches.append((rule, found, own))
        order = {name: index for index, name in enumerate(self.schemas)}
        ordered = sorted(messages.values(), key=lambda one: (order[one.place.owner], _numbers(one.place.keys)))
        senders = self._senders(messages)
        calls, senders_of, doubled = self._calls(ordered, senders)
        for (name, kind), call in calls.items():
            calls[name, kind] = replace(call, side=self._side(call.side, senders_of[name, kind], senders))
        unsent = [name for name, kind in calls if calls[name, kind].side == "both" and not senders_of[name, kind]]
        for name, listed in profile.listed.items():
            params, result = map(self.read.payload, (listed.params, listed.result))
            message_at = params or result or next(iter(self.schemas.values()))
            side = listed.side or profile.handled.get(name, "both")
            calls[name, listed.kind] = Call(name, listed.kind, side, message_at, params, result)
            unsent += [name] if side == "both" else []
        gaps = Gaps(
            doubled=tuple(doubled),
            unbound=tuple(self._unbound(messages, {call.name for call in calls.values()})),
            unsent=tuple(dict.fromkeys(unsent)),
            beyond=tuple(text for message in ordered for text in self._beyond(message)),
            unmatched=tuple(self._unmatched(matches, {call.name for call in calls.values()})),
        )
        if profile.unmatched == "refused" and gaps.unmatched:
            raise Faults(gaps.unmatched)
        return Calls(tuple(calls.values()), gaps, self._sides(senders))

    def _calls(
        self, ordered: Sequence[Message], senders: Mapping[Node, set[ir.Side]]
    ) -> tuple[dict[tuple[str, Kind], Call], dict[tuple[str, Kind], set[ir.Side]], list[str]]:
        """The calls by name and kind, who sends each as unions say it, and the messages that were left out.

        A message that only says again what another one says counts for who sends it. What a union is called says nothing of a result,
        so a union that is a message itself comes last. The sides of the calls are those that the profile says, empty where it says none.
        """
        unions = {name for names in self.profile.sent.values() for name in names}
        unions |= {name for rule in self.profile.rules for name in rule.unions}
        calls: dict[tuple[str, Kind], Call] = {}
        senders_of: dict[tuple[str, Kind], set[ir.Side]] = {}
        doubled: list[str] = []
        place = {message.place: index for index, message in enumerate(ordered)}
        places: dict[tuple[str, Kind], int] = {}

        def is_union(message: Message) -> bool:
            return not message.place.keys and written_name(message.place) in unions

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
        return {key: calls[key] for key in sorted(calls, key=lambda one: places[one])}, senders_of, doubled

    # --- gaps ---

    def _unmatched(self, matches: Sequence[Match], methods: set[str]) -> Iterator[Fault]:
        """The entries of a profile that a person wrote that match nothing."""
        for keys, why in find_unused(self.read, matches, methods) if self.profile.at else ():
            yield UNUSED_RULE(at=f"{self.profile.at}#{plain_pointer(*keys)}", what_for=why)

    def _unbound(self, messages: Mapping[Node, Message], methods: set[str]) -> Iterator[str]:
        """Definitions that are messages by their form and that no rule finds; not those of a method that was found."""
        for node in self.schemas.values():
            found = {self.read.method(node, rule) for rule in self.profile.rules if not rule.spelled} - {None}
            if node not in messages and found and found.isdisjoint(methods):
                yield f"{node.at} ({', '.join(sorted(map(str, found)))})"

    def _beyond(self, message: Message) -> Iterator[str]:
        """What a message requires beside the members of its frame."""
        if message.rule.spelled:
            return
        framed = {*FRAMES[self.profile.envelope], message.rule.method, message.rule.params}
        for member in sorted(message.place.required - framed):
            yield f"{member!r} of {message.place.at}"

    # --- messages ---

    def _messages(self, rule: Rule) -> Iterator[Message]:
        if rule.named:
            for node in self.schemas.values():
                stem = self.read.rule_stem(rule, node)
                if stem is not None and (rule.spelled or self.read.method(node, rule) is not None):
                    yield Message(node, rule, stem)
        for union in self.schemas.values() if "*" in rule.unions else self.read.named(rule.unions):
            for branch in self.read.branches(union):
                if self.read.method(branch, rule) is None or ("*" in rule.unions and not branch.keys):
                    continue
                if "*" in rule.unions:
                    is_request = find_property(branch, "id") is not None
                    own = replace(rule, kind="request" if is_request else "notification")
                    yield Message(branch, own, self.read.stem(branch))
                else:
                    yield Message(branch, rule, self.read.stem(branch))

    # --- sides ---

    def _senders(self, messages: Mapping[Node, Message]) -> Mapping[Node, set[ir.Side]]:
        """Who sends each message, as far as unions say it."""
        found: dict[Node, set[ir.Side]] = {}
        for side, unions in self._sent(messages).items():
            for union in self.read.named(unions):
                for message in self.read.branches(union):
                    found.setdefault(message, set()).add(side)
        return found

    def _sent(self, messages: Mapping[Node, Message]) -> Mapping[ir.Side, tuple[str, ...]]:
        """The unions of what each side sends; for a guess, those whose names begin with a side and end in what they hold."""
        if self.profile.how != "guessed":
            return self.profile.sent
        found: dict[ir.Side, list[str]] = {}
        for node in self.schemas.values():
            branches = list(self.read.branches(node))
            match = re.fullmatch(r"([A-Z][a-z]+)(?:Request|Notification|Event|Message)s?", written_name(node))
            if branches == [node] and (match is None or match[1] not in ("Client", "Server")):
                continue
            if match and branches and all(branch in messages for branch in branches):
                found.setdefault(match[1].lower(), []).append(node.owner)
        is_known = len(found) == 2 or found.keys() < {"client", "server"}
        return {side: tuple(names) for side, names in found.items()} if is_known else {}

    def _sides(self, senders: Mapping[Node, set[ir.Side]]) -> tuple[ir.Side, ...]:
        """The sides of the profile; for a guess, those that send something, where they are two."""
        found = set[ir.Side]().union(*senders.values())
        if self.profile.how != "guessed" or len(found) != 2:
            return self.profile.sides
        return tuple(sorted(found, key=lambda side: (side != "client", side)))

    def _call(self, message: Message) -> Call:
        """The call of a message. Its side is the one that the profile names, empty where it names none."""
        rule, place = message.rule, message.place
        name = _spelled(message.stem, rule.spelled) if rule.spelled else self.read.method(place, rule) or ""
        params = find_params(message)
        is_optional = bool(rule.spelled) or rule.params not in place.required
        side = self.profile.handled.get(name) or rule.side
        result: Node | None = None
        if rule.kind == "request":
            wanted = (*filter(None, [self.profile.results.get(name)]), *rule.results)
            about = self.read.params_name(params)
            results = (self.read.payload(one, message.stem, about, place) for one in wanted)
            result = next((one for one in results if one is not None), None)
            result = result if result is not None and not says_nothing(result) else None
        return Call(name, rule.kind, side, place, params, result, is_optional, may_lack(result))

    def _side(self, said: str, senders: set[ir.Side], all_senders: Mapping[Node, set[ir.Side]]) -> ir.Side:
        """Who handles a call: who the profile says, else whoever does not send it."""
        others = [side for side in self._sides(all_senders) if side not in senders]
        return said or (others[0] if len(senders) == 1 and len(others) == 1 else "both")


def _numbers(keys: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(int(key) for key in keys if key.isdecimal())


def _spelled(stem: str, how: str) -> str:
    """A name in another spelling: `GetThing` as `getThing`, `get_thing` or `get-thing`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", stem) or [stem]
    if how == "as-is":
        return stem
    if how == "camelCase":
        return "".join([words[0].lower(), *words[1:]])
    return ("_" if how == "snake_case" else "-").join(word.lower() for word in words)
