"""Merging of many files into one document: every reference is local, every referenced place a definition of its own."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from acpgen.bundle.faults import (
    FOREIGN_KEYWORD,
    HIDDEN_KEYWORD,
    MISSPELT_KEYWORD,
    NAME_COLLISION,
    NOT_A_DEFINITION,
    REFERENCE_LOOP,
    SEVERAL_TARGETS,
    STRAY_DEFINITION,
    UNCLEAR_DRAFT,
    UNKNOWN_KEYWORD,
)
from acpgen.errors import Fault, Faults
from acpgen.input.complexity import measure_depths
from acpgen.input.dialect import DECLARING, check_values, find_sides
from acpgen.input.drafts import ONLY_OLDER, Draft, find_meaningless, is_unfit, modernize
from acpgen.input.expressions import estimate_size
from acpgen.input.faults import MALFORMED_KEYWORD, UNKNOWN_DIALECT, report_dangling
from acpgen.input.file_discovery import FILES
from acpgen.input.ignored_content import find_unread_members
from acpgen.input.keywords import TABLE, guess_keyword
from acpgen.input.load import Documents, check_schema, find_meta_schema
from acpgen.input.reference_resolution import REFERRING, ReferenceResolver, SchemaPlace
from acpgen.input.step_budget import spend
from acpgen.input.tagged_unions import find_branches, find_constant
from acpgen.input.walk import (
    ASSERTIONS,
    DEFINITIONS,
    KEYWORDS,
    TYPES,
    Schema,
    as_object,
    find_cycles,
    find_refs_anywhere,
    is_array,
    is_object,
    list_children,
    map_subschemas,
)
from acpgen.naming.definition_names import Kind, NameRequest, assign_names, filter_steps, rename, rename_references
from acpgen.naming.identifiers import make_class_name
from acpgen.naming.name_overrides import NameOverrides, list_meanings
from acpgen.pointers import find_value, read_reference, write_pointer, write_reference

STRIPPED = ("customTypePath", "customBasePath", "customTypeImport")
"""Keywords by which a schema could make the record emitter import something."""

MIGRATION: Final = "x-migration"
"""The keyword of migration entries, which tell about the previous version: about the schemas of a file, and not part of them."""


_KEYWORD_NAMES: Final = frozenset(keyword.name for keyword in TABLE)
"""Keywords of JSON Schema and of the dialect. Any other key of a schema is reported."""

ABSOLUTE_PATH: Final = r"^(?:/|[A-Za-z]:[\\/]|\\\\[^\\/])"
"""The assertion of `format: absolute-path`: a POSIX root, a drive letter, or a UNC prefix. Lexical, on every platform alike."""

MOST_NAMED: Final = 5
"""The maximum number of places that a fault on an ambiguous reference names."""

LONGEST_TITLE = 80
"""The maximum number of characters of a title that is used as a name. A longer one is a description."""


@dataclass(slots=True)
class Collected:
    """The definitions of all files under local names, and the keywords of the root. `notes` tell what was omitted, and why."""

    root: Schema
    definitions: dict[str, Schema]
    origins: dict[str, str]
    notes: tuple[Fault, ...] = ()


def collect(
    documents: Documents,
    names: NameOverrides | None = None,
    sides: Iterable[str] = (),
    ungrouped: Iterable[str] = (),
    read: Iterable[str] = (),
) -> Collected:
    """Merge the files, rewrite each `$ref` to `#/$defs/Name`, and convert older drafts to 2020-12.

    Each definition gets a name, including those in groups and inside other definitions, and so does each root with an assertion, unless
    it is the envelope of a protocol's messages. `names` maps a pointer (`#/$defs/Old`, `file.json#/…`, `#` for the root) to a chosen
    name; `sides` are those that a profile declares, `ungrouped` the files in which each member of the definitions is a schema, `read`
    places that other code reads. Raises `Faults`: dangling references, cycles of nothing but references, duplicate definition names,
    values that are not schemas where one is required, unsupported keywords, invalid values of the dialect's keywords.
    """
    work = _Collector(documents, names or NameOverrides({}), sides, frozenset(ungrouped))
    work.find_schemas(frozenset(read))
    return work.write()


class _Collector:
    def __init__(
        self, documents: Documents, names: NameOverrides, sides: Iterable[str], ungrouped: frozenset[str]
    ) -> None:
        self.names = names
        self.ungrouped = ungrouped
        self.faults: list[Fault] = []
        self.notes: list[Fault] = []
        self.unknown: dict[tuple[str, str], list[str]] = {}
        self.files: dict[str, Schema] = {
            document.path: document.value for document in documents.documents if is_object(document.value)
        }
        self.sides = find_sides(self.files.values(), sides)
        self.entry_paths = tuple(self.files)
        self.silent = frozenset(path for path, value in self.files.items() if "$schema" not in value)
        self.resolver = ReferenceResolver(documents.values_by_uri)
        self.visited: set[SchemaPlace] = set()
        self.schemas: dict[SchemaPlace, Schema] = {}
        self.inside: dict[SchemaPlace, list[SchemaPlace]] = {}
        self.references: dict[SchemaPlace, list[Schema]] = {}
        self.groups: set[SchemaPlace] = set()
        self.members: dict[SchemaPlace, None] = {}
        self.keys_by_place: dict[SchemaPlace, str] = {}
        self.requests: dict[str, NameRequest] = {}
        self.pending_uris: list[str] = []
        self.pending: list[SchemaPlace] = []
        for path in self.entry_paths:
            self.resolver.admit(path, self.files[path])
        for uri, document in documents.references.items():
            self._open(document.path, document.value, uri)
        self.passed, self.referred = self._trace_references()

    def find_schemas(self, read: frozenset[str]) -> None:
        """Find all schemas, request names for definitions, and resolve the references that lead from the files. Raises `Faults`."""
        for path, value in [*self.files.items()]:
            self._scan(SchemaPlace(path, ()), value)
        self._bring()
        for place in self.members:
            self._request_name(place, "member" if len(place.parts) == 2 else "inner", place.parts[-1])
        for path in self.entry_paths:
            self._resolve(SchemaPlace(path, ()))
        while self.pending:
            self._resolve(self.pending.pop())
        self._note_unread(read)
        if self.faults:
            raise Faults(self.faults)

    def write(self) -> Collected:
        """The definitions by their names. Raises `Faults`."""
        roots = {path: self._write(SchemaPlace(path, ())) for path in self.entry_paths}
        schemas_by_key = {name: self._write(place) for place, name in self.keys_by_place.items()}
        self._name_roots(roots, schemas_by_key)
        root = self._make_root(roots)
        assignment = assign_names(self.requests, schemas_by_key)
        collisions = [
            NAME_COLLISION(at=key, name=assignment.names[key], other=f"the definition at {rival}")
            for key, rival in assignment.conflicts
        ]
        if collisions:
            raise Faults(collisions)
        definitions = rename(schemas_by_key, assignment)
        rename_references(root, assignment)
        origins = {assignment.names[key]: key for key in schemas_by_key if key not in assignment.first}
        _refuse_loops(definitions, origins)
        return Collected(root, definitions, origins, tuple(dict.fromkeys((*self.notes, *self._report_unknown()))))

    # --- documents beside the protocol's ---

    def _open(self, path: str, value: Any, uri: str) -> None:
        if is_object(value):
            if path not in self.files:
                self.files[path] = value
            self.resolver.admit(path, value, uri, is_entry=path in self.entry_paths)

    def _bring(self) -> None:
        """Load the published meta-schemas that references name, transitively."""
        while self.pending_uris:
            uri = self.pending_uris.pop()
            document = None if self.resolver.knows(uri) else find_meta_schema(uri)
            if document is not None:
                self._open(document.path, document.value, uri)
                self._scan(SchemaPlace(document.path, ()), self.files[document.path])

    # --- names ---

    def _request_name(self, place: SchemaPlace, kind: Kind, default_name: str) -> None:
        """Request a name for a place: the one that the user or `x-name` of the schema chooses, otherwise the default.

        References contain the place until all names are assigned.
        """
        keys = [place.at, write_pointer(*place.parts), default_name, *list_meanings(place.at)] if self.names else []
        has_both = all(keyword in self.files[place.path] for keyword in DEFINITIONS)
        schema = self._get_value(place)
        chosen_name = self.names.find(keys, is_exact=has_both) or (is_object(schema) and schema.get("x-name"))
        is_chosen = isinstance(chosen_name, str)
        self.keys_by_place[place] = place.at
        wanted_name = chosen_name if isinstance(chosen_name, str) else default_name
        self.requests[place.at] = NameRequest(kind, place.path, place.parts, wanted_name, is_chosen=is_chosen)

    # --- positions ---

    def _scan(self, place: SchemaPlace, schema: object) -> None:
        """Find schemas, groups of definitions, URIs and anchors at and below a place, and check keywords."""
        self.visited.add(place)
        if not is_object(schema):
            return
        draft = self.resolver.find_draft(place, schema)
        if draft is None:
            self.faults.append(UNKNOWN_DIALECT(at=f"{place.at}/$schema", dialect=str(schema["$schema"])))
            draft = self.resolver.find_resource(place).draft
        self._note_unknown(place, schema, draft)
        schema = self._without_meaningless(place, schema, draft)
        self.schemas[place] = schema
        self.resolver.enter(place, schema, draft)
        self.pending_uris.extend(
            self.resolver.resolve_uri(place, schema[key]) for key in REFERRING if _is_text(schema, key)
        )
        self.faults.extend(check_values(schema, place.at, self.sides))
        _measure(schema)
        inside = self.inside[place] = list[SchemaPlace]()
        for below, child in list_children(schema):
            if below[0] in DEFINITIONS:
                self._scan_definition(place.descend(*below), child, inside)
            else:
                inside.append(place.descend(*below))
                self._scan(inside[-1], child)

    def _note_unknown(self, place: SchemaPlace, schema: Schema, draft: Draft) -> None:
        """Record unknown keywords. Members of a root that is not a schema itself may have any name, unless it resembles a keyword."""
        if place.path not in self.entry_paths:
            return
        is_container = not place.parts and ASSERTIONS.isdisjoint(schema)
        for key in schema.keys() - _KEYWORD_NAMES - {draft.identifier}:
            suggestion = guess_keyword(key)
            if suggestion or not (is_container or key.startswith("x-")):
                self.unknown.setdefault((place.path, key), []).append(place.at)

    def _note_unread(self, read: frozenset[str]) -> None:
        """Record members, other than keywords, of roots that are not schemas, if they look like schemas and no reference leads to them."""
        roots = ((path, self.schemas[SchemaPlace(path, ())]) for path in self.entry_paths)
        containers = {path: root for path, root in roots if ASSERTIONS.isdisjoint(root)}
        for path, key in find_unread_members(containers, {*read, *(place.at for place in self.visited)}):
            self.unknown.setdefault((path, key), [SchemaPlace(path, ()).at])

    def _report_unknown(self) -> list[Fault]:
        """Notes on unknown keys: one for each place of a misspelt keyword; one per file for any other."""
        notes: list[Fault] = []
        for (_, key), places in self.unknown.items():
            suggestion = guess_keyword(key)
            if suggestion:
                notes += [MISSPELT_KEYWORD(at, keyword=key, meant=suggestion) for at in places]
                continue
            count = len(places) - 1
            elsewhere = f", here and at {count} more place{'s' if count > 1 else ''}" if count else ""
            notes.append(UNKNOWN_KEYWORD(min(places), keyword=key, elsewhere=elsewhere))
        return sorted(notes, key=lambda note: (note.at, str(note.values["keyword"])))

    def _without_meaningless(self, place: SchemaPlace, schema: Schema, draft: Draft) -> Schema:
        """A schema without keywords that have no meaning in its draft, and without those that could make a generator import something."""
        left_out = find_meaningless(schema, draft)
        is_silent = place.path in self.silent
        may_be_anything = is_silent and not place.parts and ASSERTIONS.isdisjoint(schema.keys() - {*left_out})
        for key in left_out if place.path in self.entry_paths and not may_be_anything else ():
            if is_silent and key in ONLY_OLDER:
                self.faults.append(UNCLEAR_DRAFT(at=place.at, keyword=key))
                continue
            is_foreign = not draft.knows(key) or is_unfit(key, schema[key])
            if is_foreign or key in ASSERTIONS:
                kind = FOREIGN_KEYWORD if is_foreign else HIDDEN_KEYWORD
                self.notes.append(kind(place.at, keyword=key, draft=draft.name))
        left_out += [key for key in schema if key in STRIPPED or key.startswith("x-python-")]
        return {key: value for key, value in schema.items() if key not in left_out} if left_out else schema

    def _scan_definition(self, place: SchemaPlace, schema: Any, inside: list[SchemaPlace]) -> None:
        """Scan a member of `$defs` or `definitions`: a schema, or a group of them. Those of the protocol's files are put `inside`."""
        if not isinstance(schema, bool) and not is_object(schema):
            self.notes.append(STRAY_DEFINITION(at=place.at))
            return
        is_referred = place in self.referred or place.path in self.ungrouped
        kind = "schema" if is_referred else _classify(schema, self.passed.get(place, set()))
        if kind == "group" and is_object(schema):
            self.groups.add(place)
            for name, member in schema.items():
                if not _is_note(name, member):
                    self._scan_definition(place.descend(name), member, inside)
            return
        if kind == "mixed":
            self.faults.append(NOT_A_DEFINITION(at=place.at))
            return
        if place.path in self.entry_paths:
            self.members[place] = None
            inside.append(place)
        is_in_group = SchemaPlace(place.path, place.parts[:-1]) in self.groups
        draft = self.resolver.find_resource(place).draft
        if is_in_group or (draft.is_lone_ref and place.parts[-2] == "$defs"):
            self.faults.extend(check_schema(schema, place.at, draft))  # the root's meta-schema does not reach it
        self._scan(place, schema)

    # --- references ---

    def _resolve(self, place: SchemaPlace) -> None:
        """Resolve the references at and below a place. Definitions in referenced documents count only if a reference leads to them."""
        schema = self.schemas.get(place)
        if schema is None or place in self.references:
            return
        references = self.references[place] = list[Schema]()
        references += [{"$ref": self._localize(place, key, schema[key])} for key in REFERRING if key in schema]
        for inner in self.inside[place]:
            self._resolve(inner)

    def _localize(self, place: SchemaPlace, keyword: str, ref: object) -> str:
        if not isinstance(ref, str):
            self.faults.append(MALFORMED_KEYWORD(at=place.at, keyword=keyword, expected="a string"))
            return "#"
        targets = self.resolver.find(place, keyword, ref)
        if len(targets) > 1:
            shown_targets = targets if len(targets) <= MOST_NAMED else targets[: MOST_NAMED - 1]
            count = len(targets) - len(shown_targets)
            suffix = f" or one of {count} more places" if count else ""
            places = f"{' or '.join(target.at for target in shown_targets)}{suffix}"
            self.faults.append(SEVERAL_TARGETS(at=place.at, ref=ref, keyword=keyword, places=places))
            return "#"
        schemas = (
            target
            for target in targets
            if target not in self.groups and isinstance(self._get_value(target), dict | bool)
        )
        target_place = next(schemas, None)
        if target_place is None or not self._reach(target_place):
            missing = "" if targets else self._find_unknown_address(place, ref)
            self.faults.append(report_dangling(place.at, ref, missing, keyword))
            return "#"
        if target_place not in self.keys_by_place:
            self._request_name(target_place, "place" if target_place.parts else "root", self._name_of(target_place))
            if target_place.path not in self.entry_paths:
                self.pending.append(target_place)
        return write_reference(self.keys_by_place.get(target_place, ""))

    def _find_unknown_address(self, place: SchemaPlace, ref: str) -> str:
        """The URI under which a reference's unknown document must be supplied, as written if it is a path. Empty if the document is
        known.
        """
        absolute = self.resolver.resolve_uri(place, ref)
        if self.resolver.knows(absolute):
            return ""
        return ref.partition("#")[0] if absolute.startswith(FILES) or not absolute else absolute

    def _reach(self, place: SchemaPlace) -> bool:
        """Whether a schema is at the target of a reference. A target that no keyword leads to is scanned here."""
        if place in self.visited:
            return True
        schema = self._get_value(place)
        if is_object(schema) and schema and KEYWORDS.isdisjoint(schema):
            return False
        violations = [*check_schema(schema, place.at, self.resolver.find_resource(place).draft)]
        self.faults.extend(violations)
        self.visited.add(place)
        if not violations:
            self._scan(place, schema)
            self._bring()
            self.pending.append(place)
        return True

    def _get_value(self, place: SchemaPlace) -> Any:
        """The value at a place; `None` if there is none."""
        return find_value(self.files.get(place.path), place.parts)

    def _trace_references(self) -> tuple[Mapping[SchemaPlace, set[str]], set[SchemaPlace]]:
        """The keys by which references pass through each place, and the targets of references."""
        keys_by_place: dict[SchemaPlace, set[str]] = {}
        referred: set[SchemaPlace] = set()
        for path, value in self.files.items():
            for ref in dict.fromkeys(find_refs_anywhere(value)):
                for target_place in self.resolver.find_targets(SchemaPlace(path, ()), ref):
                    referred.add(target_place)
                    for depth, part in enumerate(target_place.parts):
                        around = SchemaPlace(target_place.path, target_place.parts[:depth])
                        keys_by_place.setdefault(around, set()).add(part)
        return keys_by_place, referred

    def _name_of(self, place: SchemaPlace) -> str:
        """A name for a place without one: the title or file name of a root, otherwise the keys of its path."""
        if place.parts:
            words = "".join(map(make_class_name, filter_steps(place.parts)))
            return words or self._name_of(SchemaPlace(place.path, ())) + make_class_name(place.parts[-1])
        title = str(self.files[place.path].get("title", ""))
        is_name = any(map(str.isalnum, title)) and len(title) <= LONGEST_TITLE
        return make_class_name(title if is_name else posixpath.basename(place.path).split(".")[0])

    # --- roots ---

    def _name_roots(self, roots: Mapping[str, Schema], definitions: dict[str, Schema]) -> None:
        """Name each root with an assertion, except envelopes and roots that only refer to a definition."""
        has_methods = any(map(_marks_method, definitions.values()))
        for path, root in roots.items():
            place = SchemaPlace(path, ())
            if place in self.keys_by_place or not self._is_typed(path) or _refers(root):
                continue
            if not (has_methods and _carries_messages(root, definitions, frozenset())):
                self._request_name(place, "root", self._name_of(place))
                definitions[place.at] = root

    def _make_root(self, roots: Mapping[str, Schema]) -> Schema:
        """The keywords of the only root: those of an envelope or a reference, otherwise a reference to its type. Of several roots, or
        of a root without assertions, only what the only file says about the protocol.
        """
        typed_paths = [path for path in roots if self._is_typed(path)]
        unnamed = [
            path for path in typed_paths if SchemaPlace(path, ()) not in self.keys_by_place and not _refers(roots[path])
        ]
        candidates = unnamed or typed_paths
        if len(candidates) != 1:
            (only,) = roots.values() if len(roots) == 1 else ({},)
            return {key: only[key] for key in ("title", "description") if key in only}
        root = roots[candidates[0]]
        name = self.keys_by_place.get(SchemaPlace(candidates[0], ()))
        if name is None:
            return root
        return {**{key: root[key] for key in ("title", "description") if key in root}, "$ref": write_reference(name)}

    def _is_typed(self, path: str) -> bool:
        """Whether a root has assertions. Some keywords are common in other documents, too: they count only beside `$schema`."""
        root = self.schemas[SchemaPlace(path, ())]
        is_weak = "$schema" in root and any(key in root for key in _WEAK)
        return is_weak or not ASSERTIONS.isdisjoint(root) or any(key in root for key in REFERRING)

    @cached_property
    def _counts_evaluated(self) -> bool:
        """Whether any schema depends on which members or items others have evaluated."""
        return any(
            "unevaluatedProperties" in schema or "unevaluatedItems" in schema for schema in self.schemas.values()
        )

    def _write(self, place: SchemaPlace) -> Schema:
        """The schema at a place, as a definition."""
        schema = as_object(self._modernize(place, self._get_value(place)))
        return {key: value for key, value in schema.items() if key not in (MIGRATION, DECLARING)}

    def _modernize(self, place: SchemaPlace, schema: Any) -> Any:
        """A schema converted to keywords of 2020-12 and local references, without its definitions; its branches are objects."""
        if not is_object(schema):
            return schema
        keywords = {key: value for key, value in self.schemas.get(place, schema).items() if key not in DEFINITIONS}

        def convert(keys: tuple[str, ...], child: Any) -> Any:
            inner = place.descend(*keys)
            is_taken = inner in self.keys_by_place and inner not in self.members  # a reference takes its stead
            converted = (
                {"$ref": write_reference(self.keys_by_place[inner])} if is_taken else self._modernize(inner, child)
            )
            return as_object(converted) if is_array(keywords[keys[0]]) else converted

        result = map_subschemas(keywords, convert)
        references = self.references.get(place, [])
        for key in REFERRING[1:]:
            result.pop(key, None)
        result.update(references[0] if references else {})
        if len(references) > 1:
            result["allOf"] = [*result.get("allOf", ()), *references[1:]]
        if result.get("format") == "absolute-path":
            result.setdefault("pattern", ABSOLUTE_PATH)  # so that every judge agrees
        counts_evaluated = "else" in result and self._counts_evaluated
        return modernize(result, self.resolver.find_resource(place).draft, counts_evaluated=counts_evaluated)


