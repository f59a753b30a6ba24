"""Compares two revisions of a schema and reports who breaks, with proof."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from acpgen.bundle.faults import NAME_COLLISION
from acpgen.compat.findings import (
    BUDGET,
    Answer,
    Bindings,
    CheckResult,
    Inclusion,
    Mode,
    Nameable,
    Note,
    Reach,
    Report,
    Revision,
    SourcePosition,
    find_worst,
)
from acpgen.compat.fingerprints import group_findings
from acpgen.compat.keyword_notes import note_ignored_keywords
from acpgen.compat.sources import Comparable, Input, open_input
from acpgen.errors import Fault, Faults, drop_duplicates
from acpgen.input.ignored_content import holds_schemas, without_places
from acpgen.input.load import NO_REFERENCES, Documents, References
from acpgen.input.load import check as check_document
from acpgen.input.step_budget import join_steps, limit_steps, set_place
from acpgen.input.walk import Schema, as_object, is_object, may_hold_schemas
from acpgen.meaning.faults import UNSUPPORTED
from acpgen.methods.profile import choose, list_definition_names
from acpgen.naming.identifiers import make_class_name
from acpgen.pointers import write_pointer

if TYPE_CHECKING:
    from acpgen.bundle.bundle import Bundle
    from acpgen.compat.protocol.revision import Roots, SchemaRevision
    from acpgen.ir import JSON
    from acpgen.methods.profile import Profile


@join_steps()
def compare(
    old: Comparable,
    new: Comparable,
    *,
    mode: Mode = "protocol",
    unstable: bool = False,
    references: References = NO_REFERENCES,
    methods: Profile | None = None,
    budget: int = BUDGET,
    formats: bool = False,
) -> Report:
    """Compare two revisions of a schema and report who breaks.

    `mode` "protocol" compares them for peers that exchange messages, "language" compares two JSON Schemas by plain inclusion. Parts
    marked `x-unstable` are omitted unless `unstable`. `references` maps URIs to files or names of drafts. `methods` is the profile that
    says where both schemas declare their methods. `budget` is the total number of proof steps; what remains when it is exhausted is
    undecided. With `formats`, receivers reject values that violate a `format`. Raises `Faults` if a side cannot be read.
    """
    sides = read_inputs(old, new, mode=mode, unstable=unstable, references=references, methods=methods)
    return compare_inputs(*sides, mode=mode, unstable=unstable, budget=budget, formats=formats)


def read_inputs(
    old: Comparable,
    new: Comparable,
    *,
    mode: Mode = "protocol",
    unstable: bool = False,
    references: References = NO_REFERENCES,
    methods: Profile | None = None,
) -> tuple[Input, Input]:
    """Read the two sides. Raises `Faults` if one cannot be read."""
    faults: list[Fault] = []
    sides: list[Input] = []
    options = {"checked": mode == "protocol", "unstable": unstable}
    for comparable in (old, new):
        try:
            sides.append(open_input(comparable, **options, references=references, methods=methods))
        except Faults as caught:
            faults.extend(caught.faults)
    if faults:
        raise Faults(drop_duplicates(faults))
    before, after = sides
    return before, after


@join_steps()
def compare_inputs(
    old: Input,
    new: Input,
    *,
    mode: Mode = "protocol",
    unstable: bool = False,
    budget: int = BUDGET,
    formats: bool = False,
) -> Report:
    """Compare two sides that have been read; with `formats`, formats are assertions. Raises `Faults`."""
    if mode == "language":
        from acpgen.compat.language import make_report

        return make_report(old, new, budget, formats)
    return compare_sides(
        read_side(old, unstable=unstable), read_side(new, unstable=unstable), budget=budget, formats=formats
    )


# --- protocol mode ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison with its lowered protocol, which several comparisons may share."""

    input: Input
    meaning: SchemaRevision = field(repr=False)

    @property
    def start(self) -> str:
        """The place of the root of the first file."""
        return f"{self.input.documents.documents[0].path}#"


