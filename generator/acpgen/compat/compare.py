"""Compares two revisions of a schema and reports who breaks, with proof."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from acpgen.bundle.faults import NAME_COLLISION
from acpgen.compat.faults import NO_KEYWORD
from acpgen.compat.findings import (
    BUDGET,
    NO_ACTION,
    Answer,
    Bindings,
    CheckResult,
    Effect,
    Finding,
    Inclusion,
    Mode,
    Nameable,
    Note,
    Reach,
    Report,
    Revision,
    Severity,
    SourcePosition,
    Witness,
    opposite,
    order,
    readers,
    worst,
)
from acpgen.compat.fingerprints import asserted_content, fingerprint, group_findings
from acpgen.compat.keyword_notes import ignored_keywords
from acpgen.compat.source_positions import SourcePositions
from acpgen.compat.sources import Comparable, Input, open_input
from acpgen.errors import Fault, Faults, distinct
from acpgen.input.ignored_content import holds_schemas, unread, without_places
from acpgen.input.load import NO_REFERENCES, Documents, References
from acpgen.input.step_budget import account, bounded, working_on
from acpgen.input.walk import ASSERTIONS, Schema, is_object, may_hold_schemas
from acpgen.meaning.faults import UNSUPPORTED
from acpgen.methods.profile import choose
from acpgen.naming.identifiers import class_name
from acpgen.pointers import as_fragment, pointer, pointer_parts

if TYPE_CHECKING:
    from acpgen.bundle.bundle import Bundle
    from acpgen.compat.protocol.revision import Roots, SchemaRevision
    from acpgen.ir import JSON
    from acpgen.methods.profile import Profile
    from schema_inclusion import Comparison, Relation


@account()
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
    for each in (old, new):
        try:
            sides.append(
                open_input(each, checked=mode == "protocol", unstable=unstable, references=references, methods=methods)
            )
        except Faults as caught:
            faults.extend(caught.faults)
    if faults:
        raise Faults(distinct(faults))
    return sides[0], sides[1]


@account()
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
        return _language_report(old, new, budget, formats)
    return compare_sides(side(old, unstable=unstable), side(new, unstable=unstable), budget=budget, formats=formats)


# --- protocol mode ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison with its lowered protocol, which several comparisons may share."""

    input: Input
    meaning: SchemaRevision = field(repr=False)


def side(side_input: Input, *, unstable: bool) -> Side:
    """One side with its lowered protocol. Raises `Faults`."""
    return Side(side_input, read_revision(side_input, unstable=unstable))


def check_sides(old: Side, new: Side, *, budget: int = BUDGET, formats: bool = False) -> CheckResult:
    """Apply the rules to two sides; the results have no positions in files yet. Raises `Faults` if the sides cannot be compared."""
    return _checked(old, new, *_revisions(old, new), budget, formats)


def compare_sides(old: Side, new: Side, *, budget: int = BUDGET, formats: bool = False) -> Report:
    """The report on two sides. Raises `Faults` if they cannot be compared."""
    from acpgen.compat.protocol.bindings import bindings
    from acpgen.compat.protocol.check.check import restructuring

    before, after = _revisions(old, new)
    check_result = _checked(old, new, before, after, budget, formats)
    binding_verdict = bindings(before, after)
    reaches = check_result.reaches
    if binding_verdict == "breaking" and not _is_explained(reaches, before, after):
        reaches = (*reaches, restructuring(before, after, _start(old.input), _start(new.input), is_code=True))
    findings = group_findings(
        (replace(each, old_at=before.in_file(each.old_at), new_at=after.in_file(each.new_at)) for each in reaches),
        old.input,
        new.input,
    )
    return Report(
        mode="protocol",
        old=old.input.label,
        new=new.input.label,
        verdict=worst(tuple(finding.severity for finding in findings)),
        wire=Inclusion(backward=_answer(check_result.reaches, "new"), forward=_answer(check_result.reaches, "old")),
        language=check_result.language,
        bindings=binding_verdict,
        findings=findings,
        notes=ignored_keywords(old.input, new.input, (before.bundle.notes, after.bundle.notes)),
        coverage=check_result.coverage,
        named=_named((before, old.input), (after, new.input)),
    )


