"""Many files become one standard JSON Schema in which everything has a name.

References are local; every inline object, inline union and inline set of constants of a field is a definition of its own; every
variant of a union stands alone: what a union's object demands in common is distributed over its branches
(`A and (B or C)` becomes `(A and B) or (A and C)`), so that each variant is one record.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, Literal

from acpgen.errors import (
    DanglingReference,
    Fault,
    Faults,
    LeftOut,
    MalformedKeyword,
    NameCollision,
    NamedByPosition,
    UnknownSide,
    UnusedName,
)
from acpgen.pointers import escape, pointer, pointer_parts, reference_to, unescape
from acpgen.schema.calls import Bound, Calls, Gaps, bind, find_calls, payloads, with_alternatives
from acpgen.schema.chosen import ChosenNames, tag_text
from acpgen.schema.collect import MIGRATION, Collected, collect
from acpgen.schema.drafts import spelled_as_written
from acpgen.schema.effort import bounded, working_on
from acpgen.schema.equality import same
from acpgen.schema.foreign import Translated, relocated, translated
from acpgen.schema.inherited import narrow_inherited
from acpgen.schema.keywords import OF_FIELDS
from acpgen.schema.labels import labels, members, otherwise
from acpgen.schema.load import Documents
from acpgen.schema.merging import is_mergeable, merge
from acpgen.schema.names import class_name, spelled_out
from acpgen.schema.owned import Owner, owned, owners, without
from acpgen.schema.positions import positions
from acpgen.schema.profile import MARKED, Profile, choose
from acpgen.schema.unions import (
    OBJECTS,
    Flat,
    Tag,
    Tagged,
    branches_of,
    constrains,
    flatten,
    is_null,
    keyed,
    kinds,
    lone_reference,
    own_tag,
    recognise,
)
from acpgen.schema.walk import (
    ANNOTATIONS,
    DEFINITIONS,
    Schema,
    asserts,
    copied,
    demands,
    inside,
    is_array,
    is_object,
    references,
)
from acpgen.schema.ways import require_short_chains

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

ABSOLUTE_PATH: Final = r"^(?:/|[A-Za-z]:[\\/]|\\\\[^\\/])"
"""What `format: absolute-path` asserts: a POSIX root, a drive letter, or a UNC prefix. Lexical, on every platform alike."""


MOST_VARIANTS: Final = 32
"""The unions in the branches of one union become so many variants of it at most, beside its own branches."""

SPELLINGS: Final = {"$defs": "definitions", "definitions": "$defs"}


@dataclass(frozen=True, slots=True)
class Moved:
    """How a thing of the previous version changed, as `x-migration` tells it at length, `at` its place.

    `to` names what takes its place, `does` says by reader what to do, `before` and `after` are messages of the two versions.
    """

    at: str = field(compare=False)
    title: str
    change: Literal["changed", "moved", "removed", "renamed", "replaced"]
    says: str
    why: str
    to: tuple[str, ...] = ()
    does: Mapping[str, str] = field(default_factory=dict[str, str])
    before: tuple[Schema, ...] = ()
    after: tuple[Schema, ...] = ()


@dataclass(frozen=True, slots=True)
class Bundle:
    """One version of a protocol as one JSON Schema 2020-12; read, never changed.

    `origins` maps each definition to its place in the source files, `file#/pointer`; `files` maps each of these files to
    its title and description, empty where it says nothing, and `sources` to what it holds. `migration` holds what the files say, by
    `x-migration`, of things of the version before, and `moves` what they tell at length. `references` are those of
    each definition as the source has them: a union that was distributed over the branches of another one is referred to no more.
    `framing` are the definitions that only frame messages.
    `unmatched` are the entries of shared names that match nothing here.
    `notes` say what of the files means nothing and was left out.
    `profile` says where the methods stand, `calls` are those that it finds, but for marked ones, which the definitions themselves tell;
    `gaps` are what it leaves open.
    `places` lead from a place of what was made of a document to the place in the document itself; `unread` has for each foreign document
    what it says of messages that is not read, by a phrase that names it. `former` are the names that definitions had before a variant
    and its body were one, with those that they have now. `size` are the characters of
    what was read.
    """

    name: str
    schema: Schema = field(repr=False)
    origins: Mapping[str, str] = field(repr=False)
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]], repr=False)
    migration: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    moves: Mapping[str, Moved] = field(default_factory=dict[str, "Moved"], repr=False)
    sources: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    references: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]], repr=False)
    framing: frozenset[str] = field(default=frozenset(), repr=False)
    unmatched: frozenset[str] = field(default=frozenset(), repr=False)
    notes: tuple[LeftOut, ...] = field(default=(), repr=False)
    profile: Profile = field(default=MARKED, repr=False)
    calls: tuple[Bound, ...] = field(default=(), repr=False)
    gaps: Gaps = field(default_factory=Gaps, repr=False)
    places: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    unread: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"], repr=False)
    size: int = field(default=0, repr=False)
    former: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def definitions(self) -> Mapping[str, Schema]:
        """The definitions by name, in the order of the source."""
        return self.schema["$defs"]  # type: ignore[no-any-return]

    @property
    def version(self) -> int | str | None:
        """The protocol version: what follows the slash of the name, a number if it reads `v1`; `None` for a file of its own."""
        _, slash, last = self.name.rpartition("/")
        numbered = re.fullmatch(r"v(\d+)", last)
        if numbered:
            return int(numbered[1])
        return last if slash else None


def bundle(
    documents: Documents,
    *,
    names: Mapping[str, str] | None = None,
    shared: Collection[str] = (),
    may_count: bool = False,
    methods: Profile | None = None,
    is_apart: bool = False,
) -> Bundle:
    """Bundle the files of one protocol version.

    `names` maps places of the source to generated names, as `chosen` says. A place that matches nothing is a fault, unless it is
    `shared` with other protocols; so is a pointer that counts the variants of a tagged union, unless it `may_count` them. `methods`
    is the profile that says where the methods stand; without, the one that the documents evidently fit, or a guess. `is_apart` keeps every
    definition as the files have it, so that who compares definitions compares what is written: a body never takes the tag of its variant.
    Raises `Faults`.
    """
    with bounded(documents.documents[0].path, documents.size):
        return _told_where(documents, ChosenNames(names or {}), shared, methods, may_count=may_count, is_apart=is_apart)


def _told_where(
    documents: Documents,
    wanted: ChosenNames,
    shared: Collection[str],
    methods: Profile | None,
    *,
    may_count: bool,
    is_apart: bool,
) -> Bundle:
    profile = choose(documents, methods)
    foreign = translated(documents, profile)
    try:
        return _bundle(documents, foreign, wanted, profile, shared, may_count=may_count, is_apart=is_apart)
    except Faults as caught:
        raise Faults(_told(fault, documents, foreign.places) for fault in caught.faults) from None


def _bundle(
    documents: Documents,
    foreign: Translated,
    wanted: ChosenNames,
    profile: Profile,
    shared: Collection[str],
    *,
    may_count: bool,
    is_apart: bool,
) -> Bundle:
    collected = collect(foreign.documents, wanted, profile.sides if profile.at else (), foreign.made)
    require_short_chains(collected.definitions, collected.origins)
    with_alternatives(collected.definitions, collected.origins, profile)
    calls = find_calls(collected.definitions, collected.origins, profile)
    read = {one.path: one.value for one in documents.documents if is_object(one.value)}
    made = {one.path: one.value for one in foreign.documents.documents if is_object(one.value)}
    beside = {at.partition("#")[0] for at in collected.origins.values()} - made.keys()
    found = {path: one.value for path in sorted(beside) if (one := documents.find(path)) is not None}
    sources = {**read, **found}
    files = {**made, **found}
    work = _Bundler(collected, wanted, files, shared, may_count=may_count, calls=calls, is_apart=is_apart)
    work.run()
    schema: Schema = {"$schema": DIALECT}
    schema.update({key: value for key, value in collected.root.items() if key not in ("$schema", "$id")})
    schema["$defs"] = work.ordered()
    return Bundle(
        name=documents.name,
        schema=schema,
        origins={name: relocated(spelled_as_written(at, files), foreign.places) for name, at in work.origins.items()},
        files={path: _about(value) for path, value in read.items()},
        migration={key: said if isinstance(said, str) else said["says"] for _, key, said in _migration(read)},
        moves={key: _moved(path, key, said) for path, key, said in _migration(read) if is_object(said)},
        sources=sources,
        references={name: frozenset(references(source)) for name, source in work.sources.items()},
        framing=_frames(schema["$defs"]),
        unmatched=frozenset(work.unused),
        notes=tuple(replace(note, at=relocated(note.at, foreign.places)) for note in collected.notes),
        profile=replace(profile, sides=calls.sides or profile.sides),
        calls=work.calls if profile.document is None else foreign.bound(work.origins),
        gaps=calls.gaps,
        places={**foreign.places, **work.moved},
        unread=foreign.made,
        size=documents.size,
        former=work.former,
    )


def _told(fault: Fault, documents: Documents, places: Mapping[str, str]) -> Fault:
    """A fault with the place that the file itself has; of keywords of the dialect, with line and column."""
    at = relocated(fault.at, places)
    path, mark, fragment = at.partition("#")
    if mark and isinstance(fault, MalformedKeyword | UnknownSide):
        text = next((one.text for one in documents.documents if one.path == path), None)
        if text is not None:
            found = positions(text)
            offset, _ = found.nearest([*pointer_parts(fragment), fault.keyword], SPELLINGS)
            line, column = found.line_and_column(offset)
            at = f"{path}:{line}:{column}#{fragment}"
    if isinstance(fault, DanglingReference) and fault.ref.startswith("#"):
        here = fault.at.partition("#")[0]
        fault = replace(fault, ref=relocated(f"{here}{fault.ref}", places).removeprefix(here))
    return replace(fault, at=at)


def _about(document: Schema) -> tuple[str, str]:
    title, description = document.get("title", ""), document.get("description", "")
    return (title if isinstance(title, str) else ""), (description if isinstance(description, str) else "")


def tolerant(schema: Schema) -> Schema:
    """The bundle's schema with the fallbacks of `x-unknown: keep` written in: what a decoder accepts, leniency aside."""
    changed = copied(schema)
    definitions = changed["$defs"]
    for definition in definitions.values():
        if definition.get("x-unknown") != "keep":
            continue
        union = branches_of(definition)
        if union is None:
            values = definition.pop("enum", None)
            assert values is not None, "x-unknown stands on unions and enumerations"
            definition["anyOf"] = [{"enum": values}, {"type": "string"}]
            continue
        keyword, branches = union
        found = recognise(branches, definitions)
        definition.pop(keyword)
        if found is None:
            definition["anyOf"] = [*branches, {"type": "string"}]
        elif found.fallback is None:
            definition["anyOf"] = [*branches, _fallback(found, branches, definitions)]
    return changed