def read_side(side_input: Input, *, unstable: bool) -> Side:
    """One side with its lowered protocol; what seems to be one file without methods has a definition for its root. Raises `Faults`."""
    documents = side_input.documents
    root_definitions = dict.fromkeys(_find_assertions(documents), (DOCUMENT, ""))
    names = list_definition_names(as_object(documents.documents[0].value))
    is_alone = len(documents.documents) == len(root_definitions) == 1 and DOCUMENT not in names
    if is_alone and choose(documents, side_input.methods).how == "guessed":
        with suppress(Faults):
            meaning = read_revision(side_input, unstable=unstable, root_definitions=root_definitions)
            if not meaning.protocol.methods:
                return Side(side_input, meaning)
    return Side(side_input, read_revision(side_input, unstable=unstable))


def check_sides(old: Side, new: Side, *, budget: int = BUDGET, formats: bool = False) -> CheckResult:
    """Apply the rules to two sides; the results have no positions in files yet. Raises `Faults` if the sides cannot be compared."""
    return _check(*_with_roots(old, new), budget, formats)


def compare_sides(old: Side, new: Side, *, budget: int = BUDGET, formats: bool = False) -> Report:
    """The report on two sides. Raises `Faults` if they cannot be compared."""
    from acpgen.compat.protocol.bindings import compare_bindings, list_broken_classes
    from acpgen.compat.protocol.check.check import report_restructuring

    old, new = _with_roots(old, new)
    before, after = old.meaning, new.meaning
    check_result = _check(old, new, budget, formats)
    reaches = check_result.reaches
    binding_verdict = compare_bindings(before, after)
    if binding_verdict == "breaking" and all(reach.severity == "editorial" for reach in reaches):
        renames = {reach.old_at: reach.new_at for reach in reaches if reach.rule == "definition-renamed"}
        broken = list_broken_classes(before, after, renames)
        rewritten = {reach.old_at for reach in reaches if reach.rule in ("definition-renamed", "schema-restructured")}
        places = (before.definitions[name].at for name in broken)
        if not rewritten or not all({at, before.find_outermost(at)} & rewritten for at in places):
            reaches = (*reaches, report_restructuring(before, after, old.start, new.start, broken))
    findings = group_findings(
        (
            replace(reach, old_at=before.locate_in_file(reach.old_at), new_at=after.locate_in_file(reach.new_at))
            for reach in reaches
        ),
        old.input,
        new.input,
    )
    return Report(
        mode="protocol",
        old=old.input.label,
        new=new.input.label,
        verdict=find_worst(tuple(finding.severity for finding in findings)),
        wire=Inclusion(backward=answer(check_result.reaches, "new"), forward=answer(check_result.reaches, "old")),
        language=check_result.language,
        bindings=binding_verdict,
        findings=findings,
        notes=note_ignored_keywords(old.input, new.input, (before.bundle.notes, after.bundle.notes)),
        coverage=check_result.coverage,
        named=_list_nameable(old, new),
    )


def answer(reaches: Iterable[Reach], receiver: Revision) -> Answer:
    """Whether one revision accepts and understands what the other sends, as the findings say."""
    answers = {
        "no" if receiver in reach.breaks_for else "undecided" for reach in reaches if receiver in reach.answers_for
    }
    return "no" if "no" in answers else "undecided" if answers else "yes"


def _list_nameable(*sides: Side) -> Nameable:
    """The roles, methods and definitions that a policy may name, including unstable ones."""
    protocols = [side.meaning.protocol for side in sides]
    places = dict.fromkeys(
        (side.input.locate(path), pointed)
        for side in sides
        for path, _, pointed in (at.partition("#") for at in side.meaning.bundle.origins.values())
    )
    return Nameable(
        roles=tuple(dict.fromkeys(role for protocol in protocols for role in protocol.sides)),
        methods=tuple(dict.fromkeys(method.name for protocol in protocols for method in protocol.methods)),
        definitions=tuple(SourcePosition(file, pointed, 1, 1) for file, pointed in places),
    )