def _classify(schema: object, passing_keys: set[str]) -> str:
    """The kind of a member of `$defs`: `schema`, `group` (of schemas), or `mixed` if neither fits.

    It is a group if it has no keyword and only schemas, or if references pass through it and it has only schemas. The target of a
    reference is always a schema; it is not passed to this function.
    """
    if not is_object(schema):
        return "schema"
    members = {key: value for key, value in schema.items() if not _is_note(key, value)}
    strange = [key for key in members if key not in KEYWORDS]
    if not strange or not (
        any(key in strange for key in passing_keys) or any(_looks_asserting(schema[k]) for k in strange)
    ):
        return "schema"
    is_pure = all(isinstance(schema[key], dict | bool) for key in strange)
    familiar = members.keys() - set(strange)
    if is_pure and not familiar:
        return "group"
    if is_pure and any(key in strange for key in passing_keys) and all(is_object(schema[key]) for key in familiar):
        return "group"
    return "mixed" if ASSERTIONS.isdisjoint(familiar) else "schema"


def _is_note(key: str, value: object) -> bool:
    """Whether a member of a group is an annotation of the group and not one of its definitions."""
    return key.startswith("x-") or (key in ("title", "description", "$comment") and isinstance(value, str))


def _looks_asserting(value: object) -> bool:
    """Whether a value has an assertion, itself or in its members."""
    if not is_object(value):
        return False
    return any(map(_is_assertion, value.items())) or (
        KEYWORDS.isdisjoint(value) and any(map(_looks_asserting, value.values()))
    )


