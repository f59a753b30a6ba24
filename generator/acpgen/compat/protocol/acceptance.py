"""Whether one revision accepts what the other sends, as decided by the prover: whole messages, and messages that show a change at a
place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from acpgen import ir
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import REVISIONS, Answer, Revision, Sides, get_opposite
from acpgen.compat.protocol.revision import FRAME, SchemaRevision
from acpgen.compat.protocol.sender_schemas import DECLARED, SENT, write_schema
from acpgen.input.walk import find_reachable, is_object, list_references, walk_schemas

if TYPE_CHECKING:
    from acpgen.input.walk import Schema
    from schema_inclusion import Allowance, Comparer, Culprit, Relation

STEPS: Final = 20_000
"""The step limit of one question, about a third of a second; with a larger budget of the run, a hundredth of it."""


class Acceptance:
    """What one revision accepts of what the other sends. Answers about a pair are cached."""

    def __init__(
        self,
        old: SchemaRevision,
        new: SchemaRevision,
        allowance: Allowance,
        contents: Sides[frozenset[str]],
        *,
        formats: bool = False,
    ) -> None:
        """Prepare questions to the prover; with `formats`, `format` is an assertion. `contents` are the definitions of both sides that
        may be anything in a frame.
        """
        self._contents = contents
        self._sides = Sides(old, new)
        self._formats = formats
        self._allowance = allowance
        self._steps = max(STEPS, allowance.left // 100)
        self._comparers: dict[str, Comparer] = {}
        self._questions: dict[tuple[ir.Type, str], Schema] = {}
        self._relations: dict[tuple[ir.Type, ir.Type, Revision, bool], Relation] = {}
        self._refused: set[Revision] = set()

    def is_included(self, pair: Pair, sender: Revision, *, declared: bool = True) -> Answer:
        """Whether the receiver's side of a pair accepts everything that the sender's side accepts.

        With `declared`, the sender sends only what its schema declares, and extensions.
        """
        return self.find_relation(pair, sender, declared=declared).verdict.value

    def find_relation(self, pair: Pair, sender: Revision, *, declared: bool = True) -> Relation:
        """The relation behind `is_included`, with its witness: a value that the sender's side accepts and the receiver's side refuses.

        What a sender declares matters only once something that its schema accepts was refused.
        """
        key = (pair.old, pair.new, sender, declared)
        if key not in self._relations:
            is_likely = declared and sender not in self._refused
            relation = self.find_relation(pair, sender, declared=False) if is_likely else None
            if relation is None or relation.verdict.value != "yes":
                sent_schema = self._write_question(pair.on(sender), SENT if declared else "")
                relation = self.include(sent_schema, self._write_question(pair.on(get_opposite(sender))), sender)
            self._relations[key] = relation
            if not declared and relation.verdict.value == "no":
                self._refused.add(sender)
        return self._relations[key]

    def with_culprit(
        self,
        whole: Pair,
        sender: Revision,
        culprit: Culprit,
        *,
        declared: bool = False,
        within: Schema | None = None,
    ) -> Relation:
        """The relation of what the sender's side of a pair sends with a culprit; the witness is a refused value.

        With `declared`, what the receiver only tolerates and does not declare counts as refused; only values `within` a schema count.
        """
        receiver_type = whole.on(get_opposite(sender))
        accepted: Schema = (
            {"allOf": [write_schema(receiver_type, DECLARED)]} if declared else self._write_question(receiver_type)
        )
        sent_schema = self._write_question(whole.on(sender), SENT)
        return self.include(
            sent_schema if within is None else {"allOf": [sent_schema, within]}, accepted, sender, culprit
        )

    def find_tolerated(self, pair: Pair, sender: Revision, culprit: Culprit) -> Relation:
        """The relation whose witness has a culprit, and the receiver accepts it and does not declare all of it."""
        receiver_type = pair.on(get_opposite(sender))
        declared: list[Any] = [{"not": self._write_question(receiver_type)}, write_schema(receiver_type, DECLARED)]
        return self.include(self._write_question(pair.on(sender), SENT), {"anyOf": declared}, sender, culprit)

    def find_common(self, whole: Pair, sender: Revision, culprit: Culprit) -> Relation:
        """The relation whose witness is a value that both sides of a pair accept and that has a culprit of the sender's side."""
        refused: Schema = {"not": self._write_question(whole.on(get_opposite(sender)))}
        return self.include(self._write_question(whole.on(sender), SENT), refused, sender, culprit)

    def find_carried(
        self, whole: Pair, sender: Revision, culprit: Culprit | None = None, *, declared: bool = False
    ) -> Relation:
        """The relation whose witness is a value that the sender's side of a pair accepts and that has a culprit, refused or not.

        With `declared`, the sender sends only what its schema declares.
        """
        return self.include(self._write_question(whole.on(sender), SENT if declared else ""), False, sender, culprit)

    def find_understood(
        self, pair: Pair, alternative: ir.Type, sender: Revision, names: Collection[str] | None = None
    ) -> Relation:
        """Whether the receiver declares, rather than only tolerates, everything that an alternative of the sender's side declares.

        Only values that the sender's side of the pair accepts count; with `names`, only objects with no other members than these.
        """
        limits: list[Schema] = [] if names is None else [{"propertyNames": {"enum": sorted(names)}}]
        sent_schema: Schema = {"allOf": [write_schema(alternative, DECLARED), write_schema(pair.on(sender)), *limits]}
        return self.include(sent_schema, {"allOf": [write_schema(pair.on(get_opposite(sender)), DECLARED)]}, sender)

    def never_accepts(self, pair: Pair, side: Revision, name: str) -> bool:
        """Whether one side of a pair refuses every object with a member of that name."""
        objects: Schema = {"allOf": [self._write_question(pair.on(side)), {"type": "object"}]}
        return self.include(objects, {"not": {"required": [name]}}, side).verdict.value == "yes"

    def are_equal(self, pair: Pair) -> bool:
        """Whether the sides of a pair differ at most in names, in references, and in the order of keywords and branches."""
        is_possible = all(self.is_included(pair, sender, declared=False) == "yes" for sender in REVISIONS)
        questions = self._write_question(pair.old), self._write_question(pair.new)
        return is_possible and self._open_comparer().are_equal(*questions)

    def find_form(self, type_: ir.Type, side: Revision) -> object | None:
        """What is the same object for types of both sides that accept the same values by their normal forms; `None` if it is unknown."""
        return self._open_comparer().find_form(self._write_question(type_), is_new=side == "new")

    def _write_question(self, type_: ir.Type, suffix: str = "") -> Schema:
        """A type as a schema; with a suffix, only what is sent or declared of it. Cached, so that the prover recognizes the same schema."""
        if (type_, suffix) not in self._questions:
            restrictions = [write_schema(type_, suffix)] if suffix else []
            self._questions[type_, suffix] = {"allOf": [write_schema(type_), *restrictions]}
        return self._questions[type_, suffix]

    def include(
        self, sent_schema: Schema, accepted_schema: Schema | bool, sender: Revision, culprit: Culprit | None = None
    ) -> Relation:
        """Whether the receiver's schema includes the sender's; references resolve in the bundle of the respective side.

        The old revision caches the answers, for later comparisons with another new revision that has the same definitions.
        """
        sent_by, received_by = self._sides.on(sender), self._sides.on(get_opposite(sender))
        schemas: list[tuple[Any, SchemaRevision]] = [(sent_schema, sent_by), (accepted_schema, received_by)]
        if culprit is not None:
            schemas += [(schema, sent_by) for schema in (*culprit.at, culprit.accepted) if is_object(schema)]
            schemas.append((culprit.refused, received_by))
        digests = [side.compute_digest(name) for schema, side in schemas for name in _list_references(schema)]
        question = repr((sent_schema, accepted_schema, sender, self._formats, self._steps, culprit, digests))
        cached_answers: dict[str, tuple[Relation, int]] = self._sides.old.answers
        if question in cached_answers:
            relation, steps = cached_answers[question]
            self._allowance.spend(steps)
            return relation
        remaining_steps = self._allowance.left
        comparer = self._open_comparer(sent_schema, accepted_schema)
        ask = comparer.include if sender == "old" else comparer.include_back
        relation = ask(sent_schema, accepted_schema, culprit=culprit)
        if self._formats:
            relation = doubt_formats(relation, *(count_unknown_formats(_list_reached(*pair)) for pair in schemas[:2]))
        if relation.verdict.value != "undecided":
            cached_answers[question] = relation, remaining_steps - self._allowance.left
        return relation

    def _open_comparer(self, *schemas: Schema | bool) -> Comparer:
        """The comparer for these schemas. Definitions of what is `DECLARED`, and those of frames, double the documents and are loaded only
        for schemas that refer to them.
        """
        from schema_inclusion import FORMATS, Comparer

        names = [name for schema in schemas for name in list_references(schema)]
        suffix = next((suffix for suffix in (DECLARED, FRAME) if any(name.endswith(suffix) for name in names)), "")
        if suffix not in self._comparers:
            documents: list[Any] = []
            for revision in REVISIONS:
                side, opposite = self._sides.on(revision), self._sides.on(get_opposite(revision))
                schemas_by_name = dict(side.prover_schemas)
                if suffix == DECLARED:
                    schemas_by_name |= side.declared_schemas
                elif suffix == FRAME:
                    schemas_by_name |= side.write_frame_schemas(self._contents.on(revision), opposite)
                documents.append({**side.bundle.schema, "$defs": schemas_by_name})
            asserted = tuple(FORMATS) if self._formats else ()
            self._comparers[suffix] = Comparer(
                *documents, steps=self._steps, allowance=self._allowance, formats=asserted
            )
        return self._comparers[suffix]


