"""Finds the methods of a protocol in its definitions, as a profile says: which are messages, and where their payloads stand.

A payload is the params or the result of a method. It may stand in a message, in a response around it, or be a definition. What is
found are places; `bundle` gives each of them a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from acpgen import ir
from acpgen.errors import Fault, Faults, NoMethods, UnusedRule, shown
from acpgen.pointers import follow, place_parts, plain_pointer, target
from acpgen.schema.names import class_name
from acpgen.schema.profile import Kind, Profile, Rule
from acpgen.schema.unions import ALL_KINDS, branches_of, constant, lone_reference
from acpgen.schema.walk import ASSERTIONS, Schema, is_array, is_object

_ENDS: Final = ("Request", "Notification", "Event", "Call", "Message")
"""Words at the end of a message's name that say what it is."""

_WRAPS: Final = frozenset({"jsonrpc", "id", "error"})
"""Members that stand beside the result in a response."""


@dataclass(frozen=True, slots=True)
class Site:
    """A schema in a definition: the definition's name, and the keys that lead from it to the schema."""

    definition: str
    keys: tuple[str, ...] = ()

    def below(self, *keys: str) -> Site:
        return replace(self, keys=(*self.keys, *keys))


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
class Calls:
    """The methods of a schema in its order. `doubled` are messages of a method that another message has already.

    `sides` are the peers that a guess found, in place of those of its profile.
    """

    calls: tuple[Call, ...] = ()
    doubled: tuple[str, ...] = ()
    sides: tuple[ir.Side, ...] = ()


def find_calls(definitions: Mapping[str, Schema], origins: Mapping[str, str], profile: Profile) -> Calls:
    """The methods that the rules of a profile find. Raises `Faults` where a profile that a person wrote or named does not fit."""
    if profile.marked or profile.document is not None:
        return Calls()
    found = _Finder(definitions, origins, profile).run()
    if not found.calls and profile.how == "named":
        at = next(iter(origins.values()), "").partition("#")[0]
        raise Faults([NoMethods(at=at, profile=profile.name)])
    return found