def _named(*sides: tuple[SchemaRevision, Input]) -> Nameable:
    """The roles, methods and definitions that a policy may name, including unstable ones."""
    places = dict.fromkeys(
        (side_input.at(path), pointed)
        for meaning, side_input in sides
        for path, _, pointed in (at.partition("#") for at in meaning.bundle.origins.values())
    )
    return Nameable(
        roles=tuple(dict.fromkeys(role for meaning, _ in sides for role in meaning.protocol.sides)),
        methods=tuple(dict.fromkeys(each.name for meaning, _ in sides for each in meaning.protocol.methods)),
        definitions=tuple(SourcePosition(file, pointed, 1, 1) for file, pointed in places),
    )


def _is_explained(reaches: Sequence[Reach], old: SchemaRevision, new: SchemaRevision) -> bool:
    """Whether the findings explain the differences of generated code.

    This is so if a finding is not editorial, or if each differing class belongs to a definition that is renamed or restructured.
    """
    from acpgen.compat.protocol.bindings import broken_classes

    if any(each.severity != "editorial" for each in reaches):
        return True
    rewritten = {each.old_at for each in reaches if each.rule in ("definition-renamed", "schema-restructured")}
    places = (old.definitions[name].at for name in broken_classes(old, new))
    return bool(rewritten) and all({at, old.outermost(at)} & rewritten for at in places)


def _checked(
    old: Side, new: Side, before: SchemaRevision, after: SchemaRevision, budget: int = BUDGET, formats: bool = False
) -> CheckResult:
    from acpgen.compat.protocol.check.check import check, restructuring

    check_result = check(before, after, budget, formats)
    if check_result.reaches or old.input.documents.says_the_same(new.input.documents):
        return check_result
    return replace(check_result, reaches=(restructuring(before, after, _start(old.input), _start(new.input)),))


def _revisions(old: Side, new: Side) -> tuple[SchemaRevision, SchemaRevision]:
    """The lowered protocols of both sides. Without methods, definitions with the same name stand for corresponding roots."""
    before, after = old.meaning, new.meaning
    if before.protocol.methods and after.protocol.methods and before.protocol.envelope != after.protocol.envelope:
        kinds = f"the old messages are of the form {before.protocol.envelope!r}, the new ones of {after.protocol.envelope!r}"
        remedy = "Name the profile of both with --methods, or compare them as schemas with --mode language"
        raise Faults([UNSUPPORTED(at=new.input.label, subject="the comparison", reason=kinds, remedy=remedy)])
    if before.protocol.methods or after.protocol.methods:
        return before, after
    root_pairs = _joined_roots(before, after)
    return (
        (
            read_revision(
                old.input, unstable=before.unstable, roots={each.old: each for each in root_pairs if each.old}
            ),
            read_revision(
                new.input, unstable=after.unstable, roots={each.new: each for each in root_pairs if each.new}
            ),
        )
        if root_pairs
        else (before, after)
    )


@dataclass(frozen=True, slots=True)
class _Root:
    """The root of a file in both revisions.

    `name` is the definition that stands for it, `label` its display name, `old` and `new` are the paths of the files, empty for none.
    """

    name: str
    label: str
    old: str
    new: str


def _joined_roots(old: SchemaRevision, new: SchemaRevision) -> list[_Root]:
    """The roots with assertions, paired. If each side has only one root, or one file, these are a pair; otherwise roots pair up by path."""
    assert old.roots is not None and new.roots is not None
    sides = old.roots, new.roots
    candidates = [list(side.said) or list(side.paths) for side in sides]
    saying = dict.fromkeys((*old.roots.said, *new.roots.said))
    if saying and all(len(paths) == 1 for paths in candidates):
        return [_Root(_free(DOCUMENT, old, new), "", candidates[0][0], candidates[1][0])]
    return [
        _Root(_free(f"{DOCUMENT} {path}", old, new), path, *(path if path in side.paths else "" for side in sides))
        for path in saying
    ]


def _free(name: str, old: SchemaRevision, new: SchemaRevision) -> str:
    """The name, extended until no definition has it."""
    while name in old.bundle.definitions or name in new.bundle.definitions:
        name = f"{name} as a whole"
    return name


DOCUMENT: Final = "Document"
"""The definition that stands for the root of a schema without methods."""


