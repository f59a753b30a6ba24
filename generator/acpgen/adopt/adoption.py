"""One adoption: a three-way merge of our files, the merge base (upstream's facts as last adopted) and upstream's new file.

Nothing is written here. The result has been bundled and lowered, so it is known to be usable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from acpgen.adopt import layout
from acpgen.adopt.canonical import Canonical, find_users, place_definitions, read_canonical, without_definitions
from acpgen.adopt.differences import find_differences
from acpgen.adopt.facts import Conventions, extract_facts, find_conventions, fingerprint, state_the_same
from acpgen.adopt.faults import (
    ADOPTION_REFUSED,
    BASE_EXISTS,
    CANNOT_FOLLOW,
    NO_BASE,
    NOT_ADOPTABLE,
    UNCLEAR_PROTOCOL,
    UNSTABLE_PARTS,
)
from acpgen.adopt.merge import Conflict, Merge
from acpgen.adopt.overlays import Overlay, extends_folder, find_added, read_overlay
from acpgen.adopt.placeholders import add_with_placeholder, remove_needless_placeholders
from acpgen.errors import Fault, Faults
from acpgen.input.load import (
    Documents,
    Source,
    check,
    decode,
    display_path,
    load,
    parse,
    parse_json,
    parse_strict,
    read,
    read_bytes,
    read_folder,
)
from acpgen.input.numbers import loads
from acpgen.input.overlay import extend_files
from acpgen.input.schema_validator import Validator
from acpgen.input.text_edits import rewrite
from acpgen.input.walk import Schema, is_array, is_object, list_references, list_refs, walk_schemas
from acpgen.meaning.understanding import understand
from acpgen.pointers import read_reference, write_pointer, write_reference

BASE: Final = ".upstream.json"
"""The file beside the schema that holds the merge base: the facts of the upstream revision last adopted. `load` ignores it."""

_COMMENT: Final = (
    "Facts of the upstream revision that these files were last adopted from; acpgen adopt writes this file."
)
HEAD: Final = ("$schema", "$comment", "$id")
"""The keywords at the root of a file that are no facts of the protocol."""

_UNSTABLE: Final = re.compile(r"\bUNSTABLE\b")
_LOCAL: Final = re.compile(r"#/\$defs/[^/]+")


@dataclass(frozen=True, slots=True)
class Example:
    """An example that its definition no longer admits: its index, and the reason."""

    definition: str
    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """The effect of adopting a file into a folder. `written` are texts by path, `removed` the paths of files that become empty."""

    source: str
    before: Canonical = field(repr=False)
    after: Canonical = field(repr=False)
    base: Schema = field(repr=False)
    theirs: Schema = field(repr=False)
    conventions: Conventions = field(repr=False)
    conflicts: tuple[Conflict, ...]
    kept: Mapping[str, tuple[str, ...]]
    """Definitions that upstream removed, with the names of those that still refer to them."""
    examples: tuple[Example, ...]
    written: Mapping[str, str] = field(repr=False)
    removed: tuple[str, ...]
    overlay_faults: tuple[str, ...] = ()
    """The faults that would result in the folders that extend this one, one sentence each."""

    @property
    def is_none(self) -> bool:
        """Whether the folder stays unchanged."""
        return not (self.written or self.removed)


def adopt(file: Path, folder: Path, name: str, extending: Mapping[str, Path] = MappingProxyType({})) -> Adoption:
    """Compute the merge of the facts in upstream's `file` into the protocol `name` in `folder`. Raises `Faults`.

    `extending` are the protocols that extend others, with the folder of each; those that extend this one are checked against the result.
    """
    base, documents, theirs = read_base(folder, name), read_ours(folder, name), read_upstream(file)
    ours = read_canonical(documents)
    conventions = find_conventions(base["$defs"], ours.definitions)
    merge = Merge(conventions, {**theirs["$defs"], **ours.definitions})
    definitions, still_used, root = _merge(merge, base, ours, theirs)
    heads = ours.heads if ours.root is None else {**ours.heads, ours.root: root}
    merged_files = place_definitions(Canonical(heads, ours.definitions, ours.paths), definitions)
    extends = read_overlay(folder)
    texts, removed_paths = _find_changes(documents, merged_files, extends, folder)
    documents_after = _read_result(file, folder, name, texts, removed_paths)
    after = merged_files if extends is None else read_canonical(documents_after)
    stable = "" if extends is None else display_path(folder / extends.extends)
    conflicts = (*merge.conflicts, *_find_out_of_reach(merged_files, after, stable))
    overlays = (
        [overlay for overlay in extending.values() if extends_folder(overlay, folder)] if texts or removed_paths else []
    )
    base_text = format_base(theirs)
    if base_text != _read_text(folder / BASE):
        texts[BASE] = base_text
    return Adoption(
        source=display_path(file),
        before=ours,
        after=after,
        base=base,
        theirs=theirs,
        conventions=conventions,
        conflicts=conflicts,
        kept=still_used,
        examples=tuple(_find_refused_examples(after, documents_after)),
        written=texts,
        removed=removed_paths,
        overlay_faults=tuple(fault for overlay in overlays for fault in _find_overlay_faults(overlay, documents_after)),
    )


def start_following(file: Path, folder: Path, name: str) -> Mapping[str, str]:
    """The merge base file that makes `folder` follow upstream's `file`; the schema itself is unchanged. Raises `Faults`."""
    read_ours(folder, name)
    text, path = format_base(read_upstream(file)), folder / BASE
    if path.exists() and _read_text(path) != text:
        raise Faults([BASE_EXISTS(at=display_path(path), protocol=name)])
    return {BASE: text}


