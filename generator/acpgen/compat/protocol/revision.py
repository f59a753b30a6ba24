"""One revision of a protocol as the check sees it: its IR, its bundle, and what may be ignored."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, Final, TypeAlias

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.compat.diff.shapes import Constants, Objects, Shape, find_shape, without_values
from acpgen.compat.protocol.sender_schemas import DECLARED, SENT, write_sender_definitions
from acpgen.input.equality import make_key
from acpgen.input.numbers import dumps, loads
from acpgen.input.tagged_unions import find_branches, list_type_names
from acpgen.input.walk import (
    ASSERTIONS,
    DEFINITIONS,
    Schema,
    find_reachable,
    find_sources,
    is_array,
    is_object,
    list_references,
    list_unapplied,
    map_subschemas,
    may_hold_schemas,
    walk_schemas,
    without_prose,
)
from acpgen.meaning.envelopes import CONTENTS
from acpgen.pointers import follow, read_reference, split_pointer, write_plain_pointer, write_reference

ROOT_ASSERTIONS: Final = ASSERTIONS | {"then", "else"}
"""The keywords of a root that constrain values."""

_EVALUATING: Final = frozenset({"anyOf", "oneOf", "if", "dependentSchemas", "patternProperties", "$ref"})
"""Keywords that declare members for some objects only."""

_REFERENCE: Final = re.compile(r'"\$ref": ("#/\$defs/(?:[^"\\]|\\.)*")')
"""A reference in a text of `SchemaRevision.texts`, always to a definition; anything else is a value that looks like a reference."""


_OF_BRANCHES: Final = re.compile(r"(?:/(?:allOf|anyOf|oneOf)/\d+)*")
"""The places of the branches of a union, and of the union itself."""
_IN_ALL_OF: Final = re.compile(r"/allOf/\d+")
"""A step that leads to another schema of the same value."""

Statements: TypeAlias = "dict[tuple[str, str, Hashable], bool]"
"""What a definition says besides what it accepts: places in it, keywords and values, and whether no comparison reads each."""


@dataclass(frozen=True)
class Roots:
    """The content of files besides definitions: the assertions of each root that has any, by path, and what is not read.

    `paths` are all files, `definitions` the names and labels of the definitions that represent roots, by path.
    """

    paths: tuple[str, ...] = ()
    assertions: Mapping[str, Schema] = field(default_factory=dict[str, Schema], repr=False)
    unread: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    definitions: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, "tuple[str, str]"])

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the definitions that represent roots, by name."""
        return dict(self.definitions.values())


