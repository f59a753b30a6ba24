"""Which parts of two revisions are compared with each other: messages, and the definitions that no message contains."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from acpgen import ir
from acpgen.compat.diff.methods import pair_methods
from acpgen.compat.diff.pairs import EXTENSION, Pair, Step
from acpgen.compat.diff.shapes import Alternative
from acpgen.compat.findings import Revision, Sides
from acpgen.compat.protocol.messages import Route, Routes
from acpgen.compat.protocol.revision import SchemaRevision, scan_references, with_names
from acpgen.compat.rule import Flow
from acpgen.input.numbers import dumps
from acpgen.input.tagged_unions import find_branches, find_constant, find_lone_reference
from acpgen.input.walk import (
    ASSERTIONS,
    Schema,
    asserts,
    find_reachable,
    is_object,
    list_refs,
    may_hold_schemas,
    without_prose,
)
from acpgen.pointers import read_reference, write_reference

DIRECTIONS: Final[tuple[tuple[Revision, Revision], ...]] = (("old", "new"), ("new", "old"))
"""Sender and receiver of each direction."""


@dataclass(frozen=True, slots=True)
class MessagePair:
    """One kind of message in both revisions: the definition on each side, who sends it, and who receives it."""

    old: Route
    new: Route
    flow: Flow = "both"
    sender: str = "peer"
    receiver: str = "peer"
    alone: bool = False

    @property
    def method(self) -> str | None:
        return self.new.method.name if self.new.method is not None else None

    @property
    def pair(self) -> Pair:
        """The types that validate it."""
        names = self.old.content, self.new.content
        old, new = (ir.Anything() if name is None else ir.Ref(name) for name in names)
        return Pair(old, new)

    @property
    def advertises(self) -> bool:
        """Whether peers advertise capabilities here: an object without members then marks a capability, and is no map for arbitrary
        names.
        """
        return self.method == "initialize"

    @property
    def routes(self) -> Routes:
        return Sides(self.old, self.new)

    @property
    def flow_name(self) -> str:
        return f"{self.sender}-to-{self.receiver}" if self.flow in ("to-handler", "to-caller") else "both"


def make_method_pair(
    old: ir.Method, new: ir.Method, part: Literal["params", "result"], roles: Sequence[str]
) -> MessagePair:
    """The params or results of a method of both revisions; `roles` are those of the protocol, and either sends if none handles it."""
    before, after = (Route(part, method, method.params if part == "params" else method.result) for method in (old, new))
    callers = [role for role in roles if role != new.side]
    if new.side not in roles or len(callers) != 1:
        return MessagePair(before, after)
    if part == "params":
        return MessagePair(before, after, "to-handler", callers[0], new.side)
    return MessagePair(before, after, "to-caller", new.side, callers[0])


def list_routes(old: SchemaRevision, new: SchemaRevision) -> Iterator[MessagePair]:
    """Yield all kinds of messages and documents of two revisions."""
    for before, after in pair_methods(old, new):
        pairs = [make_method_pair(before, after, "params", new.protocol.sides)]
        if (before.kind, after.kind) == ("request", "request"):
            pairs.append(make_method_pair(before, after, "result", new.protocol.sides))
        yield from (pair for pair in pairs if (pair.old.content, pair.new.content) != (None, None))
    for name, label in find_shared_roots(old, new).items():
        yield from (make_document_pair(kind, kind, kind) for kind in list_shared_kinds(old, new, name))
        yield make_document_pair(name, name, label)
    parts: tuple[Literal["error", "id"], ...] = ("error", "id")
    for part in parts:
        for old_name, new_name in _pair_envelope_parts(old, new, part):
            yield MessagePair(Route(part, None, old_name), Route(part, None, new_name))


def find_shared_roots(old: SchemaRevision, new: SchemaRevision) -> Mapping[str, str]:
    """The definitions that represent root schemas in both revisions, with their labels."""
    return {name: label for name, label in old.root_names.items() if name in new.definitions}


def list_shared_kinds(old: SchemaRevision, new: SchemaRevision, root: str) -> list[str]:
    """The kinds of documents whose union a root is in both revisions.

    Each is reported separately: where kinds overlap, one may accept what another refuses, which would hide the change. If a tag moves
    between kinds, the root reports it.
    """
    new_kinds = set(list_kinds(new, root))
    shared = (name for name in list_kinds(old, root) if name in new_kinds)
    return [name for name in shared if _list_tags(old, root, name) == _list_tags(new, root, name)]


def _list_tags(revised: SchemaRevision, root: str, name: str) -> set[object]:
    """The tags that select a kind in the tagged union of a root."""
    union = revised.definitions.get(root)
    variants = union.variants if isinstance(union, ir.TaggedUnion) else ()
    return {variant.tag for variant in variants if variant.type == name}


def make_document_pair(old: str, new: str, label: str) -> MessagePair:
    """The pair of a definition that is compared on its own."""
    return MessagePair(Route("document", None, old, label), Route("document", None, new, label))


def get_names(pair: Pair) -> Sides[str] | None:
    """The names of a pair of definitions; `None` for other pairs."""
    old, new = pair.old, pair.new
    return Sides(old.name, new.name) if isinstance(old, ir.Ref) and isinstance(new, ir.Ref) else None


def list_content_definitions(
    old: SchemaRevision, new: SchemaRevision, rewritten: frozenset[str]
) -> Sides[frozenset[str]]:
    """The definitions of each revision that frames contain and that are compared separately: params, results, errors, and identifiers
    that differ.
    """
    pairs = [
        *_pair_envelope_parts(old, new, "error"),
        *(pair for pair in _pair_envelope_parts(old, new, "id") if not rewritten.isdisjoint(pair)),
    ]

    def list_contents(side: SchemaRevision, parts: Iterable[str]) -> frozenset[str]:
        names = (name for method in side.protocol.methods for name in (method.params, method.result))
        return frozenset((*(name for name in names if name is not None), *parts))

    return Sides(list_contents(old, (pair.old for pair in pairs)), list_contents(new, (pair.new for pair in pairs)))


def _pair_envelope_parts(old: SchemaRevision, new: SchemaRevision, part: Literal["error", "id"]) -> list[Sides[str]]:
    """The definitions of `error` or `id` in envelopes that are compared with each other: of one name, or the first of each revision."""
    before, after = list_envelope_parts(old, part), list_envelope_parts(new, part)
    shared = [Sides(name, name) for name in before if name in after]
    return shared or [Sides(*names) for names in zip(before[:1], after[:1], strict=False)]


def list_envelope_parts(revised: SchemaRevision, part: str) -> tuple[str, ...]:
    """The definitions of `error` or `id` in the envelopes of a schema, in alphabetical order."""
    names: set[str] = set()
    for schema in revised.bundle.definitions.values():
        if schema.get("x-docs-ignore") is True or "jsonrpc" in schema.get("properties", {}):
            branches = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in schema.get(keyword, ())]
            for branch in (schema, *filter(is_object, branches)):
                name = find_lone_reference(branch.get("properties", {}).get(part))
                if name is not None and name in revised.definitions:
                    names.add(name)
    return tuple(sorted(names))


# --- definitions that no message contains ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnreachedDefinitions:
    """How the definitions of two revisions are compared that no message contains.

    `alone` are pairs of definitions that are compared as documents, `gone` and `added` those that have no counterpart. Definitions
    inside another one are compared with it. `copied` are definitions in one revision only that duplicate a variant in its messages.
    """

    alone: tuple[Sides[str], ...]
    gone: tuple[str, ...]
    added: tuple[str, ...]
    copied: tuple[tuple[Revision, str], ...] = ()


def find_unreached(old: SchemaRevision, new: SchemaRevision, paired: Iterable[Sides[str]]) -> UnreachedDefinitions:
    """The definitions that remain to be compared; `paired` are those that messages reach on both sides at once."""
    pairs = list(paired)
    old_reached, old_copies = _find_reached(old, [pair.old for pair in pairs])
    new_reached, new_copies = _find_reached(new, [pair.new for pair in pairs])
    renames = _find_renames(old, new)
    copied: list[tuple[Revision, str]] = [
        *(("old", name) for name in sorted(old_copies - renames.keys())),
        *(("new", name) for name in sorted(new_copies - set(renames.values()))),
    ]
    old_reached, new_reached = old_reached | old_copies, new_reached | new_copies
    removed = old.stable_names - old_reached - renames.keys()
    added = new.stable_names - new_reached - set(renames.values())
    paired_renames = {pair.old: pair.new for pair in pairs if pair.old not in new.definitions}
    renames |= _find_equal_definitions(old, new, sorted(removed), sorted(added), paired_renames)
    pairs = [Sides(*names) for names in renames.items()]
    alone = [pair for pair in pairs if pair.old not in old_reached or pair.new not in new_reached]
    old_reached |= find_closure(old, [pair.old for pair in alone])
    new_reached |= find_closure(new, [pair.new for pair in alone])
    return UnreachedDefinitions(
        alone=tuple(alone),
        gone=_find_outermost(old, old.stable_names - old_reached),
        added=_find_outermost(new, new.stable_names - new_reached),
        copied=tuple(copied),
    )


def _find_reached(revised: SchemaRevision, routes: Iterable[str]) -> tuple[set[str], set[str]]:
    """The definitions that messages contain, and other definitions that equal a variant in them except for its tag."""
    message_definitions = find_closure(revised, {*routes, *list_messages(revised)})
    bodies = {_write_body(revised, name, tagged=True) for name in message_definitions} - {""}
    return message_definitions, {
        name
        for name in revised.stable_names - message_definitions
        if _write_body(revised, name, tagged=False) in bodies
    }


def _write_body(revised: SchemaRevision, name: str, *, tagged: bool) -> str:
    """The text of a record without its tags; empty if it is no record, or does not have tags exactly if `tagged`."""
    schema = revised.demands.get(name, {})
    properties: Schema = schema.get("properties", {})
    untagged_properties = {key: sub for key, sub in properties.items() if find_constant(sub) is None}
    if (
        not untagged_properties
        or "$ref" in schema
        or "allOf" in schema
        or tagged != (len(untagged_properties) < len(properties))
    ):
        return ""
    required = sorted(key for key in schema.get("required", ()) if key in untagged_properties or key not in properties)
    return dumps({**schema, "properties": untagged_properties, "required": required}, sort_keys=True)


def list_messages(revised: SchemaRevision) -> set[str]:
    """The definitions that are params, results or whole messages, and unions of only such definitions."""
    methods = revised.protocol.methods
    parts = ((method.params, method.result, find_message(revised, method)) for method in methods)
    message_names = {name for names in parts for name in names if name is not None}
    unions = {
        name: names for name, schema in revised.bundle.definitions.items() if (names := list_branch_names(schema))
    }
    while more := {name for name, names in unions.items() if names <= message_names} - message_names:
        message_names |= more
    return message_names


def list_framing(revised: SchemaRevision) -> list[str]:
    """The definitions that frame messages, and declared unions of only messages, in source order."""
    unions = {name for name in list_messages(revised) if list_branch_names(revised.bundle.definitions[name])}
    names = revised.bundle.framing | unions.intersection(revised.declared)
    return [name for name in revised.bundle.definitions if name in names]


def list_branch_names(schema: Schema) -> set[str]:
    """The definitions that a schema is a union of; empty if it asserts anything else."""
    branches = [] if "$ref" in schema or schema.get("type") == "object" else _list_branches(schema)
    return {name for name in branches if name is not None} if None not in branches else set()


def list_kinds(revised: SchemaRevision, root: str) -> list[str]:
    """The kinds of documents of a root: the declared definitions that it is a union of, through other unions.

    Empty if the root asserts anything else, or if there is only one. Inline branches are not definitions and are left out.
    """
    kind_names: list[str] = []
    visited, pending = {root}, [root]
    for name in pending:  # which grows
        branches = _list_branches(revised.bundle.definitions.get(name, {}))
        targets = dict.fromkeys(branch for branch in branches if branch is not None)
        kind_names += [name] if name != root and (not branches or None in branches) else []
        pending += [branch for branch in targets if branch not in visited]
        visited |= targets.keys()
    return [name for name in kind_names if name in revised.declared] if len(kind_names) > 1 else []


def _list_branches(schema: Schema) -> list[str | None]:
    """The definitions that a schema refers to or is a union of, with `None` for an inline branch.

    Empty if the schema asserts more than that all branches are objects.
    """
    only, union = find_lone_reference(schema), find_branches(schema)
    if only is not None:
        return [only]
    keywords = {key for key in schema if asserts(key) and (key, schema[key]) != ("type", "object")}
    return [find_lone_reference(branch) for branch in union[1]] if union is not None and keywords == {union[0]} else []


def find_closure(revised: SchemaRevision, start: Iterable[str], excluded: Collection[str] = ()) -> set[str]:
    """The definitions with everything that they reference, in the source or in the bundle, without `excluded` ones and what only these
    reference.
    """
    unknown = (name for name in start if name not in excluded)
    return {*find_reachable(unknown, lambda name: revised.references.get(name, frozenset()).difference(excluded))}


def _find_renames(old: SchemaRevision, new: SchemaRevision) -> dict[str, str]:
    """The definitions that both revisions have: with the same name, renamed by `x-was`, or the roots of their files.

    A name that no file declares is made of the name of what contains it and a number; it only counts if both are at the same place.
    """
    declared = {*old.declared, *new.declared}

    def get_pointer(side: SchemaRevision, name: str) -> str:
        return side.definitions[name].at.partition("#")[2]

    shared = [name for name in old.definitions if name in old.stable_names and name in new.stable_names]
    renames = {name: name for name in shared if name in declared or get_pointer(old, name) == get_pointer(new, name)}
    removed = old.stable_names - new.stable_names
    for name in sorted(new.stable_names - old.stable_names):
        renames.update({was: name for was in new.list_former_names(name) if was in removed})
    for old_name, new_name in pair_by_file(old.root_definitions, new.root_definitions):
        renames.setdefault(old_name, new_name)
    return renames


def pair_by_file(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the corresponding entries of two revisions by file: the only entry of each, whatever its file is called, or those with the
    same path.
    """
    if len(before) == len(after) == 1:
        yield from zip(before.values(), after.values(), strict=True)
    else:
        yield from ((name, after[path]) for path, name in before.items() if path in after)


