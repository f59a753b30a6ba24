"""Many files become one standard JSON Schema in which everything has a name.

References are local; every inline object, inline union and inline set of constants of a field is a definition of its own; every
variant of a union stands alone: what a union's object demands in common is distributed over its branches
(`A and (B or C)` becomes `(A and B) or (A and C)`), so that each variant is one record.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from acpgen.errors import (
    Fault,
    Faults,
    LeftOut,
    MalformedKeyword,
    NameCollision,
    NamedByPosition,
    UnknownSide,
    UnusedName,
)
from acpgen.pointers import escape, pointer_parts, reference_to
from acpgen.schema.calls import Bound, Calls, bind, find_calls, payloads
from acpgen.schema.collect import MIGRATION, Collected, collect, spelled
from acpgen.schema.drafts import spelled_as_written
from acpgen.schema.foreign import Translated, relocated, translated
from acpgen.schema.inherited import narrow_inherited
from acpgen.schema.keywords import OF_FIELDS
from acpgen.schema.load import Documents
from acpgen.schema.names import class_name
from acpgen.schema.positions import positions
from acpgen.schema.profile import MARKED, Profile, choose
from acpgen.schema.unions import (
    OBJECTS,
    Tagged,
    branches_of,
    constant,
    constrains,
    flatten,
    is_null,
    keyed,
    kind_of,
    kinds,
    lone_reference,
    own_tag,
    recognise,
    types_of,
)
from acpgen.schema.walk import ANNOTATIONS, Schema, asserts, children, is_array, is_object, references

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

ABSOLUTE_PATH: Final = r"^(?:/|[A-Za-z]:[\\/]|\\\\[^\\/])"
"""What `format: absolute-path` asserts: a POSIX root, a drive letter, or a UNC prefix. Lexical, on every platform alike."""


SPELLINGS: Final = {"$defs": "definitions", "definitions": "$defs"}


@dataclass(frozen=True, slots=True)
class Bundle:
    """One version of a protocol as one JSON Schema 2020-12; read, never changed.

    `origins` maps each definition to its place in the source files, `file#/pointer`; `files` maps each of these files to
    its title and description, empty where it says nothing, and `sources` to what it holds. `migration` holds what the files say, by
    `x-migration`, of things of the version before. `references` are those of each definition as the source has them: a union that
    was distributed over the branches of another one is referred to no more. `framing` are the definitions that only frame messages.
    `notes` say what of the files means nothing and was left out.
    `profile` says where the methods stand, `calls` are those that it finds, but for marked ones, which the definitions themselves tell;
    `doubled` are the places of messages whose method has another one already.
    `places` lead from a place of what was made of a foreign document to the place in the document itself.
    """

    name: str
    schema: Schema = field(repr=False)
    origins: Mapping[str, str] = field(repr=False)
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]], repr=False)
    migration: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    sources: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    references: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]], repr=False)
    framing: frozenset[str] = field(default=frozenset(), repr=False)
    notes: tuple[LeftOut, ...] = field(default=(), repr=False)
    profile: Profile = field(default=MARKED, repr=False)
    calls: tuple[Bound, ...] = field(default=(), repr=False)
    doubled: tuple[str, ...] = field(default=(), repr=False)
    places: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

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
    may_count: bool = False,
    methods: Profile | None = None,
) -> Bundle:
    """Bundle the files of one protocol version.

    `names` maps places of the source to generated names: pointers, or `Union[tag]` for a variant of a tagged union. A place that
    matches nothing is a fault, and so is a pointer that counts such variants, unless it `may_count` them. `methods` is the profile
    that says where the methods stand; without, the one that the documents evidently fit, or a guess.
    Raises `Faults`.
    """
    wanted = names or {}
    profile = choose(documents, methods)
    foreign = translated(documents, profile)
    try:
        return _bundle(documents, foreign, wanted, profile, may_count=may_count)
    except Faults as caught:
        raise Faults(_told(fault, documents, foreign.places) for fault in caught.faults) from None


def _bundle(
    documents: Documents, foreign: Translated, wanted: Mapping[str, str], profile: Profile, *, may_count: bool
) -> Bundle:
    collected = collect(foreign.documents, wanted, profile.sides if profile.at else ())
    calls = find_calls(collected.definitions, collected.origins, profile)
    read = {one.path: one.value for one in documents.documents if is_object(one.value)}
    made = {one.path: one.value for one in foreign.documents.documents if is_object(one.value)}
    beside = {at.partition("#")[0] for at in collected.origins.values()} - made.keys()
    found = {path: one.value for path in sorted(beside) if (one := documents.find(path)) is not None}
    sources = {**read, **found}
    files = {**made, **found}
    work = _Bundler(collected, wanted, files, may_count=may_count, calls=calls)
    work.run()
    schema: Schema = {"$schema": DIALECT}
    schema.update({key: value for key, value in collected.root.items() if key not in ("$schema", "$id")})
    schema["$defs"] = work.ordered()
    return Bundle(
        name=documents.name,
        schema=schema,
        origins={name: relocated(spelled_as_written(at, files), foreign.places) for name, at in work.origins.items()},
        files={path: _about(value) for path, value in read.items()},
        migration={key: text for value in read.values() for key, text in value.get(MIGRATION, {}).items()},
        sources=sources,
        references={name: frozenset(references(source)) for name, source in work.sources.items()},
        framing=_frames(schema["$defs"]),
        notes=collected.notes,
        profile=replace(profile, sides=calls.sides or profile.sides),
        calls=work.calls if profile.document is None else foreign.bound(work.origins),
        doubled=calls.doubled,
        places=foreign.places,
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
    return replace(fault, at=at)


def _about(document: Schema) -> tuple[str, str]:
    title, description = document.get("title", ""), document.get("description", "")
    return (title if isinstance(title, str) else ""), (description if isinstance(description, str) else "")


def tolerant(schema: Schema) -> Schema:
    """The bundle's schema with the fallbacks of `x-unknown: keep` written in: what a decoder accepts, leniency aside."""
    changed = copy.deepcopy(schema)
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
        if name != tag and all(flat.properties.get(name, [None])[0] == subs[0] for flat in flats)
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
        names: Mapping[str, str],
        files: Mapping[str, Any],
        *,
        may_count: bool,
        calls: Calls,
    ) -> None:
        self.files = files
        self.definitions = collected.definitions
        self.origins = dict(collected.origins)
        self.names = {spelled(key): name for key, name in names.items()}
        self.written = {spelled(key): key for key in names}
        self.may_count = may_count
        self.found = calls
        self.payloads = payloads(calls, self.origins)
        self.calls: tuple[Bound, ...] = ()
        self.variants: dict[str, str] = {}
        self.used: set[str] = set()
        self.below: dict[str, list[str]] = {}
        self.faults: list[Fault] = []
        self.order = list(self.definitions)
        self.sources: dict[str, Schema] = {}

    def run(self) -> None:
        framing = _frames(self.definitions)
        named = [name for name in self.order if name not in framing]
        for name in self.order:
            _write_formats(self.definitions[name])
        for name in named:
            self._name_inline(name, self.definitions[name], self.origins[name])
        for name in named:
            narrow_inherited(name, self.definitions, self.origins, self._joined)
        self.calls = bind(self.found, self.definitions, self.origins)
        self.sources = copy.deepcopy(self.definitions)
        for name in [*self.definitions]:
            if name not in framing:
                self._distribute(name)
        self._judge_names()
        if self.faults:
            raise Faults(replace(fault, at=spelled_as_written(fault.at, self.files)) for fault in self.faults)

    # --- names that people choose ---

    def _override(self, at: str) -> str | None:
        """The name that the names file has for a place, by its pointer or, below a variant of a tagged union, by the tag."""
        if not self.names:
            return None
        steps = at.split("/")
        written = spelled_as_written(at, self.files)
        keys = [spelled(key) for each in (written, at) for key in (each, _fragment(each))]
        for depth in range(len(steps), 0, -1):
            if (variant := self.variants.get("/".join(steps[:depth]))) is not None:
                keys.append("/".join((variant, *steps[depth:])))
                break
        found = [key for key in keys if key in self.names]
        self.used.update(found)
        return self.names[found[0]] if found else None

    def _judge_names(self) -> None:
        """Refuse the entries of the names file that count the variants of a tagged union, and those that match nothing."""
        known = self.used | {spelled(key) for at in self.origins.values() for key in (at, _fragment(at))}
        variants = {spelled(key): tag for at, tag in self.variants.items() for key in (at, _fragment(at))}
        for key, written in sorted(self.written.items()):
            steps = key.split("/")
            above = ("/".join(steps[:depth]) for depth in range(len(steps), 0, -1))
            place = next((place for place in above if place in variants), None)
            if place is not None and not self.may_count:
                self.faults.append(NamedByPosition(at=written, instead=variants[place] + key.removeprefix(place)))
            elif key not in known:
                self.faults.append(UnusedName(at=written))

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
            self.variants[f"{at}/{keyword}/{index}"] = f"{self.variants.get(at, owner)}[{key}]"
        for position, tag in found.variants if found is not None else ():
            index, branch = own[position]
            if lone_reference({key: value for key, value in branch.items() if key != "not"}) is None:
                self.variants[f"{at}/{keyword}/{index}"] = f"{self.variants.get(at, owner)}[{_tag(tag)}]"

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

    def _add(self, owner: str, candidates: list[str], schema: Schema, at: str) -> str:
        """Make `schema` a definition under the first free name, and return the name."""
        override = self._override(at)
        if override is not None:
            candidates = [override]
        elif isinstance(schema.get("x-name"), str):
            candidates = [schema["x-name"]]
        free = [name for name in candidates if name not in self.definitions]
        if not free:
            self.faults.append(NameCollision(at=at, name=candidates[-1], other=self.origins[candidates[-1]]))
            return candidates[-1]
        self.definitions[free[0]] = schema
        self.origins[free[0]] = at
        self.below.setdefault(owner, []).append(free[0])
        return free[0]

    def _joined(self, owner: str, field_name: str, schema: Schema, at: str) -> Schema:
        """What joins two definitions for a field, as a definition of its own."""
        return {"$ref": reference_to(self._add(owner, [f"{owner}{class_name(field_name)}"], schema, at))}

    # --- inline things of fields ---

    def _name_inline(self, owner: str, schema: Schema, at: str) -> None:
        """Give a name to what stands inline in the fields, items and values of a definition, its branches included."""
        for name, sub in schema.get("properties", {}).items():
            wanted = f"{owner}{class_name(name)}"
            schema["properties"][name] = self._named(owner, wanted, sub, f"{at}/properties/{escape(name)}")
        self._name_parts(owner, owner, schema, at)
        self._mark_variants(owner, schema, at)
        for keyword in ("allOf", "anyOf", "oneOf"):
            for index, branch in enumerate(schema.get(keyword, ())):
                if is_object(branch):
                    self._name_inline(owner, branch, f"{at}/{keyword}/{index}")

    def _name_parts(self, owner: str, wanted: str, schema: Schema, at: str) -> None:
        for keyword, suffix in (("items", "Item"), ("additionalProperties", "Value")):
            if is_object(schema.get(keyword)):
                schema[keyword] = self._named(owner, wanted + suffix, schema[keyword], f"{at}/{keyword}")
        for index, entry in enumerate(schema.get("prefixItems", ())):
            place = _ORDINALS[index] if index < len(_ORDINALS) else f"Item{index + 1}"
            schema["prefixItems"][index] = self._named(owner, wanted + place, entry, f"{at}/prefixItems/{index}")
        rest = schema.get("additionalProperties", True)
        patterns: Schema = {}
        if rest not in (True, {}):  # else any value may stand there
            patterns = schema.get("patternProperties", {})
        for pattern, value in patterns.items():
            is_alone = len(patterns) == 1 and not is_object(rest)
            words = "" if is_alone or not re.search("[A-Za-z0-9]", pattern) else class_name(pattern)
            place = f"{at}/patternProperties/{escape(pattern)}"
            patterns[pattern] = self._named(owner, f"{wanted}{words}Value", value, place)

    def _named(self, owner: str, wanted: str, schema: Any, at: str) -> Any:
        """`schema` for a field, with whatever needs a name replaced by a reference."""
        if not is_object(schema) or lone_reference(schema) is not None:
            return schema
        payload = self.payloads.get(at, ())
        rest, nullable = (schema, False) if payload else _without_null(schema, self.definitions)
        if rest is not None and (payload or _needs_name(rest)):
            body = {key: value for key, value in rest.items() if key not in OF_FIELDS and not _is_leniency(key)}
            name = self._add(owner, [*payload] or [wanted], body, at)
            self._name_inline(name, body, at)
            kept = {key: schema[key] for key in schema if key in (*OF_FIELDS, "description") or _is_leniency(key)}
            reference = {"$ref": reference_to(name)}
            return {**kept, "anyOf": [reference, {"type": "null"}]} if nullable else {**kept, **reference}
        self._name_parts(owner, wanted, schema, at)
        for keyword in ("anyOf", "oneOf", "allOf"):
            for index, branch in enumerate(schema.get(keyword, ())):
                schema[keyword][index] = self._named(owner, wanted, branch, f"{at}/{keyword}/{index}")
        return schema

    # --- variants ---

    def _distribute(self, name: str) -> None:
        """Make every branch of the object union `name` a definition that stands alone."""
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
            is_object(b) and flatten(b, self.sources).is_object and _is_mergeable(base, b) for b in branches
        ):
            self._name_shapes(name, keyword, branches, is_of_objects=flatten(node, self.sources).is_object)
            return
        merged = [_merge(base, branch, self.sources) if base else branch for branch in branches]
        found = recognise(merged, self.sources)
        keys = keyed(merged, self.sources)
        at = self.origins[name]
        after = {key: value for key, value in node.items() if key not in base or key == "type"}
        if base:
            after["type"] = "object"
        after[keyword] = [
            self._branch(name, found, index, merged[index], branch, f"{at}/{keyword}/{index}", keys.get(index))
            for index, branch in enumerate(branches)
        ]
        self.definitions[name] = after

    def _only_narrows(self, base: Schema, branches: list[Any]) -> bool:
        """Whether the branches of a union tell no variants of the object beside them: they say more of its fields, or which it has."""
        fields = flatten(base, self.sources).properties
        if not fields or not all(constrains(branch, fields) for branch in branches):
            return False
        found = recognise([{"allOf": [base, branch]} for branch in branches], self.sources)
        return found is None or len(found.variants) < len(branches)

    def _branch(
        self, union: str, found: Tagged | None, index: int, whole: Schema, branch: Schema, at: str, key: str | None
    ) -> Schema:
        alone = lone_reference({key: value for key, value in whole.items() if key != "not"})
        role = "default"
        candidates: list[str]
        if found is None:
            candidates = _shape_names(union, whole, key)
        elif index == found.fallback:
            role, candidates = "fallback", [f"Unknown{union}", f"{union}Fallback"]
        elif index == found.default:
            candidates = [f"{_title(whole)}{union}", f"{union}{_title(whole)}Variant"]
        else:
            constant_ = dict(found.variants)[index]
            tag = class_name(str(constant_))
            self.variants.setdefault(at, f"{union}[{_tag(constant_)}]")
            role, candidates = "variant", [f"{tag}{union}", f"{union}{tag}Variant"]
        if alone is not None and role != "fallback":
            kept = {key: value for key, value in branch.items() if not asserts(key) or key == "not"}
            return {**kept, "$ref": reference_to(alone)}
        annotations = {key: value for key, value in branch.items() if key == "description" or key.startswith("x-")}
        inner = branches_of(self._expanded(whole)) if role == "fallback" else None
        if inner is not None:
            return self._fallback_shapes(union, candidates, whole, at)
        name = self._add(union, candidates, {key: v for key, v in whole.items() if key != "title"}, at)
        self.sources[name] = copy.deepcopy(self.definitions[name])
        self._distribute(name)
        annotations.pop("x-name", None)
        if found is not None and index == found.default and "title" in whole:
            annotations["title"] = whole["title"]  # which may be its tag, written out
        return {**annotations, "$ref": reference_to(name)}

    def _fallback_shapes(self, union: str, candidates: list[str], whole: Schema, at: str) -> Schema:
        """A fallback that is itself a union: one record for what its shapes share, and one below it for each shape."""
        node = self._expanded(whole)
        inner = branches_of(node)
        assert inner is not None
        keyword, shapes = inner
        shared = {key: value for key, value in node.items() if key not in (keyword, "title")}
        name = self._add(union, candidates, shared, at)
        self.sources[name] = copy.deepcopy(shared)
        references: list[Schema] = []
        for index, shape in enumerate(shapes):
            title = _title(shape)
            schema = _merge({"type": "object", "allOf": [{"$ref": reference_to(name)}]}, shape, self.sources)
            schema.pop("title", None)
            at_shape = f"{at}/{keyword}/{index}"
            below = self._add(name, [f"{title}{name}"], schema, at_shape)
            self.sources[below] = copy.deepcopy(schema)
            references.append({"$ref": reference_to(below)})
        kept = {key: value for key, value in whole.items() if key == "description"}
        return {**kept, keyword: references}

    def _name_shapes(self, name: str, keyword: str, branches: list[Any], *, is_of_objects: bool) -> None:
        """Name the inline objects among branches that do not stand alone.

        Beside other values than objects, one that would take another's name stays inline: its fields are then not typed.
        """
        keys = keyed(branches, self.sources)
        for index, branch in enumerate(branches):
            if keyword not in self.definitions[name]:
                return  # the union stands in a part, which keeps it as it is
            if not is_object(branch) or lone_reference(branch) is not None or not _needs_name(branch):
                continue
            at = f"{self.origins[name]}/{keyword}/{index}"
            candidates = _shape_names(name, branch, keys.get(index))
            is_asked_for = "x-name" in branch or not {at, _fragment(at)}.isdisjoint(self.names)
            is_free = bool(branch.get("properties")) and not self.definitions.keys() >= set(candidates)
            if not (is_of_objects or is_asked_for or is_free):
                continue
            if "type" in self.definitions[name] and "type" not in branch:
                branch["type"] = self.definitions[name]["type"]  # which alone would say nothing of the branch's name
            added = self._add(name, candidates, branch, at)
            self.sources[added] = copy.deepcopy(branch)
            self.definitions[name][keyword][index] = {"$ref": reference_to(added)}

    def _expanded(self, schema: Schema) -> Schema:
        """`schema` with every in-place part that holds a union of objects written into it."""
        node = dict(schema)
        every = node.pop("allOf", ())
        parts: list[Schema] = [part for part in every if is_object(part)]
        if "$ref" in node:
            parts.append({"$ref": node.pop("$ref")})
        kept: list[Schema] = []
        for part in parts:
            reference = lone_reference(part)
            source = self.sources.get(reference, {}) if reference is not None else part
            if reference is not None and not self._holds_union(source):
                kept.append({"$ref": reference_to(reference)} if _is_mergeable(node, source) else part)
                continue
            inner = _without_branch_names(self._expanded(source))
            if _is_mergeable(node, source) and _is_mergeable(node, inner):
                node = _merge(node, {key: v for key, v in inner.items() if asserts(key)}, self.sources)
            else:
                kept.append(part)
        if False in every:
            kept.append({"not": {}})
        if kept:
            node["allOf"] = [*kept, *node.get("allOf", ())]
        return node

    def _holds_union(self, schema: Schema) -> bool:
        union = branches_of(schema)
        if union is not None and all(is_object(b) and flatten(b, self.sources).is_object for b in union[1]):
            return True
        parts = [*schema.get("allOf", ()), *([{"$ref": schema["$ref"]}] if "$ref" in schema else [])]
        return any(
            self._holds_union(self.sources.get(reference, {}) if reference is not None else part)
            for part in parts
            if is_object(part)
            for reference in [lone_reference(part)]
        )


