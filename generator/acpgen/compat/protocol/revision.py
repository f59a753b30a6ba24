"""One revision of a protocol as the check sees it: its meaning, its bundle, and what may be left out of sight."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias, cast

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.compat.diff.shapes import Objects, shape_of, without_values
from acpgen.compat.protocol.sender_schemas import DECLARED, SENT, sender_definitions
from acpgen.input.equality import key_of
from acpgen.input.keywords import PROSE
from acpgen.input.numbers import dumps, loads
from acpgen.input.tagged_unions import branches_of
from acpgen.input.walk import (
    ASSERTIONS,
    DEFINITIONS,
    HOLDS,
    Schema,
    inside,
    is_array,
    is_object,
    may_hold_schemas,
    reachable,
    references,
    unjudged,
)
from acpgen.pointers import follow, plain_pointer, pointer_parts, reference_to, target

_SAID: Final = ASSERTIONS | {"then", "else"}
"""The keywords of a root that say anything of values."""

_EVALUATING: Final = frozenset({"anyOf", "oneOf", "if", "dependentSchemas", "patternProperties", "$ref"})
"""Keywords by which some objects have more members than others."""

_REFERENCE: Final = re.compile(r'"\$ref": ("#/\$defs/(?:[^"\\]|\\.)*")')
"""A reference in a text of `SchemaRevision.texts`, to a definition as all are; what leads elsewhere is a value that looks like one."""


_OF_BRANCHES: Final = re.compile(r"(?:/(?:allOf|anyOf|oneOf)/\d+)*")
"""The places of the branches of a union in it, and its own."""

Statements: TypeAlias = "frozenset[tuple[str, str, Hashable]]"
"""What a definition says beside what it accepts: places in it, keywords and values."""


class Demand(NamedTuple):
    """What a keyword demands, as texts without words: its own, and those of all definitions that it refers to, by name."""

    own: str
    referred: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Roots:
    """What stands in files beside definitions: the assertions of each root that makes any, by path, and what is not read.

    `paths` are all files, `named` the definitions that stand for such roots, with what people call them, `stood` the places of these roots.
    """

    paths: tuple[str, ...]
    said: Mapping[str, Schema] = field(default_factory=dict[str, Schema], repr=False)
    unread: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    named: Mapping[str, str] = field(default_factory=dict[str, str])
    stood: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SchemaRevision:
    """One side of a comparison. Without `unstable`, what is marked `x-unstable` does not exist. `roots` is `None` where the files are
    not at hand.
    """

    protocol: ir.Protocol
    bundle: Bundle = field(repr=False)
    unstable: bool = False
    roots: Roots | None = None

    @cached_property
    def definitions(self) -> Mapping[str, ir.Definition]:
        """What the definitions mean; `unevaluatedProperties: false` closes a record as `additionalProperties: false` does."""
        return {name: self._closed(definition) for name, definition in self.protocol.definitions.items()}

    def _closed(self, definition: ir.Definition) -> ir.Definition:
        written, place = self.bundle.definitions.get(definition.name, {}), f"{definition.at}/unevaluatedProperties"
        is_closed = written.get("unevaluatedProperties") is False and _EVALUATING.isdisjoint(written)
        if not is_closed or not isinstance(definition, ir.Record) or place not in definition.unenforced:
            return definition
        kept = tuple(each for each in definition.unenforced if each != place)
        return replace(definition, extra=ir.Nothing(), unenforced=kept)

    def without_prose(self) -> SchemaRevision:
        """The same without descriptions and all else that people read and no program does."""
        nothing: dict[str, Any] = {"migration": {}, "moves": {}, "sources": {}, "size": 0}
        files = dict.fromkeys(self.bundle.files, ("", ""))
        bundle = replace(self.bundle, schema=without_prose(self.bundle.schema), files=files, **nothing)
        return replace(self, protocol=_without_docs(self.protocol), bundle=bundle)

    @cached_property
    def empty(self) -> frozenset[str]:
        """The definitions that no value fits."""
        return without_values(self.definitions)

    @cached_property
    def methods(self) -> tuple[ir.Method, ...]:
        """The methods that take part."""
        return tuple(method for method in self.protocol.methods if self.keeps(method.unstable))

    @cached_property
    def _places(self) -> Mapping[str, str]:
        return {at: name for name, at in reversed([*self.bundle.origins.items()])}

    def keeps(self, unstable: bool) -> bool:
        """Whether something takes part, given its mark."""
        return self.unstable or not unstable

    def stable(self, fields: Iterable[ir.Field]) -> tuple[ir.Field, ...]:
        """The fields that take part."""
        return tuple(each for each in fields if self.keeps(each.unstable))

    def place(self, names: tuple[str, ...]) -> str:
        """Where the outermost of the definitions stands."""
        return self.definitions[names[0]].at if names else ""

    def owner(self, at: str, *, declared: bool = False) -> tuple[str, str]:
        """The definition around a place, and the pointer from there; of those that the source `declared`, where that is asked. The place
        itself, where there is none.
        """
        names = self._declared_places if declared else self._places
        place = at
        while place not in names and "/" in place:
            place = place.rpartition("/")[0]
        return (names[place], at[len(place) :]) if place in names else ("", at)

    def called(self, at: str) -> str:
        """What people call a place: the definition around it, with fields and items."""
        name, rest = self.owner(at)
        return name + fields_on(rest)

    def in_file(self, at: str) -> str:
        """Where a file has what stands at a place: in its root, where a definition stands for that."""
        for name in () if self.roots is None else self.roots.named:
            inside = self.bundle.origins.get(name, "")
            if inside and (at == inside or at.startswith(f"{inside}/")):
                return f"{inside.partition('#')[0]}#{at.removeprefix(inside)}"
        return at

    @property
    def _stood(self) -> frozenset[str]:
        """The places of the roots for which definitions stand."""
        return frozenset() if self.roots is None else self.roots.stood

    @cached_property
    def _declared_places(self) -> Mapping[str, str]:
        return {self.bundle.origins[name]: name for name in reversed(self.declared)}

    def former_names(self, definition: str) -> tuple[str, ...]:
        """The names that a definition had, as `x-was` declares them."""
        declared = self.bundle.definitions.get(definition, {}).get("x-was", [])
        parts = [pointer_parts(item) for item in declared if isinstance(item, str) and item.startswith("#/")]
        return tuple(path[1] for path in parts if len(path) == 2)

    def residue(self, names: Iterable[str]) -> list[Demand]:
        """What the definitions demand beyond what their shapes tell. Records are left to the comparison of records."""
        found: list[Demand] = []
        for name in names:
            definition = self.definitions[name]
            if isinstance(definition, ir.Record):
                continue
            found.extend(self.demand(place) for place in definition.unenforced)
            if isinstance(definition, ir.TaggedUnion) and definition.default_admits_known:
                known = f"known tags in {'oneOf' if 'oneOf' in self.bundle.definitions[name] else 'anyOf'}"
                found.append(Demand(known))
        return sorted(found)

    def demand(self, at: str) -> Demand:
        """A keyword that the IR does not carry; its place alone if it cannot be found again."""
        owner, _ = self.owner(at.rpartition("/")[0])
        if not owner:
            return Demand(at)
        *around, keyword = pointer_parts(at.removeprefix(self.bundle.origins[owner]))
        try:
            holder: Any = follow(self.bundle.definitions[owner], around)
            node: Any = follow(holder, [keyword])
        except KeyError:
            return Demand(at)
        together = _READ_TOGETHER.get(keyword, ()) if is_object(holder) else ()
        said: Schema = {keyword: node, **{key: holder[key] for key in together if key in holder}}
        names = self._referred(node) | self._referred(said)  # a place may be a schema, or a keyword that holds several
        referred = ((name, dumps(without_prose(self.bundle.definitions[name]), sort_keys=True)) for name in names)
        return Demand(f"{keyword} {dumps(without_prose(said), sort_keys=True)}", tuple(sorted(referred)))

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The definitions as they are written, without words and without what does not take part."""
        return {name: dumps(node, sort_keys=True) for name, node in self.demands.items()}

    @cached_property
    def demands(self) -> Mapping[str, Schema]:
        """The definitions as they are written, without words and without what does not take part."""
        return {name: without_prose(node) for name, node in self.stable_schemas.items()}

    @cached_property
    def stable_schemas(self) -> Mapping[str, Schema]:
        """The definitions as they are written, without what does not take part."""
        written = self.bundle.definitions
        return written if self.unstable else {name: _stable(node) for name, node in written.items()}

    @cached_property
    def prover_schemas(self) -> Mapping[str, Schema]:
        """The definitions as the prover is asked about them: what each accepts, and what is sent of it."""
        accepted = {name: _without_annotations(node) for name, node in self.demands.items()}
        return {**accepted, **sender_definitions(self.stable_definitions, self.stable_schemas, SENT)}

    @cached_property
    def declared_schemas(self) -> Mapping[str, Schema]:
        """What of each definition has a declared meaning."""
        return sender_definitions(self.stable_definitions, self.stable_schemas, DECLARED)

    @cached_property
    def stable_definitions(self) -> Mapping[str, ir.Definition]:
        """What the definitions mean, without what does not take part."""
        return {name: self._stable_definition(definition) for name, definition in self.definitions.items()}

    def _stable_definition(self, definition: ir.Definition) -> ir.Definition:
        if isinstance(definition, ir.Record):
            return replace(definition, fields=self.stable(definition.fields))
        if isinstance(definition, ir.TaggedUnion):
            return replace(definition, variants=tuple(v for v in definition.variants if self.keeps(v.unstable)))
        return definition

    @cached_property
    def declared(self) -> tuple[str, ...]:
        """The definitions that the source declares as such, in groups too, and that take part."""
        named = () if self.roots is None else self.roots.named
        return tuple(
            name
            for name, at in self.bundle.origins.items()
            if self.outermost(at) == at and (definition := self.definitions.get(name)) is not None
            if self.keeps(definition.unstable) and name not in named and at not in self._stood
        )

    @cached_property
    def root_definitions(self) -> Mapping[str, str]:
        """The definitions that are the whole of a file, by its path."""
        roots = ((at[:-1], name) for at, name in self._places.items() if at.endswith("#"))
        return {path: name for path, name in roots if name in self.definitions}

    @cached_property
    def unstable_texts(self) -> Mapping[str, str]:
        """What is marked `x-unstable` and does not take part: its text without words, by its place."""
        written = () if self.unstable else self.bundle.origins.items()
        sides = ((at, self.bundle.definitions[name], self.stable_schemas[name]) for name, at in written)
        pending = [(at, node) for at, node, stable in sides if _is_unstable(node) or node != stable]
        found: dict[str, str] = {}
        while pending:
            at, node = pending.pop()
            if _is_unstable(node):
                inside = {
                    place.removeprefix(at): self.bundle.definitions[name]
                    for name, place in self.bundle.origins.items()
                    if place.startswith(f"{at}/")
                }
                found[at] = dumps(without_prose([node, inside]), sort_keys=True)
            elif is_object(node):
                pending += ((f"{at}{plain_pointer(key)}", inner) for key, inner in node.items())
            elif is_array(node):
                pending += ((f"{at}{plain_pointer(index)}", inner) for index, inner in enumerate(node))
        return found

    @cached_property
    def own(self) -> frozenset[str]:
        """The definitions that take part, envelopes aside, and that stand in nothing that does not."""
        kept = (name for name, each in self.definitions.items() if self.keeps(each.unstable))
        places = {name: f"{self.bundle.origins.get(name, '')}/" for name in kept if name in self.bundle.definitions}
        left_out = tuple(f"{at}/" for at in self.unstable_texts)
        return frozenset(name for name, place in places.items() if not place.startswith(left_out))

    def outermost(self, at: str) -> str:
        """The place of the outermost definition in which a place lies, or of the root if it lies in what a root says; else empty."""
        file, _, pointer = at.partition("#")
        parts = pointer.split("/")
        root = f"{file}#"
        is_of_root = root in self._stood if len(parts) < 2 else root in self._places and parts[1] in _SAID
        if is_of_root:
            return root
        heads = (f"{file}#{'/'.join(parts[:count])}" for count in range(3, len(parts) + 1))
        return next((head for head in heads if head in self._places), "")

    @cached_property
    def _parts(self) -> Mapping[str, list[str]]:
        """The definitions that stand inside of each declared one or of a root, and itself, by its place."""
        found: dict[str, list[str]] = {}
        for name, at in self.bundle.origins.items():
            if name in self.texts:
                found.setdefault(self.outermost(at) or f"{at.partition('#')[0]}#", []).append(name)
        return found

    def whole_text(self, name: str, names: Mapping[str, str], alone: AbstractSet[str]) -> str:
        """The text of a declared definition and of all inside of it, with other names in its references, and without branches that
        refer to definitions which stand `alone`: only one revision has them, and says so.
        """
        at = self.bundle.origins[name]

        def name_in(was: str) -> str:
            place = self.bundle.origins.get(was, "")
            return place.removeprefix(at) if place.startswith(f"{at}/") or place == at else names.get(was, was)

        parts: dict[str, Any] = {each: loads(self.texts[each]) for each in self._parts[at]}
        of_methods = _OF_METHODS if name in self._messages else ("x-null", "x-was")
        parts[name] = {key: value for key, value in parts[name].items() if key not in of_methods}
        kept = ((each, dumps(_without(schema, alone), sort_keys=True)) for each, schema in parts.items())
        inside = ((self.bundle.origins[each].removeprefix(at), text) for each, text in kept)
        return "\n".join(f"{place} {with_names(text, name_in)}" for place, text in sorted(inside))

    def frame_text(self, name: str, names: Mapping[str, str], alone: AbstractSet[str]) -> str:
        """The text of a definition that frames messages; `names` and `alone` as in `whole_text`."""
        kept = _without(loads(self.texts[name]), alone)
        return with_names(dumps(kept, sort_keys=True), lambda was: names.get(was, was))

    def contents(self, name: str) -> list[str]:
        """What a definition and all inside of it say of the content of texts, which no validator asserts: as texts, in order."""
        found: list[str] = []
        pending: list[Any] = [loads(self.texts[each]) for each in self._parts[self.bundle.origins[name]]]
        while pending:
            node = pending.pop()
            if is_object(node):
                found += [dumps([key, node[key]], sort_keys=True) for key in _OF_CONTENT if key in node]
                pending.extend(inner for key, inner in node.items() if key not in _OF_CONTENT)
            elif is_array(node):
                pending.extend(node)
        return sorted(found)

    def statements(self, name: str, compared: AbstractSet[str]) -> Mapping[tuple[str, str], Statements]:
        """What a declared definition and each definition inside of it say of defaults, leniency, unknown values and the like, where no
        comparison reads it: by the name and place of that definition, the place in it, the keyword and its value. `compared` are those that
        were compared part by part.
        """
        at = self.bundle.origins[name]
        is_copied = (
            name not in compared and branches_of(self.bundle.definitions[name]) is not None
        )  # into a union around it
        found: dict[tuple[str, str], Statements] = {}
        records = {self.bundle.origins[each] for each in self._parts[at] if self._is_record(each)}
        for each in self._parts[at]:
            origin = self.bundle.origins[each]
            if origin in records and not self._is_record(each):
                continue  # params by position say what those by name do
            is_branch = is_copied and _OF_BRANCHES.fullmatch(origin.removeprefix(at)) is not None
            is_read = is_branch or each in compared or origin in self._declared_places
            found[each, origin.removeprefix(at)] = frozenset(
                (plain_pointer(*keys), keyword, key_of(node[keyword]))
                for keys, node in inside(self.stable_schemas[each])
                for keyword in _STATEMENTS & node.keys()
                if not (is_read and origin + plain_pointer(*keys) in self._read_places[keyword])
            )
        return found

    def _is_record(self, name: str) -> bool:
        return isinstance(self.definitions.get(name), ir.Record)

    @cached_property
    def _read_places(self) -> Mapping[str, AbstractSet[str]]:
        """The places at which what each keyword says is in the meaning of a definition."""
        origins, methods = self.bundle.origins, self.protocol.methods
        unions = [each for each in self.definitions.values() if isinstance(each, ir.TaggedUnion)]
        enums = [each for each in self.definitions.values() if isinstance(each, ir.Enum)]
        records = [(name, each.fields) for name, each in self.definitions.items() if isinstance(each, ir.Record)]
        fields = {each.at for _, own in records for each in own}
        fields |= {  # a body's field may be read in the variant that it is a part of
            origins[name] + plain_pointer("properties", each.name)
            for name, own in records
            if name in origins
            for each in own
        }
        choices = {each.at for union in unions for each in union.variants} | {
            v.at for each in enums for v in each.values
        }
        bodies = {name for union in unions for each in union.variants for name in (each.type, each.body)}
        gated = {
            origins[name]
            for name in bodies | {each.params or each.result for each in methods}
            if name and name in origins
        }
        lists = {each.at for each in unions} | {each.at for each in enums if len(each.values) > 1}
        wholes = set(origins.values())
        places = {**dict.fromkeys(_STATEMENTS, fields), "x-batch": wholes, "x-null": fields | wholes}
        return {**places, "x-capability": fields | choices | gated, "x-unknown": lists}

    @cached_property
    def _messages(self) -> frozenset[str]:
        """The definitions of params, results and whole messages of methods."""
        places = {method.at for method in self.protocol.methods}
        names = (
            name for method in self.protocol.methods for name in (method.params, method.result) if name is not None
        )
        return frozenset((*names, *(name for name, at in self.bundle.origins.items() if at in places)))

    @cached_property
    def references(self) -> Mapping[str, frozenset[str]]:
        """The definitions that each definition refers to, as the source has it and as the bundle has it."""
        written = self.bundle.definitions
        return {
            name: (self.bundle.references.get(name, frozenset()).union(references(schema)) & written.keys())
            - (_behind_what_judges_nothing(schema) if _MAY_JUDGE_NOTHING.search(self.texts.get(name, "")) else set())
            for name, schema in written.items()
        }

    @cached_property
    def answers(self) -> dict[str, Any]:
        """What the prover has decided about this revision as the old one, by the question, with the steps that it took."""
        return {}

    @cached_property
    def _digests(self) -> dict[str, bytes]:
        return {}

    def digest(self, name: str) -> bytes:
        """What a definition says with all that it refers to, as a hash."""
        if name not in self._digests:
            names = sorted({name, *self._referred({"$ref": reference_to(name)})})
            self._digests[name] = hashlib.sha256(
                "".join(self._own_digests.get(each, each) for each in names).encode()
            ).digest()
        return self._digests[name]

    @cached_property
    def _own_digests(self) -> Mapping[str, str]:
        return {name: hashlib.sha256(f"{name} {text}".encode()).hexdigest() for name, text in self.texts.items()}

    def _referred(self, node: Any) -> set[str]:
        """The definitions that a part of the bundle leads to."""
        definitions = self.bundle.definitions

        def lead_on(part: Any) -> Iterator[str]:
            return (name for name in references(part) if name in definitions)

        return {*reachable(lead_on(node), lambda name: lead_on(definitions[name]))}

    @cached_property
    def gates_unknown(self) -> bool:
        """Whether peers advertise capabilities, and the schema never says what one gates, as published files of ACP."""
        return any(method.name == "initialize" for method in self.protocol.methods) and not any(
            not _GATING.isdisjoint(node) for schema in self.bundle.definitions.values() for _, node in inside(schema)
        )

    def may_gate(self, capability: str | None) -> bool:
        """Whether a capability that another revision names may gate the same here, too: it is advertised, and gates are not known."""
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
        shape = shape_of(type_, self.definitions)
        for alternative in shape.of("object"):
            if isinstance(alternative, Objects):
                for each in self.stable(alternative.fields):
                    if each.name == path[0] and self._leads(each.type, path[1:]):
                        return True
        return False