@dataclass(frozen=True)
class SchemaRevision:
    """One side of a comparison.

    Without `unstable`, elements marked `x-unstable` are ignored. `roots` is `None` if the files are not available.
    """

    protocol: ir.Protocol
    bundle: Bundle = field(repr=False)
    unstable: bool = False
    roots: Roots | None = None

    @cached_property
    def definitions(self) -> Mapping[str, ir.Definition]:
        """The definitions in the IR; `unevaluatedProperties: false` closes a record as `additionalProperties: false` does."""
        return {name: self._close_tag(definition) for name, definition in self.protocol.definitions.items()}

    def _close_tag(self, definition: ir.Definition) -> ir.Definition:
        schema, place = self.bundle.definitions.get(definition.name, {}), f"{definition.at}/unevaluatedProperties"
        is_closed = schema.get("unevaluatedProperties") is False and _EVALUATING.isdisjoint(schema)
        if not is_closed or not isinstance(definition, ir.Record) or place not in definition.unenforced:
            return definition
        remaining = tuple(at for at in definition.unenforced if at != place)
        return replace(definition, extra=ir.Nothing(), unenforced=remaining)

    @cached_property
    def empty(self) -> frozenset[str]:
        """The definitions that no value satisfies."""
        return without_values(self.definitions)

    @cached_property
    def _shapes(self) -> dict[ir.Type, Shape]:
        return {}

    def get_shape(self, type_: ir.Type) -> Shape:
        """The shape of a type."""
        if type_ not in self._shapes:
            self._shapes[type_] = find_shape(type_, self.definitions, empty=self.empty)
        return self._shapes[type_]

    @cached_property
    def _marks(self) -> dict[str, Mapping[str, AbstractSet[Hashable]]]:
        return {}

    def get_marks(self, objects: Objects) -> Mapping[str, AbstractSet[Hashable]]:
        """The constants of the fields of a record that accept nothing else, by name of the field; a map has none."""
        if objects.name is None:
            return {}
        if objects.name not in self._marks:
            shapes = ((field.name, self.get_shape(field.type).alternatives) for field in objects.fields)
            self._marks[objects.name] = {
                name: {make_key(constant.value) for constant in alternatives[0].values}
                for name, alternatives in shapes
                if len(alternatives) == 1
                and isinstance(alternatives[0], Constants)
                and alternatives[0].openness == "closed"
            }
        return self._marks[objects.name]

    @cached_property
    def methods(self) -> tuple[ir.Method, ...]:
        """The methods that take part in the comparison."""
        return tuple(method for method in self.protocol.methods if self.keeps(method.unstable))

    @cached_property
    def _places(self) -> Mapping[str, str]:
        return {at: name for name, at in reversed([*self.bundle.origins.items()])}

    def keeps(self, unstable: bool) -> bool:
        """Whether an element takes part, given whether it is marked unstable."""
        return self.unstable or not unstable

    def list_stable(self, fields: Iterable[ir.Field]) -> tuple[ir.Field, ...]:
        """The fields that take part in the comparison."""
        return tuple(field for field in fields if self.keeps(field.unstable))

    def locate_type(self, type_: ir.Type) -> str:
        """The place of the definition that a type names; empty for an inline type, of which a definition can only be a part.

        Null beside the definition makes no difference.
        """
        match type_:
            case ir.Ref(name):
                return self.definitions[name].at
            case ir.AnyOf(types) if len(rest := [branch for branch in types if branch != ir.Null()]) == 1:
                return self.locate_type(rest[0])
            case _:
                return ""

    def find_owner(self, at: str, *, declared: bool = False) -> tuple[str, str]:
        """The definition around a place, and the pointer from there; with `declared`, only definitions that the source declares.

        Without such a definition, an empty name and the place itself.
        """
        names = self._declared_places if declared else self._places
        place = at
        while place not in names and "/" in place:
            place = place.rpartition("/")[0]
        return (names[place], at[len(place) :]) if place in names else ("", at)

    def find_owner_or_root(self, at: str) -> tuple[str, str]:
        """The declared definition around a place, otherwise the one that is the whole file or represents it, and the pointer from there."""
        path, _, pointer = at.partition("#")
        for name, rest in (self.find_owner(at, declared=True), self.find_owner(at)):
            if name in self.declared or name in self.root_names:
                return name, rest
        return self.root_definitions.get(path, ""), pointer

    def write_label(self, at: str) -> str:
        """The label of a place: the definition around it, with fields and items."""
        name, rest = self.find_owner(at)
        return name + list_fields(rest)

    def locate_in_file(self, at: str) -> str:
        """The place in the file: in its root if a definition represents the root."""
        for path, (name, _) in self.roots.definitions.items() if self.roots is not None else ():
            origin = self.bundle.origins.get(name, "")
            if origin and (at == origin or at.startswith(f"{origin}/")):
                return f"{path}#{at.removeprefix(origin)}"
        return at

    @property
    def root_names(self) -> Mapping[str, str]:
        """The labels of the definitions that represent roots, by name."""
        return {} if self.roots is None else self.roots.labels

    @cached_property
    def _root_places(self) -> frozenset[str]:
        """The places of the roots that definitions represent."""
        return frozenset(f"{path}#" for path in (self.roots.definitions if self.roots is not None else ()))

    @cached_property
    def _declared_places(self) -> Mapping[str, str]:
        return {self.bundle.origins[name]: name for name in reversed(self.declared)}

    def list_former_names(self, definition: str) -> tuple[str, ...]:
        """The former names of a definition, as declared by `x-was`."""
        declared = self.bundle.definitions.get(definition, {}).get("x-was", [])
        parts = [split_pointer(item) for item in declared if isinstance(item, str) and item.startswith("#/")]
        return tuple(path[1] for path in parts if len(path) == 2)

    def list_residue(self, names: Iterable[str]) -> list[str]:
        """What the definitions demand beyond their shapes, as texts. Records are ignored here and compared as records."""
        residue: list[str] = []
        for name in names:
            definition = self.definitions[name]
            if isinstance(definition, ir.Record):
                continue
            residue += map(self.write_demand, definition.unenforced)
            # Shapes join the branches of a union, and overlapping ones exclude each other.
            if isinstance(definition, ir.Alias) and isinstance(definition.type, ir.AnyOf) and definition.type.exclusive:
                residue.append(self.write_demand(f"{definition.at}/oneOf"))
            if isinstance(definition, ir.TaggedUnion) and definition.default_admits_known:
                keyword = "oneOf" if "oneOf" in self.bundle.definitions[name] else "anyOf"
                residue.append(f"known tags in {keyword}")
        return sorted(residue)

    def write_demand(self, at: str) -> str:
        """The text of a keyword that the IR does not represent; only its place if it cannot be found again."""
        owner, _ = self.find_owner(at.rpartition("/")[0])
        *around, keyword = split_pointer(at.removeprefix(self.bundle.origins.get(owner, "")))
        try:
            holder: Any = follow(self.demands.get(owner), around)
            node: Any = follow(holder, [keyword])
        except KeyError:
            return at
        # A place may be a schema, or a keyword that holds several.
        together = _READ_TOGETHER.get(keyword, ()) if is_object(holder) else ()
        return dumps({keyword: node, **{key: holder[key] for key in together if key in holder}}, sort_keys=True)

    def has_place(self, definition: str, keys: Iterable[str]) -> bool:
        """Whether there is something at these keys inside a definition."""
        try:
            follow(self.demands[definition], keys)
        except KeyError:
            return False
        return True

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The texts of the definitions, without prose and without what does not take part in the comparison."""
        return {name: dumps(node, sort_keys=True) for name, node in self.demands.items()}

    @cached_property
    def demands(self) -> Mapping[str, Schema]:
        """The schemas of the definitions, without prose and without what does not take part in the comparison."""
        return {name: without_prose(node) for name, node in self.stable_schemas.items()}

    @cached_property
    def stable_schemas(self) -> Mapping[str, Schema]:
        """The schemas of the definitions, without what does not take part in the comparison."""
        definitions = self.bundle.definitions
        return definitions if self.unstable else {name: _drop_unstable(node) for name, node in definitions.items()}

    @cached_property
    def prover_schemas(self) -> Mapping[str, Schema]:
        """The definitions as the prover uses them: what each accepts, and what is sent of it."""
        schemas = {name: _without_annotations(node) for name, node in self.demands.items()}
        return {**schemas, **write_sender_definitions(self.stable_definitions, self.stable_schemas, SENT)}

    def write_frame_schemas(self, contents: Collection[str], opposite: SchemaRevision) -> Mapping[str, Schema]:
        """The definitions as frames, for messages of another revision; see `write_frame`. What only one has takes any content."""
        return {
            f"{name}{FRAME}": self.write_frame(
                _without_annotations(demand), contents, opposite.demands.get(name, demand)
            )
            for name, demand in self.demands.items()
        }

    def write_frame(self, schema: Schema, contents: Collection[str], sent_schema: Schema) -> Schema:
        """A schema of messages with anything in place of the definitions `contents`, which are compared separately.

        The same holds for what params, result and error refer to here and in the schema of the sender. Nothing is null in place of what
        refuses null by its type. Branches that differ in their content alone overlap then, so that none excludes another.
        """
        shared = {*list_references(schema)}.intersection(list_references(sent_schema))
        types = {name: list_type_names(self.demands.get(name, {})) for name in (*contents, *shared)}
        places: dict[str, Schema] = {
            name: {} if "null" in kinds or not kinds else NOT_NULL for name, kinds in types.items()
        }
        frame: Schema = _write_frame(schema, contents, places)
        return frame

    @cached_property
    def declared_schemas(self) -> Mapping[str, Schema]:
        """The part of each definition that has a declared meaning."""
        return write_sender_definitions(self.stable_definitions, self.stable_schemas, DECLARED)

    @cached_property
    def stable_definitions(self) -> Mapping[str, ir.Definition]:
        """The definitions in the IR, without what does not take part in the comparison."""
        return {name: self._drop_unstable_fields(definition) for name, definition in self.definitions.items()}

    def _drop_unstable_fields(self, definition: ir.Definition) -> ir.Definition:
        if isinstance(definition, ir.Record):
            return replace(definition, fields=self.list_stable(definition.fields))
        if isinstance(definition, ir.TaggedUnion):
            return replace(definition, variants=tuple(v for v in definition.variants if self.keeps(v.unstable)))
        return definition

    @cached_property
    def declared(self) -> tuple[str, ...]:
        """The definitions that the source declares, also in groups, and that take part in the comparison."""
        return tuple(
            name
            for name, at in self.bundle.origins.items()
            if self.find_outermost(at) == at and (definition := self.definitions.get(name)) is not None
            if self.keeps(definition.unstable) and name not in self.root_names and at not in self._root_places
        )

    @cached_property
    def root_frame(self) -> Schema:
        """What the roots that are no definitions demand of every message."""
        roots: Mapping[str, Schema] = {} if self.roots is None else self.roots.assertions
        return {"allOf": [without_prose(schema) for path, schema in roots.items() if path not in self.root_definitions]}

    @cached_property
    def root_definitions(self) -> Mapping[str, str]:
        """The definitions that are a whole file, by its path."""
        roots = ((at[:-1], name) for at, name in self._places.items() if at.endswith("#"))
        return {path: name for path, name in roots if name in self.definitions}

    @cached_property
    def unstable_texts(self) -> Mapping[str, str]:
        """The texts, without prose, of everything marked `x-unstable` that does not take part in the comparison, by place."""
        origins = () if self.unstable else self.bundle.origins.items()
        sides = ((at, self.bundle.definitions[name], self.stable_schemas[name]) for name, at in origins)
        pending = [(at, node) for at, node, stable in sides if _is_unstable(node) or node != stable]
        texts: dict[str, str] = {}
        while pending:
            at, node = pending.pop()
            if _is_unstable(node):
                parts = {
                    place.removeprefix(at): self.bundle.definitions[name]
                    for name, place in self.bundle.origins.items()
                    if place.startswith(f"{at}/")
                }
                texts[at] = dumps(without_prose([node, parts]), sort_keys=True)
            elif is_object(node):
                pending += ((f"{at}{write_plain_pointer(key)}", inner) for key, inner in node.items())
            elif is_array(node):
                pending += ((f"{at}{write_plain_pointer(index)}", inner) for index, inner in enumerate(node))
        return texts

    @cached_property
    def stable_names(self) -> frozenset[str]:
        """The definitions that take part in the comparison and are inside nothing that does not, envelopes excluded."""
        names = (name for name, definition in self.definitions.items() if self.keeps(definition.unstable))
        places = {name: f"{self.bundle.origins.get(name, '')}/" for name in names if name in self.bundle.definitions}
        left_out = tuple(f"{at}/" for at in self.unstable_texts)
        return frozenset(name for name, place in places.items() if not place.startswith(left_out))

    def find_outermost(self, at: str) -> str:
        """The place of the outermost definition around a place, or of the root if the place is in an assertion of a root; otherwise
        empty.
        """
        file, _, pointer = at.partition("#")
        parts = pointer.split("/")
        root = f"{file}#"
        is_of_root = (
            root in self._root_places if len(parts) < 2 else root in self._places and parts[1] in ROOT_ASSERTIONS
        )
        if is_of_root:
            return root
        heads = (f"{file}#{'/'.join(parts[:count])}" for count in range(3, len(parts) + 1))
        return next((head for head in heads if head in self._places), "")

    @cached_property
    def _parts(self) -> Mapping[str, list[str]]:
        """The names of the definitions inside each declared definition or root, itself included, by its place."""
        parts: dict[str, list[str]] = {}
        for name, at in self.bundle.origins.items():
            if name in self.texts:
                parts.setdefault(self.find_outermost(at) or f"{at.partition('#')[0]}#", []).append(name)
        return parts

    def list_texts(self, name: str) -> list[tuple[str, str]]:
        """The relative places and texts of a declared definition and of all definitions inside it."""
        at = self.bundle.origins[name]
        return sorted((self.bundle.origins[part].removeprefix(at), self.texts[part]) for part in self._parts[at])

    def write_definition(self, name: str, names: Mapping[str, str], alone: AbstractSet[str]) -> str:
        """The text of a declared definition and of all definitions inside it, with other names in its references.

        Branches that refer to `alone` definitions are left out: these exist in one revision only, and are reported as such.
        """
        at = self.bundle.origins[name]

        def name_in(was: str) -> str:
            place = self.bundle.origins.get(was, "")
            return place.removeprefix(at) if place.startswith(f"{at}/") or place == at else names.get(was, was)

        of_methods = _OF_METHODS if name in self._messages else ("x-null", "x-was")
        parts = {part: self.without(part, alone) for part in self._parts[at]}
        parts[name] = {key: value for key, value in parts[name].items() if key not in of_methods}
        texts = ((self.bundle.origins[part].removeprefix(at), schema) for part, schema in parts.items())
        return "\n".join(
            f"{place} {with_names(dumps(schema, sort_keys=True), name_in)}"
            for place, schema in sorted(texts, key=lambda entry: entry[0])
        )

    def write_demands(self, name: str, names: Mapping[str, str], alone: AbstractSet[str]) -> str:
        """The text of a definition without branches that refer to `alone` definitions, with other names in its references."""
        return with_names(dumps(self.without(name, alone), sort_keys=True), lambda was: names.get(was, was))

    def without(self, name: str, alone: AbstractSet[str]) -> Schema:
        """The demands of a definition without branches that refer to `alone` definitions, as in `write_definition`."""
        schema: Schema = _without(self.demands[name], alone)
        return schema

    def list_contents(self, name: str) -> list[str]:
        """What a definition and all definitions inside it say about the content of strings, which no validator asserts: as sorted texts."""
        schemas = (self.demands[part] for part in self._parts[self.bundle.origins[name]])
        nodes = (node for schema in schemas for _, node in walk_schemas(schema))
        keywords = ("contentMediaType", "contentSchema")
        return sorted(dumps([key, node[key]], sort_keys=True) for node in nodes for key in keywords if key in node)

    def list_statements(self, name: str, compared_names: AbstractSet[str]) -> Mapping[tuple[str, str], Statements]:
        """What a declared definition and each definition inside it say by keywords such as `default`, and whether no comparison reads it.

        By the name and relative place of the inner definition: the place in it, the keyword and its value. `compared_names` are the
        definitions that were compared part by part.
        """
        at = self.bundle.origins[name]
        is_union = find_branches(self.bundle.definitions[name]) is not None
        is_copied = is_union and name not in compared_names  # into a union around it
        result: dict[tuple[str, str], Statements] = {}
        records = {self.bundle.origins[part] for part in self._parts[at] if self._is_record(part)}
        for part in self._parts[at]:
            origin = self.bundle.origins[part]
            if origin in records and not self._is_record(part):
                continue  # params by position say what those by name do
            is_branch = is_copied and _OF_BRANCHES.fullmatch(origin.removeprefix(at)) is not None
            is_read = is_branch or part in compared_names or origin in self._declared_places
            result[part, origin.removeprefix(at)] = {
                (_IN_ALL_OF.sub("", write_plain_pointer(*keys)), keyword, make_key(node[keyword])): not is_read
                or _locate_statement(origin, keys, keyword) not in self._read_places[keyword]
                for keys, node in walk_schemas(self.stable_schemas[part])
                for keyword in _STATEMENTS & node.keys()
            }
        return result

    def _is_record(self, name: str) -> bool:
        return isinstance(self.definitions.get(name), ir.Record)

    @cached_property
    def _read_places(self) -> Mapping[str, AbstractSet[str]]:
        """The places at which the IR of a definition represents each keyword."""
        origins, definitions = self.bundle.origins, self.definitions.items()
        fields_by_record = [(name, record.fields) for name, record in definitions if isinstance(record, ir.Record)]
        unions = [union for _, union in definitions if isinstance(union, ir.TaggedUnion)]
        enums = [enum for _, enum in definitions if isinstance(enum, ir.Enum)]
        # A body's field may be read in the variant that it is a part of.
        fields = {field.at for _, of_record in fields_by_record for field in of_record}
        fields |= {
            f"{origins[name]}{write_plain_pointer('properties', field.name)}"
            for name, of_record in fields_by_record
            for field in (of_record if name in origins else ())
        }
        choices = {variant.at for union in unions for variant in union.variants}
        choices |= {constant.at for enum in enums for constant in enum.values}
        named = {name for union in unions for variant in union.variants for name in (variant.type, variant.body)}
        named |= {method.params or method.result for method in self.protocol.methods}
        gated = {origins[name] for name in named if name and name in origins}
        lists = {union.at for union in unions} | {enum.at for enum in enums if len(enum.values) > 1}
        wholes = set(origins.values())
        places = {**dict.fromkeys(_STATEMENTS, fields), "x-batch": wholes, "x-null": fields | wholes}
        return {**places, "x-capability": fields | choices | gated, "x-unknown": lists}

    @cached_property
    def _messages(self) -> frozenset[str]:
        """The definitions of params, results and whole messages of methods."""
        methods = self.protocol.methods
        places = {method.at for method in methods}
        wholes = (name for name, at in self.bundle.origins.items() if at in places)
        return frozenset((*wholes, *(name for method in methods for name in (method.params, method.result) if name)))

    @cached_property
    def references(self) -> Mapping[str, frozenset[str]]:
        """The definitions that each definition refers to, in the source and in the bundle."""
        definitions = self.bundle.definitions
        references: dict[str, frozenset[str]] = {}
        for name, schema in definitions.items():
            names = frozenset(list_references(schema))
            references[name] = self.bundle.references.get(name, frozenset()).union(names) & definitions.keys()
            if _MAY_JUDGE_NOTHING.search(self.texts.get(name, "")):
                references[name] -= names.difference(list_references(_without_annotations(schema)))
        return references

    @cached_property
    def answers(self) -> dict[str, Any]:
        """The prover's cached answers for this revision as the old one, by question, with the steps that each took."""
        return {}

    @cached_property
    def compute_digest(self) -> Callable[[str], str]:
        """The hash of a definition with everything that it refers to, by its name."""
        hashes = {name: hashlib.sha256(f"{name} {text}".encode()).hexdigest() for name, text in self.texts.items()}

        @cache
        def compute_digest(name: str) -> str:
            names = sorted({name, *self._list_referred({"$ref": write_reference(name)})})
            return hashlib.sha256("".join(hashes.get(target, target) for target in names).encode()).hexdigest()

        return compute_digest

    def _list_referred(self, node: Any) -> set[str]:
        definitions = self.bundle.definitions

        def lead_on(part: Any) -> Iterator[str]:
            return (name for name in list_references(part) if name in definitions)

        return {*find_reachable(lead_on(node), lambda name: lead_on(definitions[name]))}

    @cached_property
    def gates_unknown(self) -> bool:
        """Whether peers advertise capabilities but the schema never says what one gates, as in the published files of ACP."""
        return any(method.name == "initialize" for method in self.protocol.methods) and not any(
            not _GATING.isdisjoint(node)
            for schema in self.bundle.definitions.values()
            for _, node in walk_schemas(schema)
        )

    def may_gate(self, capability: str | None) -> bool:
        """Whether a capability named by another revision may gate the same element here: it is advertised here, and gates are unknown."""
        return capability is not None and self.gates_unknown and self.advertises(capability)

    def advertises(self, capability: str) -> bool:
        """Whether a peer of this revision can advertise a capability: `agent:agentCapabilities.loadSession`."""
        side, _, path = capability.partition(":")
        for method in self.protocol.methods:
            if method.name == "initialize" and method.kind == "request":
                start = method.result if method.side == side else method.params
                return start is not None and self._leads(ir.Ref(start), tuple(path.split(".")))
        return False

    def _leads(self, type_: ir.Type, path: tuple[str, ...]) -> bool:
        if not path:
            return True
        records = (
            record for record in find_shape(type_, self.definitions).select("object") if isinstance(record, Objects)
        )
        fields = (field for record in records for field in self.list_stable(record.fields) if field.name == path[0])
        return any(self._leads(field.type, path[1:]) for field in fields)


