"""What a comparison covers: the definitions that messages reach, those that stand on their own, and what is not read at all."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from acpgen import ir
from acpgen.compat.findings import Revision
from acpgen.compat.protocol.revision import SchemaRevision, references_in, with_names, without_prose
from acpgen.input.numbers import dumps
from acpgen.input.tagged_unions import branches_of, constant, lone_reference
from acpgen.input.walk import ASSERTIONS, Schema, asserts, is_object, may_hold_schemas, reachable, refs
from acpgen.pointers import reference_to, target

GROUPED: Final = "definitions in a group are not read"
UNREAD: Final = "a reference leads to a place that is not read"


@dataclass(frozen=True, slots=True)
class UnreachedDefinitions:
    """How the definitions of two revisions are compared where no message does it.

    `alone` are pairs of definitions that are compared as documents, `gone` and `added` those that have no counterpart. A definition
    inside another one goes with that. `copied` are those that one revision alone has, where a variant in its messages says the same.
    """

    alone: tuple[tuple[str, str], ...]
    gone: tuple[str, ...]
    added: tuple[str, ...]
    copied: tuple[tuple[Revision, str], ...] = ()


def unreached_definitions(
    old: SchemaRevision, new: SchemaRevision, paired: Iterable[tuple[str, str]]
) -> UnreachedDefinitions:
    """What is left to compare; `paired` are the definitions that messages lead to on both sides at once."""
    pairs = list(paired)
    mine, ours = _reached(old, [name for name, _ in pairs])
    theirs, others = _reached(new, [name for _, name in pairs])
    renames = _renames(old, new)
    copied: list[tuple[Revision, str]] = [
        *(("old", name) for name in sorted(ours - renames.keys())),
        *(("new", name) for name in sorted(others - set(renames.values()))),
    ]
    mine, theirs = mine | ours, theirs | others
    gone, added = old.own - mine - renames.keys(), new.own - theirs - set(renames.values())
    known = {one: other for one, other in pairs if one not in new.definitions}
    renames |= _renamed(old, new, sorted(gone), sorted(added), known)
    alone = [(one, other) for one, other in renames.items() if one not in mine or other not in theirs]
    mine |= closure(old, [one for one, _ in alone])
    theirs |= closure(new, [other for _, other in alone])
    return UnreachedDefinitions(
        alone=tuple(alone),
        gone=_outermost(old, old.own - mine),
        added=_outermost(new, new.own - theirs),
        copied=tuple(copied),
    )


def _reached(revised: SchemaRevision, routes: Iterable[str]) -> tuple[set[str], set[str]]:
    """The definitions that messages hold, and others that say what a variant in them says, its tag aside."""
    found = closure(revised, {*routes, *messages(revised)})
    bodies = {_body(revised, name, tagged=True) for name in found} - {""}
    return found, {name for name in revised.own - found if _body(revised, name, tagged=False) in bodies}


def _body(revised: SchemaRevision, name: str, *, tagged: bool) -> str:
    """The text of a record with tags, or of one without, less its tags; empty if it is none."""
    schema = without_prose(revised.bundle.definitions.get(name, {}))
    properties: Schema = schema.get("properties", {})
    kept = {key: sub for key, sub in properties.items() if constant(sub) is None}
    if not kept or "$ref" in schema or "allOf" in schema or tagged != (len(kept) < len(properties)):
        return ""
    required = sorted(key for key in schema.get("required", ()) if key in kept or key not in properties)
    return dumps({**schema, "properties": kept, "required": required}, sort_keys=True)


def messages(revised: SchemaRevision) -> set[str]:
    """The definitions that are params, results or whole messages, and unions of nothing but such."""
    methods = revised.protocol.methods
    parts = ((method.params, method.result, message_of(revised, method)) for method in methods)
    found = {name for names in parts for name in names if name is not None}
    unions = {name: branch_names(schema) for name, schema in revised.bundle.definitions.items()}
    while more := {name for name, branches in unions.items() if branches and name not in found and branches <= found}:
        found |= more
    return found


def framing(revised: SchemaRevision) -> list[str]:
    """The definitions that frame messages, and declared unions of nothing but messages, as the source orders them."""
    declared = set(revised.declared)
    unions = {name for name in messages(revised) & declared if branch_names(revised.bundle.definitions[name])}
    return [name for name in revised.bundle.definitions if name in revised.bundle.framing | unions]


def branch_names(schema: Schema) -> set[str]:
    """The definitions that a schema is a union of; none if it says anything else."""
    union = branches_of(schema)
    if union is None or {key for key in schema if asserts(key)} != {union[0]}:
        return set()
    names = [lone_reference(branch) for branch in union[1]]
    return {name for name in names if name is not None} if None not in names else set()


def kinds(revised: SchemaRevision, root: str) -> list[str]:
    """The declared definitions that a root is a union of, through other unions: the kinds of its documents. None if it says anything
    else, or if there is but one. Branches that stand in place have no meaning of their own.
    """
    found: list[str] = []
    seen, pending = {root}, [root]
    while pending:
        name = pending.pop(0)
        branches = _branches(revised.bundle.definitions.get(name, {}))
        named = [branch for branch in branches if branch is not None]
        found += [name] if name != root and (not branches or None in branches) else []
        pending += [branch for branch in dict.fromkeys(named) if branch not in seen]
        seen |= set(named)
    return [name for name in found if name in revised.declared] if len(found) > 1 else []


def _branches(schema: Schema) -> list[str | None]:
    """The definitions that a schema refers to or is a union of, `None` for a branch that stands in place; none if it says more than that
    all are objects.
    """
    only, union = lone_reference(schema), branches_of(schema)
    if only is not None:
        return [only]
    said = {key for key in schema if asserts(key) and (key, schema[key]) != ("type", "object")}
    is_union = union is not None and said == {union[0]}
    return [lone_reference(branch) for branch in union[1]] if union is not None and is_union else []


def closure(revised: SchemaRevision, start: Iterable[str], known: Collection[str] = ()) -> set[str]:
    """The definitions with all that they refer to, in the source or in the bundle, but for what is known and what lies behind that."""
    unknown = (name for name in start if name not in known)
    return {*reachable(unknown, lambda name: revised.references.get(name, frozenset()).difference(known))}


def _renames(old: SchemaRevision, new: SchemaRevision) -> dict[str, str]:
    """The definitions of both revisions: of one name, declared by `x-was`, or the roots of their files.

    A name that no file declares counts where both stand at one place: it is made of that of what holds it, and of a number.
    """
    ours, theirs = old.own, new.own
    both, left = ours & theirs, ours - theirs
    declared = {*old.declared, *new.declared}
    renames = {
        name: name
        for name in old.definitions
        if name in both and (name in declared or _pointer(old, name) == _pointer(new, name))
    }
    for name in sorted(theirs - ours):
        renames.update({was: name for was in new.former_names(name) if was in left})
    renames.update(
        {
            name: new_name
            for name, new_name in of_both_files(old.root_definitions, new.root_definitions)
            if name not in renames
        }
    )
    return renames


def _pointer(revised: SchemaRevision, name: str) -> str:
    return revised.definitions[name].at.partition("#")[2]


def of_both_files(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What belongs together of two revisions, each by the file that it stands in: the only one of each, whatever its file is called, or
    those of one path.
    """
    if len(before) == len(after) == 1:
        yield from zip(before.values(), after.values(), strict=True)
    else:
        yield from ((name, after[path]) for path, name in before.items() if path in after)