def fields_on(pointer: str) -> str:
    """The fields and items on a pointer below a definition, for people."""
    text, parts = "", pointer_parts(pointer)
    for before, name in pairwise(("", *parts)):
        if before == "properties":
            text += f".{name}"
        elif name == "items" and before != "properties":
            text += "[]"
    return text


_READ_TOGETHER: Final[Mapping[str, tuple[str, ...]]] = {
    "if": ("then", "else"),
    "contains": ("minContains", "maxContains"),
}
"""Keywords that say nothing without the one that they stand beside, by that one."""

_STATEMENTS: Final = frozenset(
    {
        *("default", "x-batch", "x-capability", "x-null", "x-required-with", "x-unknown"),
        *("x-deserialize-default-on-error", "x-deserialize-default-on-null", "x-deserialize-skip-invalid-items"),
    }
)
"""Keywords that say what a value means, or what receivers make of it, and that no validator asserts."""

_GATING: Final = frozenset({"x-capability", "x-required-with", "x-gates"})
"""Keywords of a schema that says what its capabilities gate."""

_MAY_JUDGE_NOTHING: Final = re.compile('"(?:contentSchema|if)"')

_OF_CONTENT: Final = ("contentMediaType", "contentSchema")


def _behind_what_judges_nothing(schema: Schema) -> set[str]:
    """The definitions that a schema refers to only where no value is judged by it."""
    found = {name for _, node in inside(schema) for part in unjudged(node) for name in references(part)}
    return found and found - set(references(_judging(schema)))