def find_file_renames(old: SchemaRevision, new: SchemaRevision) -> dict[str, str]:
    """The new names of the root and of the definitions named after it, if each side has one root: two files give it two names."""
    before, after = old.root_definitions, new.root_definitions
    if len(before) != 1 or len(after) != 1:
        return {}
    (old_root,), (new_root,) = before.values(), after.values()
    derived_names = {name: name.replace(old_root, new_root, 1) for name in old.definitions if old_root in name}
    return {was: name for was, name in derived_names.items() if was not in new.definitions and name in new.definitions}


def _find_equal_definitions(
    old: SchemaRevision,
    new: SchemaRevision,
    removed: Sequence[str],
    additions: Sequence[str],
    other_renames: Mapping[str, str],
) -> dict[str, str]:
    """The declared definitions that are equal except for their names, including those that they refer to.

    An alias must be the only candidate with its text. `other_renames` are other definitions with their new names.
    """

    def write_text(revised: SchemaRevision, name: str, names: Mapping[str, str]) -> str:
        return with_names(revised.texts[name], lambda was: names.get(was, was))

    texts: dict[str, list[str]] = {}
    for name in additions:
        texts.setdefault(write_text(new, name, {name: ""}), []).append(name)
    referring: dict[str, list[str]] = {}
    for name in removed:
        for below in scan_references(old.texts[name]):
            referring.setdefault(below, []).append(name)
    renames: dict[str, str] = {}
    aliases: dict[str, list[str]] = {}
    """The definitions that wait until only one candidate with their text is left, by text."""
    pending = list(removed)
    for name in pending:  # which grows
        text = "" if name in renames else write_text(old, name, ChainMap({name: ""}, renames, dict(other_renames)))
        candidates = texts.get(text, [])
        if candidates and (len(candidates) == 1 or not isinstance(old.definitions[name], ir.Alias)):
            renames[name] = candidates.pop(0)
            pending += (*referring.get(name, ()), *aliases.pop(text, ()))
        elif candidates:
            aliases.setdefault(text, []).append(name)
    declared = {*old.declared, *new.declared}
    return {old_name: new_name for old_name, new_name in renames.items() if {old_name, new_name} <= declared}