def _check(old: Side, new: Side, budget: int, formats: bool) -> CheckResult:
    from acpgen.compat.protocol.check.check import check, report_restructuring

    check_result = check(old.meaning, new.meaning, budget, formats)
    if check_result.reaches or old.input.documents.says_the_same(new.input.documents):
        return check_result
    return replace(check_result, reaches=(report_restructuring(old.meaning, new.meaning, old.start, new.start),))


DOCUMENT: Final = "Document"
"""The definition that stands for the root of a schema without methods."""


def _with_roots(old: Side, new: Side) -> tuple[Side, Side]:
    """Both sides; without methods, with definitions of the same name for corresponding roots.

    If each side has only one root with assertions, or one file, these correspond; otherwise roots correspond by path.
    """
    before, after = old.meaning, new.meaning
    envelopes = [meaning.protocol.envelope for meaning in (before, after) if meaning.protocol.methods]
    if len(envelopes) == 2 and envelopes[0] != envelopes[1]:
        kinds = f"the old messages are of the form {envelopes[0]!r}, the new ones of {envelopes[1]!r}"
        remedy = "Name the profile of both with --methods, or compare them as schemas with --mode language"
        raise Faults([UNSUPPORTED(at=new.input.label, subject="the comparison", reason=kinds, remedy=remedy)])
    roots = [meaning.roots for meaning in (before, after) if meaning.roots is not None]
    paths = dict.fromkeys(path for side_roots in roots for path in side_roots.assertions)

    def choose_name(name: str) -> str:
        while any(name in meaning.bundle.definitions.keys() - meaning.root_names for meaning in (before, after)):
            name = f"{name} as a whole"
        return name

    candidates = [list(side_roots.assertions) or list(side_roots.paths) for side_roots in roots]
    root_definitions: list[dict[str, tuple[str, str]]]
    if envelopes or not paths:
        root_definitions = [{}, {}]
    elif all(len(candidate) == 1 for candidate in candidates):
        root_definitions = [{path: (choose_name(DOCUMENT), "")} for (path,) in candidates]
    else:
        names = {path: (choose_name(f"{DOCUMENT} {path}"), path) for path in paths}
        root_definitions = [
            {path: name for path, name in names.items() if path in side_roots.paths} for side_roots in roots
        ]
    old_roots, new_roots = root_definitions

    def read_with_roots(side: Side, roots: Mapping[str, tuple[str, str]]) -> Side:
        meaning = side.meaning
        if meaning.roots is None or meaning.roots.definitions == roots:
            return side
        return replace(side, meaning=read_revision(side.input, unstable=meaning.unstable, root_definitions=roots))

    return read_with_roots(old, old_roots), read_with_roots(new, new_roots)


def read_revision(
    side: Input, *, unstable: bool, root_definitions: Mapping[str, tuple[str, str]] = MappingProxyType({})
) -> SchemaRevision:
    """Lower one side. Raises `Faults`.

    `root_definitions` are the names and labels of definitions to be added for the roots of files, by path.
    """
    from acpgen.compat.protocol.revision import SchemaRevision
    from acpgen.meaning.lower import lower

    first = side.documents.documents[0].path
    with limit_steps(side.locate(first), side.documents.size), _locate_faults(side):
        set_place(first)
        bundled = _bundle_separately(_with_definitions(side.documents, root_definitions), side.methods)
        protocol = lower(bundled)
    roots = _collect_roots(side.documents, frozenset(bundled.origins.values()), bundled.unread)
    return SchemaRevision(protocol, bundled, unstable, replace(roots, definitions=root_definitions))


def bundle_side(side: Input) -> Bundle:
    """The bundle of the schemas of one side, without methods. Raises `Faults`."""
    with _locate_faults(side):
        return _bundle_separately(side.documents)


@contextmanager
def _locate_faults(side: Input) -> Generator[None]:
    """Replace the paths in faults about one side with the display names of its files."""
    try:
        yield
    except Faults as caught:
        raise Faults(fault.move_to(side.locate(fault.at)) for fault in caught.faults) from None