def _frames(definitions: Mapping[str, Schema]) -> frozenset[str]:
    """The definitions that only frame messages: marked `x-docs-ignore`, no method's own, and referred to by nothing but each other."""
    found = {name for name, schema in definitions.items() if schema.get("x-docs-ignore") and "x-method" not in schema}
    pending = [name for name in definitions if name not in found]
    while pending:
        referred = found.intersection(references(definitions[pending.pop()]))
        found -= referred
        pending.extend(referred)
    return frozenset(found)


def sharing(found: Tagged, branches: list[Schema]) -> list[Schema]:
    """The branches whose common fields an unknown variant has too: all but a fallback."""
    places = [*(index for index, _ in found.variants), *([] if found.default is None else [found.default])]
    return [branches[index] for index in places]


def common_fields(branches: list[Schema], definitions: Mapping[str, Schema], tag: str) -> tuple[Schema, list[str]]:
    """The properties that every branch declares alike, and those of them that every branch requires."""
    flats = [flatten(branch, definitions) for branch in branches]
    shared = {
        name: subs[0]
        for name, subs in flats[0].properties.items()
        if name != tag and all(same(flat.properties.get(name, [None])[0], subs[0]) for flat in flats)
    }
    required = [name for name in shared if all(name in flat.required for flat in flats)]
    return shared, required


