"""How everything in a schema gets a name and every variant stands alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any, Final

from acpgen.bundle.all_of import is_mergeable, merge
from acpgen.bundle.collect import Collected
from acpgen.bundle.faults import NAME_COLLISION, unused_name
from acpgen.bundle.inherited_fields import narrow_inherited
from acpgen.bundle.inline_schemas import needs_name, without_null
from acpgen.bundle.variant_bodies import Owner, owned, owners, without
from acpgen.errors import Fault, Faults
from acpgen.input.drafts import spelled_as_written
from acpgen.input.equality import same
from acpgen.input.keywords import OF_FIELDS
from acpgen.input.step_budget import working_on
from acpgen.input.tagged_unions import (
    OBJECTS,
    Flat,
    Tagged,
    branches_of,
    constrains,
    flatten,
    is_null,
    kinds,
    lone_reference,
    recognise,
)
from acpgen.input.walk import Schema, asserts, copied, demands, inside, is_object, references
from acpgen.methods.discovery import Bound, Calls, bind, payloads
from acpgen.naming.identifiers import class_name, spelled_out
from acpgen.naming.name_overrides import ChosenNames
from acpgen.naming.named_places import NamedPlaces
from acpgen.naming.qualifiers import (
    ORDINALS,
    joined,
    labels,
    members,
    names_of_branch,
    otherwise,
    without_stutter,
)
from acpgen.pointers import escape, reference_to

ABSOLUTE_PATH: Final = r"^(?:/|[A-Za-z]:[\\/]|\\\\[^\\/])"
"""What `format: absolute-path` asserts: a POSIX root, a drive letter, or a UNC prefix. Lexical, on every platform alike."""


MOST_VARIANTS: Final = 32
"""The unions in the branches of one union become so many variants of it at most, beside its own branches."""


class Bundler:
    """The definitions of a bundle while they are made: what stands inline gets a name, and each variant of a union stands alone.

    `run` makes them; then `ordered` are the definitions, and the other attributes what `Bundle` says of them.
    """

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
        self.definitions = collected.definitions
        self.root = collected.root
        self.origins = dict(collected.origins)
        self.files = files
        self.places = NamedPlaces(names, files, {at: name for name, at in self.origins.items()}, may_count=may_count)
        self.shared = shared
        self.is_apart = is_apart
        self.found = calls
        self.payloads = payloads(calls, self.origins)
        self.calls: tuple[Bound, ...] = ()
        self.found_again: set[str] = set()
        self.roots: dict[str, str] = {}
        self.standing: dict[str, int] = {}
        self.below: dict[str, list[str]] = {}
        self.owners: Mapping[str, Owner] = {}
        self.distributed: set[str] = set()
        self.moved: dict[str, str] = {}
        self.unused: Mapping[str, str] = {}
        self.faults: list[Fault] = []
        self.order = list(self.definitions)
        self.sources: dict[str, Schema] = {}
        self.flats: dict[str, Flat] = {}
        self.unions: dict[str, Tagged | None] = {}
        self.tagged: Mapping[str, Tagged | None] = {}
        self.taken = {class_name(name): name for name in reversed(self.order)}
        self.bodies = {name: copied(demands(schema)) for name, schema in self.definitions.items()}

    def run(self) -> None:
        framing = frames(self.definitions)
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
        named = [name for name in self.definitions if name not in framing]
        self.tagged = {name: self._recognise(self.definitions[name], self.origins[name]) for name in named}
        self.faults += self.places.counting()
        self.unused = self.places.unused()
        self.faults.extend(unused_name(key, hint) for key, hint in self.unused.items() if key not in self.shared)
        if self.faults:
            raise Faults(fault.move_to(spelled_as_written(fault.at, self.files)) for fault in self.faults)

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
        override = self.places.name(at, wanted[0])
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
                self.places.named_at[at] = name
                self.bodies[name] = body
                self.below.setdefault(owner, []).append(name)
                return name, True
            if same(self.bodies.get(other), body):
                self.found_again.add(other)
                return other, False
        self.faults.append(NAME_COLLISION(at=at, name=wanted[0], other=self.origins[self.taken[class_name(wanted[0])]]))
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
        found = self._recognise(schema, at)
        self.places.mark_variants(owner, schema, at, found, self.definitions)
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches = schema.get(keyword, ())
            for index, word in enumerate(self._words(schema, keyword, found)):
                place = f"{at}/{keyword}/{index}"
                if is_object(branches[index]):
                    is_variant = (
                        place in self.places.variants and place not in self.places.keyed
                    )  # a key is in the names of its fields
                    first, second = (joined(word, base), "") if is_variant else (base, f"{word}{apart}")
                    self._name_inline(owner, first, branches[index], place, second)

    def _recognise(self, schema: Schema, at: str) -> Tagged | None:
        """The tagged union that stands at a place: its branches with what is said beside them, null aside. Each place is read once."""
        union = branches_of(schema)
        if union is not None and at not in self.unions:
            keyword, branches = union
            base = {key: value for key, value in schema.items() if key != keyword}
            own = [index for index, branch in enumerate(branches) if is_object(branch) and not is_null(branch)]
            whole = [{"allOf": [base, branches[index]]} for index in own]
            is_named = bool(self.sources)  # until then, definitions change
            found = recognise(whole, self.sources, self.flats) if is_named else recognise(whole, self.definitions)
            self.unions[at] = None if found is None else found.among(own)
        return None if union is None else self.unions[at]

    def _words(self, schema: Schema, keyword: str, found: Tagged | None = None) -> list[str]:
        """A word for each branch of a schema, where any of them needs one."""
        branches = schema.get(keyword, ())
        if not any(is_object(branch) and lone_reference(branch) is None for branch in branches):
            return [""] * len(branches)
        union = branches_of(schema)
        return labels(branches, self.definitions, found if union is not None and union[0] == keyword else None)

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
            word = ORDINALS[index] if index < len(ORDINALS) else f"Item{index + 1}"
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
        rest, nullable = (schema, False) if payload else without_null(schema, self.definitions)
        if rest is not None and (payload or needs_name(rest)):
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
        at = self.origins[name]
        if branches is not self.definitions[name].get(keyword):  # they stand in a part
            self.unions.pop(at, None)
        found = self._recognise(node, at)
        words = labels(branches, self.sources, found)
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
        return found is None or len(found.first_tags) < len(branches)

    def _branch(
        self, union: str, found: Tagged | None, index: int, word: str, whole: Schema, branch: Schema, at: str
    ) -> Schema:
        alone = lone_reference({key: value for key, value in whole.items() if key != "not"})
        role = "default"
        base = class_name(union)
        candidates: list[str]
        if found is None:
            candidates = names_of_branch(base, word, is_keyed=at in self.places.keyed)
        elif index == found.fallback:
            role, candidates = "fallback", [f"Unknown{base}", f"{base}Fallback"]
        elif index == found.default:
            candidates = [joined(word, base), f"{base}{word}Variant"]
        else:
            if at not in self.places.tags:
                self.places.mark(at, union, found.first_tags[index])
            role, candidates = "variant", [joined(word, base), f"{base}{word}Variant"]
        if alone is not None and role != "fallback":
            kept = {key: value for key, value in branch.items() if not asserts(key) or key == "not"}
            return {**kept, "$ref": reference_to(alone)}
        body = self._owned(union, index, whole, branch, candidates, at) if found is not None else None
        if body is not None:
            kept = {key: value for key, value in branch.items() if not asserts(key) or key == "not"}
            return {**kept, "$ref": reference_to(body)}
        annotations = {key: value for key, value in branch.items() if key == "description" or key.startswith("x-")}
        inner = branches_of(self._expanded(whole)) if role == "fallback" else None
        if inner is not None:
            return self._fallback_shapes(union, candidates, whole, at)
        if role == "variant" and not self.is_apart:
            candidates = [*without_stutter(word, base, whole), *candidates]
        name, is_new = self._add(union, candidates, {key: v for key, v in whole.items() if key != "title"}, at)
        if is_new:
            self.sources[name] = copied(self.definitions[name])
            self.roots[name] = self.roots.get(union, union)
            if whole is not branch:
                self.unions.pop(at, None)
            self._distribute(name)
        annotations.pop("x-name", None)
        if found is not None and index == found.default and "title" in whole:
            annotations["title"] = whole["title"]  # which may be its tag, written out
        return {**annotations, "$ref": reference_to(name)}

    # --- variants that are their bodies ---

    def _owned(
        self, union: str, index: int, whole: Schema, branch: Schema, candidates: list[str], at: str
    ) -> str | None:
        """The body of a variant, with its tag from now on; `None` if it has none of its own, or people chose a name for the variant."""
        body = next((name for name, one in self.owners.items() if one.union == union and one.index == index), None)
        if body is None or body in self.distributed:
            return None
        if "x-name" in branch or self.places.name(at, candidates[0]) is not None:
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
        self.unions.pop(self.origins[body], None)
        self.roots[body] = self.roots.get(union, union)
        self._distribute(body)
        return body

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
        for index, (shape, title) in enumerate(zip(shapes, labels(shapes, self.sources, None), strict=True)):
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
        for index, (branch, word) in enumerate(zip(branches, labels(branches, self.sources, None), strict=True)):
            if keyword not in self.definitions[name]:
                return  # the union stands in a part, which keeps it as it is
            if not is_object(branch) or lone_reference(branch) is not None or not needs_name(branch):
                continue
            at = f"{self.origins[name]}/{keyword}/{index}"
            keys = [*self.places.keys(at), joined(word, base)] if self.places.names else []
            is_asked_for = "x-name" in branch or self.places.names.find(keys) is not None
            if not (is_of_objects or is_asked_for or branch.get("properties")):
                continue
            if "type" in self.definitions[name] and "type" not in branch:
                branch["type"] = self.definitions[name]["type"]  # which alone would say nothing of the branch's name
            added, is_new = self._add(name, names_of_branch(base, word, is_keyed=at in self.places.keyed), branch, at)
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


def frames(definitions: Mapping[str, Schema]) -> frozenset[str]:
    """The definitions that only frame messages: marked `x-docs-ignore`, no method's own, and referred to by nothing but each other."""
    found = {name for name, schema in definitions.items() if schema.get("x-docs-ignore") and "x-method" not in schema}
    pending = [name for name in definitions if name not in found]
    while pending:
        referred = found.intersection(references(definitions[pending.pop()]))
        found -= referred
        pending.extend(referred)
    return frozenset(found)


def _without_branch_names(schema: Schema) -> Schema:
    """A union's schema without the names that its branches ask for: they belong to the union that declares them."""
    union = branches_of(schema)
    if union is None:
        return schema
    keyword, branches = union
    return {**schema, keyword: [_without(branch, "x-name") for branch in branches]}


def _without(schema: Any, keyword: str) -> Any:
    return {key: value for key, value in schema.items() if key != keyword} if is_object(schema) else schema


def _write_formats(schema: Any) -> None:
    """Write what `format: absolute-path` asserts as a pattern, so that every judge agrees."""
    for _, one in inside(schema):
        if one.get("format") == "absolute-path" and "pattern" not in one:
            one["pattern"] = ABSOLUTE_PATH


def _is_leniency(keyword: str) -> bool:
    return keyword.startswith("x-deserialize-")