def _is_assertion(member: tuple[str, object]) -> bool:
    """Whether a member is an assertion and not text about one: messages and notes use names of keywords, too."""
    keyword, value = member
    if isinstance(value, str):
        return keyword in ("$ref", "pattern") or (keyword == "type" and value in TYPES)
    return keyword in ASSERTIONS


def _measure(schema: Schema) -> None:
    """Spend steps for the size of a schema's patterns before they are compiled."""
    pattern_properties = schema.get("patternProperties")
    patterns = [
        *([schema["pattern"]] if _is_text(schema, "pattern") else ()),
        *(pattern_properties if is_object(pattern_properties) else ()),
    ]
    for pattern in patterns:
        spend(estimate_size(pattern))


def _marks_method(schema: object) -> bool:
    """Whether a definition belongs to a method, in either notation."""
    if not is_object(schema):
        return False
    properties = schema.get("properties", {})
    return "x-method" in schema or (is_object(properties) and find_constant(properties.get("method")) is not None)


_WEAK = ("format", "contentEncoding", "contentMediaType", "contentSchema", "dependencies", "additionalItems")


def _refers(schema: Schema) -> bool:
    """Whether a root only refers to a definition, and needs no type of its own."""
    demands = schema.keys() & ASSERTIONS
    if demands == {"allOf"} and len(schema["allOf"]) == 1 and is_object(schema["allOf"][0]):
        return _refers(schema["allOf"][0])
    return demands == {"$ref"}