def _fallback(found: Tagged, branches: list[Schema], definitions: Mapping[str, Schema]) -> Schema:
    shared, required = common_fields(sharing(found, branches), definitions, found.tag)
    known = [tag for _, tag in found.variants]
    own = own_tag(found, branches[found.default], definitions) if found.default is not None else None
    known += [own] if own is not None else []
    return {
        "type": "object",
        "properties": {found.tag: {"type": "string"}, **shared},
        "required": [found.tag, *required],
        "not": {"required": [found.tag], "properties": {found.tag: {"enum": known}}},
    }


class _Bundler:
    def __init__(
        self,
        collected: Collected,
        names: ChosenNames,
        files: Mapping[str, Any],
        shared: Collection[str],
        *,
        may_count: bool,
        calls: Calls,
        is_apart: bool,
    ) -> None:
        self.files = files
        self.definitions = collected.definitions
        self.root = collected.root
        self.origins = dict(collected.origins)
        self.names = names
        self.shared = shared
        self.unused: dict[str, str] = {}
        self.may_count = may_count
        self.is_apart = is_apart
        self.found = calls
        self.payloads = payloads(calls, self.origins)
        self.calls: tuple[Bound, ...] = ()
        self.variants: dict[str, str] = {}
        self.tags: dict[str, str] = {}
        self.keyed: set[str] = set()
        self.found_again: set[str] = set()
        self.roots: dict[str, str] = {}
        self.standing: dict[str, int] = {}
        self.named_at = {at: name for name, at in self.origins.items()}
        self.below: dict[str, list[str]] = {}
        self.owners: Mapping[str, Owner] = {}
        self.distributed: set[str] = set()
        self.moved: dict[str, str] = {}
        self.former: dict[str, str] = {}
        self.called: dict[str, list[str]] = {}
        self.faults: list[Fault] = []
        self.order = list(self.definitions)
        self.sources: dict[str, Schema] = {}
        self.flats: dict[str, Flat] = {}
        self.taken = {class_name(name): name for name in reversed(self.order)}
        self.bodies = {name: copied(demands(schema)) for name, schema in self.definitions.items()}

    def run(self) -> None:
        framing = _frames(self.definitions)
        named = [name for name in self.order if name not in framing]
        for name in self.order:
            _write_formats(self.definitions[name])
        for name in sorted(named, key=self._position):  # so that no name depends on the order of files and keys
            working_on(self.origins[name])
            self._name_inline(name, class_name(name), self.definitions[name], self.origins[name])
        for name in sorted(named, key=self._position):
            for narrowed in narrow_inherited(name, self.definitions, self.origins, self.found_again, self._joined):
                self.bodies.pop(narrowed, None)  # no other thing demands just that
        self.calls = bind(self.found, self.definitions, self.origins)
        self.sources = copied(self.definitions)
        if not self.is_apart:
            alone = {*framing, *self._payloads()}
            self.owners = owners(self.definitions, self.root, framing=framing, alone=alone)
        for name in sorted(self.definitions, key=self._after_owners):
            if name not in framing and name not in self.distributed:
                self._distribute(name)
        self._judge_names()
        self.faults.extend(UnusedName(at=key, hint=hint) for key, hint in self.unused.items() if key not in self.shared)
        if self.faults:
            raise Faults(replace(fault, at=spelled_as_written(fault.at, self.files)) for fault in self.faults)

    def _payloads(self) -> Iterable[str]:
        """The definitions that are params or results."""
        yield from (name for name, schema in self.definitions.items() if "x-method" in schema)
        yield from (name for call in self.calls for name in (call.params, call.result) if name is not None)

    def _after_owners(self, name: str) -> tuple[int, tuple[tuple[int, str], ...]]:
        """The place of a definition among those that are distributed: what has an owner follows it."""
        return (self.owners[name].depth if name in self.owners else 0, self._position(name))

    def _position(self, name: str) -> tuple[tuple[int, str], ...]:
        """The place of a definition, to sort by: in the order of the alphabet, and of numbers where it counts."""
        steps = self.origins[name].split("/")
        return tuple((int(step), "") if step.isdecimal() else (0, step) for step in steps)

    # --- names that people choose ---

    def _override(self, at: str, wanted: str) -> str | None:
        """The name that people chose for a place."""
        return self.names.find([*self._keys(at), wanted]) if self.names else None

    def _keys(self, at: str) -> list[str]:
        """How people may write a place: as a pointer, by its tags, or by what it means."""
        steps = at.split("/")
        tagged = at
        for depth in range(len(steps), 1, -1):
            place = "/".join(steps[:depth])
            if place in self.tags:
                tagged = f"{'/'.join(steps[: depth - 1])}[{self.tags[place]}]{tagged.removeprefix(place)}"
        written = spelled_as_written(at, self.files)
        keys = [key for each in (written, at) for key in (each, _fragment(each))]
        keys += [*([tagged, _fragment(tagged)] if tagged != at else []), *self._meanings(at)]
        for depth in range(len(steps), 1, -1):
            if (place := "/".join(steps[:depth])) in self.tags:
                rest = steps[depth:]
                keys += ["/".join((meaning, *rest)) for meaning in self._meanings(place)] if rest else []
                break
        return keys

    def _meanings(self, at: str) -> list[str]:
        """What a place means in words of the schema: `Thing.field`, `Union[tag]`, …"""
        above, _, last = at.rpartition("/")
        further, _, keyword = above.rpartition("/")
        found = [self.named_at[at]] if at in self.named_at else []
        if at in self.tags:
            found += [f"{meaning}[{self.tags[at]}]" for meaning in self._meanings(further)]
        elif keyword == "properties":
            found += [f"{meaning}.{unescape(last)}" for meaning in self._meanings(further)]
        elif keyword in DEFINITIONS:
            found += [unescape(last)]
        elif keyword in ("allOf", "anyOf", "oneOf"):
            found += self._meanings(further)
        elif last in ("items", "additionalProperties"):
            found += [f"{meaning}{'[]' if last == 'items' else '{}'}" for meaning in self._meanings(above)]
        return list(dict.fromkeys(found))

    def _judge_names(self) -> None:
        """Refuse the entries of the names that count the variants of a tagged union, and those that match nothing."""
        variants = {_spelled(key): (at, tag) for at, tag in self.variants.items() for key in (at, _fragment(at))}
        for written in [*self.names.names]:
            steps = _spelled(written).split("/")
            above = ("/".join(steps[:depth]) for depth in range(len(steps), 0, -1))
            place = next((place for place in above if place in variants), None)
            if place is not None and not self.may_count:
                rest = _spelled(written).removeprefix(place)
                self.faults.append(NamedByPosition(at=written, instead=f"{variants[place][1]}{rest}"))
            elif written not in self.names.used:
                self.unused[written] = self.names.hint(written)

    def _mark_variants(self, owner: str, schema: Schema, at: str) -> None:
        """Note which branches of a tagged union have which tag."""
        union = branches_of(schema)
        if union is None:
            return
        keyword, branches = union
        base = {key: value for key, value in schema.items() if key != keyword}
        own = [(index, branch) for index, branch in enumerate(branches) if is_object(branch) and not is_null(branch)]
        found = recognise([{"allOf": [base, branch]} for _, branch in own], self.definitions)
        keys = keyed(branches, self.definitions).items() if found is None else ()
        for index, key in keys:
            self._mark(f"{at}/{keyword}/{index}", self.variants.get(at, owner), key)
            self.keyed.add(f"{at}/{keyword}/{index}")
        for position, tag in found.variants if found is not None else ():
            index, branch = own[position]
            if lone_reference({key: value for key, value in branch.items() if key != "not"}) is None:
                self._mark(f"{at}/{keyword}/{index}", self.variants.get(at, owner), tag)

    def _mark(self, at: str, union: str, tag: Tag) -> None:
        self.tags[at] = tag_text(tag)
        self.variants[at] = f"{union}[{tag_text(tag)}]"

    def ordered(self) -> dict[str, Schema]:
        """Definitions in source order, each followed by those that were taken out of it."""
        result: dict[str, Schema] = {}

        def add(name: str) -> None:
            result[name] = self.definitions[name]
            for child in self.below.get(name, ()):
                add(child)

        for name in self.order:
            add(name)
        return result

    def _add(self, owner: str, candidates: Iterable[str], schema: Schema, at: str) -> tuple[str, bool]:
        """Make `schema` a definition; return its name and whether it is new.

        The name is the first of `candidates` that is free, or that a thing has which demands just the same: then that is the thing.
        Names that people choose have no second.
        """
        wanted = list(dict.fromkeys(candidates))
        override = self._override(at, wanted[0])
        chosen = override if override is not None else schema.get("x-name")
        wanted = [chosen] if isinstance(chosen, str) else wanted
        body = copied(demands(schema))
        names = (
            wanted
            if isinstance(chosen, str)
            else chain(wanted[:1], members(schema), wanted[1:], otherwise(wanted[0], schema))
        )
        for name in names:
            other = self.taken.setdefault(class_name(name), name)
            if other not in self.definitions:
                self.definitions[name] = schema
                self.origins[name] = at
                self.named_at[at] = name
                self.bodies[name] = body
                self.below.setdefault(owner, []).append(name)
                return name, True
            if same(self.bodies.get(other), body):
                self.found_again.add(other)
                return other, False
        self.faults.append(NameCollision(at=at, name=wanted[0], other=self.origins[self.taken[class_name(wanted[0])]]))
        return wanted[0], True

    def _joined(self, owner: str, field_name: str, schema: Schema, at: str) -> Schema:
        """What joins two definitions for a field, as a definition of its own."""
        name, _ = self._add(owner, [f"{class_name(owner)}{class_name(field_name)}"], schema, at)
        return {"$ref": reference_to(name)}

    # --- inline things of fields ---

    def _name_inline(self, owner: str, base: str, schema: Schema, at: str, apart: str = "") -> None:
        """Give a name to what stands inline in the fields, items and values of a definition, its branches included.

        The names begin with `base`; `apart` goes before it where the name is taken by a thing of another branch.
        """
        self._name_fields(owner, base, schema, at, apart)
        self._name_parts(owner, base, schema, at, apart)
        self._mark_variants(owner, schema, at)
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches = schema.get(keyword, ())
            for index, word in enumerate(self._words(schema, keyword)):
                place = f"{at}/{keyword}/{index}"
                if is_object(branches[index]):
                    is_variant = (
                        place in self.variants and place not in self.keyed
                    )  # a key is in the names of its fields
                    first, second = (f"{word}{base}", "") if is_variant else (base, f"{word}{apart}")
                    self._name_inline(owner, first, branches[index], place, second)

    def _words(self, schema: Schema, keyword: str) -> list[str]:
        """A word for each branch of a schema, where any of them needs one."""
        branches = schema.get(keyword, ())
        if not any(is_object(branch) and lone_reference(branch) is None for branch in branches):
            return [""] * len(branches)
        return labels(branches, self.definitions)

    def _name_fields(self, owner: str, base: str, schema: Schema, at: str, apart: str) -> None:
        """Name by the alphabet, and keep what was named in the order of the fields."""
        properties = schema.get("properties", {})
        before = self.below.pop(owner, [])
        named: dict[str, list[str]] = {}
        for field_ in sorted(properties):
            wanted = (f"{base}{class_name(field_)}", f"{apart}{base}{class_name(field_)}")
            spelled_ = f"{base}{class_name(spelled_out(field_))}"
            place = f"{at}/properties/{escape(field_)}"
            properties[field_] = self._named(owner, (*wanted, spelled_), properties[field_], place)
            named[field_] = self.below.pop(owner, [])
        if found := [*before, *(name for field_ in properties for name in named[field_])]:
            self.below[owner] = found

    def _name_parts(self, owner: str, wanted: str, schema: Schema, at: str, apart: str = "") -> None:
        for keyword, suffix in (("items", "Item"), ("additionalProperties", "Value")):
            if is_object(schema.get(keyword)):
                names = (f"{wanted}{suffix}", f"{apart}{wanted}{suffix}")
                schema[keyword] = self._named(owner, names, schema[keyword], f"{at}/{keyword}")
        for index, entry in enumerate(schema.get("prefixItems", ())):
            word = _ORDINALS[index] if index < len(_ORDINALS) else f"Item{index + 1}"
            names = (f"{wanted}{word}", f"{apart}{wanted}{word}")
            schema["prefixItems"][index] = self._named(owner, names, entry, f"{at}/prefixItems/{index}")
        rest = schema.get("additionalProperties", True)
        patterns: Schema = {}
        if rest not in (True, {}):  # else any value may stand there
            patterns = schema.get("patternProperties", {})
        for pattern in sorted(patterns):
            is_alone = len(patterns) == 1 and not is_object(rest)
            word = "" if is_alone or not re.search("[A-Za-z0-9]", pattern) else class_name(pattern)
            names = (f"{wanted}{word}Value", f"{apart}{wanted}{word}Value")
            place = f"{at}/patternProperties/{escape(pattern)}"
            patterns[pattern] = self._named(owner, names, patterns[pattern], place)

    def _named(self, owner: str, wanted: tuple[str, ...], schema: Any, at: str) -> Any:
        """`schema` for a field, with whatever needs a name replaced by a reference."""
        if not is_object(schema) or lone_reference(schema) is not None:
            return schema
        payload = self.payloads.get(at, ())
        rest, nullable = (schema, False) if payload else _without_null(schema, self.definitions)
        if rest is not None and (payload or _needs_name(rest)):
            body = {key: value for key, value in rest.items() if key not in OF_FIELDS and not _is_leniency(key)}
            name, is_new = self._add(owner, payload or wanted, body, at)
            if is_new:
                self._name_inline(name, class_name(name), body, at)
            kept = {key: schema[key] for key in schema if key in (*OF_FIELDS, "description") or _is_leniency(key)}
            reference = {"$ref": reference_to(name)}
            return {**kept, "anyOf": [reference, {"type": "null"}]} if nullable else {**kept, **reference}
        self._name_parts(owner, wanted[0], schema, at)
        for keyword in ("anyOf", "oneOf", "allOf"):
            for index, word in enumerate(self._words(schema, keyword)):
                names = (wanted[0], f"{word}{wanted[0]}", *wanted[1:])
                schema[keyword][index] = self._named(owner, names, schema[keyword][index], f"{at}/{keyword}/{index}")
        return schema

    # --- variants ---

    def _distribute(self, name: str) -> None:
        """Make every branch of the object union `name` a definition that stands alone."""
        working_on(self.origins[name])
        self.distributed.add(name)
        node = self._expanded(self.definitions[name])
        union = branches_of(node)
        if union is None or "unevaluatedProperties" in node:
            return
        keyword, branches = union
        base = {key: value for key, value in node.items() if key != keyword and (asserts(key) or key == "x-side")}
        base.pop("x-side", None)
        if set(base) <= {"type"} and base.get("type", "object") == "object":
            base = {}
        if base and self._only_narrows(base, branches):
            return
        if kinds(self.definitions[name], self.sources) != OBJECTS or not all(
            is_object(b) and flatten(b, self.sources, self.flats).is_object and is_mergeable(base, b) for b in branches
        ):
            self._name_shapes(name, keyword, branches, is_of_objects=flatten(node, self.sources, self.flats).is_object)
            return
        root = self.roots.get(name, name)
        if root != name:
            self.standing[root] = self.standing.get(root, 0) + len(branches)
            if self.standing[root] > MOST_VARIANTS:
                return  # unions that multiply stay as they are written
        merged = [
            merge(base, branch, self.sources) if base or kinds(branch, self.sources) != OBJECTS else branch
            for branch in branches
        ]
        found = recognise(merged, self.sources, self.flats)
        words = labels(branches, self.sources, known=None if found is None else dict(found.variants))
        at = self.origins[name]
        after = {key: value for key, value in node.items() if key not in base or key == "type"}
        if base:
            after["type"] = "object"
        after[keyword] = [
            self._branch(name, found, index, words[index], merged[index], branch, f"{at}/{keyword}/{index}")
            for index, branch in enumerate(branches)
        ]
        self.definitions[name] = after

    def _only_narrows(self, base: Schema, branches: list[Any]) -> bool:
        """Whether the branches of a union tell no variants of the object beside them: they say more of its fields, or which it has."""
        fields = flatten(base, self.sources, self.flats).properties
        if not fields or not all(constrains(branch, fields) for branch in branches):
            return False
        found = recognise([{"allOf": [base, branch]} for branch in branches], self.sources, self.flats)
        return found is None or len(found.variants) < len(branches)

    def _branch(
        self, union: str, found: Tagged | None, index: int, word: str, whole: Schema, branch: Schema, at: str
    ) -> Schema:
        alone = lone_reference({key: value for key, value in whole.items() if key != "not"})
        role = "default"
        base = class_name(union)
        candidates: list[str]
        if found is None:
            candidates = _names_of_branch(base, word, is_keyed=at in self.keyed)
        elif index == found.fallback:
            role, candidates = "fallback", [f"Unknown{base}", f"{base}Fallback"]
        elif index == found.default:
            candidates = [f"{word}{base}", f"{base}{word}Variant"]
        else:
            if at not in self.tags:
                self._mark(at, union, dict(found.variants)[index])
            role, candidates = "variant", [f"{word}{base}", f"{base}{word}Variant"]
        if alone is not None and role != "fallback":
            self._was(union, f"{word}{{}}", alone)
            kept = {key: value for key, value in branch.items() if not asserts(key) or key == "not"}
            return {**kept, "$ref": reference_to(alone)}
        body = self._owned(union, index, word, whole, branch, candidates, at) if found is not None else None
        if body is not None:
            kept = {key: value for key, value in branch.items() if not asserts(key) or key == "not"}
            return {**kept, "$ref": reference_to(body)}
        annotations = {key: value for key, value in branch.items() if key == "description" or key.startswith("x-")}
        inner = branches_of(self._expanded(whole)) if role == "fallback" else None
        if inner is not None:
            return self._fallback_shapes(union, candidates, whole, at)
        long = candidates[0]
        if role == "variant" and not self.is_apart:
            candidates = [*_without_stutter(word, base, whole), *candidates]
        name, is_new = self._add(union, candidates, {key: v for key, v in whole.items() if key != "title"}, at)
        was = [long] if name in candidates[: candidates.index(long)] and "x-name" not in whole else []
        is_second = role == "fallback" and name == candidates[-1]
        self._was(
            union, "{}Fallback" if is_second else "Unknown{}" if role == "fallback" else f"{word}{{}}", name, *was
        )
        if is_new:
            self.sources[name] = copied(self.definitions[name])
            self.roots[name] = self.roots.get(union, union)
            self._distribute(name)
        annotations.pop("x-name", None)
        if found is not None and index == found.default and "title" in whole:
            annotations["title"] = whole["title"]  # which may be its tag, written out
        return {**annotations, "$ref": reference_to(name)}

    # --- variants that are their bodies ---

    def _owned(
        self, union: str, index: int, word: str, whole: Schema, branch: Schema, candidates: list[str], at: str
    ) -> str | None:
        """The body of a variant, with its tag from now on; `None` if it has none of its own, or people chose a name for the variant."""
        body = next((name for name, one in self.owners.items() if one.union == union and one.index == index), None)
        if body is None or body in self.distributed:
            return None
        if "x-name" in branch or self._override(at, candidates[0]) is not None:
            return None
        rest = {key: value for key, value in without(whole, body).items() if key not in ("not", "title")}
        schema = owned(self.definitions[body], rest, self.sources)
        if schema is None or not flatten(self.definitions[body], self.sources, self.flats).is_object:
            return None
        own = without(branch, body).get("properties", {})
        for name in rest.get("properties", {}):
            if name not in self.definitions[body].get("properties", {}):
                place = at if name in own else self.origins[union]
                step = f"properties/{escape(name)}"
                self.moved[f"{self.origins[body]}/{step}"] = f"{place}/{step}"
        self.definitions[body] = schema
        self.sources[body] = copied(schema)
        self.flats.pop(body, None)
        self.roots[body] = self.roots.get(union, union)
        free = (name for name in candidates if class_name(name) not in self.taken)
        self._was(union, f"{word}{{}}", body, next(free, candidates[-1]))
        self._distribute(body)
        return body

    def _was(self, union: str, form: str, name: str, *own: str) -> None:
        """Note the names that a branch had while there were copies of its union for variants of others; its `own` former names, too."""
        before = [*own, *(form.format(one) for one in self.called.get(union, ()))]
        self.called.setdefault(name, []).extend(before)
        self.former.update(dict.fromkeys(before, name))

    def _fallback_shapes(self, union: str, candidates: list[str], whole: Schema, at: str) -> Schema:
        """A fallback that is itself a union: one record for what its shapes share, and one below it for each shape."""
        node = self._expanded(whole)
        inner = branches_of(node)
        assert inner is not None
        keyword, shapes = inner
        shared = {key: value for key, value in node.items() if key not in (keyword, "title")}
        name, _ = self._add(union, candidates, shared, at)
        self.sources[name] = copied(shared)
        references: list[Schema] = []
        for index, (shape, title) in enumerate(zip(shapes, labels(shapes, self.sources), strict=True)):
            schema = merge({"type": "object", "allOf": [{"$ref": reference_to(name)}]}, shape, self.sources)
            schema.pop("title", None)
            at_shape = f"{at}/{keyword}/{index}"
            below, _ = self._add(name, [f"{title}{class_name(name)}"], schema, at_shape)
            self.sources[below] = copied(schema)
            references.append({"$ref": reference_to(below)})
        kept = {key: value for key, value in whole.items() if key == "description"}
        return {**kept, keyword: references}

    def _name_shapes(self, name: str, keyword: str, branches: list[Any], *, is_of_objects: bool) -> None:
        """Name the inline objects among branches that do not stand alone."""
        base = class_name(name)
        for index, (branch, word) in enumerate(zip(branches, labels(branches, self.sources), strict=True)):
            if keyword not in self.definitions[name]:
                return  # the union stands in a part, which keeps it as it is
            if not is_object(branch) or lone_reference(branch) is not None or not _needs_name(branch):
                continue
            at = f"{self.origins[name]}/{keyword}/{index}"
            keys = [*self._keys(at), f"{word}{base}"] if self.names else []
            is_asked_for = "x-name" in branch or self.names.find(keys) is not None
            if not (is_of_objects or is_asked_for or branch.get("properties")):
                continue
            if "type" in self.definitions[name] and "type" not in branch:
                branch["type"] = self.definitions[name]["type"]  # which alone would say nothing of the branch's name
            added, is_new = self._add(name, _names_of_branch(base, word, is_keyed=at in self.keyed), branch, at)
            if is_new:
                self.sources[added] = copied(branch)
            self.definitions[name][keyword][index] = {"$ref": reference_to(added)}

    def _expanded(self, schema: Schema, written: set[str] | None = None) -> Schema:
        """`schema` with every in-place part that holds a union of objects written into it; `written` are the definitions that are."""
        node = dict(schema)
        written = set() if written is None else written
        every = node.pop("allOf", ())
        parts: list[Schema] = [part for part in every if is_object(part)]
        if "$ref" in node:
            parts.append({"$ref": node.pop("$ref")})
        kept: list[Schema] = []
        for part in parts:
            reference = lone_reference(part)
            if reference is not None and reference in written:
                continue
            written.update([reference] if reference is not None else [])
            source = self.sources.get(reference, {}) if reference is not None else part
            if reference is not None and not self._holds_union(source):
                kept.append({"$ref": reference_to(reference)} if is_mergeable(node, source) else part)
                continue
            inner = _without_branch_names(self._expanded(source, written))
            if is_mergeable(node, source) and is_mergeable(node, inner):
                node = merge(node, {key: v for key, v in inner.items() if asserts(key)}, self.sources)
            else:
                kept.append(part)
        if False in every:
            kept.append({"not": {}})
        if kept:
            node["allOf"] = [*kept, *node.get("allOf", ())]
        return node

    def _holds_union(self, schema: Schema) -> bool:
        """Whether a schema is a union of objects, or one of its parts is."""
        seen: set[str] = set()
        pending = [schema]
        while pending:
            node = pending.pop()
            reference = lone_reference(node)
            if reference is not None:
                if reference not in seen:
                    seen.add(reference)
                    pending.append(self.sources.get(reference, {}))
                continue
            union = branches_of(node)
            if union is not None and all(
                is_object(b) and flatten(b, self.sources, self.flats).is_object for b in union[1]
            ):
                return True
            pending.extend(part for part in node.get("allOf", ()) if is_object(part))
            pending.extend([{"$ref": node["$ref"]}] if "$ref" in node else [])
        return False