def _find_outermost(revised: SchemaRevision, names: AbstractSet[str]) -> tuple[str, ...]:
    """The definitions among `names` that no other of them refers to; of those that refer to each other, the first."""
    inner = {below for name in names for below in revised.references.get(name, ()) if below in names and below != name}
    outermost: list[str] = []
    covered: set[str] = set()
    for name in [*(name for name in revised.definitions if name in names - inner), *sorted(inner)]:
        if name not in covered:
            outermost.append(name)
            covered |= find_closure(revised, [name], covered)
    return tuple(outermost)


# --- what is not read ------------------------------------------------------------------------------------------------


def find_unread(old: SchemaRevision, new: SchemaRevision) -> dict[str, str]:
    """The definitions that differ in something that is not read, with the reason."""
    reasons: dict[str, str] = {}
    for name in dict.fromkeys((*old.bundle.definitions, *new.bundle.definitions)):
        before, after = (side.bundle.definitions.get(name, {}) for side in (old, new))
        old_group, new_group = (
            dumps(without_prose(_extract_group(schema)), sort_keys=True) for schema in (before, after)
        )
        if old_group != new_group:
            reasons[name] = "definitions in a group are not read"
        elif old.texts.get(name) != new.texts.get(name) and not all(
            map(_is_local, (*list_refs(before), *list_refs(after)))
        ):
            reasons[name] = "a reference leads to a place that is not read"
    return reasons