def read_revision(side: Input, *, unstable: bool, roots: Mapping[str, _Root] | None = None) -> SchemaRevision:
    """Lower one side; `roots` are the roots of files, by path, for which definitions are added. Raises `Faults`."""
    from acpgen.compat.protocol.revision import SchemaRevision
    from acpgen.meaning.lower import lower

    root_definitions = roots or {}
    first = side.documents.documents[0].path
    with bounded(side.at(first), side.documents.size), _located(side):
        working_on(first)
        bundled = _bundle_apart(_with_roots(side.documents, root_definitions), side.methods)
        protocol = lower(bundled)
    revision_roots = _roots(side.documents, frozenset(bundled.origins.values()), bundled.unread)
    labels = {each.name: each.label for each in root_definitions.values()}
    stood = frozenset(f"{path}#" for path in root_definitions)
    return SchemaRevision(protocol, bundled, unstable, replace(revision_roots, named=labels, stood=stood))


@contextmanager
def _located(side: Input) -> Generator[None]:
    """Replace the paths in faults about one side with the display names of its files."""
    try:
        yield
    except Faults as caught:
        raise Faults(fault.move_to(side.at(fault.at)) for fault in caught.faults) from None


def _roots(documents: Documents, origins: frozenset[str], foreign: Mapping[str, Mapping[str, JSON]]) -> Roots:
    """The assertions and unread parts at the roots of the files; `origins` are the places that are read as definitions.

    `foreign` are the files that are no JSON Schema, with their unread parts.
    """
    from acpgen.compat.protocol.revision import Roots

    root_assertions: dict[str, Schema] = {}
    unread: dict[str, JSON] = {}
    values = {document.path: document.value for document in documents.documents if is_object(document.value)}
    for path, value in values.items():
        demands = {key: inner for key, inner in value.items() if key in (*ASSERTIONS, "then", "else")}
        if demands:
            root_assertions[path] = demands
        if path in foreign:
            unread.update(foreign[path])
            continue
        others = [key for key in value if may_hold_schemas(key) and key not in demands]
        others += ["definitions"] if {"$defs", "definitions"} <= value.keys() else []
        for key in others:
            remaining = without_places(value[key], f"{path}{pointer(key)}", origins)
            if holds_schemas(remaining):
                unread[key if len(values) == 1 else f"{path} {key}"] = remaining
    return Roots(said=root_assertions, unread=unread, paths=tuple(values))


def _bundle_apart(documents: Documents, methods: Profile | None = None) -> Bundle:
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
                names[at] = f"{class_name(str(fault.values['name']))}{hashlib.sha256(at.encode()).hexdigest()[:8]}"


def _with_roots(documents: Documents, roots: Mapping[str, _Root]) -> Documents:
    """The documents with added definitions that stand for the roots."""
    new_documents = (
        replace(each, value=_with_definition(each.value, roots[each.path].name)) if each.path in roots else each
        for each in documents.documents
    )
    return replace(documents, documents=tuple(new_documents))


def _with_definition(root: JSON, name: str) -> JSON:
    assert is_object(root)
    key = "definitions" if "definitions" in root and "$defs" not in root else "$defs"
    return {**root, key: {**root.get(key, {}), name: {"$ref": "#"}}}


def _answer(reaches: Sequence[Reach], receiver: Revision) -> Answer:
    """Whether one revision accepts and understands what the other sends."""
    if any(receiver in each.breaks_for for each in reaches):
        return "no"
    return "undecided" if any(receiver in each.doubtful for each in reaches) else "yes"


def _start(side: Input) -> str:
    return f"{side.documents.documents[0].path}#"


# --- language mode ---------------------------------------------------------------------------------------------------


