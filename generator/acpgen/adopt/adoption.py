"""One step of adopting: our files, the facts they were last adopted from, and upstream's new file become our new files.

Nothing is written here. What comes out has been bundled and lowered, so that it can be used as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acpgen.adopt import layout
from acpgen.adopt.canonical import Canonical, canonical, housed
from acpgen.adopt.facts import Conventions, conventions, facts, fingerprint, same
from acpgen.adopt.merge import Conflict, Merge
from acpgen.adopt.words import new, without_needless_room
from acpgen.errors import AdoptionRefused, Fault, Faults, NoBase, NotAdoptable, UnclearProtocol
from acpgen.generate import understand
from acpgen.pointers import pointer, reference_to, target
from acpgen.schema.load import Documents, Source, check, decode, load, parse, parse_json, place, read_bytes
from acpgen.schema.numbers import validator, with_decimals
from acpgen.schema.walk import Schema, inside, is_array, is_object, references, refs

if TYPE_CHECKING:
    from acpgen.schema.bundle import Bundle

BASE: Final = ".upstream.json"
"""The file beside the schema that holds the facts of the upstream revision last adopted. `load` passes over it."""

_COMMENT: Final = (
    "Facts of the upstream revision that these files were last adopted from; acpgen adopt writes this file."
)
_HEAD: Final = ("$schema", "$comment", "$id")
_LOCAL: Final = re.compile(r"#/\$defs/[^/]+")


@dataclass(frozen=True, slots=True)
class Example:
    """An example that its definition does not admit any more: its index, and why."""

    definition: str
    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """What adopting a file means for a folder. `written` are texts by path, `removed` the paths of files left empty."""

    source: str
    before: Canonical = field(repr=False)
    after: Canonical = field(repr=False)
    base: Schema = field(repr=False)
    theirs: Schema = field(repr=False)
    conventions: Conventions = field(repr=False)
    conflicts: tuple[Conflict, ...]
    kept: Mapping[str, tuple[str, ...]]
    """Definitions that upstream removed and that stay because these refer to them."""
    examples: tuple[Example, ...]
    written: Mapping[str, str] = field(repr=False)
    removed: tuple[str, ...]

    @property
    def is_none(self) -> bool:
        """Whether the folder stays as it is."""
        return not (self.written or self.removed)


def adopt(file: Path, folder: Path, name: str) -> Adoption:
    """What it takes to carry the facts of upstream's `file` into the protocol `name` in `folder`. Raises `Faults`."""
    base, documents, theirs = read_base(folder, name), load(folder, name=name), read_upstream(file)
    understand(documents)  # faults of our own come first
    ours = canonical(documents)
    known = conventions(base["$defs"], ours.definitions)
    merge = Merge(known, {**theirs["$defs"], **ours.definitions})
    definitions, kept, root = _merged(merge, base, ours, theirs)
    heads = ours.heads if ours.root is None else {**ours.heads, ours.root: root}
    after = housed(Canonical(heads, ours.definitions, ours.homes), definitions)
    written, removed = _changes(documents, after)
    bundled = _usable(file, folder, documents, written, removed)
    base_text = base_of(theirs)
    if base_text != _text(folder / BASE):
        written[BASE] = base_text
    return Adoption(
        source=place(file),
        before=ours,
        after=after,
        base=base,
        theirs=theirs,
        conventions=known,
        conflicts=tuple(merge.conflicts),
        kept=kept,
        examples=tuple(_refused_examples(after, bundled)),
        written=written,
        removed=removed,
    )


def start(file: Path, folder: Path, name: str) -> Mapping[str, str]:
    """The file that says that `folder` follows upstream's `file`; the schema itself stays as it is. Raises `Faults`."""
    understand(load(folder, name=name))
    return {BASE: base_of(read_upstream(file))}


def followers(schema: Path) -> Mapping[str, Path]:
    """The protocols below a schema folder that follow an upstream schema, with the folder of each."""
    return {path.parent.relative_to(schema).as_posix(): path.parent for path in sorted(schema.rglob(BASE))}


def nearest(file: Path, folders: Mapping[str, Path]) -> str:
    """The protocol whose upstream `file` is most like: at least half of it, and half as much again as any other. Raises `Faults`."""
    prints = {name: fingerprint(schema) for name, schema in read_upstream(file)["$defs"].items()}
    bases = {name: read_base(folder, name)["$defs"] for name, folder in folders.items()}
    likeness = {
        name: sum(prints.get(definition) == fingerprint(schema) for definition, schema in base.items())
        for name, base in bases.items()
    }
    first, second = ([*sorted(likeness.values(), reverse=True), 0, 0])[:2]
    if 2 * first < len(prints) or 2 * first < 3 * second:
        raise Faults([UnclearProtocol(at=place(file), known=tuple(sorted(bases)))])
    return next(name for name, count in likeness.items() if count == first)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_upstream(file: Path) -> Schema:
    """The facts of a schema as upstream publishes it. Raises `Faults`."""
    at = place(file)
    documents = load(file).documents
    value = documents[0].value
    assert is_object(value)
    if len(documents) > 1 or file.is_dir():
        raise Faults([NotAdoptable(at=at, reason="this is a folder")])
    _require_layout(value, at)
    plain = {key: schema for key, schema in facts(value).items() if key not in _HEAD}
    return {**{key: schema for key, schema in plain.items() if key != "$defs"}, "$defs": plain["$defs"]}


def _require_layout(value: Schema, at: str) -> None:
    definitions = value.get("$defs")
    if not is_object(definitions) or not definitions:
        raise Faults([NotAdoptable(at=at, reason="there are no '$defs'")])
    faults = list(_layout_faults(value, at))
    if faults:
        raise Faults(faults)


