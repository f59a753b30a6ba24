"""Hoisting: everything in a schema gets a name, and every variant becomes self-contained."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any, Final

from acpgen import ir
from acpgen.bundle.collect import Collected
from acpgen.bundle.faults import NAME_COLLISION, report_unused_name
from acpgen.bundle.fields import intersect_inherited_fields, needs_name, without_null
from acpgen.bundle.variants import find_variant_bodies, is_mergeable, merge, merge_body, subtract_body
from acpgen.errors import Fault, Faults
from acpgen.input.drafts import restore_keywords
from acpgen.input.equality import is_equal
from acpgen.input.keywords import OF_FIELDS
from acpgen.input.schema_nodes import OBJECTS, Node, ObjectShape, Schemas
from acpgen.input.step_budget import set_place
from acpgen.input.tagged_unions import Tagged, find_branches, find_lone_reference, recognise
from acpgen.input.walk import (
    Schema,
    asserts,
    find_reachable,
    is_object,
    list_references,
    select_assertions,
    strip_prose,
)
from acpgen.methods.discovery import bind, find_calls, list_payloads
from acpgen.methods.profile import Profile
from acpgen.naming.identifiers import make_class_name, spell_out
from acpgen.naming.name_overrides import NamedPlaces, NameOverrides
from acpgen.naming.qualifiers import (
    ORDINALS,
    join_members,
    join_words,
    list_alternatives,
    list_branch_names,
    make_branch_words,
    without_stutter,
)
from acpgen.pointers import escape, write_reference

MOST_VARIANTS: Final = 32
"""The maximum number of variants that unions in the branches of a union add to it, beside its own branches."""


class Bundler:
    """Builds the definitions of a bundle: inline schemas get names, and each variant of a union becomes self-contained.

    `run` builds them; afterwards `order_definitions` returns the definitions, and the other attributes have the data for `Bundle`.
    """

    def __init__(
        self,
        collected: Collected,
        names: NameOverrides,
        files: Mapping[str, Any],
        shared: Collection[str],
        profile: Profile,
        *,
        may_count: bool,
        is_apart: bool,
    ) -> None:
        self.definitions = dict(collected.definitions)
        self.root = collected.root
        self.framing = _find_frames(self.definitions)
        self.origins = dict(collected.origins)
        self.nodes = Schemas(collected.definitions, self.origins)
        self.files = files
        self.places = NamedPlaces(names, files, {at: name for name, at in self.origins.items()}, may_count=may_count)
        self.shared = shared
        self.is_apart = is_apart
        self.envelope: Final = profile.envelope
        self.calls = find_calls(self.nodes, profile)
        self.payloads = list_payloads(self.calls)
        self.methods: tuple[ir.Method, ...] = ()
        self.shared_types: set[str] = set()
        self.roots: dict[str, str] = {}
        self.variant_counts: dict[str, int] = {}
        self.below: dict[str, list[str]] = {}
        self.bodies: Mapping[tuple[str, int], str] = {}
        self.distributed: set[str] = set()
        self.field_places: dict[str, str] = {}
        self.unused: Mapping[str, str] = {}
        self.faults: list[Fault] = []
        self.order = list(self.definitions)
        self.sources: dict[str, Schema] = {}
        self.unions: dict[str, Tagged | None] = {}
        self.tagged: Mapping[str, Tagged | None] = {}
        self.names = {make_class_name(name): name for name in reversed(self.order)}
        self.demands = {name: strip_prose(schema) for name, schema in self.definitions.items()}

    def run(self) -> None:
        sorted_names = sorted((name for name in self.order if name not in self.framing), key=self._find_position)
        for name in sorted_names:  # so that no name depends on the order of files and keys
            set_place(self.origins[name])
            self.definitions[name] = self._name_inline(name, make_class_name(name), self.nodes[name])
        self.nodes = Schemas(self.definitions, self.origins)
        for name in sorted_names:
            for narrowed in intersect_inherited_fields(name, self.nodes, self.shared_types, self._join_types):
                self.demands.pop(narrowed, None)  # no other thing demands just that
        self.methods = bind(self.calls, self.nodes, self.envelope)
        self.sources = dict(self.definitions)
        self.nodes = Schemas(self.sources, self.origins)
        depths: Mapping[str, int] = {}
        if not self.is_apart:
            alone = {*self.framing, *(name for name, schema in self.definitions.items() if "x-method" in schema)}
            alone.update(name for method in self.methods for name in (method.params, method.result) if name is not None)
            self.bodies, depths = find_variant_bodies(self.nodes, self.root, framing=self.framing, alone=alone)
        for name in sorted(self.definitions, key=lambda name: (depths.get(name, 0), self._find_position(name))):
            if name not in self.framing and name not in self.distributed:
                self._distribute(name)
        self.tagged = {
            name: self._recognise(self.nodes.make_node(schema, self.origins[name]))
            for name, schema in self.definitions.items()
            if name not in self.framing
        }
        self.faults += self.places.check_indexes()
        self.unused = self.places.find_unused()
        self.faults.extend(report_unused_name(key, hint) for key, hint in self.unused.items() if key not in self.shared)
        if self.faults:
            raise Faults(fault.move_to(restore_keywords(fault.at, self.files)) for fault in self.faults)

    def _find_position(self, name: str) -> tuple[tuple[int, str], ...]:
        """The sort key of a definition's place: alphabetical, with array indices compared as numbers."""
        steps = self.origins[name].split("/")
        return tuple((int(step), "") if step.isdecimal() else (0, step) for step in steps)

    def order_definitions(self) -> dict[str, Schema]:
        """Definitions in source order, each followed by those hoisted out of it."""
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

        The name is the first of `candidates` that is free, or that belongs to a definition with the same assertions: then that one is
        reused. For a name chosen by the user there is no alternative.
        """
        preferred = list(dict.fromkeys(candidates))
        chosen_name = self.places.name(at, preferred[0]) or schema.get("x-name")
        body, node = strip_prose(schema), self.nodes.make_node(schema, at)
        names: Iterable[str] = chain(
            preferred[:1], join_members(node), preferred[1:], list_alternatives(preferred[0], node)
        )
        if isinstance(chosen_name, str):
            names = preferred = [chosen_name]
        for name in names:
            holder = self.names.setdefault(make_class_name(name), name)
            if holder not in self.definitions:
                self.definitions[name] = schema
                self.origins[name] = at
                self.places.named_at[at] = name
                self.demands[name] = body
                self.below.setdefault(owner, []).append(name)
                return name, True
            if is_equal(self.demands.get(holder), body):
                self.shared_types.add(holder)
                return holder, False
        holder = self.names[make_class_name(preferred[0])]
        self.faults.append(NAME_COLLISION(at=at, name=preferred[0], other=self.origins[holder]))
        return preferred[0], True

    def _join_types(self, owner: str, field_name: str, schema: Schema, at: str) -> Schema:
        """Make a schema that joins two types of a field a definition of its own; return a reference to it."""
        name, _ = self._add(owner, [f"{make_class_name(owner)}{make_class_name(field_name)}"], schema, at)
        return {"$ref": write_reference(name)}

    # --- inline things of fields ---

    def _name_inline(self, owner: str, base: str, node: Node, apart: str = "") -> Schema:
        """A definition or a branch of one, with names for inline schemas in its fields, items and values, including those of branches.

        The names begin with `base`; `apart` is put before it if the name belongs to a definition from another branch.
        """
        schema = dict(node.says)
        self._name_fields(owner, base, node, schema, apart)
        self._name_parts(owner, base, node, schema, apart)
        tagged = self._recognise(node)
        self.places.mark_variants(owner, node, tagged)
        for keyword in ("allOf", "anyOf", "oneOf"):
            if words := self._find_words(node, keyword, tagged):
                schema[keyword] = [
                    self._name_branch(owner, base, branch, word, apart) if is_object(branch.schema) else branch.schema
                    for branch, word in zip(node.get_subschemas(keyword), words, strict=True)
                ]
        return schema

    def _name_branch(self, owner: str, base: str, branch: Node, word: str, apart: str) -> Schema:
        if branch.at in self.places.variants and branch.at not in self.places.keyed:
            return self._name_inline(owner, join_words(word, base), branch)
        return self._name_inline(owner, base, branch, f"{word}{apart}")  # a key is in the names of its fields

    def _recognise(self, node: Node) -> Tagged | None:
        """The tagged union at a place: its branches combined with the sibling keywords, null aside. The result is cached by place."""
        if node.union is not None and node.at not in self.unions:
            keyword, branches = node.union
            indices = [
                index for index, branch in enumerate(branches) if is_object(branch.schema) and not branch.is_null
            ]
            beside = node.without(keyword).shape
            shapes = [ObjectShape() for _ in indices]
            for shape, index in zip(shapes, indices, strict=True):
                shape.add(beside)
                shape.add(branches[index].shape)
            tagged = recognise(shapes)
            self.unions[node.at] = None if tagged is None else tagged.select(indices)
        return None if node.union is None else self.unions[node.at]

    def _find_words(self, node: Node, keyword: str, tagged: Tagged | None = None) -> list[str]:
        """A word for each branch of a schema, for names; empty words if no branch needs a name."""
        branches = node.get_subschemas(keyword)
        if all(branch.reference is not None or not is_object(branch.schema) for branch in branches):
            return [""] * len(branches)
        return make_branch_words(branches, tagged if node.union is not None and node.union[0] == keyword else None)

    def _name_fields(self, owner: str, base: str, node: Node, schema: Schema, apart: str) -> None:
        """Name inline schemas of fields in alphabetical order, and list the new definitions in the order of the fields."""
        properties = node.get_subschema_map("properties")
        children = self.below.pop(owner, [])
        names_by_field: dict[str, list[str]] = {}
        types: Schema = {}
        for name in sorted(properties):
            full_name, spelled = f"{base}{make_class_name(name)}", f"{base}{make_class_name(spell_out(name))}"
            types[name] = self._name_inner_schemas(owner, (full_name, f"{apart}{full_name}", spelled), properties[name])
            names_by_field[name] = self.below.pop(owner, [])
        if properties:
            schema["properties"] = {name: types[name] for name in properties}
        if children := [*children, *(child for name in properties for child in names_by_field[name])]:
            self.below[owner] = children

    def _name_parts(self, owner: str, base: str, node: Node, schema: Schema, apart: str = "") -> None:
        def name_part(word: str, part: Node) -> Any:
            return self._name_inner_schemas(owner, (f"{base}{word}", f"{apart}{base}{word}"), part)

        for keyword, word in (("items", "Item"), ("additionalProperties", "Value")):
            if is_object(node.says.get(keyword)):
                schema[keyword] = name_part(word, node.get_subschema(keyword))
        if entries := node.get_subschemas("prefixItems"):
            words = (*ORDINALS, *(f"Item{index + 1}" for index in range(len(ORDINALS), len(entries))))
            schema["prefixItems"] = [name_part(word, entry) for word, entry in zip(words, entries, strict=False)]
        additional, patterns = node.says.get("additionalProperties", True), node.get_subschema_map("patternProperties")
        if patterns and additional not in (True, {}):  # else any value may stand there
            schema["patternProperties"] = dict(node.says["patternProperties"])
            for pattern in sorted(patterns):
                is_alone = len(patterns) == 1 and not is_object(additional)
                word = "" if is_alone or not re.search("[A-Za-z0-9]", pattern) else make_class_name(pattern)
                schema["patternProperties"][pattern] = name_part(f"{word}Value", patterns[pattern])

    def _name_inner_schemas(self, owner: str, candidates: tuple[str, ...], node: Node) -> Any:
        """The schema of a field, where everything that needs a name is replaced by a reference."""
        if not is_object(node.schema) or node.reference is not None:
            return node.schema
        payload = self.payloads.get(node.at, ())
        non_null, nullable = (node.says, False) if payload else without_null(node)
        if non_null is not None and (payload or needs_name(node if non_null is node.says else node.make(non_null))):
            body = {key: value for key, value in non_null.items() if not _is_of_field(key)}
            name, is_new = self._add(owner, payload or candidates, body, node.at)
            if is_new:
                self.definitions[name] = self._name_inline(
                    name, make_class_name(name), self.nodes.make_node(body, node.at)
                )
            of_field = {key: value for key, value in node.says.items() if _is_of_field(key) or key == "description"}
            reference = {"$ref": write_reference(name)}
            return {**of_field, "anyOf": [reference, {"type": "null"}]} if nullable else {**of_field, **reference}
        schema = dict(node.says)
        self._name_parts(owner, candidates[0], node, schema)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if words := self._find_words(node, keyword):
                schema[keyword] = [
                    self._name_inner_schemas(owner, (candidates[0], f"{word}{candidates[0]}", *candidates[1:]), branch)
                    for branch, word in zip(node.get_subschemas(keyword), words, strict=True)
                ]
        return schema

    # --- variants ---

    def _distribute(self, name: str) -> None:
        """Make every branch of the object union `name` a self-contained definition."""
        set_place(self.origins[name])
        self.distributed.add(name)
        definition = self.nodes[name]
        node = self.nodes.make_node(self._expand(definition.says), definition.at)
        if node.union is None or "unevaluatedProperties" in node.says:
            return
        keyword, branches = node.union
        base = {key: value for key, value in node.says.items() if key != keyword and asserts(key)}
        if set(base) <= {"type"} and base.get("type", "object") == "object":
            base = {}
        if base and self._narrows(base, branches):
            return
        if definition.kinds != OBJECTS or not all(
            is_object(b.schema) and b.shape.is_object and is_mergeable(base, b.schema) for b in branches
        ):
            if keyword in definition.says:  # else the union stands in a part, which keeps it as it is
                shapes = self._name_shapes(definition, keyword, is_of_objects=node.shape.is_object)
                self.definitions[name] = {**definition.says, keyword: shapes}
            return
        root = self.roots.get(name, name)
        if root != name:
            self.variant_counts[root] = self.variant_counts.get(root, 0) + len(branches)
            if self.variant_counts[root] > MOST_VARIANTS:
                return  # unions that multiply stay as they are written
        merged_branches = [
            merge(base, branch.schema, self.sources) if base or branch.kinds != OBJECTS else branch.schema
            for branch in branches
        ]
        if node.says[keyword] is not definition.says.get(keyword):  # they stand in a part
            self.unions.pop(definition.at, None)
        tagged = self._recognise(node)
        words = make_branch_words(branches, tagged)
        after = {key: value for key, value in node.says.items() if key not in base or key == "type"}
        if base:
            after["type"] = "object"
        after[keyword] = [
            self._hoist_branch(name, tagged, index, words[index], merged_branches[index], branch)
            for index, branch in enumerate(branches)
        ]
        self.definitions[name] = after

    def _narrows(self, base: Schema, branches: list[Node]) -> bool:
        """Whether the branches of a union only narrow the object beside them, by its fields' schemas or presence, and are not variants."""
        object_ = self.nodes.make_node(base).shape
        if not object_.properties or not all(branch.narrows(object_.properties) for branch in branches):
            return False
        shapes = [self.nodes.make_node({"allOf": [base, branch.schema]}).shape for branch in branches]
        tagged = recognise(shapes)
        return tagged is None or len(tagged.first_tags) < len(branches)

    def _hoist_branch(
        self, union: str, tagged: Tagged | None, index: int, word: str, whole: Schema, branch: Node
    ) -> Schema:
        """The branch of a union as a reference to its variant. `whole` is what the variant demands, `branch` the branch in the source."""
        at = f"{self.origins[union]}/{'/'.join(branch.keys)}"
        alone = find_lone_reference({key: value for key, value in whole.items() if key != "not"})
        role = "default"
        base = make_class_name(union)
        candidates: list[str]
        if tagged is None:
            candidates = list_branch_names(base, word, is_keyed=at in self.places.keyed)
        elif index == tagged.fallback:
            role, candidates = "fallback", [f"Unknown{base}", f"{base}Fallback"]
        else:
            if index != tagged.default:
                role = "variant"
                if at not in self.places.tags:
                    self.places.mark(at, union, tagged.first_tags[index])
            candidates = [join_words(word, base), f"{base}{word}Variant"]
        body = alone if role != "fallback" else None
        if body is None and tagged is not None:
            body = self._take_body(union, index, whole, branch, candidates, at)
        if body is not None:
            retained_keywords = {key: value for key, value in branch.says.items() if not asserts(key) or key == "not"}
            return {**retained_keywords, "$ref": write_reference(body)}
        variant = self.nodes.make_node(whole, at)
        if role == "fallback" and find_branches(self._expand(whole)) is not None:
            return self._split_fallback(union, candidates, whole, at)
        if role == "variant":
            candidates = [*without_stutter(word, base, variant), *candidates]
        name, is_new = self._add(union, candidates, {key: v for key, v in whole.items() if key != "title"}, at)
        if is_new:
            self.sources[name] = self.definitions[name]
            self.roots[name] = self.roots.get(union, union)
            if whole is not branch.schema:
                self.unions.pop(at, None)
            self._distribute(name)
        annotations = {key: v for key, v in branch.says.items() if key == "description" or key.startswith("x-")}
        annotations.pop("x-name", None)
        if tagged is not None and index == tagged.default and "title" in whole:
            annotations["title"] = whole["title"]  # which may be its tag, written out
        return {**annotations, "$ref": write_reference(name)}

    # --- variants that are their bodies ---

    def _take_body(
        self, union: str, index: int, whole: Schema, branch: Node, candidates: list[str], at: str
    ) -> str | None:
        """The body of a variant, merged with its tag from now on.

        `None` if the body is not owned by the variant alone, or if the user chose a name for the variant.
        """
        body = self.bodies.get((union, index))
        if body is None or body in self.distributed:
            return None
        if "x-name" in branch.says or self.places.name(at, candidates[0]) is not None:
            return None
        demands = {key: value for key, value in subtract_body(whole, body).items() if key not in ("not", "title")}
        schema = merge_body(self.definitions[body], demands, self.sources)
        if schema is None or not self.nodes[body].shape.is_object:
            return None
        branch_properties = subtract_body(branch.says, body).get("properties", {})
        for name in demands.get("properties", {}):
            if name not in self.definitions[body].get("properties", {}):
                place = at if name in branch_properties else self.origins[union]
                step = f"properties/{escape(name)}"
                self.field_places[f"{self.origins[body]}/{step}"] = f"{place}/{step}"
        self.definitions[body] = schema
        self.sources[body] = schema
        self.nodes.forget(body)
        self.unions.pop(self.origins[body], None)
        self.roots[body] = self.roots.get(union, union)
        self._distribute(body)
        return body

    def _split_fallback(self, union: str, candidates: list[str], whole: Schema, at: str) -> Schema:
        """Split a fallback that is itself a union: one record for the common part of its shapes, and one below it for each shape."""
        node = self.nodes.make_node(self._expand(whole), at)
        assert node.union is not None
        keyword, shapes = node.union
        common = {key: value for key, value in node.says.items() if key not in (keyword, "title")}
        name, _ = self._add(union, candidates, common, at)
        self.sources[name] = common
        references: list[Schema] = []
        for shape, title in zip(shapes, make_branch_words(shapes, None), strict=True):
            schema = merge({"type": "object", "allOf": [{"$ref": write_reference(name)}]}, shape.schema, self.sources)
            schema.pop("title", None)
            below, _ = self._add(name, [f"{title}{make_class_name(name)}"], schema, shape.at)
            self.sources[below] = schema
            references.append({"$ref": write_reference(below)})
        description = {key: value for key, value in whole.items() if key == "description"}
        return {**description, keyword: references}

    def _name_shapes(self, union: Node, keyword: str, *, is_of_objects: bool) -> list[Any]:
        """The branches of a union that are not self-contained, where inline objects are references; those of unions inside it, too."""
        base, branches = make_class_name(union.owner), [branch.schema for branch in union.get_subschemas(keyword)]
        for index, (branch, word) in enumerate(
            zip(union.get_subschemas(keyword), make_branch_words(union.get_subschemas(keyword), None), strict=True)
        ):
            if not is_object(branch.schema) or branch.reference is not None or not needs_name(branch):
                continue
            keys = [*self.places.list_keys(branch.at), join_words(word, base)] if self.places.names else []
            is_asked_for = "x-name" in branch.says or self.places.names.find(keys) is not None
            is_joined = branch.kinds == OBJECTS and "allOf" in branch.says
            if not (is_of_objects or is_asked_for or is_joined or branch.says.get("properties")):
                if branch.union is not None:
                    inner = self._name_shapes(branch, branch.union[0], is_of_objects=False)
                    branches[index] = {**branch.says, branch.union[0]: inner}
                continue
            schema = {**branch.schema}
            if "type" in union.says:
                schema.setdefault("type", union.says["type"])  # which alone would say nothing of the branch's name
            names = list_branch_names(base, word, is_keyed=branch.at in self.places.keyed)
            definition_name, is_new = self._add(union.owner, names, schema, branch.at)
            if is_new:
                self.sources[definition_name] = schema
            branches[index] = {"$ref": write_reference(definition_name)}
        return branches

    def _expand(self, schema: Schema, expanded_names: set[str] | None = None) -> Schema:
        """`schema` with every in-place part that holds a union of objects merged into it.

        `expanded_names` are the definitions merged so far.
        """
        node = dict(schema)
        expanded_names = set() if expanded_names is None else expanded_names
        every = node.pop("allOf", ())
        parts: list[Schema] = [part for part in every if is_object(part)]
        if "$ref" in node:
            parts.append({"$ref": node.pop("$ref")})
        remaining_parts: list[Schema] = []
        for part in parts:
            reference = find_lone_reference(part)
            if reference is not None and reference in expanded_names:
                continue
            expanded_names.update([reference] if reference is not None else [])
            source = self.sources[reference] if reference is not None else part
            if reference is not None and not _holds_union(self.nodes[reference]):
                remaining_parts.append({"$ref": write_reference(reference)} if is_mergeable(node, source) else part)
                continue
            inner = _without_branch_names(self._expand(source, expanded_names))
            if is_mergeable(node, source) and is_mergeable(node, inner):
                node = merge(node, select_assertions(inner), self.sources)
            else:
                remaining_parts.append(part)
        if False in every:
            remaining_parts.append({"not": {}})
        if remaining_parts:
            node["allOf"] = [*remaining_parts, *node.get("allOf", ())]
        return node