def find_followers(schema: Path) -> Mapping[str, Path]:
    """The protocols below a schema folder that follow an upstream schema, with the folder of each."""
    return {path.parent.relative_to(schema).as_posix(): path.parent for path in sorted(schema.rglob(BASE))}


def find_nearest(
    file: Path,
    folders: Mapping[str, Path],
    extending: Mapping[str, Path] = MappingProxyType({}),
    protocols: Sequence[str] = (),
) -> str:
    """The protocol whose merge base is most similar to upstream's `file`. Raises `Faults`.

    At least half of the definitions must match, and 1.5 times as many as in any other protocol. `extending` are the protocols that
    extend others. A file that upstream marks as unstable matches only these, and a file with definitions that one of these adds is
    ambiguous. Where no protocol follows an upstream, the fault names `protocols`.
    """
    definitions = read_upstream(file)["$defs"]
    is_unstable = _is_unstable(file)
    candidates = {name: folder for name, folder in folders.items() if (name in extending) == is_unstable}
    prints = {name: fingerprint(schema) for name, schema in definitions.items()}
    bases = {name: read_base(folder, name)["$defs"] for name, folder in candidates.items()}
    likeness = {
        name: sum(prints.get(definition) == fingerprint(schema) for definition, schema in base.items())
        for name, base in bases.items()
    }
    first, second = ([*sorted(likeness.values(), reverse=True), 0, 0])[:2]
    if 2 * first < len(prints) or 2 * first < 3 * second:
        names = tuple(sorted(extending or folders)) if is_unstable else tuple(sorted(bases))
        kind = UNSTABLE_PARTS if is_unstable else UNCLEAR_PROTOCOL
        raise Faults([kind(display_path(file), choices=_describe_choices(names or protocols))])
    protocol = next(name for name, count in likeness.items() if count == first)
    if not is_unstable:
        above = [name for name, folder in extending.items() if definitions.keys() & find_added(folder)]
        if above:
            raise Faults([UNCLEAR_PROTOCOL(display_path(file), choices=_describe_choices((protocol, *above)))])
    return protocol


def _describe_choices(names: Sequence[str]) -> str:
    """The command-line options that select one of the protocols."""
    return " or ".join(f"--into {name}" for name in names) or "--into PROTOCOL"


def _is_unstable(file: Path) -> bool:
    """Whether a description in upstream's `file` marks parts of it as unstable."""
    (document,) = load(file).documents
    words = (subschema.get("description") for _, subschema in walk_schemas(document.value))
    return any(isinstance(text, str) and _UNSTABLE.search(text) for text in words)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_upstream(file: Path) -> Schema:
    """The facts of a schema as published upstream. Raises `Faults`."""
    at = display_path(file)
    documents = load(file).documents
    value = documents[0].value
    assert is_object(value)
    if len(documents) > 1 or file.is_dir():
        raise Faults([NOT_ADOPTABLE(at=at, reason="this is a folder")])
    _require_layout(value, at)
    plain = {key: schema for key, schema in extract_facts(value).items() if key not in HEAD}
    return {**without_definitions(plain), "$defs": plain["$defs"]}


def _require_layout(value: Schema, at: str) -> None:
    definitions = value.get("$defs")
    if not is_object(definitions) or not definitions:
        raise Faults([NOT_ADOPTABLE(at=at, reason="there are no '$defs'")])
    faults = list(_find_layout_faults(value, at))
    if faults:
        raise Faults(faults)


def _find_layout_faults(value: Schema, at: str) -> Iterator[Fault]:
    for reference in dict.fromkeys(list_refs(value)):
        if not _LOCAL.fullmatch(reference):
            yield NOT_ADOPTABLE(at=at, reason=f"the reference {reference!r} leads elsewhere than to a definition")
        elif read_reference(reference) not in value["$defs"]:
            yield NOT_ADOPTABLE(at=at, reason=f"the reference {reference!r} leads nowhere")
    for name, schema in value["$defs"].items():
        if not is_object(schema):
            yield NOT_ADOPTABLE(at=at + write_pointer("$defs", name), reason="this definition is not an object")
        for keyword in _find_inner_scopes(schema):
            yield NOT_ADOPTABLE(at=at + write_pointer("$defs", name), reason=f"there is '{keyword}' in this definition")


