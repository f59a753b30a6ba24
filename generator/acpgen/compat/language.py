"""Language mode: the comparison of two JSON Schemas by plain inclusion, of their roots and of unreferenced definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urljoin

from acpgen.compat.compare import answer, bundle_side, compare_bindings
from acpgen.compat.different_parts import pair_parts
from acpgen.compat.faults import NO_KEYWORD
from acpgen.compat.findings import (
    NO_ACTION,
    REVISIONS,
    Finding,
    Inclusion,
    Reach,
    Report,
    Revision,
    Severity,
    Sides,
    SourcePosition,
    Witness,
    describe_readers,
    find_worst,
    get_opposite,
    order,
)
from acpgen.compat.fingerprints import collect_assertions, fingerprint
from acpgen.compat.protocol.acceptance import count_unknown_formats, doubt_formats
from acpgen.compat.source_positions import SourcePositions
from acpgen.errors import Faults
from acpgen.input.drafts import MODERN, find_draft
from acpgen.input.ignored_content import find_unread_members
from acpgen.input.numbers import dumps, loads
from acpgen.input.walk import (
    ASSERTIONS,
    DEFINITIONS,
    KEYWORDS,
    Schema,
    asserts,
    copy_json,
    find_reachable,
    find_refs_anywhere,
    is_array,
    is_object,
    list_children,
    list_refs,
    list_schemas,
    walk_schemas,
    without_prose,
)
from acpgen.meaning.faults import UNSUPPORTED
from acpgen.methods.profile import choose
from acpgen.pointers import as_fragment, resolve, split_pointer, write_plain_pointer, write_pointer

if TYPE_CHECKING:
    from acpgen.compat.different_parts import DifferentPart
    from acpgen.compat.sources import Input
    from acpgen.input.drafts import Draft
    from acpgen.ir import JSON
    from schema_inclusion import Comparer, Relation
    from schema_inclusion.validation import DocumentValidator, Path

STEPS: Final = 25_000
"""The step limit of one question; with a larger budget of the run, a hundredth of it."""

ROOT: Final = "#"
"""The place of a root among those of its definitions."""

_UNDECIDED: Final = "language-undecided"
_RULES: Final[Mapping[Revision, tuple[str, Severity, str, str]]] = {
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


def make_report(old: Input, new: Input, budget: int, formats: bool) -> Report:
    """The report on two sides as plain schemas. Raises `Faults`."""
    from schema_inclusion import FORMATS, Allowance, Comparer

    documents = _Documents(_make_document(old), _make_document(new))
    open_comparer = partial(
        Comparer,
        steps=max(STEPS, budget // 100),
        allowance=Allowance(budget),
        formats=tuple(FORMATS) if formats else (),
    )
    declarations = _Declarations(documents, open_comparer, weigh_formats=formats)
    findings = list(declarations.list_findings())
    findings += map(documents.report_gone, list_removed(documents.old.definitions, documents.new.definitions))
    findings += documents.report_unread()
    reaches = [finding.first for finding in findings]
    inclusion = Inclusion(backward=answer(reaches, "new"), forward=answer(reaches, "old"))
    is_equal = old.documents.says_the_same(new.documents) and declarations.comparer.compare().same
    bindings, notes = ("identical", ()) if is_equal else compare_bindings(old, new)
    if not findings and bindings != "identical":
        message = "The schemas accept the same values and are written differently, so generated code differs."
        findings.append(
            documents.make_finding(_reach("schema-restructured", "editorial", message, NO_ACTION, effect="reworded"))
        )
    return Report(
        mode="language",
        old=old.label,
        new=new.label,
        verdict=find_worst(tuple(finding.severity for finding in findings)),
        wire=inclusion,
        language=inclusion,
        bindings=bindings,
        findings=tuple(
            sorted(
                findings,
                key=lambda finding: (
                    order(finding)[0],
                    -len({reach.cause for reach in finding.reaches}),
                    *order(finding),
                ),
            )
        ),
        notes=notes,
    )


@dataclass(frozen=True)
class _Document:
    """The one schema that the files of a side form, and its unread parts by key of the root, with the file if there are several."""

    input: Input
    schema: JSON
    unread: Mapping[str, JSON]

    @cached_property
    def definitions(self) -> Definitions:
        return Definitions(self.schema)

    @cached_property
    def positions(self) -> SourcePositions:
        return SourcePositions(self.input)

    def find_part(self, place: str, path: Path) -> str:
        """The place of the schema for a part of the values of a definition, or of the innermost one around it that stands there."""
        keys, part = split_pointer(place), self.definitions.schemas.get(place)
        for key in path:
            below = ("items",) if isinstance(key, int) else ("properties", key)
            for token in below:
                part = part.get(token) if is_object(part) else None
            if not is_object(part):
                break
            keys = (*keys, *below)
        return write_pointer(*keys)

    def find_position(self, place: str) -> SourcePosition | None:
        """The position of a place; if several files form the schema, that of the first one."""
        documents = self.input.documents.documents
        pointer = place.removeprefix("#") if len(documents) == 1 else ""
        return self.positions.find_position(f"{documents[0].path}#{pointer}")


def _make_document(side: Input) -> _Document:
    """The schema that the files of a side form: a single file unchanged, unless it may refer to others. Raises `Faults`."""
    documents = side.documents
    foreign = choose(documents)
    if foreign.document is not None:
        reason = f"{documents.name} is a document of the kind {foreign.title}, and no JSON Schema"
        remedy = "Leave '--mode language' out"
        raise Faults([UNSUPPORTED(at=documents.name, subject="the comparison", reason=reason, remedy=remedy)])
    roots = {document.path: document.value for document in documents.documents}
    if all(map(_is_other, roots.values())):
        raise Faults([NO_KEYWORD(at=side.locate(documents.documents[0].path))])

    def build_document(schema: JSON, read: Iterable[str]) -> _Document:
        parts = find_unread_members(roots, frozenset(read))
        return _Document(
            side, schema, {key if len(roots) == 1 else f"{path} {key}": value for (path, key), value in parts.items()}
        )

    path, whole = next(iter(roots.items()))
    is_alone = len(roots) == 1
    if not is_alone or (documents.references and is_object(whole)):
        try:
            bundled = bundle_side(side)
            return build_document(bundled.schema, bundled.origins.values())
        except Faults:
            if not is_alone:
                raise  # what cannot be followed in a single file is undecided
    return build_document(whole, (f"{path}{place}" for place in _list_referenced_places(whole)))


@dataclass(frozen=True)
class _Documents:
    """Creates the findings about two schemas, each at a place of a definition, `#/$defs/Thing`, or at the root, `#`."""

    old: _Document
    new: _Document

    def report_gone(self, place: str) -> Finding:
        """The finding for a removed definition that the root does not refer to, so that there is nothing to compare it with."""
        name = self.old.definitions.name(place)
        message = f"The definition {name!r} was removed. The root does not refer to it, so who needs it is not known."
        advice = "Keep it, or accept the finding with a waiver if nobody needs it."
        reach = _make_doubt(message, advice, ("new",), location=name)
        contents = (place, self.old.definitions.write_assertions(place))
        return self.make_finding(reach, places=(place, place), contents=contents)

    def report_unread(self) -> Iterator[Finding]:
        """Yield the findings for members of the root that are no keywords, differ, and appear to contain schemas."""
        before, after = self.old.unread, self.new.unread
        for key in dict.fromkeys((*before, *after)):
            if before.get(key) != after.get(key):
                message = (
                    f"Changed, and not compared: {key!r} is not a keyword of JSON Schema, so its content is not read."
                )
                advice = "Name the schema itself, or review both places and waive the finding if it is harmless."
                reach = _make_doubt(message, advice, ("old", "new"), subject=key, location=key)
                yield self.make_finding(reach, contents=(before.get(key), after.get(key)))

    def make_finding(
        self,
        *reaches: Reach,
        places: tuple[str, str] = (ROOT, ROOT),
        contents: Sequence[JSON] | None = None,
        path: Path = (),
    ) -> Finding:
        """A finding with its positions, of the part at a path, and fingerprints, which by default depend on the content of both."""
        first = reaches[0]
        if contents is None:
            sides = zip((self.old.schema, self.new.schema), places, strict=True)
            contents = (places[0], *(collect_assertions(schema, place) for schema, place in sides))
        identity = fingerprint(first.rule, first.subject or first.rule, *contents)
        others = (replace(reach, fingerprint=fingerprint(identity, reach.location)) for reach in reaches[1:])
        return Finding(
            (replace(first, fingerprint=identity), *others),
            identity,
            old=self.old.find_position(self.old.find_part(places[0], path)),
            new=self.new.find_position(self.new.find_part(places[1], path)),
        )


@dataclass(frozen=True)
class _Declarations:
    """The answers about the declarations that two schemas share: the root and definitions, by their places in the old one."""

    documents: _Documents
    open_comparer: Callable[[JSON, JSON], Comparer]
    weigh_formats: bool
    relations: dict[tuple[str, Revision], Relation] = field(default_factory=dict["tuple[str, Revision]", "Relation"])

    @cached_property
    def comparer(self) -> Comparer:
        return self.open_comparer(self.documents.old.schema, self.documents.new.schema)

    def list_findings(self) -> Iterator[Finding]:
        """Yield the findings on values that only one schema accepts, and on undecided questions.

        A finding is about a declaration that differs in more than what it refers to, and of which this difference is refused. Each other
        one with the same answer is a further reach of the nearest such declaration that it contains, and so is each other part of it
        of which a value is refused.
        """
        from schema_inclusion import Verdict

        old, new = self.documents.old.definitions, self.documents.new.definitions
        starts = (ROOT, *(place for place, _ in list_unreferenced(old, new)))
        answers: list[tuple[Revision, list[str], list[str]]] = []
        for sender in REVISIONS:
            for verdict in (Verdict.NO, Verdict.UNDECIDED):
                places = [place for place in starts if self._ask(place, sender).verdict is verdict]
                candidates = sorted(old.reach(places) & self._differing.keys())
                differing = [place for place in candidates if self._ask(place, sender).verdict is verdict]
                answers.append((sender, places, differing))
        for sender, places, differing in answers:  # what explains the answers, with the steps that are left
            causes = [place for place in differing if self._is_cause(place, sender, differing)]
            nearest = old.find_nearest(causes)
            places_by_cause: dict[str, list[str]] = {cause: [cause] for cause in causes}
            for place in dict.fromkeys((*places, *differing)):
                if nearest.get(place) != place:
                    places_by_cause.setdefault(nearest.get(place, place), []).append(place)
            for cause, affected in places_by_cause.items():
                yield self._make_finding(cause, [self._make_reach(place, sender) for place in affected], sender)

    def _is_cause(self, place: str, sender: Revision, differing: Collection[str]) -> bool:
        """Whether a declaration is refused for more than the differing ones that it refers to; a value that shows it is its witness."""
        if self.documents.old.definitions.reach([place]).isdisjoint({*differing} - {place}):
            return True
        relation = self._ask_itself(place, sender)
        if relation.witness is not None:
            self.relations[place, sender] = relation
        return relation.verdict.value != "yes"

    def _ask_itself(self, place: str, sender: Revision, part: DifferentPart | None = None) -> Relation:
        """Whether the other revision accepts what the sender's one accepts, apart from changes in what the declaration refers to.

        With a part, only values of which it is refused count. The two schemas confirm a witness, since they may be in different drafts.
        """
        from schema_inclusion import Culprit, Relation, Verdict

        new_place = self._places[place]

        def refer(old_keys: Sequence[str], new_keys: Sequence[str]) -> tuple[Schema, Schema]:
            new = [_refer(side, new_place, new_keys) for side in ("new", "layer")]
            return _refer("old", place, old_keys), {"anyOf" if sender == "old" else "allOf": new}

        (old, new), is_from_old = refer((), ()), sender == "old"
        culprit = None
        if part is not None:
            accepted, refused = refer(part.old_keys, part.new_keys)[:: 1 if is_from_old else -1]
            culprit = Culprit(part.steps, accepted, refused)
        ask = self._layers.include if is_from_old else self._layers.include_back
        relation = ask(*((old, new) if is_from_old else (new, old)), culprit=culprit)
        for revision, pointer in zip(REVISIONS, (place, new_place), strict=True):
            validator = self._validators.on(revision).of(_refer("", pointer))
            if relation.witness and validator.accepts(relation.witness.value) is not (revision == sender):
                return Relation(Verdict.UNDECIDED, "")
        return relation

    @cached_property
    def _layers(self) -> Comparer:
        """Compares both schemas in one with a third: the new one with references to the old definitions."""
        old, new = self.documents.old, self.documents.new
        old_places = {new_place: place for place, new_place in self._places.items()}

        def copy(schema: JSON, side: str) -> JSON:
            schema = copy_json(schema)
            for node in list_schemas(schema):
                if isinstance(node.get("$ref"), str) and node["$ref"].startswith("#"):
                    place = unquote(node["$ref"])
                    is_old = side == "layer" and place in old_places
                    node["$ref"] = _refer(*(("old", old_places[place]) if is_old else (side, place)))["$ref"]
            ids = ("$schema", "$id", "id")
            return {key: schema[key] for key in schema if key not in ids} if is_object(schema) else schema

        sides = (("old", old.schema), ("new", new.schema), ("layer", new.schema))
        whole: Schema = {"definitions": {side: copy(schema, side) for side, schema in sides}}
        if is_object(new.schema) and "$schema" in new.schema:
            whole["$schema"] = new.schema["$schema"]
        return self.open_comparer(whole, whole)

    def _make_finding(self, cause: str, reaches: Sequence[Reach], sender: Revision) -> Finding:
        first, *others = reaches
        path: Path = ()
        parts: dict[Path, Reach] = {}
        if first.witness is not None:
            path = self._locate_refusal(cause, first.witness)
            parts = dict(self._list_parts(cause, sender, path))
            shown = [part for part, reach in parts.items() if reach.witness == first.witness]
            path = path or next(iter(shown), ())
            parts = {part: reach for part, reach in parts.items() if part not in shown}
        first, *further = (self._extend(reach, part) for part, reach in ((path, first), *parts.items()))
        contents = (cause, *self._differing[cause]) if cause in self._differing else None
        return self.documents.make_finding(
            first, *further, *others, places=(cause, self._places[cause]), contents=contents, path=path
        )

    def _list_parts(self, place: str, sender: Revision, shown: Path) -> Iterator[tuple[Path, Reach]]:
        """Yield the parts of a declaration of which a value is refused, apart from those around the one that is shown."""
        for part in pair_parts(*map(loads, self._differing.get(place, ("{}", "{}")))):
            relation = None if shown[: len(part.path)] == part.path else self._ask_itself(place, sender, part)
            if relation is not None and relation.witness is not None:
                yield part.path, self._make_reach(place, sender, relation)

    def _extend(self, reach: Reach, path: Path) -> Reach:
        """A reach at a path in the values of its declaration."""
        below = "".join("[]" if isinstance(key, int) else f".{key if key in self._members else '*'}" for key in path)
        return replace(reach, location=f"{reach.location}{below}" if reach.location else below.removeprefix("."))

    def _locate_refusal(self, place: str, witness: Witness) -> Path:
        """The path to what is refused in the witness of a declaration."""
        revision = witness.refused_by or "new"
        reference = _refer("", place if revision == "old" else self._places[place])
        return self._validators.on(revision).of(reference).locate_refusal(witness.value)

    @cached_property
    def _members(self) -> set[str]:
        """The names of members that either schema declares or requires; others in a witness are examples."""
        sides = self.documents.old, self.documents.new
        definitions = (definition for side in sides for definition in side.definitions.schemas.values())
        schemas = (node for definition in definitions for node in list_schemas(definition))
        parts = (node.get(key) for node in schemas for key in ("properties", "required"))
        return {name for part in parts if is_object(part) or is_array(part) for name in part if isinstance(name, str)}

    @cached_property
    def _validators(self) -> Sides[DocumentValidator]:
        from schema_inclusion import FORMATS
        from schema_inclusion.validation import open_validator

        formats = frozenset(FORMATS) if self.weigh_formats else frozenset[str]()
        old, new = (open_validator(side.schema, formats=formats) for side in (self.documents.old, self.documents.new))
        return Sides(old, new)

    @cached_property
    def _places(self) -> dict[str, str]:
        """The places in the new schema."""
        return {ROOT: ROOT, **_find_renames(self.documents.old.definitions, self.documents.new.definitions)}

    @cached_property
    def _differing(self) -> dict[str, tuple[str, str]]:
        """The declarations that differ in more than prose and what they refer to: the texts of both revisions by place."""
        old, new = self.documents.old.definitions, self.documents.new.definitions
        pairs = self._places.items()
        texts = {place: (old.write_assertions(place), new.write_assertions(new_place)) for place, new_place in pairs}
        return {place: both for place, both in texts.items() if both[0] != both[1]}

    def _ask(self, place: str, sender: Revision) -> Relation:
        """Whether the other revision accepts what the sender's one accepts; asked once."""
        if (place, sender) not in self.relations:
            places = place, self._places[place]
            old, new = (
                None if pointer == ROOT else Schema({"$ref": as_fragment(pointer.removeprefix("#"))})
                for pointer in places
            )
            relation = self.comparer.include(old, new) if sender == "old" else self.comparer.include_back(new, old)
            if self.weigh_formats:
                relation = doubt_formats(relation, *self._count_formats(*places))
            self.relations[place, sender] = relation
        return self.relations[place, sender]

    def _count_formats(self, old: str, new: str) -> Iterator[Counter[str]]:
        """Yield the number of uses of each format that cannot be asserted, in both schemas."""
        for document, place in ((self.documents.old, old), (self.documents.new, new)):
            definitions = document.definitions
            yield count_unknown_formats(definitions.schemas[pointer] for pointer in definitions.reach([place]))

    def _make_reach(self, place: str, sender: Revision, relation: Relation | None = None) -> Reach:
        relation, receiver = relation or self._ask(place, sender), get_opposite(sender)
        location = self.documents.old.definitions.name(place)
        if relation.witness is None:
            question = f"Whether the {receiver} schema accepts everything that the {sender} one accepts"
            advice = "Simplify or correct the part that is named, give a missing file by --ref URL=FILE, or review both schemas."
            subject = f"{_UNDECIDED}-{sender}"
            message = f"{question} could not be decided: {relation.reason}"
            return _make_doubt(message, advice, (receiver,), subject=subject, location=location)
        value, verified = relation.witness.value, relation.witness.verified
        witness = Witness(value, verified=verified, accepted_by=sender, refused_by=receiver)
        breaks = describe_readers(witness) if sender == "old" else ""
        proof: dict[str, Any] = {"witness": witness, "refuses": (receiver,), "breaks": breaks}
        return _reach(*_RULES[sender], sender=sender, location=location, cause=(place,), **proof)