def _without_branch_names(schema: Schema) -> Schema:
    """A union's schema without the names that its branches ask for: they belong to the union that declares them."""
    union = branches_of(schema)
    if union is None:
        return schema
    keyword, branches = union
    return {**schema, keyword: [_without(branch, "x-name") for branch in branches]}


def _without(schema: Any, keyword: str) -> Any:
    return {key: value for key, value in schema.items() if key != keyword} if is_object(schema) else schema


def _without_null(schema: Schema, definitions: Mapping[str, Schema]) -> tuple[Schema | None, bool]:
    """A field's schema less null, and whether null was there; `None` where nothing sensible is left."""
    union = branches_of(schema)
    if union is not None:
        keyword, branches = union
        left = [branch for branch in branches if not is_null(branch)]
        if len(left) == len(branches):
            return schema, False
        if any(asserts(key) for key in schema if key != keyword):
            return None, False  # what stands beside the union may refuse null
        if keyword == "oneOf" and any("null" in kinds(branch, definitions) for branch in left):
            return schema, False  # null may be two of the branches, and then it is refused
        if len(left) == 1:
            inner = left[0]
            return (inner if is_object(inner) and lone_reference(inner) is None else None), True
        return {**schema, keyword: left}, True
    types = schema.get("type")
    if is_array(types) and "null" in types and len(types) > 1:
        if not schema.keys().isdisjoint(("const", "$ref", "allOf", "not", "if")):
            return schema, False  # what stands beside the types may refuse null
        left_types = [name for name in types if name != "null"]
        narrowed = {**schema, "type": left_types[0] if len(left_types) == 1 else left_types}
        if is_array(schema.get("enum")):
            narrowed["enum"] = [value for value in schema["enum"] if value is not None]
            return narrowed, None in schema["enum"]
        return narrowed, True
    return schema, False