def _find_inner_scopes(schema: Any) -> Iterator[str]:
    return (
        key for _, part in walk_schemas(schema) for key in ("$id", "$anchor", "$defs", "definitions") if key in part
    )


def read_ours(folder: Path, name: str) -> Documents:
    """The files of a protocol, which have their definitions where upstream has them. Raises `Faults`."""
    source = read(folder, name=name)
    documents = parse(source)
    reasons = {document.path: next(_find_foreign_places(document.value), "") for document in documents.documents}
    faults = [CANNOT_FOLLOW(at=source.locate(path), reason=reason) for path, reason in reasons.items() if reason]
    if faults:
        raise Faults(faults)
    try:
        understand(documents)
    except Faults as caught:
        raise Faults(fault.move_to(source.locate(fault.at)) for fault in caught.faults) from None
    return documents


def _find_foreign_places(value: Any) -> Iterator[str]:
    """Yield what a file of ours has elsewhere than among the definitions in `$defs`."""
    yield from (f"there is '{key}' in this file" for key in ("definitions", "$anchor") if key in value)
    for reference in list_refs(value):
        if not _LOCAL.fullmatch(reference[reference.find("#") :]):
            yield f"the reference {reference!r} leads elsewhere than to a definition in '$defs'"
    for name, schema in value.get("$defs", {}).items():
        yield from (f"there is '{keyword}' in the definition '{name}'" for keyword in _find_inner_scopes(schema))


def read_base(folder: Path, name: str) -> Schema:
    """The merge base: the facts that a folder was last adopted from. Raises `Faults`."""
    path = folder / BASE
    if not path.exists():
        raise Faults([NO_BASE(at=display_path(path), protocol=name)])
    at = display_path(path)
    value = parse_json(decode(read_bytes(path), at), at)
    faults = list(check(value, at))
    if faults:
        raise Faults(faults)
    assert is_object(value)
    _require_layout(value, at)
    return {key: schema for key, schema in value.items() if key not in HEAD}


def format_base(theirs: Schema) -> str:
    """The text of a merge base file."""
    return layout.format_compact({"$comment": _COMMENT, **theirs})


def _read_text(path: Path) -> str:
    return decode(read_bytes(path), display_path(path))


# --- merging ---------------------------------------------------------------------------------------------------------


def _merge(
    merge: Merge, base: Schema, ours: Canonical, theirs: Schema
) -> tuple[dict[str, Schema], dict[str, tuple[str, ...]], Schema]:
    """Merge all definitions and the root.

    Returns the definitions; those that upstream removed but that are still referenced, with the names of the referring ones; the root.
    """
    base_defs, our_defs, their_defs = base["$defs"], ours.definitions, theirs["$defs"]
    target_names = {
        target_name
        for name, schema in (*their_defs.items(), ("", without_definitions(theirs)))
        for target_name in list_references(schema)
        if target_name != name
    }
    result: dict[str, Schema] = {}
    for name in dict.fromkeys((*our_defs, *their_defs)):
        at = ("$defs", name)
        if name in our_defs and name in their_defs:
            result[name] = merge.merge_schema(base_defs.get(name), our_defs[name], their_defs[name], at)
        elif name in our_defs:
            if name not in base_defs or merge.is_kept(name, base_defs[name], our_defs[name], at):
                result[name] = our_defs[name]
        # Others come with what refers to them.
        elif name not in base_defs and (name not in target_names or "x-method" in their_defs[name]):
            result[name] = add_with_placeholder(name, their_defs[name], merge.conventions)
        elif name in base_defs and not state_the_same(base_defs[name], their_defs[name]):
            merge.conflicts.append(Conflict(at, base_defs[name], None, their_defs[name]))
    root: Schema = {}
    if ours.root is not None:
        head = ours.heads[ours.root]
        root = merge.merge_schema(without_definitions(base), head, without_definitions(theirs), ())
    still_used: dict[str, tuple[str, ...]] = {}
    while missing := _find_missing(result, root):
        for name, users in missing.items():
            if name in our_defs:
                result[name] = our_defs[name]
                still_used[name] = users
            else:
                result[name] = add_with_placeholder(name, their_defs[name], merge.conventions)
    return {name: remove_needless_placeholders(schema) for name, schema in result.items()}, still_used, root


def _find_missing(definitions: Mapping[str, Schema], root: Schema) -> dict[str, tuple[str, ...]]:
    """Definitions that are referenced but missing, with the names of those that refer to them."""
    users = find_users({**definitions, "the root": root})
    return {name: tuple(names) for name, names in users.items() if name not in definitions}