def _refer(side: str, place: str, keys: Sequence[str] = ()) -> Schema:
    """The reference to the part at keys of a place in one of the schemas that `_layers` joins; without a side, to the place itself."""
    return {
        "$ref": as_fragment(f"{side and f'/definitions/{side}'}{place.removeprefix('#')}{write_plain_pointer(*keys)}")
    }


def _reach(rule: str, severity: Severity, message: str, advice: str, **more: Any) -> Reach:
    whole: dict[str, Any] = {"effect": "refused", "location": "", **more}
    return Reach(rule=rule, severity=severity, message=message, advice=advice, method=None, flow="both", **whole)


def _make_doubt(message: str, advice: str, doubtful: tuple[Revision, ...], **more: str) -> Reach:
    return _reach(_UNDECIDED, "undecided", message, advice, doubtful=doubtful, **more)


# --- definitions that the root does not refer to ---------------------------------------------------------------------


class Definitions:
    """The definitions of a schema by their places, and the references of each, by pointer or by the URI of a definition."""

    def __init__(self, whole: JSON) -> None:
        self.draft = find_draft(whole, {})
        self.places = _list_definitions(whole)
        base = _get_id(whole)
        bases = {place: _join(base, _get_id(node)) for place, node in self.places.items() if _get_id(node)}
        at = {base: ROOT, **{address: place for place, address in bases.items()}}

        def find_base(place: str) -> str:
            """The URI that the references of a definition are relative to."""
            while place and place not in bases:
                place = place.rpartition("/")[0]
            return bases.get(place, base)

        anchors = {
            _join(find_base(place), f"#{node[keyword]}"): place
            for place, node in self.places.items()
            for keyword in ("$anchor", "$dynamicAnchor")
            if is_object(node) and isinstance(node.get(keyword), str)
        }

        def resolve_place(reference: str, place: str) -> str:
            """The place of the definition that a reference resolves to; empty if it is not a definition."""
            target = _join(find_base(place), reference)
            address, _, fragment = target.partition("#")
            return anchors.get(target, f"{at[address]}{unquote(fragment)}" if address in at else "")

        root = {key: member for key, member in whole.items() if key not in DEFINITIONS} if is_object(whole) else whole
        self.schemas = {ROOT: root, **self.places}
        self._refers = {
            place: [resolve_place(reference, place) for reference in find_refs_anywhere(schema, _REFERENCES)]
            for place, schema in self.schemas.items()
        }
        draft = self.draft or MODERN
        judging = {
            place: [resolve_place(reference, place) for reference in _list_judging_references(schema, draft)]
            for place, schema in self.schemas.items()
        }
        self.judged_by_root = self._reach([ROOT], judging)

    def name(self, place: str) -> str:
        """The name of a definition, after those that it is inside of if another one has it too; empty for the root."""
        names = [part for part in split_pointer(place) if part not in DEFINITIONS]
        is_shared = names and self._counts[names[-1]] > 1
        return "/".join(names if is_shared else names[-1:])

    @cached_property
    def _counts(self) -> Counter[str]:
        """The number of definitions with each last name."""
        return Counter(split_pointer(place)[-1] for place in self.places)

    def write_assertions(self, place: str) -> str:
        """The text of a definition without prose and inner definitions; `definitions` and `$defs` are treated as equal."""
        schema = self.schemas[place]
        if not is_object(schema):
            return _serialize(schema)
        assertions: Schema = copy_json(
            without_prose({key: member for key, member in schema.items() if key not in DEFINITIONS})
        )
        for node in list_schemas(assertions):
            if isinstance(node.get("$ref"), str) and node["$ref"].startswith("#/"):
                node["$ref"] = _modernize(node["$ref"])
        return _serialize(assertions)

    def reach(self, start: Iterable[str]) -> set[str]:
        """The definitions at these places and all that they transitively refer to."""
        return self._reach(start, self._refers)

    def find_nearest(self, ends: Iterable[str]) -> dict[str, str]:
        """The nearest of these places for each definition that transitively refers to one of them, themselves included."""
        sources: dict[str, list[str]] = {}
        for place, targets in self._refers.items():
            for target in targets:
                sources.setdefault(target, []).append(place)
        nearest = {end: end for end in ends}
        pending = [*nearest]
        for place in pending:  # which grows
            for source in sources.get(place, ()):
                if source not in nearest:
                    nearest[source] = nearest[place]
                    pending.append(source)
        return nearest

    def _reach(self, start: Iterable[str], edges: Mapping[str, Sequence[str]]) -> set[str]:
        return self.schemas.keys() & find_reachable(start, lambda place: edges.get(place, ()))