def _find_assertions(documents: Documents) -> dict[str, Schema]:
    """The keywords that constrain values at the root of each file that has any, by path."""
    from acpgen.compat.protocol.revision import ROOT_ASSERTIONS

    values = ((document.path, document.value) for document in documents.documents if is_object(document.value))
    assertions = ((path, {key: value[key] for key in value if key in ROOT_ASSERTIONS}) for path, value in values)
    return {path: keywords for path, keywords in assertions if keywords}


def _collect_roots(documents: Documents, origins: frozenset[str], foreign: Mapping[str, Mapping[str, JSON]]) -> Roots:
    """The assertions and unread parts at the roots of the files; `origins` are the places that are read as definitions.

    `foreign` are the files that are no JSON Schema, with their unread parts.
    """
    from acpgen.compat.protocol.revision import Roots

    values = {document.path: document.value for document in documents.documents if is_object(document.value)}
    assertions = _find_assertions(documents)
    unread_parts: dict[str, JSON] = {}
    for path, value in values.items():
        if path in foreign:
            unread_parts.update(foreign[path])
            continue
        keys = [key for key in value if may_hold_schemas(key) and key not in assertions.get(path, ())]
        for key in (*keys, *(["definitions"] if {"$defs", "definitions"} <= value.keys() else [])):
            remaining = without_places(value[key], f"{path}{write_pointer(key)}", origins)
            if holds_schemas(remaining):
                unread_parts[key if len(values) == 1 else f"{path} {key}"] = remaining
    return Roots(tuple(values), assertions, unread_parts)


def _bundle_separately(documents: Documents, methods: Profile | None = None) -> Bundle:
    """Bundle documents; definitions whose names collide, which would stop a generator, get the hash of their pointer as a suffix."""
    from acpgen.bundle.bundle import bundle

    names: dict[str, str] = {}
    while True:
        try:
            return bundle(documents, names=names, may_count=True, methods=methods, is_apart=True)
        except Faults as caught:
            collisions = {fault.at: fault for fault in caught.faults if fault.kind == NAME_COLLISION}
            if len(collisions) < len({fault.at for fault in caught.faults}) or not collisions.keys() - names.keys():
                raise
            for at, fault in collisions.items():
                names[at] = f"{make_class_name(str(fault.values['name']))}{hashlib.sha256(at.encode()).hexdigest()[:8]}"


def _with_definitions(documents: Documents, root_definitions: Mapping[str, tuple[str, str]]) -> Documents:
    """The documents with added definitions that stand for the roots."""

    def add_roots(root: JSON, name: str) -> JSON:
        assert is_object(root)
        key = "definitions" if "definitions" in root and "$defs" not in root else "$defs"
        return {**root, key: {**root.get(key, {}), name: {"$ref": "#"}}}

    new_documents = (
        replace(document, value=add_roots(document.value, root_definitions[document.path][0]))
        if document.path in root_definitions
        else document
        for document in documents.documents
    )
    return replace(documents, documents=tuple(new_documents))


def compare_bindings(old: Input, new: Input) -> tuple[Bindings, tuple[Note, ...]]:
    """The effect on generated code, with notes on ignored keywords.

    If no code can be generated from a side, it is "breaking", and "identical" if both sides are the same.
    """
    from acpgen.compat.protocol.bindings import compare_bindings

    without_code: Bindings = "identical" if old.documents.says_the_same(new.documents) else "breaking"
    for documents in (old.documents, new.documents):
        values = documents.values_by_uri
        for document in documents.documents:
            if next(check_document(document.value, document.path, values), None) is not None:
                return without_code, ()
    try:
        before, after = (
            side.meaning for side in _with_roots(read_side(old, unstable=False), read_side(new, unstable=False))
        )
        return compare_bindings(before, after), note_ignored_keywords(
            old, new, (before.bundle.notes, after.bundle.notes)
        )
    except Faults:
        return without_code, ()