def list_groups(*sides: SchemaRevision) -> frozenset[str]:
    """The definitions that contain other definitions, which are not read."""
    return frozenset(
        name for side in sides for name, schema in side.bundle.definitions.items() if _extract_group(schema)
    )


def _extract_group(schema: Schema) -> Schema:
    """What a definition contains that is no part of a schema: definitions of its own, or nothing but definitions."""
    is_group = ASSERTIONS.isdisjoint(schema)
    return {
        key: value
        for key, value in schema.items()
        if key in ("$defs", "definitions") or (is_group and may_hold_schemas(key) and is_object(value))
    }


def _is_local(reference: str) -> bool:
    return reference.startswith("#/$defs/") and reference == write_reference(read_reference(reference))


def find_message(revised: SchemaRevision, method: ir.Method) -> str | None:
    """The definition of a whole message of a method; `None` if only its params and result are definitions."""
    names = (name for name, at in revised.bundle.origins.items() if at == method.at)
    return next((name for name in names if name not in (method.params, method.result)), None)


class Cause(NamedTuple):
    """What a finding is about, in however many messages it occurs: a label for readers, a key that identifies it, and the text of its
    rule.
    """

    declaration: str
    key: tuple[str | None, ...]
    statement: str


# --- places ----------------------------------------------------------------------------------------------------------