def of_files(old: SchemaRevision, new: SchemaRevision) -> dict[str, str]:
    """The names of the roots, and of what is called after them, where each side has one root: two files have two names."""
    before, after = old.root_definitions, new.root_definitions
    if len(before) != 1 or len(after) != 1:
        return {}
    (one,), (other,) = before.values(), after.values()
    called = {name: name.replace(one, other, 1) for name in old.definitions if one in name}
    return {was: name for was, name in called.items() if was not in new.definitions and name in new.definitions}


def _renamed(
    old: SchemaRevision, new: SchemaRevision, gone: Sequence[str], added: Sequence[str], known: Mapping[str, str]
) -> dict[str, str]:
    """The declared definitions that say the same under another name, those that they refer to included.

    What says little must be the only one that says it. `known` are other definitions with their new names.
    """
    texts: dict[str, list[str]] = {}
    for name in added:
        texts.setdefault(_text(new, name, {name: ""}), []).append(name)
    referring: dict[str, list[str]] = {}
    for name in gone:
        for below in references_in(old.texts[name]):
            referring.setdefault(below, []).append(name)
    renames: dict[str, str] = {}
    alike: dict[str, list[str]] = {}
    """What waits until one definition alone is left that says the same, by what it says."""
    pending = list(gone)
    for name in pending:  # which grows
        text = "" if name in renames else _text(old, name, ChainMap({name: ""}, renames, dict(known)))
        found = texts.get(text, [])
        if found and (len(found) == 1 or not isinstance(old.definitions[name], ir.Alias)):
            renames[name] = found.pop(0)
            pending += (*referring.get(name, ()), *alike.pop(text, ()))
        elif found:
            alike.setdefault(text, []).append(name)
    declared = {*old.declared, *new.declared}
    return {one: other for one, other in renames.items() if {one, other} <= declared}