def _without_branch_names(schema: Schema) -> Schema:
    """A union's schema without the names that its branches ask for: they belong to the union that declares them."""
    union = branches_of(schema)
    if union is None:
        return schema
    keyword, branches = union
    return {**schema, keyword: [_without(branch, "x-name") for branch in branches]}


def _without(schema: Any, keyword: str) -> Any:
    return {key: value for key, value in schema.items() if key != keyword} if is_object(schema) else schema


def _merge(base: Schema, branch: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """One object schema that demands what both demand; the branch's tag comes first, its words win."""
    result: Schema = {key: value for key, value in branch.items() if not asserts(key)}
    result["type"] = "object"
    own, common = branch.get("properties", {}), base.get("properties", {})
    tags = {name: sub for name, sub in own.items() if constant(sub) is not None}
    properties = {name: _meet(common[name], sub, definitions) if name in common else sub for name, sub in tags.items()}
    for name, sub in {**common, **own}.items():
        if name not in properties:
            both = name in common and name in own
            properties[name] = _meet(common[name], own[name], definitions) if both else sub
    if properties:
        result["properties"] = properties
    required = dict.fromkeys([*branch.get("required", ()), *base.get("required", ())])
    if required:
        result["required"] = [name for name in properties if name in required] + [
            n for n in required if n not in properties
        ]
    for schema in (base, branch):
        for key, value in schema.items():
            if key in ("properties", "required", "type") or not asserts(key):
                continue
            if key == "$ref":
                result.setdefault("allOf", []).append({"$ref": value})
            elif key == "allOf":
                result.setdefault("allOf", []).extend(value)
            elif key == "unevaluatedProperties" and value is True:
                continue
            elif key == "additionalProperties":
                result[key] = next(iter(_rests(base, branch)), value)
            elif key in result and result[key] != value:
                result.setdefault("allOf", []).append({key: value})
            else:
                result[key] = value
    if "allOf" in result:  # at the end, where a reader expects it
        result["allOf"] = list({repr(part): part for part in result.pop("allOf")}.values())
    return result


def _is_mergeable(one: Schema, other: Schema) -> bool:
    """Whether two schemas for one object can stand in one node: what judges the fields that one does not name, or goes with its
    other keywords, would mean something else beside the other's.
    """
    if not _CONDITIONAL.isdisjoint(one) and not _CONDITIONAL.isdisjoint(other):
        return False
    if not all("object" in types_of(each) for each in (one, other) if "type" in each):
        return False  # one of them takes no object
    rests, patterns = (
        _rests(one, other),
        [each["patternProperties"] for each in (one, other) if "patternProperties" in each],
    )
    if rests and (rests[0] != rests[-1] or (patterns and patterns[0] != patterns[-1])):
        return False
    return all(_leaves_alone(first, second) for first, second in ((one, other), (other, one)))


def _rests(*schemas: Schema) -> list[Any]:
    """What schemas demand of the fields that they do not name, where they demand anything."""
    return [
        each["additionalProperties"] for each in schemas if each.get("additionalProperties", True) not in (True, {})
    ]


def _leaves_alone(one: Schema, other: Schema) -> bool:
    """Whether the schema `one` judges the fields that it does not name just as it would with the names of `other` beside it."""
    if one.get("unevaluatedProperties", True) is not True:
        return not any(asserts(key) and key not in ("required", "type") for key in other)
    if one.get("additionalProperties", True) in (True, {}):
        return True
    named = set(other.get("properties", ())) <= set(one.get("properties", ()))
    return named and other.get("patternProperties", {}).keys() <= one.get("patternProperties", {}).keys()


_CONDITIONAL: Final = frozenset({"if", "then", "else"})


def _meet(base: Any, branch: Any, definitions: Mapping[str, Schema]) -> Any:
    """What a property that both sides declare must be."""
    if base == branch or base is True or branch is True:
        return base if branch is True else branch
    if not is_object(base) or not is_object(branch):
        return False
    notes = {key: value for key, value in base.items() if not asserts(key)}
    demands = {key: value for key, value in base.items() if asserts(key)}
    if not demands or _admits_all(demands, branch, definitions):
        return {**notes, **branch}
    if not any(asserts(key) for key in branch):
        return {**base, **branch}
    return {**notes, "allOf": [demands, branch]}


def _admits_all(demands: Schema, branch: Schema, definitions: Mapping[str, Schema]) -> bool:
    """Whether a schema that only names types or constants admits everything that `branch` does, judged by these alone."""
    reference = lone_reference(demands)
    if reference is not None:
        demands = {key: value for key, value in definitions.get(reference, {}).items() if asserts(key)}
    listed = demands.get("enum")
    if demands.keys() <= {"type", "enum"} and is_array(listed) and constant(branch) is not None:
        return any(kind_of(constant(branch)) == kind_of(value) and constant(branch) == value for value in listed)
    if set(demands) != {"type"}:
        return False
    types = demands["type"] if is_array(demands["type"]) else [demands["type"]]
    value = constant(branch)
    if isinstance(value, str):
        return "string" in types
    own = branch.get("type")
    return own is not None and set(own if is_array(own) else [own]) <= set(types)


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


def _shape_names(union: str, branch: Schema, key: str | None) -> list[str]:
    """The names for a branch without a tag; the key that tells it apart is as good as one."""
    if key is not None:
        return [f"{class_name(key)}{union}", f"{union}{class_name(key)}Variant"]
    return [f"{_title(branch)}{union}", f"{union}{_title(branch)}Shape"]


def _title(schema: Schema) -> str:
    """The word that names an untagged branch: its title, its definition, its first required field, or its type."""
    if isinstance(schema.get("title"), str) and schema["title"].strip():
        return class_name(schema["title"])
    reference = lone_reference({key: value for key, value in schema.items() if key != "not"})
    if reference is not None:
        return reference
    for name in (*schema.get("required", ()), *schema.get("properties", {})):
        return f"With{class_name(name)}"
    return class_name(str(schema.get("type", "Any")))


def _write_formats(schema: Any) -> None:
    """Write what `format: absolute-path` asserts as a pattern, so that every judge agrees."""
    if not is_object(schema):
        return
    if schema.get("format") == "absolute-path" and "pattern" not in schema:
        schema["pattern"] = ABSOLUTE_PATH
    for _, child in children(schema):
        _write_formats(child)


def _is_leniency(keyword: str) -> bool:
    return keyword.startswith("x-deserialize-")


def _tag(value: str | float | bool) -> str:
    """A tag as people write it."""
    return value if isinstance(value, str) else json.dumps(value)


def _fragment(at: str) -> str:
    return "#" + at.partition("#")[2]


__all__ = ["ABSOLUTE_PATH", "ANNOTATIONS", "DIALECT", "Bundle", "bundle", "common_fields", "tolerant"]
