"""Finds the methods of a protocol in its definitions, as a profile says: which are messages, and where their payloads stand.

A payload is the params or the result of a method. It may stand in a message, in a response around it, or be a definition. What is
found are places; `bundle` gives each of them a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from acpgen import ir
from acpgen.errors import Fault, Faults
from acpgen.input.tagged_unions import branches_of, lone_reference
from acpgen.input.walk import Schema, is_object
from acpgen.methods.faults import NO_METHODS, UNUSED_RULE
from acpgen.methods.payload_locations import Reader, Site
from acpgen.methods.profile import FRAMES, Kind, Profile, Rule
from acpgen.methods.unused_rules import Fit, unused_entries
from acpgen.naming.identifiers import class_name
from acpgen.pointers import follow, plain_pointer, reference_to


@dataclass(frozen=True, slots=True)
class Call:
    """A method as the schema has it. `message` is where it is described.

    `is_optional`: its params may be left out; `has_optional_result`: a response may come without its result.
    """

    name: str
    kind: Kind
    side: ir.Side
    message: Site
    params: Site | None = None
    result: Site | None = None
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


def one_of(definitions: Iterable[str]) -> Schema:
    """What is any one of some definitions."""
    return {"anyOf": [{"$ref": reference_to(name)} for name in definitions]}


def with_alternatives(definitions: dict[str, Schema], origins: dict[str, str], profile: Profile) -> None:
    """Add the unions that a profile names, where the schema has all of their definitions and none of the union's name."""
    for name, members in profile.alternatives.items():
        if name not in definitions and all(member in definitions for member in members):
            definitions[name] = one_of(members)
            origins[name] = origins[members[0]]


def find_calls(definitions: Mapping[str, Schema], origins: Mapping[str, str], profile: Profile) -> Calls:
    """The methods that the rules of a profile find. Raises `Faults` where a profile that a person wrote or named does not fit."""
    if profile.marked or profile.document is not None:
        return Calls()
    found = _Finder(definitions, origins, profile).run()
    if not found.calls and profile.how == "named":
        at = next(iter(origins.values()), "").partition("#")[0]
        raise Faults([NO_METHODS(at=at, profile=profile.name)])
    return found


@dataclass(frozen=True, slots=True)
class Bound:
    """A method whose params and result have names: those of definitions of a bundle, `None` where nothing is said of them.

    `positions` are the names of params that may be sent by position, in order.
    """

    name: str
    kind: Kind
    side: ir.Side
    params: str | None = None
    result: str | None = None
    is_optional: bool = True
    has_optional_result: bool = False
    positions: tuple[str, ...] = ()
    unstable: bool = False
    doc: str = ""
    at: str = ""