def list_unreferenced(old: Definitions, new: Definitions) -> tuple[tuple[str, str], ...]:
    """The pairs of places of shared definitions that a root does not refer to and that differ or refer to a differing one.

    Equal text differs if it is read under another draft.
    """
    renames = _find_renames(old, new)
    differing = {
        old_place
        for old_place, new_place in renames.items()
        if old.draft is not new.draft
        or old_place != new_place
        or _serialize(old.places[old_place]) != _serialize(new.places[new_place])
    }
    touched = old.find_nearest(differing | (old.places.keys() - renames.keys()))
    touched_now = new.find_nearest(
        {renames[place] for place in differing} | (new.places.keys() - set(renames.values()))
    )
    return tuple(
        (old_place, new_place)
        for old_place, new_place in renames.items()
        if not (old_place in old.judged_by_root and new_place in new.judged_by_root)
        if old_place in touched or new_place in touched_now
    )


def list_removed(old: Definitions, new: Definitions) -> tuple[str, ...]:
    """The places of definitions that only the old schema has and that neither its root nor a shared definition refers to."""
    renames = _find_renames(old, new)
    reached = old.judged_by_root | old.reach(renames)
    return tuple(place for place in old.places if place not in renames and place not in reached)


def _find_renames(old: Definitions, new: Definitions) -> dict[str, str]:
    """The places in the new schema of the old definitions that both have; `definitions` and `$defs` are treated as equal."""
    new_by_modern_place = {_modernize(place): place for place in new.places if place not in old.places}
    pairs = (
        (place, place if place in new.places else new_by_modern_place.get(_modernize(place), ""))
        for place in old.places
    )
    return {old_place: new_place for old_place, new_place in pairs if new_place}