def list_fields(pointer: str) -> str:
    """The fields and items on a pointer below a definition, as shown to readers."""
    text, parts = "", split_pointer(pointer)
    for before, name in pairwise(("", *parts)):
        if before == "properties":
            text += f".{name}"
        elif name == "items" and before != "properties":
            text += "[]"
    return text


def _locate_statement(origin: str, keys: tuple[str, ...], keyword: str) -> str:
    """The place that a keyword says something about: for a `default` in a part of an `allOf`, the schema around it."""
    is_part = keyword == "default" and len(keys) > 1 and keys[-2] == "allOf"
    return origin + write_plain_pointer(*(keys[:-2] if is_part else keys))


_READ_TOGETHER: Final[Mapping[str, tuple[str, ...]]] = {
    "if": ("then", "else"),
    "contains": ("minContains", "maxContains"),
}
"""Keywords that mean nothing without a neighbouring keyword, by that keyword."""

_STATEMENTS: Final = frozenset(
    {
        *("default", "x-batch", "x-capability", "x-null", "x-required-with", "x-unknown"),
        *("x-deserialize-default-on-error", "x-deserialize-default-on-null", "x-deserialize-skip-invalid-items"),
    }
)
"""Keywords that say what a value means or how receivers treat it, and that no validator asserts."""