def _layout_faults(value: Schema, at: str) -> Iterator[Fault]:
    for reference in dict.fromkeys(refs(value)):
        if not _LOCAL.fullmatch(reference):
            yield NotAdoptable(at=at, reason=f"the reference {reference!r} leads elsewhere than to a definition")
        elif target(reference) not in value["$defs"]:
            yield NotAdoptable(at=at, reason=f"the reference {reference!r} leads nowhere")
    for name, schema in value["$defs"].items():
        if not is_object(schema):
            yield NotAdoptable(at=at + pointer("$defs", name), reason="this definition is not an object")
        for keyword in _inner_scopes(schema):
            yield NotAdoptable(at=at + pointer("$defs", name), reason=f"there is '{keyword}' in this definition")


def _inner_scopes(schema: Any) -> Iterator[str]:
    return (key for _, one in inside(schema) for key in ("$id", "$anchor", "$defs", "definitions") if key in one)


def read_base(folder: Path, name: str) -> Schema:
    """The facts that a folder was last adopted from. Raises `Faults`."""
    path = folder / BASE
    if not path.exists():
        raise Faults([NoBase(at=place(path), protocol=name)])
    at = place(path)
    value = parse_json(decode(read_bytes(path), at), at)
    faults = list(check(value, at))
    if faults:
        raise Faults(faults)
    assert is_object(value)
    _require_layout(value, at)
    return {key: schema for key, schema in value.items() if key not in _HEAD}


def base_of(theirs: Schema) -> str:
    """The text of a base file."""
    return layout.compact({"$comment": _COMMENT, **theirs})


def _text(path: Path) -> str:
    return decode(read_bytes(path), place(path))


# --- merging ---------------------------------------------------------------------------------------------------------


def _merged(
    merge: Merge, base: Schema, ours: Canonical, theirs: Schema
) -> tuple[dict[str, Schema], dict[str, tuple[str, ...]], Schema]:
    """All definitions; those that stay because they are referred to, with what does; the root."""
    old, here, now = base["$defs"], ours.definitions, theirs["$defs"]
    used = {name for schema in (*now.values(), _without_definitions(theirs)) for name in references(schema)}
    result: dict[str, Schema] = {}
    for name in dict.fromkeys((*here, *now)):
        at = ("$defs", name)
        if name in here and name in now:
            result[name] = merge.schema(old.get(name), here[name], now[name], at)
        elif name in here:
            if name not in old or merge.is_kept(name, old[name], here[name], at):
                result[name] = here[name]
        elif name not in old and (name not in used or "x-method" in now[name]):  # others come with what refers to them
            result[name] = new(name, now[name], merge.conventions)
        elif name in old and not same(old[name], now[name]):
            merge.conflicts.append(Conflict(at, old[name], None, now[name]))
    root: Schema = {}
    if ours.root is not None:
        head = ours.heads[ours.root]
        root = merge.schema(_without_definitions(base), head, _without_definitions(theirs), ())
    kept: dict[str, tuple[str, ...]] = {}
    while missing := _missing(result, root):
        for name, users in missing.items():
            if name in here:
                result[name] = here[name]
                kept[name] = users
            else:
                result[name] = new(name, now[name], merge.conventions)
    return {name: without_needless_room(schema) for name, schema in result.items()}, kept, root


def _without_definitions(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "$defs"}


def _missing(definitions: Mapping[str, Schema], root: Schema) -> dict[str, tuple[str, ...]]:
    """Definitions that are referred to and not there, with the names of those that refer to them."""
    users: dict[str, list[str]] = {}
    for name, schema in (*definitions.items(), ("the root", root)):
        for used in dict.fromkeys(references(schema)):
            if used not in definitions:
                users.setdefault(used, []).append(name)
    return {name: tuple(found) for name, found in users.items()}


def _changes(documents: Documents, after: Canonical) -> tuple[dict[str, str], tuple[str, ...]]:
    """The files that say something else than they did, and those that say nothing any more."""
    texts = after.texts()
    said = {document.path: layout.line(document.value) for document in documents.documents}
    written = {path: text for path, text in texts.items() if said.get(path) != layout.line(parse_json(text, path))}
    return written, tuple(path for path in said if path not in texts)


# --- checking --------------------------------------------------------------------------------------------------------


def _usable(
    file: Path, folder: Path, documents: Documents, written: Mapping[str, str], removed: tuple[str, ...]
) -> Bundle:
    """The bundle of what the folder would hold. Raises `Faults`."""
    texts = {document.path: document.text for document in documents.documents if document.path not in removed}
    texts.update(written)
    files = tuple((path, texts[path].encode()) for path in sorted(texts))
    try:
        return understand(parse(Source(documents.name, place(folder), files)), is_apart=True)[1]
    except Faults as caught:
        raise Faults(AdoptionRefused(at=place(file), reason=str(fault)) for fault in caught.faults) from None


def _refused_examples(after: Canonical, bundled: Bundle) -> Iterator[Example]:

    names = {origin: name for name, origin in bundled.origins.items()}
    for name, schema in after.definitions.items():
        target = names.get(after.homes[name] + pointer("$defs", name))
        examples = schema.get("examples")
        if target is None or not is_array(examples):
            continue
        reference = {"$ref": reference_to(target), "$defs": bundled.schema["$defs"]}
        judge = validator(reference, mask="it")
        for index, example in enumerate(examples):
            error = next(judge.iter_errors(with_decimals(example)), None)
            if error is not None:
                yield Example(name, index, error.message)