def _modernize(place: str) -> str:
    """A place with `$defs` for `definitions`."""
    return write_pointer(*("$defs" if part in DEFINITIONS else part for part in split_pointer(place)))


def _list_referenced_places(schema: JSON) -> frozenset[str]:
    """The places that references transitively reach by a pointer from the root, `#/components/schemas/Thing`."""

    def list_below(part: JSON) -> list[str]:
        return [place for place in map(unquote, list_refs(part)) if place.startswith("#/")]

    def list_targets(place: str) -> list[str]:
        try:
            return list_below(resolve(schema, place))
        except KeyError:
            return []

    return frozenset(find_reachable(list_below(schema), list_targets))


def _is_other(schema: JSON) -> bool:
    """Whether an object is not a JSON Schema: it has members, but no keyword."""
    return is_object(schema) and bool(schema) and not any(key in KEYWORDS or key.startswith("x-") for key in schema)


def _list_definitions(schema: JSON) -> dict[str, JSON]:
    """The definitions of a schema by their places, including those in groups and inside other schemas."""
    definitions: dict[str, JSON] = {}
    pending: list[tuple[tuple[str, ...], JSON]] = [((), schema)]
    while pending:
        keys, node = pending.pop()
        if keys and is_object(node) and node and ASSERTIONS.isdisjoint(node) and all(map(is_object, node.values())):
            pending += [((*keys, name), member) for name, member in reversed(node.items())]
            continue
        if keys:
            definitions[write_pointer(*keys)] = node
        for below, inner in walk_schemas(node):
            groups = [((*keys, *below, key), inner[key]) for key in DEFINITIONS if is_object(inner.get(key))]
            pending += [((*at, name), member) for at, group in groups for name, member in reversed(group.items())]
    return {place: node for place, node in definitions.items() if is_object(node) or isinstance(node, bool)}