def _list_references(schema: Any) -> Iterator[str]:
    """Yield the names of the definitions that a schema refers to, or to what is sent or declared of them."""
    return (name.removesuffix(SENT).removesuffix(DECLARED).removesuffix(FRAME) for name in list_references(schema))


def _list_reached(schema: Schema | bool, side: SchemaRevision) -> list[Schema | bool]:
    """A schema and the definitions of one side that are reachable from it."""
    schemas = side.stable_schemas
    names = find_reachable(_list_references(schema), lambda name: list_references(schemas.get(name, {})))
    return [schema, *(schemas[name] for name in names if name in schemas)]


# --- formats that cannot be asserted here: what they refuse is unknown ---


def count_unknown_formats(schemas: Iterable[object]) -> Counter[str]:
    """How often the schemas and their subschemas name each format that cannot be asserted."""
    from schema_inclusion import FORMATS

    counts: Counter[str] = Counter()
    for schema in schemas:
        for _, node in walk_schemas(schema):
            name = node.get("format")
            if isinstance(name, str) and name not in FORMATS:
                counts[name] += 1
    return counts


def doubt_formats(relation: Relation, old: Counter[str], new: Counter[str]) -> Relation:
    """The relation of two schemas with these formats; if the formats differ, an inclusion becomes undecided, while a refusal stays."""
    names = sorted(name for name in {*old, *new} if old[name] != new[name])
    if relation.witness is not None or not names:
        return relation
    reason = f"what the format {names[0]!r} refuses is not known."
    return replace(relation, verdict=type(relation.verdict).UNDECIDED, reason=reason)