def payloads(calls: Calls, origins: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """The places of payloads that stand inside a definition, each with names that it can have."""
    found: dict[str, tuple[str, ...]] = {}
    for call in calls.calls:
        for site in (call.params, call.result):
            if site is not None and site.keys:
                own = class_name(site.keys[-1])
                is_branch = site.keys[0] in ("anyOf", "oneOf")
                names = (f"{site.definition}{own}",) if not is_branch else ()
                by_method = f"{class_name(call.name)}{own}"
                at = origins[site.definition] + plain_pointer(*site.keys)
                found.setdefault(at, (*names, by_method, f"{site.definition}{by_method}"))
    return found


def bind(calls: Calls, definitions: Mapping[str, Schema], origins: Mapping[str, str]) -> tuple[Bound, ...]:
    """The methods with the names that their payloads have got."""
    return tuple(
        Bound(
            name=call.name,
            kind=call.kind,
            side=call.side,
            params=_name(call.params, definitions),
            result=_name(call.result, definitions),
            is_optional=call.is_optional,
            has_optional_result=call.has_optional_result,
            unstable=_said(call.message, definitions).get("x-unstable") is True,
            doc=str(_said(call.message, definitions).get("description", "")),
            at=origins.get(call.message.definition, "") + plain_pointer(*call.message.keys),
        )
        for call in calls.calls
    )


def _said(site: Site, definitions: Mapping[str, Schema]) -> Schema:
    """What a message says, its inline parts included, where it says nothing of the kind itself."""
    schema: Any = follow(definitions[site.definition], site.keys)
    parts: Schema = {}
    for part in schema.get("allOf", ()) if is_object(schema) else ():
        parts.update(
            {key: value for key, value in part.items() if key in ("description", "x-unstable")}
            if is_object(part)
            else {}
        )
    return {**parts, **schema} if is_object(schema) else parts


def _name(site: Site | None, definitions: Mapping[str, Schema]) -> str | None:
    """The definition that stands at a place, or is referred to there; a union of one branch counts as the branch."""
    if site is None:
        return None
    if not site.keys:
        return site.definition
    schema: Any = follow(definitions[site.definition], site.keys)
    union = branches_of(schema) if is_object(schema) else None
    if union is not None and len(union[1]) == 1:
        return lone_reference(union[1][0])
    return lone_reference(schema)


@dataclass(frozen=True, slots=True)
class _Message:
    """A message: its place, the rule that found it, and what its name says of the method."""

    site: Site
    rule: Rule
    stem: str


class _Finder:
    def __init__(self, definitions: Mapping[str, Schema], origins: Mapping[str, str], profile: Profile) -> None:
        self.definitions = definitions
        self.profile = profile
        self.read = Reader(definitions, origins, profile)

    def run(self) -> Calls:
        profile = self.profile
        messages: dict[Site, _Message] = {}
        fits: list[Fit] = []
        for rule in profile.rules:
            found = list(self._messages(rule))
            own = [message for message in found if message.site not in messages]
            messages.update({message.site: message for message in own})
            fits.append(self._fit(rule, found, own))
        order = {name: index for index, name in enumerate(self.definitions)}
        ordered = sorted(messages.values(), key=lambda one: (order[one.site.definition], _numbers(one.site.keys)))
        senders = self._senders(messages)
        calls, senders_of, doubled = self._calls(ordered, senders)
        for (name, kind), call in calls.items():
            calls[name, kind] = replace(call, side=self._side(call.side, senders_of[name, kind], senders))
        unsent = [name for name, kind in calls if calls[name, kind].side == "both" and not senders_of[name, kind]]
        for name, listed in profile.listed.items():
            params, result = (self.read.place(place, "", "", None) for place in (listed.params, listed.result))
            message_at = params or result or Site(next(iter(self.definitions), ""))
            side = listed.side or profile.handled.get(name, "both")
            calls[name, listed.kind] = Call(name, listed.kind, side, message_at, params, result)
            unsent += [name] if side == "both" else []
        gaps = Gaps(
            doubled=tuple(doubled),
            unbound=tuple(self._unbound(messages, {call.name for call in calls.values()})),
            unsent=tuple(dict.fromkeys(unsent)),
            beyond=tuple(text for message in ordered for text in self._beyond(message)),
            unmatched=self._unmatched(fits, {call.name for call in calls.values()}),
        )
        if profile.unmatched == "refused" and gaps.unmatched:
            raise Faults(gaps.unmatched)
        return Calls(tuple(calls.values()), gaps, self._sides(senders))

    def _calls(
        self, ordered: Sequence[_Message], senders: Mapping[Site, set[ir.Side]]
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
        place = {message.site: index for index, message in enumerate(ordered)}
        places: dict[tuple[str, Kind], int] = {}
        is_union = {
            message.site: self.read.key(message.site.definition) in unions and not message.site.keys
            for message in ordered
        }
        for message in sorted(ordered, key=lambda one: is_union[one.site]):
            call = self._call(replace(message, stem="") if is_union[message.site] else message)
            key = (call.name, call.kind)
            first = calls.setdefault(key, call)
            places[key] = min(places.get(key, len(ordered)), place[message.site])
            same_result = is_union[message.site] or self.read.is_same(first.result, call.result)
            if self.read.is_same(first.params, call.params) and same_result:
                senders_of.setdefault(key, set()).update(senders.get(message.site, ()))
            else:
                doubled.append(self.read.at(message.site))
        return {key: calls[key] for key in sorted(calls, key=lambda one: places[one])}, senders_of, doubled

    # --- gaps ---

    def _fit(self, rule: Rule, found: Sequence[_Message], own: Sequence[_Message]) -> Fit:
        """What a rule matches. `found` are its messages, `own` those that no earlier rule finds."""
        named = [name for name in self.definitions if rule.stem(self.read.key(name)) or rule.stem(name)]
        answered = {
            template
            for message in own
            for template in rule.results
            if self.read.place(template, message.stem, self.read.about(self._params(message)), message.site) is not None
        }
        return Fit(tuple(named), len(found), len(own), frozenset(answered))

    def _unmatched(self, fits: Sequence[Fit], methods: set[str]) -> tuple[Fault, ...]:
        if not self.profile.at:
            return ()
        is_union = {
            name: any(
                branches_of(self.definitions[found]) is not None or self.read.is_message(found)
                for found in self.read.named([name])
            )
            for name in (
                *(name for names in self.profile.sent.values() for name in names),
                *(name for rule in self.profile.rules for name in rule.unions),
            )
        }
        places = {*self.profile.results.values()}
        places |= {place for one in self.profile.listed.values() for place in (one.params, one.result)}
        known = {place for place in places if self.read.place(place, "", "", None) is not None}
        unions = {name for name, is_one in is_union.items() if is_one}
        made = {name for name, members in self.profile.alternatives.items() if self._has(name, one_of(members))}
        unused = unused_entries(self.profile, fits, methods, known, unions, made)
        return tuple(UNUSED_RULE(at=f"{self.profile.at}#{plain_pointer(*keys)}", what_for=why) for keys, why in unused)

    def _has(self, name: str, schema: Schema) -> bool:
        return self.definitions.get(name) == schema

    def _unbound(self, messages: Mapping[Site, _Message], methods: set[str]) -> Iterator[str]:
        """Definitions that are messages by their form and that no rule finds; not those of a method that was found."""
        for name in self.definitions:
            found = {self.read.method(Site(name), rule) for rule in self.profile.rules if not rule.spelled} - {None}
            if Site(name) not in messages and found and found.isdisjoint(methods):
                yield f"{self.read.at(Site(name))} ({', '.join(sorted(map(str, found)))})"

    def _beyond(self, message: _Message) -> Iterator[str]:
        """What a message requires beside the members of its frame."""
        if message.rule.spelled:
            return
        framed = {*FRAMES[self.profile.envelope], message.rule.method, message.rule.params}
        for member in sorted(self.read.required(message.site) - framed):
            yield f"{member!r} of {self.read.at(message.site)}"

    # --- messages ---

    def _messages(self, rule: Rule) -> Iterator[_Message]:
        if rule.named:
            for name in self.definitions:
                stem = rule.stem(self.read.key(name)) or rule.stem(name)
                if stem is not None and (rule.spelled or self.read.method(Site(name), rule) is not None):
                    yield _Message(Site(name), rule, stem)
        for union in self.definitions if "*" in rule.unions else self.read.named(rule.unions):
            for branch in self.read.branches(union):
                if self.read.method(branch, rule) is None or ("*" in rule.unions and not branch.keys):
                    continue
                if "*" in rule.unions:
                    is_request = self.read.property(branch, "id", frozenset()) is not None
                    own = replace(rule, kind="request" if is_request else "notification")
                    yield _Message(branch, own, self.read.stem(branch))
                else:
                    yield _Message(branch, rule, self.read.stem(branch))

    # --- sides ---

    def _senders(self, messages: Mapping[Site, _Message]) -> Mapping[Site, set[ir.Side]]:
        """Who sends each message, as far as unions say it."""
        found: dict[Site, set[ir.Side]] = {}
        for side, unions in self._sent(messages).items():
            for union in self.read.named(unions):
                for site in self.read.branches(union):
                    found.setdefault(site, set()).add(side)
        return found

    def _sent(self, messages: Mapping[Site, _Message]) -> Mapping[ir.Side, tuple[str, ...]]:
        """The unions of what each side sends; for a guess, those whose names begin with a side and end in what they hold."""
        if self.profile.how != "guessed":
            return self.profile.sent
        found: dict[ir.Side, list[str]] = {}
        for name in self.definitions:
            sites = list(self.read.branches(name))
            is_alone = sites == [Site(name)]
            match = re.fullmatch(r"([A-Z][a-z]+)(?:Request|Notification|Event|Message)s?", self.read.key(name))
            if is_alone and (match is None or match[1] not in ("Client", "Server")):
                continue
            if match and sites and all(site in messages for site in sites):
                found.setdefault(match[1].lower(), []).append(name)
        is_known = len(found) == 2 or found.keys() < {"client", "server"}
        return {side: tuple(names) for side, names in found.items()} if is_known else {}

    def _sides(self, senders: Mapping[Site, set[ir.Side]]) -> tuple[ir.Side, ...]:
        """The sides of the profile; for a guess, those that send something, where they are two."""
        found = set[ir.Side]().union(*senders.values())
        if self.profile.how != "guessed" or len(found) != 2:
            return self.profile.sides
        return tuple(sorted(found, key=lambda side: (side != "client", side)))

    def _call(self, message: _Message) -> Call:
        """The call of a message. Its side is the one that the profile names, empty where it names none."""
        rule, site = message.rule, message.site
        name = _spelled(message.stem, rule.spelled) if rule.spelled else self.read.method(site, rule) or ""
        params = self._params(message)
        is_optional = bool(rule.spelled) or not self.read.requires(site, rule.params)
        side = self.profile.handled.get(name) or rule.side
        result: Site | None = None
        if rule.kind == "request":
            wanted = (*filter(None, [self.profile.results.get(name)]), *rule.results)
            about = self.read.about(params)
            places = (self.read.place(one, message.stem, about, site) for one in wanted)
            result = next((place for place in places if place is not None), None)
            result = result if result is not None and not self.read.says_nothing(result) else None
        return Call(name, rule.kind, side, site, params, result, is_optional, self.read.may_lack(result))

    def _params(self, message: _Message) -> Site | None:
        """The params of a message; `None` where it has none, or says nothing of them."""
        if message.rule.spelled:
            return Site(message.site.definition)
        place = self.read.property(message.site, message.rule.params, frozenset(), is_message=True)
        return place if place is not None and not self.read.says_nothing(place) else None

    def _side(self, said: str, senders: set[ir.Side], all_senders: Mapping[Site, set[ir.Side]]) -> ir.Side:
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


__all__ = ["Bound", "Call", "Calls", "Gaps", "Site", "bind", "find_calls", "payloads", "with_alternatives"]