def _list_judging_references(schema: JSON, draft: Draft) -> Iterator[str]:
    """Yield the references of a schema that affect validation, without those of its definitions."""
    pending = [schema]
    while pending:
        node = pending.pop()
        if not is_object(node):
            continue
        yield from (node[keyword] for keyword in _REFERENCES if isinstance(node.get(keyword), str))
        if draft.is_lone_ref and isinstance(node.get("$ref"), str):
            continue
        is_conditional = "if" in node and ("then" in node or "else" in node)
        for (keyword, *_), child in list_children(node):
            if asserts(keyword) and draft.knows(keyword) and (is_conditional or keyword not in _CONDITIONS):
                pending.append(child)


_CONDITIONS: Final = ("if", "then", "else")
_REFERENCES: Final = ("$ref", "$dynamicRef")


def _join(base: str, reference: str) -> str:
    """The URI that a reference resolves to; the reference itself if it is not a valid URI."""
    if reference.startswith("#"):
        return f"{base}{reference}"
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _get_id(schema: JSON) -> str:
    """The `$id` (or `id`) of a schema without a trailing `#`; empty if it has none or only an anchor."""
    uri = (schema.get("$id") or schema.get("id")) if is_object(schema) else None
    return uri.removesuffix("#") if isinstance(uri, str) and not uri.startswith("#") else ""


def _serialize(schema: JSON) -> str:
    return dumps(schema, sort_keys=True)