def _needs_name(schema: Schema) -> bool:
    """Whether a schema is a record, a union, a set of constants or a pattern, and so a type that people name."""
    if schema.get("properties") or "patternProperties" in schema or "pattern" in schema:
        return True
    if is_array(schema.get("type")) and len(schema["type"]) > 1:
        return True
    if is_array(schema.get("enum")) and len(schema["enum"]) > 1:
        return True
    union = branches_of(schema)
    if union is not None and len([branch for branch in union[1] if not is_null(branch)]) > 1:
        return True
    return (
        len(
            [
                part
                for part in schema.get("allOf", ())
                if is_object(part) and (lone_reference(part) or "properties" in part)
            ]
        )
        > 1
    )


_ORDINALS: Final = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth")
"""What the entries of a tuple are called: there the position is the meaning."""


def _names_of_branch(union: str, word: str, *, is_keyed: bool) -> list[str]:
    """The names for a branch without a tag; the key that tells it apart is as good as one."""
    return [f"{word}{union}", f"{union}{word}{'Variant' if is_keyed else 'Shape'}"]


def _without_stutter(tag: str, union: str, whole: Schema) -> list[str]:
    """Names of a variant whose tag of several words ends like its body, so that it says what it is, or like its union."""
    own, above = _parts_of(tag), _parts_of(union)
    parts = [*({"$ref": ref} for ref in [whole.get("$ref")] if ref is not None), *whole.get("allOf", ())]
    bodies = [_parts_of(name) for part in parts if (name := lone_reference(part)) is not None]
    if len(own) < 2:
        return []
    if own[-1] == above[-1]:
        is_said = own[: len(above) - 1] == above[:-1]
        return [] if is_said else ["".join([*above[:-1], tag])]
    return [tag] if any(own[-1:] == body[-1:] for body in bodies) else []