def _find_frames(definitions: Mapping[str, Schema]) -> frozenset[str]:
    """The definitions that only describe the framing of messages: marked `x-docs-ignore`, without a method, and referenced only by each
    other.
    """
    framing_names = {
        name for name, schema in definitions.items() if schema.get("x-docs-ignore") and "x-method" not in schema
    }
    content_names = [name for name in definitions if name not in framing_names] if framing_names else []
    referred = find_reachable(
        content_names, lambda name: framing_names.intersection(list_references(definitions[name]))
    )
    return frozenset(framing_names - referred.keys())


def _holds_union(node: Node) -> bool:
    """Whether a schema or one of its parts is a union of objects."""
    return any(part.branches and all(branch.shape.is_object for branch in part.branches) for part in node.all_parts)


def _without_branch_names(schema: Schema) -> Schema:
    """A union's schema without `x-name` of its branches, which only applies in the union that declares them."""
    keyword, branches = find_branches(schema) or ("", [])
    unnamed = [
        {key: value for key, value in branch.items() if key != "x-name"} if is_object(branch) else branch
        for branch in branches
    ]
    return {**schema, keyword: unnamed} if unnamed else schema


def _is_of_field(keyword: str) -> bool:
    return keyword in OF_FIELDS or keyword.startswith("x-deserialize-")
