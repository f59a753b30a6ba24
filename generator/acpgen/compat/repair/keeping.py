"""Edits that keep what a change was made for, and let peers of the old side live with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from acpgen import ir
from acpgen.compat.protocol.declared import META
from acpgen.compat.repair.attempts import Candidate, FileEdit, added, removed, replaced
from acpgen.compat.repair.case import Case, between, complete, restored
from acpgen.compat.repair.ground import At
from acpgen.compat.repair.reversals import same
from acpgen.schema.edits import Edit
from acpgen.schema.names import class_name
from acpgen.schema.walk import asserts, is_array, is_object, refs_anywhere

# --- fields ----------------------------------------------------------------------------------------------------------


def make_optional(case: Case) -> Iterator[Candidate]:
    """The field may be left out: with the default that it had, and, where old peers take the object for complete, behind a gate."""
    at = case.new_at
    if at is None or case.member is None or at.keys[-2:] != ("properties", case.member):
        return
    demand = _demand(case, At(at.path, at.keys[:-2]), case.member)
    if demand is None:
        return
    name = case.member
    keeps = case.finding.rule != "field-became-required"
    yield Candidate(f"Make {name!r} optional.", keeps=keeps, parts=(demand,))
    default = next(
        (part for part in case.atoms if part.edit.op == "add" and part.edit.at == (*at.keys, "default")), None
    )
    if default is not None:
        yield Candidate(f"Make {name!r} optional, with its old default.", keeps=keeps, parts=(demand, default))
    for gate in gates(case):
        description = f"Make {name!r} optional. {gate.description}"
        yield replace(gate, description=description, parts=(demand, *gate.parts))


def _demand(case: Case, base: At, name: str) -> FileEdit | None:
    """The edit that takes a field from the required ones of an object."""
    names = case.value(base.below("required"))
    if not is_array(names) or name not in names:
        return None
    return removed(base.below("required", names.index(name)))


def keep_deprecated(case: Case) -> Iterator[Candidate]:
    """What is gone stays, marked as deprecated; a new name for it stays beside it."""
    anchor = case.anchor
    if anchor is None:
        return
    parts = [part for part in case.atoms if _brings_back(case, part)]
    if not any(part.edit.at[: len(anchor.keys)] == anchor.keys for part in parts):
        return
    parts += _newcomer(case)
    tags = _tags(parts)
    tagged = [part for part in case.atoms if part not in parts and _names(part, tags)]
    marked = [_deprecated(case, part) for part in parts]
    told = _called(case)
    if marked != parts:
        whole = complete(case.ground, [*marked, *tagged])
        said = f"Keep {told}, marked as deprecated, until the next major version."
        yield Candidate(said, keeps=True, parts=whole)
        for gate in gates(case) if case.finding.rule == "variant-renamed" else ():
            yield replace(gate, description=f"{said} {gate.description}", parts=(*whole, *gate.parts))
    bare = complete(case.ground, [*parts, *tagged])
    yield Candidate(f"Keep {told} until the next major version.", keeps=False, parts=bare)


def _newcomer(case: Case) -> list[FileEdit]:
    """Where a field has another name, the edit that lets peers leave out the new one, which old peers do not know."""
    at = case.new_at
    if case.finding.rule != "field-renamed" or at is None or at.keys[-2:-1] != ("properties",):
        return []
    demand = _demand(case, At(at.path, at.keys[:-2]), str(at.keys[-1]))
    return [] if demand is None else [demand]


def _brings_back(case: Case, part: FileEdit) -> bool:
    """Whether an edit adds what the finding misses, or requires it again."""
    anchor, edit = case.anchor, part.edit
    if anchor is None or edit.op != "add" or part.path != anchor.path:
        return False
    if case.old_at is not None and case.old_definition is not None:
        try:
            wanted = case.ground.value(case.old_at, case.ground.old)
        except KeyError:
            return False
        wanted = case.ground.translated(wanted, case.old_at.path, anchor.path)
        if edit.at[:-1] == anchor.keys[:-1] and edit.value == wanted:
            return True
    if case.finding.rule == "untagged-variant-removed":
        return edit.at[:-2] == anchor.keys and edit.at[-2:-1] in (("anyOf",), ("oneOf",))
    base = anchor.keys[:-2]
    named = edit.value if is_array(edit.value) else [edit.value]
    return anchor.keys[-2:-1] == ("properties",) and (
        edit.at == anchor.keys or (edit.at[: len(base) + 1] == (*base, "required") and anchor.keys[-1] in named)
    )


def _deprecated(case: Case, part: FileEdit) -> FileEdit:
    """The same edit with a mark on what it brings back."""
    is_schema = len(part.edit.at) > 1 and part.edit.at[-2] == "properties"
    value = {} if part.edit.value is True and is_schema else part.edit.value
    if not is_object(value) or not case.ground.deprecates(part.path):
        return part
    return replace(part, edit=replace(part.edit, value={**value, "deprecated": True}))


def _tags(parts: list[FileEdit]) -> list[Any]:
    """The constants of branches that are brought back: what takes unknown tags excludes these."""
    found: list[Any] = []
    for part in parts:
        value = part.edit.value
        if is_object(value):
            members: Any = value.get("properties") or {}
            found += [each["const"] for each in members.values() if is_object(each) and "const" in each]
            found += [value["const"]] if "const" in value else []
    return found


def _names(part: FileEdit, tags: list[Any]) -> bool:
    """Whether an edit adds nothing but one of the tags, as a constant or as what a schema demands."""
    if part.edit.op != "add":
        return False
    value = part.edit.value
    return any(same(value, tag) for tag in tags) or any(same(each, tag) for each in _tags([part]) for tag in tags)


def _called(case: Case) -> str:
    """What the old side calls the thing that is gone."""
    if case.old_at is not None and case.old_at.keys[-2:-1] == ("enum",):
        return repr(case.ground.value(case.old_at, case.ground.old))
    if case.member is not None:
        return repr(case.member)
    if case.old_at is None:
        return case.finding.location
    value = case.ground.value(case.old_at, case.ground.old)
    tags = _tags([FileEdit(case.old_at.path, Edit("add", case.old_at.keys, value))])
    return repr(tags[0]) if tags else repr(value) if not isinstance(value, dict | list) else repr(case.finding.location)


# --- gates -----------------------------------------------------------------------------------------------------------


def gates(case: Case) -> Iterator[Candidate]:
    """What is new is sent only to peers that advertise a new capability."""
    at = case.new_at
    if at is None:
        return
    thing = _thing(case, at)
    found = _capabilities(case)
    if thing is None or found is None:
        return
    name, place = thing
    holder, path = found
    properties = case.value(holder.below("properties"))
    key = _free(name, properties if is_object(properties) else {})
    gate = f"{case.receiver}:{path}.{key}"
    capability = {"description": f"Whether the peer supports {name!r}.", "type": "boolean"}
    parts: list[FileEdit] = []
    if is_object(properties):
        parts.append(added(holder.below("properties", key), capability))
    else:
        parts.append(added(holder.below("properties"), {key: capability}))
    marked = _marked(case, place, gate)
    if marked is not None:
        description = f"Send {name!r} only to peers that advertise the new capability {gate}."
        yield Candidate(description, keeps=True, parts=(*parts, *marked))


def _thing(case: Case, at: At) -> tuple[str, At] | None:
    """What is gated, by a name for its capability and its place: a field, a branch or a constant."""
    value = case.value(at)
    if at.keys[-2:-1] == ("properties",):
        return str(at.keys[-1]), at
    if at.keys[-2:-1] == ("enum",):
        return str(value), at
    if at.keys[-2:-1] in (("anyOf",), ("oneOf",)) and is_object(value):
        tags = _tags([FileEdit(at.path, Edit("add", at.keys, value))])
        return (str(tags[0]), at) if tags else None
    return None


def _marked(case: Case, at: At, gate: str) -> list[FileEdit] | None:
    """The edits that put a gate on something; a constant in a list becomes a branch for it."""
    if at.keys[-2:-1] != ("enum",):
        if not is_object(case.value(at)):
            return None
        mark = at.below("x-capability")
        return [replaced(mark, gate) if case.value(mark) is not None else added(mark, gate)]
    around = At(at.path, at.keys[:-2])
    holder, value = case.value(around), case.value(at)
    if not is_object(holder) or "anyOf" in holder or not is_array(holder["enum"]):
        return None
    branches = [{"const": each, **({"x-capability": gate} if each == value else {})} for each in holder["enum"]]
    return [removed(around.below("enum")), added(around.below("anyOf"), branches)]


def _capabilities(case: Case) -> tuple[At, str] | None:
    """Where the receiver declares what it can do in the `initialize` exchange: the object, and the way to it."""
    meant = case.ground.meant()
    if meant is None or not case.receiver:
        return None
    for method in meant.protocol.methods:
        if method.name != "initialize" or method.kind != "request":
            continue
        start = method.result if method.side == case.receiver else method.params
        record = None if start is None else meant.definitions.get(start)
        if not isinstance(record, ir.Record):
            return None
        known = _advertised(case)
        for each in record.fields:
            if each.name in known or each.name.lower().endswith("capabilities"):
                found = _record(each.type, meant.definitions)
                place = None if found is None else _written(case, meant.bundle.origins.get(found, ""))
                if place is not None:
                    return place, each.name
    return None


def _advertised(case: Case) -> set[str]:
    """The fields of the exchange below which gates of the receiver lead."""
    found: set[str] = set()
    pending: list[Any] = [each.value for each in case.ground.new.documents.documents]
    while pending:
        node = pending.pop()
        if is_object(node):
            gate = node.get("x-capability")
            if isinstance(gate, str) and gate.startswith(f"{case.receiver}:"):
                found.add(gate.partition(":")[2].partition(".")[0])
            pending.extend(node.values())
        elif is_array(node):
            pending.extend(node)
    return found


def _record(type_: ir.Type, definitions: Any) -> str | None:
    """The name of the record that a type is, if it is one, or may be left out or null."""
    options = type_.types if isinstance(type_, ir.AnyOf) else (type_,)
    names = [each.name for each in options if isinstance(each, ir.Ref)]
    return names[0] if len(names) == 1 and isinstance(definitions.get(names[0]), ir.Record) else None


def _written(case: Case, origin: str) -> At | None:
    """A place of the bundle, `file#/pointer`, in the files of the new side, if it stands there as an object."""
    from acpgen.compat.repair.ground import typed
    from acpgen.pointers import pointer_parts

    path, _, fragment = origin.partition("#")
    value = case.value(At(path))
    keys = typed(pointer_parts(fragment), value)
    at = At(path, keys)
    return at if len(keys) == len(pointer_parts(fragment)) and is_object(case.value(at)) else None


def _free(name: str, taken: dict[str, Any]) -> str:
    """A name for a capability that no other has."""
    words = [word for word in re.split(r"[^A-Za-z0-9]+", name) if word] or ["addition"]
    text = words[0][0].lower() + words[0][1:] + "".join(word[0].upper() + word[1:] for word in words[1:])
    text = text if not text[0].isdigit() else f"v{text}"
    key, count = text, 2
    while key in taken:
        key, count = f"{text}{count}", count + 1
    return key


# --- extensions ------------------------------------------------------------------------------------------------------


def free_extension(case: Case) -> Iterator[Candidate]:
    """A name for extensions stays declared and takes what peers that do not know it may send there."""
    at = case.new_at
    value = None if at is None else case.value(at)
    if at is None or at.keys[-2:-1] != ("properties",) or not is_object(value):
        return
    name = str(at.keys[-1])
    words = {key: inner for key, inner in value.items() if not asserts(key)}
    free = words | ({"type": "object"} if name == META else {})
    yield Candidate(
        f"Keep {name!r}, and accept whatever old peers send there.", keeps=True, parts=(replaced(at, free),)
    )


# --- methods ---------------------------------------------------------------------------------------------------------


def keep_method(case: Case) -> Iterator[Candidate]:
    """A method that is gone stays, with what its messages hold and where these are listed; a new name stays beside it."""
    found = _messages(case)
    if not found:
        return
    parts = [restored(case.ground, name, _old_message(case, name)) for name in found if name not in case.ground.after]
    if not parts:
        parts = _copies(case, found)
    if not parts:
        return
    whole = complete(case.ground, [*parts, *_listings(case, parts)])
    was = _method(case.ground.as_new(found[0])) or found[0]
    yield Candidate(f"Keep the method {was!r}, marked as deprecated.", keeps=True, parts=whole)


def _old_message(case: Case, name: str) -> Any:
    value = case.ground.as_new(name)
    return (
        {**value, "deprecated": True}
        if is_object(value) and case.ground.deprecates(case.ground.home(name).path)
        else value
    )


def _messages(case: Case) -> list[str]:
    """The definitions of the old side that make up the method of the finding: its params and its result."""
    ground = case.ground
    name, at = case.old_definition or (None, None)
    if name is None or at is None:
        return []
    method = _method(ground.value(at, ground.old))
    if method is None:
        return [name]
    return [each for each, place in ground.before.items() if _method(ground.value(place, ground.old)) == method]


def _method(value: Any) -> str | None:
    return value["x-method"] if is_object(value) and isinstance(value.get("x-method"), str) else None


_KINDS: Final = ("Request", "Notification", "Response", "Result")


def _copies(case: Case, names: list[str]) -> list[FileEdit]:
    """The old definitions under names that are free, where the new side gave theirs to something else."""
    found: list[FileEdit] = []
    ground = case.ground
    for name in names:
        kind = next((each for each in _KINDS if name.endswith(each)), None)
        value = _old_message(case, name)
        method = _method(value)
        if kind is None or method is None or _method(case.value(ground.after[name])) == method:
            return []
        stem, count = class_name(method), 2
        while f"{stem}{kind}" in ground.after or f"{stem}{kind}" in ground.before:
            stem, count = f"{class_name(method)}{count}", count + 1
        home = ground.after[name]
        found.append(added(At(home.path, (*home.keys[:-1], f"{stem}{kind}")), value, str(home.keys[-1])))
    return found


def _listings(case: Case, parts: list[FileEdit]) -> Iterator[FileEdit]:
    """Branches of definitions and roots on both sides that refer to what is restored."""
    ground = case.ground
    back = {(part.path, tuple(map(str, part.edit.at))) for part in parts}
    pairs = [(at, ground.after[name]) for name, at in ground.before.items() if name in ground.after]
    files = {each.path for each in ground.old.documents.documents} & {
        each.path for each in ground.new.documents.documents
    }
    first = ground.old.documents.documents[0].path, ground.new.documents.documents[0].path
    pairs += [(At(path), At(path)) for path in sorted(files)] or [(At(first[0]), At(first[1]))]
    for old, new in pairs:
        for part in between(ground, old, new):
            is_branch = part.edit.op == "add" and isinstance(part.edit.at[-1], int)
            if is_branch and any(_place(ref, part.path) in back for ref in refs_anywhere(part.edit.value)):
                yield part


def _place(ref: str, path: str) -> tuple[str, tuple[str, ...]]:
    from urllib.parse import unquote, urljoin

    from acpgen.pointers import pointer_parts

    place, _, fragment = urljoin(path, unquote(ref)).partition("#")
    return place, pointer_parts(fragment)


def method_beside(case: Case) -> Iterator[Candidate]:
    """The old kind of the method keeps its name, and the new kind gets one of its own."""
    ground = case.ground
    if case.new_definition is None or case.new_definition[0] is None:
        return
    method = _method(case.value(case.new_definition[1]))
    if method is None:
        return
    taken = {_method(case.value(at)) for at in ground.after.values()}
    kind = "notify" if case.new_definition[0].endswith("Notification") else "request"
    name, count = f"{method}_{kind}", 2
    while name in taken:
        name, count = f"{method}_{kind}{count}", count + 1
    old = _messages(case)
    renamed = [each for each, at in ground.after.items() if _method(case.value(at)) == method]
    parts: list[FileEdit] = [
        replaced(ground.after[each].below("x-method"), name) for each in renamed if each not in old
    ]
    again = [restored(ground, each) for each in old if each not in ground.after]
    if not parts or not again:
        return
    whole = complete(ground, [*parts, *again, *_listings(case, again)])
    yield Candidate(f"Keep {method!r} as it was, and call the new one {name!r}.", keeps=True, parts=whole)