def _parts_of(name: str) -> list[str]:
    """The words of a class name as they stand in it."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+|.", name)


def _write_formats(schema: Any) -> None:
    """Write what `format: absolute-path` asserts as a pattern, so that every judge agrees."""
    for _, one in inside(schema):
        if one.get("format") == "absolute-path" and "pattern" not in one:
            one["pattern"] = ABSOLUTE_PATH


def _is_leniency(keyword: str) -> bool:
    return keyword.startswith("x-deserialize-")


def _spelled(key: str) -> str:
    return key.replace("#/definitions/", "#/$defs/")


def _fragment(at: str) -> str:
    return "#" + at.partition("#")[2]


__all__ = ["ABSOLUTE_PATH", "ANNOTATIONS", "DIALECT", "Bundle", "bundle", "common_fields", "tolerant"]


def _migration(files: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """What each file says of things of the version before: a text, or an object."""
    for path, value in files.items():
        for key, said in value.get(MIGRATION, {}).items():
            yield path, key, said


def _moved(path: str, key: str, said: Any) -> Moved:
    told: dict[str, Any] = dict(said)
    told.update({part: tuple(said[part]) for part in ("to", "before", "after") if part in said})
    return Moved(at=f"{path}{pointer(MIGRATION, key)}", **told)