def _carries_messages(schema: object, definitions: Mapping[str, Any], visited: frozenset[str]) -> bool:
    """Whether a schema is an envelope: marked as one, a JSON-RPC message, a batch of them, or a union of these."""
    if not is_object(schema):
        return False
    if schema.get("x-docs-ignore") is True or "jsonrpc" in schema.get("properties", {}):
        return True
    if "$ref" in schema:
        name = read_reference(schema["$ref"])
        return name not in visited and _carries_messages(definitions.get(name), definitions, visited | {name})
    if any(_carries_messages(part, definitions, visited) for part in schema.get("allOf", ())):
        return True
    union = find_branches(schema)
    if union is not None:
        branches = [branch for branch in union[1] if not _carries_messages(branch, definitions, visited)]
        return len(branches) < len(union[1]) and all(map(_is_any_batch, branches))
    return schema.get("type") == "array" and _carries_messages(schema.get("items"), definitions, visited)


def _is_any_batch(schema: object) -> bool:
    """Whether a schema is an array of arbitrary objects, which in a union with messages is a batch."""
    items = schema.get("items") if is_object(schema) and schema.get("type") == "array" else None
    return is_object(items) and items.get("type") == "object" and "properties" not in items


def _is_text(schema: Schema, keyword: str) -> bool:
    return isinstance(schema.get(keyword), str)


def _refuse_loops(definitions: Mapping[str, Schema], origins: Mapping[str, str]) -> None:
    """Raise `Faults` for definitions that refer to themselves without passing through a property or an item."""
    edges = {
        name: [reference for reference in measure_depths(schema) if reference is not None and reference in definitions]
        for name, schema in definitions.items()
    }
    position = {name: index for index, name in enumerate(definitions)}
    faults: list[Fault] = []
    for group in find_cycles(edges):
        first = min(group, key=position.__getitem__)
        if len(group) > 1 or first in edges[first]:
            faults.append(REFERENCE_LOOP(at=origins[first], names=" -> ".join(_find_cycle(first, edges))))
    if faults:
        raise Faults(faults)


def _find_cycle(start: str, edges: Mapping[str, list[str]]) -> list[str]:
    """The shortest cycle of references through a definition."""
    paths, visited = [[start]], {start}
    for path in paths:
        if start in edges[path[-1]]:
            return [*path, start]
        paths += [[*path, reference] for reference in edges[path[-1]] if reference not in visited]
        visited.update(edges[path[-1]])
    raise ValueError(f"{start} does not lead to itself")