def _text(revised: SchemaRevision, name: str, names: Mapping[str, str]) -> str:
    """The text of a definition with other names in its references."""
    return with_names(revised.texts[name], lambda was: names.get(was, was))


def _outermost(revised: SchemaRevision, names: AbstractSet[str]) -> tuple[str, ...]:
    """The definitions of these that no other of them refers to; of those that refer to each other, the first."""
    inner = {below for name in names for below in revised.references.get(name, ()) if below in names and below != name}
    found: list[str] = []
    covered: set[str] = set()
    for name in [*(each for each in revised.definitions if each in names - inner), *sorted(inner)]:
        if name not in covered:
            found.append(name)
            covered |= closure(revised, [name], covered)
    return tuple(found)


# --- what is not read ------------------------------------------------------------------------------------------------


def unread(old: SchemaRevision, new: SchemaRevision) -> dict[str, str]:
    """The definitions that differ in something of which nothing is known, with the reason."""
    found: dict[str, str] = {}
    for name in dict.fromkeys((*old.bundle.definitions, *new.bundle.definitions)):
        sides = [each.bundle.definitions.get(name, {}) for each in (old, new)]
        groups = [dumps(without_prose(_grouped(side)), sort_keys=True) for side in sides]
        if groups[0] != groups[1]:
            found[name] = GROUPED
        elif old.texts.get(name) != new.texts.get(name) and any(map(_leads_astray, sides)):
            found[name] = UNREAD
    return found


def groups(*sides: SchemaRevision) -> frozenset[str]:
    """The definitions that hold others, which are not read."""
    return frozenset(name for side in sides for name, schema in side.bundle.definitions.items() if _grouped(schema))


def _grouped(schema: Schema) -> Schema:
    """What a definition holds that is no part of a schema: definitions of its own, or definitions alone."""
    is_group = ASSERTIONS.isdisjoint(schema)
    return {
        key: value
        for key, value in schema.items()
        if key in ("$defs", "definitions") or (is_group and may_hold_schemas(key) and is_object(value))
    }


def _leads_astray(schema: Any) -> bool:
    """Whether a reference at or below a schema names no definition."""
    return not all(map(_is_local, refs(schema)))


def _is_local(reference: str) -> bool:
    return reference.startswith("#/$defs/") and reference == reference_to(target(reference))


def root_frame(revised: SchemaRevision) -> Schema:
    """What the roots that are no definitions demand of every message."""
    said: Mapping[str, Schema] = revised.roots.said if revised.roots is not None else {}
    return {"allOf": [schema for path, schema in said.items() if path not in revised.root_definitions]}


def message_of(revised: SchemaRevision, method: ir.Method) -> str | None:
    """The definition that is a whole message of a method; `None` where only its params and result are definitions."""
    named = (name for name, at in revised.bundle.origins.items() if at == method.at)
    return next((name for name in named if name not in (method.params, method.result)), None)