_GATING: Final = frozenset({"x-capability", "x-required-with", "x-gates"})
"""Keywords of schemas that say what their capabilities gate."""

_MAY_JUDGE_NOTHING: Final = re.compile('"(?:contentSchema|if)"')


def _without_annotations(schema: Any) -> Any:
    """A schema without what no validator asserts, so that definitions that accept the same become equal."""
    if not is_object(schema):
        return schema
    left_out = [id(part) for part in list_unapplied(schema)]
    asserting = {
        key: value
        for key, value in schema.items()
        if (may_hold_schemas(key) or key in _KEPT) and id(value) not in left_out
    }
    return map_subschemas(asserting, lambda _, subschema: _without_annotations(subschema))


_KEPT: Final = frozenset({*DEFINITIONS, "$id", "$schema", "format", "x-integer"})
"""The keywords that the prover reads among those that hold definitions, annotate, or are extensions of this project."""


FRAME: Final = " as frame"
"""The suffix of definitions with any content in place of the content of messages."""


NOT_NULL: Final[Schema] = {"not": {"type": "null"}}


def _write_frame(schema: Any, contents: Collection[str], places: Mapping[str, Schema], member: str = "") -> Any:
    """See `SchemaRevision.write_frame`. `places` has what stands for definitions in a member of the message.

    A list is a batch of messages. `member` is the member of the message that has the schema, empty for the whole message.
    """
    if not is_object(schema):
        return schema
    frame: Schema = {key: value for key, value in schema.items() if key not in ("$ref", "allOf", "oneOf")}
    if "anyOf" in schema:
        frame["anyOf"] = [_write_frame(branch, contents, places, member) for branch in schema["anyOf"]]
    parts = [_write_frame(branch, contents, places, member) for branch in schema.get("allOf", ())]
    if "oneOf" in schema:
        parts.append({"anyOf": [_write_frame(branch, contents, places, member) for branch in schema["oneOf"]]})
    if not member and is_object(properties := schema.get("properties")):
        frame["properties"] = {
            name: _write_frame(subschema, contents, places, name) for name, subschema in properties.items()
        }
    if not member and is_object(items := schema.get("items")):
        frame["items"] = _write_frame(items, contents, places)
    reference = schema.get("$ref")
    name = read_reference(reference) if isinstance(reference, str) else ""
    if name in contents or (name in places and member in CONTENTS):
        parts += [places[name]] if member not in ("", "id") and places[name] else []
    elif name:
        is_definition = not member and reference == write_reference(name)
        frame["$ref"] = write_reference(f"{name}{FRAME}") if is_definition else reference
    if parts:
        frame["allOf"] = parts
    return frame