@dataclass(frozen=True, slots=True)
class Bound:
    """A method whose params and result have names: those of definitions of a bundle, `None` where nothing is said of them."""

    name: str
    kind: Kind
    side: ir.Side
    params: str | None = None
    result: str | None = None
    is_optional: bool = True
    has_optional_result: bool = False
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
        self.origins = origins
        self.profile = profile
        self.written: dict[str, list[str]] = {}
        for name in definitions:
            for key in dict.fromkeys((self._key(name), name)):
                self.written.setdefault(key, []).append(name)

    def run(self) -> Calls:
        messages: dict[Site, _Message] = {}
        for rule in self.profile.rules:
            for message in self._messages(rule):
                messages.setdefault(message.site, message)
        order = {name: index for index, name in enumerate(self.definitions)}
        ordered = sorted(messages.values(), key=lambda one: (order[one.site.definition], _numbers(one.site.keys)))
        senders = self._senders(messages)
        calls: dict[tuple[str, Kind], Call] = {}
        doubled: list[str] = []
        for message in ordered:
            call = self._call(message, senders)
            if (call.name, call.kind) in calls:
                doubled.append(self._at(message.site))
            calls.setdefault((call.name, call.kind), call)
        for name, listed in self.profile.listed.items():
            params, result = (self._place(place, "", "", None) for place in (listed.params, listed.result))
            message_at = params or result or Site(next(iter(self.definitions), ""))
            side = listed.side or self.profile.handled.get(name, "both")
            calls[name, listed.kind] = Call(name, listed.kind, side, message_at, params, result)
        if self.profile.at:
            self._judge_rules({call.name for call in calls.values()})
        return Calls(tuple(calls.values()), tuple(doubled), self._sides(senders))

    # --- messages ---

    def _messages(self, rule: Rule) -> Iterator[_Message]:
        if rule.named:
            for name in self.definitions:
                stem = rule.stem(self._key(name)) or rule.stem(name)
                if stem is not None and (rule.spelled or self._method(Site(name), rule) is not None):
                    yield _Message(Site(name), rule, stem)
        for union in self.definitions if "*" in rule.unions else self._named(rule.unions):
            for branch in self._branches(union):
                if self._method(branch, rule) is None or ("*" in rule.unions and not branch.keys):
                    continue
                if "*" in rule.unions:
                    is_request = self._property(branch, "id", frozenset()) is not None
                    own = replace(rule, kind="request" if is_request else "notification")
                    yield _Message(branch, own, self._stem(branch))
                else:
                    yield _Message(branch, rule, self._stem(branch))

    def _method(self, site: Site, rule: Rule) -> str | None:
        """The name of the method: the constant in a property of the message."""
        place = self._property(site, rule.method, frozenset(), is_message=True)
        value = constant(self._at_site(place)) if place is not None else None
        return value if isinstance(value, str) else None

    def _branches(self, union: str) -> Iterator[Site]:
        """The messages that a union holds, those of unions in it included; each once."""
        seen: set[str] = {union}
        pending = [*reversed([*self._branches_of(union)])]
        while pending:
            site = pending.pop()
            name = site.definition
            if site.keys or branches_of(self.definitions[name]) is None:
                yield site
            elif name not in seen:
                seen.add(name)
                pending.extend(reversed([*self._branches_of(name)]))

    def _branches_of(self, union: str) -> Iterator[Site]:
        """The branches of one union, those that are written out in it by their keys."""
        found = branches_of(self.definitions[union])
        for index, branch in enumerate(found[1] if found is not None else ()):
            assert found is not None
            name = lone_reference(branch)
            if name is None:
                yield Site(union, (found[0], str(index)))
            elif name in self.definitions:
                yield Site(name)

    def _stem(self, site: Site) -> str:
        """What the title or the definition of a message calls it, less the word for what it is."""
        title = self._at_site(site).get("title")
        name = title if site.keys and isinstance(title, str) else self._key(site.definition)
        return next((name.removesuffix(end) for end in _ENDS if name.endswith(end)), name)

    # --- sides ---

    def _senders(self, messages: Mapping[Site, _Message]) -> Mapping[Site, set[ir.Side]]:
        """Who sends each message, as far as unions say it."""
        found: dict[Site, set[ir.Side]] = {}
        for side, unions in self._sent(messages).items():
            for union in self._named(unions):
                for site in self._branches(union):
                    found.setdefault(site, set()).add(side)
        return found

    def _sent(self, messages: Mapping[Site, _Message]) -> Mapping[ir.Side, tuple[str, ...]]:
        """The unions of what each side sends; for a guess, those whose names begin with a side and end in what they hold."""
        if self.profile.how != "guessed":
            return self.profile.sent
        found: dict[ir.Side, list[str]] = {}
        for name in self.definitions:
            sites = list(self._branches(name))
            match = re.fullmatch(r"([A-Z][a-z]+)(?:Request|Notification|Event|Message)s?", self._key(name))
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

    def _call(self, message: _Message, senders: Mapping[Site, set[ir.Side]]) -> Call:
        rule, site = message.rule, message.site
        params: Site | None
        if rule.spelled:
            name, params = _spelled(message.stem, rule.spelled), Site(site.definition)
            is_optional = True
        else:
            name = self._method(site, rule) or ""
            place = self._property(site, rule.params, frozenset(), is_message=True)
            params = place if place is not None and not self._says_nothing(place) else None
            is_optional = not self._requires(site, rule.params, frozenset())
        side = self.profile.handled.get(name) or rule.side or self._handler(senders.get(site, set()), senders)
        result: Site | None = None
        if rule.kind == "request":
            wanted = (self.profile.results[name],) if name in self.profile.results else rule.results
            result = next(
                (
                    place
                    for one in wanted
                    if (place := self._place(one, message.stem, self._about(params), site)) is not None
                ),
                None,
            )
            result = result if result is not None and not self._says_nothing(result) else None
        return Call(name, rule.kind, side, site, params, result, is_optional, self._may_lack(result))

    def _may_lack(self, result: Site | None) -> bool:
        """Whether a response may come without the property that holds its result."""
        if result is None or len(result.keys) < 2 or result.keys[-2] != "properties":
            return False
        holders = [result.keys[:-2], result.keys[:-4] if result.keys[-4:-3] == ("allOf",) else result.keys[:-2]]
        return not any(self._requires(replace(result, keys=keys), result.keys[-1], frozenset()) for keys in holders)

    def _handler(self, senders: set[ir.Side], all_senders: Mapping[Site, set[ir.Side]]) -> ir.Side:
        others = [side for side in self._sides(all_senders) if side not in senders]
        return others[0] if len(senders) == 1 and len(others) == 1 else "both"

    # --- payloads ---

    def _about(self, params: Site | None) -> str:
        """What the params' definition is called, without the word for params."""
        if params is None:
            return ""
        name = params.definition if not params.keys else lone_reference(self._at_site(params))
        return self._key(name).removesuffix("Params") if name is not None and name in self.definitions else ""

    def _place(self, template: str, stem: str, params: str, message: Site | None) -> Site | None:
        """The place that a template names; `None` where there is no such definition or property."""
        if ("{name}" in template and not stem) or ("{params}" in template and not params) or not template:
            return None
        wanted = template.replace("{name}", stem).replace("{params}", params)
        whole = self._nearest(wanted, message)
        is_guess = self.profile.how == "guessed"
        if whole is not None:
            return None if is_guess and self._property(Site(whole), "jsonrpc", frozenset()) else Site(whole)
        name, dot, member = wanted.rpartition(".")
        holder = self._nearest(name, message) if dot else None
        if holder is None:
            return None
        found = self._property(Site(holder), member, frozenset())
        if found is not None and is_guess and not self._wraps(holder):
            return None
        return found

    def _wraps(self, holder: str) -> bool:
        return any(self._property(Site(holder), member, frozenset()) is not None for member in _WRAPS)

    def _nearest(self, name: str, message: Site | None) -> str | None:
        """The definition of this name; of several in groups, the one beside the message, else the outermost."""
        found = self.written.get(name, [])
        if len(found) < 2:
            return found[0] if found else None
        group = place_parts(self.origins.get(message.definition, ""))[:-1] if message is not None else ()
        parents = {one: place_parts(self.origins.get(one, ""))[:-1] for one in found}
        return next((one for one in found if parents[one] == group), min(found, key=lambda one: len(parents[one])))

    def _property(self, site: Site, name: str, seen: frozenset[str], *, is_message: bool = False) -> Site | None:
        """Where an object's property is described: in the schema itself, in a part of it, in what it refers to, or in one branch alone.

        A message is no choice of others, so branches of one are not looked at.
        """
        schema = self._at_site(site)
        if is_object(schema.get("properties")) and name in schema["properties"]:
            return site.below("properties", name)
        for index, part in enumerate(schema["allOf"] if is_array(schema.get("allOf")) else ()):
            if is_object(part) and "$ref" not in part:
                found = self._property(site.below("allOf", str(index)), name, seen, is_message=is_message)
                if found is not None:
                    return found
        parts = [part for part in schema.get("allOf", ()) if is_object(part)] if is_array(schema.get("allOf")) else []
        for reference in (part["$ref"] for part in (schema, *parts) if isinstance(part.get("$ref"), str)):
            base = target(reference)
            if base in self.definitions and base not in seen:
                found = self._property(Site(base), name, seen | {base}, is_message=is_message)
                if found is not None:
                    return found
        union = branches_of(schema)
        if union is None or is_message:
            return None
        branches = [site.below(union[0], str(index)) for index, branch in enumerate(union[1]) if is_object(branch)]
        places = [place for one in branches if (place := self._property(one, name, seen)) is not None]
        return places[0] if len(set(places)) == 1 else None

    def _requires(self, site: Site, name: str, seen: frozenset[str]) -> bool:
        schema = self._at_site(site)
        if name in schema.get("required", ()):
            return True
        parts = [site.below("allOf", str(index)) for index in range(len(schema.get("allOf", ())))]
        if any(self._requires(part, name, seen) for part in parts if is_object(self._at_site(part))):
            return True
        base = target(schema["$ref"]) if isinstance(schema.get("$ref"), str) else ""
        return base in self.definitions and base not in seen and self._requires(Site(base), name, seen | {base})

    def _says_nothing(self, site: Site) -> bool:
        """Whether every value fits, or no type can be told."""
        try:
            schema: Any = follow(self.definitions[site.definition], site.keys)
        except KeyError:
            return True
        if not is_object(schema):
            return schema is not False
        demands = {key for key in schema if key in ASSERTIONS}
        types = schema.get("type")
        return not demands or (demands == {"type"} and is_array(types) and {*types} >= ALL_KINDS - {"integer"})

    # --- names and places ---

    def _named(self, names: Sequence[str]) -> list[str]:
        return [name for wanted in names for name in self.written.get(wanted, ())]

    def _key(self, name: str) -> str:
        """What a definition is called in its file, whatever it is called here."""
        parts = place_parts(self.origins.get(name, ""))
        return parts[-1] if parts else name

    def _at(self, site: Site) -> str:
        return self.origins[site.definition] + plain_pointer(*site.keys)

    def _at_site(self, site: Site) -> Schema:
        """The schema at a place, as an object."""
        schema: Any = follow(self.definitions[site.definition], site.keys)
        return schema if is_object(schema) else {}

    def _judge_rules(self, methods: set[str]) -> None:
        """Refuse entries of a profile that a person wrote where they match nothing."""
        faults: list[Fault] = []
        profile = self.profile
        named = [(("handled", side), name) for name, side in profile.handled.items()]
        for keys, name in [*named, *((("results", name), name) for name in profile.results)]:
            if name not in methods:
                at = f"{profile.at}#{plain_pointer(*keys)}"
                faults.append(UnusedRule(at=at, what_for=f"the schema has no method {shown(name)}"))
        places = [("results", name, place) for name, place in profile.results.items()]
        places += [
            ("methods", name, place) for name, one in profile.listed.items() for place in (one.params, one.result)
        ]
        for key, name, place in places:
            if place and self._place(place, "", "", None) is None:
                at = f"{profile.at}#{plain_pointer(key, name)}"
                faults.append(UnusedRule(at=at, what_for=f"the schema has no definition or property {shown(place)}"))
        unions = [("sent", side, name) for side, names in profile.sent.items() for name in names]
        unions += [
            ("messages", str(index), name)
            for index, rule in enumerate(profile.rules)
            for name in rule.unions
            if name != "*"
        ]
        for key, inner, name in unions:
            if not any(branches_of(self.definitions[found]) is not None for found in self._named([name])):
                at = f"{profile.at}#{plain_pointer(key, inner)}"
                faults.append(UnusedRule(at=at, what_for=f"the schema has no union {shown(name)}"))
        if faults:
            raise Faults(faults)


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


__all__ = ["Bound", "Call", "Calls", "Site", "bind", "find_calls", "payloads"]