def _find_changes(
    documents: Documents, after: Canonical, extending: Overlay | None, folder: Path
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The files whose content changes, in their existing layout, and the paths of those that become empty."""
    previous = {document.path: document.value for document in documents.documents}
    values = after.make_documents()
    changed_paths = {
        path
        for path, value in values.items()
        if path not in previous or layout.format_line(previous[path]) != layout.format_line(value)
    }
    removed_paths = [
        path for path in previous if path not in values and (extending is None or extending.is_plain(path))
    ]
    documents_to_write: dict[str, Schema] = {path: values[path] for path in values if path in changed_paths}
    if extending is not None:
        vacated_paths = [path for path in previous if path not in (*values, *removed_paths)]
        empty_documents: dict[str, Schema] = {
            path: {**after.heads.get(path, {}), "$defs": {}} for path in vacated_paths
        }
        overlays = {
            path: extending.make_document(path, whole)
            for path, whole in {**documents_to_write, **empty_documents}.items()
        }
        removed_paths += [
            path for path, document in overlays.items() if document is None and path in extending.documents
        ]
        documents_to_write = {path: document for path, document in overlays.items() if document is not None}
    texts = {path: _read_text(folder / path) if (folder / path).exists() else "" for path in documents_to_write}
    formatted = {path: _format_document(texts[path], document) for path, document in documents_to_write.items()}
    return {path: text for path, text in formatted.items() if text != texts[path]}, tuple(removed_paths)


def _format_document(text: str, document: Schema) -> str:
    """Format a document in the layout of the text of its file: ours, also for a new file, or that of its author."""
    before = loads(text) if text else None
    is_ours = not is_object(before) or text == layout.format_document(before)
    return layout.format_document(document) if is_ours else rewrite(text, document)


def _find_out_of_reach(merged_files: Canonical, after: Canonical, extends: str) -> Iterator[Conflict]:
    """Yield a conflict for each fact that an overlay cannot express, because the folder that it extends states another one there."""
    for name in dict.fromkeys((*merged_files.definitions, *after.definitions)):
        for difference in find_differences(after.definitions.get(name), merged_files.definitions.get(name)):
            if difference.kind != "order":
                yield Conflict(("$defs", name, *difference.at), None, difference.old, difference.new, extends)


def _find_overlay_faults(folder: Path, base: Documents) -> Iterator[str]:
    """Yield the faults of a folder that would arise if the folder that it extends held `base`."""
    values = {document.path: document.value for document in base.documents if is_object(document.value)}
    contents = tuple((document.path, document.text.encode()) for document in base.documents)
    try:
        additions = read_overlay(folder)
        assert additions is not None
        yield from (
            f"{display_path(folder)}/{at}: this leads to another branch now."
            for at in additions.find_moved_places(values)
        )
        whole, origins = extend_files(read_folder(folder), display_path(folder), lambda _: contents, parse_strict)
        understand(parse(Source(folder.name, display_path(folder), whole, (), origins)))
    except Faults as caught:
        yield from map(str, caught.faults)


# --- checking --------------------------------------------------------------------------------------------------------


def _read_result(
    file: Path, folder: Path, name: str, texts: Mapping[str, str], removed_paths: tuple[str, ...]
) -> Documents:
    """The documents that the folder would hold. Raises `Faults` if they would be unusable."""
    contents = {path: content for path, content in read_folder(folder) if path not in removed_paths}
    contents |= {path: text.encode() for path, text in texts.items()}
    if not contents:
        raise Faults([ADOPTION_REFUSED(at=display_path(file), reason="no definition would be left.")])
    at = display_path(folder)
    try:
        whole, source_maps = extend_files(
            tuple(sorted(contents.items())), at, lambda relative_path: read_folder(folder / relative_path), parse_strict
        )
        documents = parse(Source(name, at, whole, (), source_maps))
        understand(documents)
    except Faults as caught:
        raise Faults(ADOPTION_REFUSED(at=display_path(file), reason=str(fault)) for fault in caught.faults) from None
    return documents


def _find_refused_examples(after: Canonical, documents: Documents) -> Iterator[Example]:
    from acpgen.bundle.collect import collect

    collection = collect(documents)
    names = {origin: name for name, origin in collection.origins.items()}
    for name, schema in after.definitions.items():
        target = names.get(after.paths[name] + write_pointer("$defs", name))
        examples = schema.get("examples")
        if target is None or not is_array(examples):
            continue
        reference = {"$ref": write_reference(target), "$defs": collection.definitions}
        judge = Validator(reference, mask="it")
        for index, example in enumerate(examples):
            error = next(judge.list_errors(example), None)
            if error is not None:
                yield Example(name, index, judge.describe(error))