def write_location(route: Route, steps: Sequence[Step], side: SchemaRevision) -> str:
    """The location in a message as shown to readers: `params.update(tool_call).content[].path`.

    An alternative of a root without a name in the file is shown by its place: `#/anyOf/0.path`.
    """
    if route.part != "document":
        return route.part + write_path(steps)
    name = name_of(steps[0].new) if steps and steps[0].kind == "alternative" else None
    place = side.bundle.origins.get(name or "", "")
    if place and not {name, route.label}.intersection(side.declared):
        return f"{route.label}#{side.locate_in_file(place).partition('#')[2]}{write_path(steps[1:])}"
    return (route.label + write_path(steps)).lstrip(".")


def write_path(steps: Sequence[Step]) -> str:
    """Steps as shown to readers: `.update(tool_call).content[]`."""
    text = ""
    for step in steps:
        match step.kind:
            case "field":
                text += f".{step.name}"
            case "item":
                text += f"[{step.name}]"
            case "value":
                text += ".*"
            case "variant":
                text += "(any other)" if step.name == EXTENSION else f"({step.name})"
            case "untagged":
                text += "(untagged)"
            case "alternative":
                name = name_of(step.new)
                text += f"({name})" if name else ""
    return text


def name_of(alternative: Alternative | None) -> str | None:
    """The name of an alternative as shown to readers; that of a list is derived from its items."""
    if isinstance(alternative, ir.Array):
        return f"{alternative.items.name}[]" if isinstance(alternative.items, ir.Ref) else None
    return getattr(alternative, "name", None)


def extend_location(location: str, within: str) -> str:
    """A location with a name inside it."""
    if not within or within.startswith("("):
        return location + within
    return f"{location}.{within}".lstrip(".")