def _judging(schema: Any) -> Any:
    """A schema without what is in it and judges nothing."""
    if is_array(schema):
        return [_judging(item) for item in schema]
    if not is_object(schema):
        return schema
    left_out = [id(part) for part in unjudged(schema)]
    return {key: _judging(value) for key, value in schema.items() if id(value) not in left_out}


def _without_annotations(schema: Any, holds: str = "schema") -> Any:
    """A schema without what no validator asserts, so that definitions which accept the same are the same. `holds` are the schemas in it."""
    if is_array(schema):
        return [_without_annotations(each) for each in schema] if holds != "map" else schema
    if not is_object(schema):
        return schema
    if holds == "map":
        return {name: _without_annotations(each) for name, each in schema.items()}
    kept = (key for key in schema if may_hold_schemas(key) or key in _KEPT)
    return {key: _without_annotations(schema[key], HOLDS[key]) if key in HOLDS else schema[key] for key in kept}


_KEPT: Final = frozenset({*DEFINITIONS, "$id", "$schema", "format", "x-integer"})
"""What the prover reads of the keywords that hold definitions, annotate, or are our own."""


def references_in(text: str) -> set[str]:
    """The definitions that the text of a schema refers to."""
    return {target(loads(found)) for found in _REFERENCE.findall(text)}