def _language_report(old: Input, new: Input, budget: int, formats: bool) -> Report:
    from acpgen.compat.language import Definitions, combine, doubt_unknown_formats, removed, unreferenced
    from schema_inclusion import FORMATS, Allowance, Comparer

    wholes = _whole(old), _whole(new)
    schemas = wholes[0].schema, wholes[1].schema
    sides = Definitions(schemas[0]), Definitions(schemas[1])
    asserted = tuple(FORMATS) if formats else ()
    comparer = Comparer(*schemas, steps=max(_STEPS, budget // 100), allowance=Allowance(budget), formats=asserted)
    comparisons = {("", ""): comparer.compare()}
    comparisons |= {places: comparer.compare(*map(_question, places)) for places in unreferenced(*sides)}
    if formats:
        comparisons = {places: doubt_unknown_formats(each, *sides, places) for places, each in comparisons.items()}
    removed_places = removed(*sides)
    before, after = (each.unread for each in wholes)
    others = [key for key in dict.fromkeys((*before, *after)) if before.get(key) != after.get(key)]
    inclusion = combine([*comparisons.values()], is_gone=bool(removed_places), is_unread=bool(others))
    files = _Files((old, new), schemas)
    unsorted_findings = [
        each for places, relations in comparisons.items() for each in files.of_relations(relations, places)
    ]
    unsorted_findings += [files.of_gone(place) for place in removed_places]
    unsorted_findings += [files.of_unread(key, (before.get(key), after.get(key))) for key in others]
    equal = comparisons["", ""].same and old.documents.says_the_same(new.documents)
    binding_verdict, notes = ("identical", ()) if equal else _bindings(old, new)
    if not unsorted_findings and binding_verdict != "identical":
        message = "The schemas accept the same values and are written differently, so generated code differs."
        unsorted_findings.append(
            files.finding("schema-restructured", "editorial", message, NO_ACTION, effect="reworded")
        )
    findings = tuple(sorted(unsorted_findings, key=order))
    return Report(
        mode="language",
        old=old.label,
        new=new.label,
        verdict=worst(tuple(finding.severity for finding in findings)),
        wire=inclusion,
        language=inclusion,
        bindings=binding_verdict,
        findings=findings,
        notes=notes,
    )


def _bindings(old: Input, new: Input) -> tuple[Bindings, tuple[Note, ...]]:
    """The effect on generated code, with notes on ignored keywords; "breaking" if no code can be generated from a side."""
    from acpgen.compat.protocol.bindings import bindings

    if not all(is_object(value) for side in (old, new) for value in side.documents.values):
        return "breaking", ()
    try:
        before, after = _revisions(side(old, unstable=False), side(new, unstable=False))
        return bindings(before, after), ignored_keywords(old, new, (before.bundle.notes, after.bundle.notes))
    except Faults:
        return "breaking", ()


_STEPS: Final = 25_000
"""The step limit of one question; with a larger budget of the run, a hundredth of it."""


@dataclass(frozen=True)
class _Whole:
    """The one schema that the documents of a side form, and its unread parts by key of the root, with the file if there are several."""

    schema: JSON
    unread: Mapping[str, JSON]


def _whole(side: Input) -> _Whole:
    """The schema that the documents of a side form: a single file unchanged, unless it may refer to others. Raises `Faults`."""
    from acpgen.compat.language import is_other, referenced_places

    documents = side.documents
    foreign = choose(documents)
    if foreign.document is not None:
        reason = f"{documents.name} is a document of the kind {foreign.title}, and no JSON Schema"
        raise Faults(
            [
                UNSUPPORTED(
                    at=documents.name, subject="the comparison", reason=reason, remedy="Leave '--mode language' out"
                )
            ]
        )
    roots = {each.path: each.value for each in documents.documents}
    if all(map(is_other, roots.values())):
        raise Faults([NO_KEYWORD(at=side.at(documents.documents[0].path))])
    path, whole = next(iter(roots.items()))
    alone = _Whole(whole, _unread(roots, {f"{path}{place}" for place in referenced_places(whole)}))
    if len(roots) == 1 and (not documents.references or not is_object(whole)):
        return alone
    try:
        with _located(side):
            bundled = _bundle_apart(documents)
    except Faults:
        if len(roots) == 1:
            return alone  # what cannot be followed in it is undecided
        raise
    return _Whole(bundled.schema, _unread(roots, bundled.origins.values()))


def _unread(roots: Mapping[str, JSON], read: Iterable[str]) -> Mapping[str, JSON]:
    unread_parts = unread(roots, frozenset(read))
    return {key if len(roots) == 1 else f"{path} {key}": value for (path, key), value in unread_parts.items()}


def _question(place: str) -> Schema:
    return {"$ref": as_fragment(place.removeprefix("#"))}


@dataclass(frozen=True)
class _Files:
    """Creates the findings about two schemas, each at a place in its input: `#/$defs/Thing`, empty for the root."""

    sides: tuple[Input, Input]
    schemas: tuple[JSON, JSON]

    def of_relations(self, comparison: Comparison, places: tuple[str, str]) -> Iterator[Finding]:
        """Yield findings on values that only one schema accepts, and on undecided questions."""
        directions: tuple[tuple[Relation, Revision], ...] = (
            (comparison.backward, "old"),
            (comparison.forward, "new"),
        )
        for relation, sender in directions:
            receiver = opposite(sender)
            if relation.witness is not None:
                value, verified = relation.witness.value, relation.witness.verified
                witness = Witness(value, verified=verified, accepted_by=sender, refused_by=receiver)
                yield self.finding(*_LANGUAGE[sender], places=places, witness=witness)
            elif relation.verdict.value == "undecided":
                message = f"Whether the {receiver} schema accepts everything that the {sender} one accepts could not be decided"
                advice = "Simplify or correct the part that is named, or review both schemas."
                full_message = f"{message}: {relation.reason}"
                about = _UNDECIDED, f"{_UNDECIDED}-{sender}", *self._contents(places[0])
                yield self.finding(_UNDECIDED, "undecided", full_message, advice, places=places, about=about)

    def of_gone(self, place: str) -> Finding:
        """The finding for a removed definition that the root does not refer to, so that there is nothing to compare it with."""
        name = pointer_parts(place)[-1]
        message = f"The definition {name!r} was removed. The root does not refer to it, so who needs it is not known."
        advice = "Keep it, or accept the finding with a waiver if nobody needs it."
        return self.finding(_UNDECIDED, "undecided", message, advice, places=(place, place))

    def of_unread(self, key: str, contents: tuple[JSON, JSON]) -> Finding:
        """The finding for a member of the root that is no keyword, differs, and appears to contain schemas."""
        message = f"Changed, and not compared: {key!r} is not a keyword of JSON Schema, so its content is not read."
        advice = "Name the schema itself, or review both places and waive the finding if it is harmless."
        return self.finding(_UNDECIDED, "undecided", message, advice, location=key, about=(_UNDECIDED, key, *contents))

    def finding(
        self,
        rule: str,
        severity: Severity,
        message: str,
        advice: str,
        *,
        places: tuple[str, str] = ("", ""),
        witness: Witness | None = None,
        effect: Effect = "refused",
        location: str = "",
        about: tuple[JSON, ...] = (),
    ) -> Finding:
        """A finding with its positions. If several files form the schema, the position is in the first one."""
        old, new = (
            SourcePositions(side).position(
                _start(side) + (place.removeprefix("#") if len(side.documents.documents) == 1 else "")
            )
            for side, place in zip(self.sides, places, strict=True)
        )
        own_fingerprint = fingerprint(*(about or (rule, rule, *self._contents(places[0]))))
        reach = Reach(
            rule=rule,
            severity=severity,
            effect=effect,
            method=None,
            flow="both",
            location=location or (pointer_parts(places[0])[-1] if places[0] else ""),
            message=message,
            advice=advice,
            breaks=readers(witness) if severity == "breaking" and witness is not None else "",
            sender=None if witness is None else witness.accepted_by,
            witness=witness,
            fingerprint=own_fingerprint,
        )
        return Finding((reach,), own_fingerprint, old=old, new=new)

    def _contents(self, place: str) -> Iterable[JSON]:
        """The content of both schemas that a finding at a place depends on."""
        return (place, *self.schemas) if place else map(asserted_content, self.schemas)


_UNDECIDED: Final = "language-undecided"
_LANGUAGE: Final[Mapping[Revision, tuple[str, Severity, str, str]]] = {
    "old": (
        "language-narrowed",
        "breaking",
        "The new schema rejects values that the old one accepts.",
        "Keep accepting what the old schema accepts.",
    ),
    "new": (
        "language-widened",
        "additive",
        "The new schema accepts values that the old one rejects.",
        "Keep writing values that the old schema accepts while readers use it.",
    ),
}
"""The rule, severity, message and advice for values that only one schema accepts, by the revision that accepts them."""
