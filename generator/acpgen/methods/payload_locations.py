"""Places of schemas in definitions, and what stands there: messages, their members, and the payloads that templates name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from acpgen.input.tagged_unions import ALL_KINDS, branches_of, constant, lone_reference
from acpgen.input.walk import ASSERTIONS, Schema, demands, is_array, is_object
from acpgen.methods.profile import Profile, Rule
from acpgen.pointers import follow, place_parts, plain_pointer, reference_to, target

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


class Reader:
    """Reads the definitions of a schema as a profile says."""

    def __init__(self, definitions: Mapping[str, Schema], origins: Mapping[str, str], profile: Profile) -> None:
        self.definitions = definitions
        self.origins = origins
        self.profile = profile
        self.written: dict[str, list[str]] = {}
        for name in definitions:
            for key in dict.fromkeys((self.key(name), name)):
                self.written.setdefault(key, []).append(name)

    def is_message(self, name: str) -> bool:
        return any(self.method(Site(name), rule) is not None for rule in self.profile.rules)

    def method(self, site: Site, rule: Rule) -> str | None:
        """The name of the method: the constant in a property of the message."""
        place = self.property(site, rule.method, frozenset(), is_message=True)
        value = constant(self.schema(place)) if place is not None else None
        return value if isinstance(value, str) else None

    def branches(self, union: str) -> Iterator[Site]:
        """The messages that a union holds, those of unions in it included; each once. A union of one may be written as the message."""
        if branches_of(self.definitions[union]) is None and self.is_message(union):
            yield Site(union)
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

    def stem(self, site: Site) -> str:
        """What the title or the definition of a message calls it, less the word for what it is."""
        title = self.schema(site).get("title")
        name = title if site.keys and isinstance(title, str) else self.key(site.definition)
        return next((name.removesuffix(end) for end in _ENDS if name.endswith(end)), name)

    def about(self, params: Site | None) -> str:
        """What the params' definition is called, without the word for params."""
        if params is None:
            return ""
        name = params.definition if not params.keys else lone_reference(self.schema(params))
        return self.key(name).removesuffix("Params") if name is not None and name in self.definitions else ""

    def place(self, template: str, stem: str, params: str, message: Site | None) -> Site | None:
        """The place that a template names; `None` where there is no such definition or property."""
        if ("{name}" in template and not stem) or ("{params}" in template and not params) or not template:
            return None
        wanted = template.replace("{name}", stem).replace("{params}", params)
        whole = self._nearest(wanted, message)
        is_guess = self.profile.how == "guessed"
        if whole is not None:
            return None if is_guess and self.property(Site(whole), "jsonrpc", frozenset()) else Site(whole)
        name, dot, member = wanted.rpartition(".")
        holder = self._nearest(name, message) if dot else None
        if holder is None:
            return None
        found = self.property(Site(holder), member, frozenset())
        if found is not None and is_guess and not self._wraps(holder):
            return None
        return found

    def _wraps(self, holder: str) -> bool:
        return any(self.property(Site(holder), member, frozenset()) is not None for member in _WRAPS)

    def _nearest(self, name: str, message: Site | None) -> str | None:
        """The definition of this name; of several in groups, the one beside the message, else the outermost."""
        found = self.written.get(name, [])
        if len(found) < 2:
            return found[0] if found else None
        group = place_parts(self.origins.get(message.definition, ""))[:-1] if message is not None else ()
        parents = {one: place_parts(self.origins.get(one, ""))[:-1] for one in found}
        return next((one for one in found if parents[one] == group), min(found, key=lambda one: len(parents[one])))

    def property(self, site: Site, name: str, seen: frozenset[str], *, is_message: bool = False) -> Site | None:
        """Where an object's property is described: in the schema itself, in a part of it, in what it refers to, or in one branch alone.

        A message is no choice of others, so branches of one are not looked at.
        """
        return self._property(site, name, dict.fromkeys(map(Site, seen)), is_message=is_message)

    def _property(self, site: Site, name: str, known: dict[Site, Site | None], *, is_message: bool) -> Site | None:
        """The same; `known` are the places that were looked at."""
        if site in known:
            return known[site]
        known[site] = None  # until it is known
        known[site] = self._found(site, name, known, is_message=is_message)
        return known[site]

    def _found(self, site: Site, name: str, known: dict[Site, Site | None], *, is_message: bool) -> Site | None:
        schema = self.schema(site)
        if is_object(schema.get("properties")) and name in schema["properties"]:
            return site.below("properties", name)
        for index, part in enumerate(schema["allOf"] if is_array(schema.get("allOf")) else ()):
            if is_object(part) and "$ref" not in part:
                found = self._property(site.below("allOf", str(index)), name, known, is_message=is_message)
                if found is not None:
                    return found
        parts = [part for part in schema.get("allOf", ()) if is_object(part)] if is_array(schema.get("allOf")) else []
        for reference in (part["$ref"] for part in (schema, *parts) if isinstance(part.get("$ref"), str)):
            base = target(reference)
            if base in self.definitions:
                found = self._property(Site(base), name, known, is_message=is_message)
                if found is not None:
                    return found
        union = branches_of(schema)
        if union is None or is_message:
            return None
        branches = [site.below(union[0], str(index)) for index, branch in enumerate(union[1]) if is_object(branch)]
        places = [
            place for one in branches if (place := self._property(one, name, known, is_message=False)) is not None
        ]
        return places[0] if len(set(places)) == 1 else None

    def requires(self, site: Site, name: str) -> bool:
        """Whether an object must have a member."""
        return name in self.required(site)

    def required(self, site: Site) -> set[str]:
        """The members that an object requires, those of its parts and of what it refers to included."""
        found: set[str] = set()
        seen: set[Site] = set()
        waiting = [site]
        while waiting:
            site = waiting.pop()
            if site in seen:
                continue
            seen.add(site)
            schema = self.schema(site)
            required, parts = schema.get("required"), schema.get("allOf")
            found.update(name for name in (required if is_array(required) else ()) if isinstance(name, str))
            waiting.extend(site.below("allOf", str(index)) for index in range(len(parts) if is_array(parts) else 0))
            base = target(schema["$ref"]) if isinstance(schema.get("$ref"), str) else ""
            waiting.extend([Site(base)] if base in self.definitions else [])
        return found

    def may_lack(self, result: Site | None) -> bool:
        """Whether a response may come without the property that holds its result."""
        if result is None or len(result.keys) < 2 or result.keys[-2] != "properties":
            return False
        holders = [result.keys[:-2], result.keys[:-4] if result.keys[-4:-3] == ("allOf",) else result.keys[:-2]]
        return not any(self.requires(replace(result, keys=keys), result.keys[-1]) for keys in holders)

    def is_same(self, one: Site | None, other: Site | None) -> bool:
        """Whether two payloads are one: the same definition, or schemas that demand the same."""
        if one is None or other is None or one == other:
            return one == other
        schemas = [
            {"$ref": reference_to(site.definition)} if not site.keys else self.schema(site) for site in (one, other)
        ]
        return demands(schemas[0]) == demands(schemas[1])

    def says_nothing(self, site: Site) -> bool:
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

    def named(self, names: Sequence[str]) -> list[str]:
        return [name for wanted in names for name in self.written.get(wanted, ())]

    def key(self, name: str) -> str:
        """What a definition is called in its file, whatever it is called here."""
        parts = place_parts(self.origins.get(name, ""))
        return parts[-1] if parts else name

    def at(self, site: Site) -> str:
        return self.origins[site.definition] + plain_pointer(*site.keys)

    def schema(self, site: Site) -> Schema:
        """The schema at a place, as an object."""
        schema: Any = follow(self.definitions[site.definition], site.keys)
        return schema if is_object(schema) else {}