def with_names(text: str, name_of: Callable[[str], str]) -> str:
    """The text of a schema with other names of definitions in place of its references."""
    return _REFERENCE.sub(lambda found: f'"$ref": {dumps(name_of(target(loads(found[1]))))}', text)


def _stable(node: Any) -> Any:
    """A tree without what is marked `x-unstable`, and without the demand that such a member be there."""
    if is_array(node):
        return [_stable(item) for item in node if not _is_unstable(item)]
    if not is_object(node):
        return node
    kept = {key: _stable(value) for key, value in node.items() if not _is_unstable(value)}
    properties = node.get("properties")
    if is_object(properties) and is_array(node.get("required")):
        kept["required"] = [name for name in node["required"] if not _is_unstable(properties.get(name))]
    return kept


def _without(node: Any, alone: AbstractSet[str]) -> Any:
    """A tree without the items of lists that refer to these definitions alone."""
    if is_array(node):
        kept = (
            item for item in node if not is_object(item) or not (found := set(references(item))) or not found <= alone
        )
        return [_without(item, alone) for item in kept]
    return {key: _without(value, alone) for key, value in node.items()} if is_object(node) else node


def _is_unstable(node: Any) -> bool:
    return is_object(node) and node.get("x-unstable") is True


def rewritten_definitions(old: SchemaRevision, new: SchemaRevision, apart: Collection[str] = ()) -> frozenset[str]:
    """The names of definitions that are written differently in the two revisions, or lead to such ones; those `apart` do not count."""
    names = {*old.texts, *new.texts}.difference(apart)
    found = {name for name in names if old.texts.get(name) != new.texts.get(name)}
    if not found:
        return frozenset()
    referrers: dict[str, set[str]] = {}
    for side in (old, new):
        for name, text in side.texts.items():
            for reference in references_in(text):
                referrers.setdefault(reference, set()).add(name)
    return frozenset(reachable(found, lambda name: referrers.get(name, set()).difference(apart)))


_OF_METHODS: Final = ("x-method", "x-side", "x-null", "x-was")
"""What a definition says of its method and of earlier names: reported as such."""

_VALUES: Final = ("const", "enum", "default")


def without_prose(node: Any) -> Any:
    """A tree without words. Members that have their name from a schema, and values, stay as they are."""
    if is_object(node):
        return {
            key: value if key in _VALUES else without_prose(value)
            for key, value in node.items()
            if key not in PROSE or not isinstance(value, str | list)
        }
    return [without_prose(item) for item in node] if is_array(node) else node


def _without_docs(value: Any) -> Any:
    """A value of the IR whose records describe nothing."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = {each.name: getattr(value, each.name) for each in fields(value)}
        return replace(value, **{name: "" if name == "doc" else _without_docs(part) for name, part in inner.items()})
    if isinstance(value, tuple):
        return tuple(map(_without_docs, cast("tuple[object, ...]", value)))
    if isinstance(value, Mapping):
        return {name: _without_docs(part) for name, part in cast("Mapping[str, object]", value).items()}
    return value


__all__ = ["Schema", "SchemaRevision"]