def scan_references(text: str) -> set[str]:
    """The definitions that the text of a schema refers to."""
    return {read_reference(loads(reference)) for reference in _REFERENCE.findall(text)}


def with_names(text: str, name_of: Callable[[str], str]) -> str:
    """The text of a schema with other definition names in its references."""
    return _REFERENCE.sub(lambda match: f'"$ref": {dumps(name_of(read_reference(loads(match[1]))))}', text)


def _drop_unstable(node: Any) -> Any:
    """A tree without what is marked `x-unstable`; unstable properties are no longer required either."""
    if is_array(node):
        return [_drop_unstable(item) for item in node if not _is_unstable(item)]
    if not is_object(node):
        return node
    result = {key: _drop_unstable(value) for key, value in node.items() if not _is_unstable(value)}
    properties = node.get("properties")
    if is_object(properties) and is_array(node.get("required")):
        result["required"] = [name for name in node["required"] if not _is_unstable(properties.get(name))]
    if any(is_array(node.get(keyword)) and node[keyword] and not result[keyword] for keyword in ("anyOf", "oneOf")):
        return {"not": {}}  # no branch is stable
    return result


def _without(node: Any, alone: AbstractSet[str]) -> Any:
    """A tree without the list items that refer to these definitions and to no others."""
    if is_array(node):
        remaining = (
            item
            for item in node
            if not is_object(item) or not (names := set(list_references(item))) or not names <= alone
        )
        return [_without(item, alone) for item in remaining]
    return {key: _without(value, alone) for key, value in node.items()} if is_object(node) else node


def _is_unstable(node: Any) -> bool:
    return is_object(node) and node.get("x-unstable") is True


def find_rewritten_definitions(old: SchemaRevision, new: SchemaRevision, apart: Collection[str] = ()) -> frozenset[str]:
    """The names of definitions whose text differs between the revisions, or that lead to such definitions; those `apart` do not count."""
    names = {*old.texts, *new.texts}.difference(apart)
    changed_names = {name for name in names if old.texts.get(name) != new.texts.get(name)}
    sides = (old.texts, new.texts) if changed_names else ()
    edges = {name: {target for texts in sides for target in scan_references(texts.get(name, ""))} for name in names}
    return frozenset(find_sources(changed_names, edges))


_OF_METHODS: Final = ("x-method", "x-side", "x-null", "x-was")
"""Keywords about the method and the former names of a definition: reported separately."""
