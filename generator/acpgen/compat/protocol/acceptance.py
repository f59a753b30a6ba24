"""Whether one revision accepts what the other sends, as the prover says: whole messages, and those that show a change at a place."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from acpgen import ir
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import Answer, Revision, opposite
from acpgen.compat.protocol.formats import count_unknown_formats, doubt_formats
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.protocol.sender_schemas import DECLARED, SENT, schema_of
from acpgen.input.walk import is_object, reachable, references

if TYPE_CHECKING:
    from acpgen.input.walk import Schema
    from schema_inclusion import Allowance, Comparer, Culprit, Relation

STEPS: Final = 20_000
"""Steps of one question: a third of a second. A larger budget of the run gives each a hundredth of it."""


class Acceptance:
    """What one revision accepts of what the other sends. Each question about a pair is asked once."""

    def __init__(
        self, old: SchemaRevision, new: SchemaRevision, allowance: Allowance, *, formats: bool = False
    ) -> None:
        """`formats` are asserted, or annotate."""
        self._sides = old, new
        self._formats = formats
        self._allowance = allowance
        self._steps = max(STEPS, allowance.left // 100)
        self._comparers: dict[bool, Comparer] = {}
        self._questions: dict[tuple[ir.Type, str], Schema] = {}
        self._relations: dict[tuple[ir.Type, ir.Type, Revision, bool], Relation] = {}
        self._refused: set[Revision] = set()

    def included(self, pair: Pair, sender: Revision, *, declared: bool = True) -> Answer:
        """Whether everything that the sender's side of a pair accepts is accepted by the other.

        `declared` keeps the sender to what its schema declares, and to extensions.
        """
        return self.relation(pair, sender, declared=declared).verdict.value

    def relation(self, pair: Pair, sender: Revision, *, declared: bool = True) -> Relation:
        """The answer of `included` with its witness, a value that the sender's side accepts and the other refuses.

        As long as one revision accepts all that the other does, nobody need ask what a sender declares.
        """
        key = (pair.old, pair.new, sender, declared)
        if key not in self._relations:
            wider = self.relation(pair, sender, declared=False) if declared and sender not in self._refused else None
            if wider is None or wider.verdict.value != "yes":
                sent = self._question(pair.on(sender), SENT if declared else "")
                wider = self.include(sent, self._question(pair.on(opposite(sender))), sender)
            self._relations[key] = wider
            if not declared and wider.verdict.value == "no":
                self._refused.add(sender)
        return self._relations[key]

    def with_culprit(self, whole: Pair, sender: Revision, culprit: Culprit) -> Relation:
        """Whether all that the sender's side of a pair sends with a culprit is accepted; the witness is refused."""
        return self.include(
            self._question(whole.on(sender), SENT), self._question(whole.on(opposite(sender))), sender, culprit
        )

    def carried(self, whole: Pair, sender: Revision, culprit: Culprit | None = None) -> Relation:
        """Whether the sender's side of a pair sends nothing with a culprit, whoever accepts it; the witness is what it sends."""
        return self.include(self._question(whole.on(sender)), False, sender, culprit)

    def misread(self, whole: Pair, sender: Revision, culprit: Culprit) -> Relation:
        """Whether all that the sender's side of a pair sends with a culprit is declared by the receiver, and not merely let through."""
        known: Schema = {"allOf": [schema_of(whole.on(opposite(sender)), DECLARED)]}
        return self.include(self._question(whole.on(sender), SENT), known, sender, culprit)

    def understood(
        self, pair: Pair, alternative: ir.Type, sender: Revision, names: Collection[str] | None = None
    ) -> Relation:
        """Whether all that an alternative of the sender's side of a pair declares, and that this side accepts, is declared by the other
        side too, and not merely let through; of objects with these members alone, where `names` are given.
        """
        alone: list[Schema] = [] if names is None else [{"propertyNames": {"enum": sorted(names)}}]
        sent: Schema = {"allOf": [schema_of(alternative, DECLARED), schema_of(pair.on(sender)), *alone]}
        return self.include(sent, {"allOf": [schema_of(pair.on(opposite(sender)), DECLARED)]}, sender)

    def never(self, pair: Pair, side: Revision, name: str, *, declared: bool = False) -> bool:
        """Whether one side of a pair refuses every object with a member of that name, or, of what is `declared`, never sends one."""
        sent = self._question(pair.on(side), SENT if declared else "")
        objects: Schema = {"allOf": [sent, {"type": "object"}]}
        return self.include(objects, {"not": {"required": [name]}}, side).verdict.value == "yes"

    def _question(self, type_: ir.Type, suffix: str = "") -> Schema:
        """A type as a schema; with a suffix only what is sent or declared of it. The prover knows again what is the same one."""
        if (type_, suffix) not in self._questions:
            kept = [schema_of(type_, suffix)] if suffix else []
            self._questions[type_, suffix] = {"allOf": [schema_of(type_), *kept]}
        return self._questions[type_, suffix]

    def include(self, sent: Schema, known: Schema | bool, sender: Revision, culprit: Culprit | None = None) -> Relation:
        """Whether all that is sent is known: two schemas whose references are those of the sender's bundle and the receiver's."""
        old, new = (sent, known) if sender == "old" else (known, sent)
        return self.between(old, new, sender, culprit)

    def between(
        self, old: Schema | bool, new: Schema | bool, sender: Revision, culprit: Culprit | None = None
    ) -> Relation:
        """The relation of two schemas whose references are those of the bundles. The old revision keeps what was decided: another new
        one that says the same has the same answer.
        """
        question = self._named(old, new, sender, culprit)
        known: dict[str, tuple[Relation, int]] = self._sides[0].answers
        if question in known:
            relation, steps = known[question]
            self._allowance.spend(steps)
            return relation
        left = self._allowance.left
        relation = self._related(old, new, sender, culprit)
        if relation.verdict.value != "undecided":
            known[question] = relation, left - self._allowance.left
        return relation

    def _named(self, old: Schema | bool, new: Schema | bool, sender: Revision, culprit: Culprit | None) -> str:
        """A question as a text: the same one has the same answer."""
        asked: list[tuple[object, int]] = [(old, 0), (new, 1)]
        if culprit is not None:
            own = 0 if sender == "old" else 1
            asked += [(each, own) for each in (*culprit.at, culprit.accepted) if is_object(each)]
            asked.append((culprit.refused, 1 - own))
        said = [
            self._sides[number].digest(name.removesuffix(SENT).removesuffix(DECLARED))
            for schema, number in asked
            for name in references(schema)
        ]
        return repr((old, new, sender, self._formats, self._steps, culprit, said))

    def _related(self, old: Schema | bool, new: Schema | bool, sender: Revision, culprit: Culprit | None) -> Relation:
        comparer = self._opened(old, new)
        relation = (
            comparer.include(old, new, culprit=culprit)
            if sender == "old"
            else comparer.include_back(new, old, culprit=culprit)
        )
        if not self._formats:
            return relation
        reached = (self._reached(schema, side) for schema, side in zip((old, new), self._sides, strict=True))
        return doubt_formats(relation, *map(count_unknown_formats, reached))

    def _reached(self, schema: Schema | bool, side: SchemaRevision) -> list[Schema | bool]:
        """A schema and the definitions of a side that it leads to."""
        schemas = side.stable_schemas
        start = (name.removesuffix(SENT).removesuffix(DECLARED) for name in references(schema))
        names = reachable(start, lambda name: references(schemas.get(name, {})))
        return [schema, *(schemas[name] for name in names if name in schemas)]

    def _opened(self, *schemas: Schema | bool) -> Comparer:
        """What compares schemas. Few of them refer to what is `DECLARED`, which is as much to read as all else."""
        from schema_inclusion import FORMATS, Comparer

        meant = any(name.endswith(DECLARED) for schema in schemas for name in references(schema))
        if meant not in self._comparers:
            documents: list[Any] = [
                {**side.bundle.schema, "$defs": {**side.prover_schemas, **(side.declared_schemas if meant else {})}}
                for side in self._sides
            ]
            asserted = tuple(FORMATS) if self._formats else ()
            self._comparers[meant] = Comparer(
                *documents, steps=self._steps, allowance=self._allowance, formats=asserted
            )
        return self._comparers[meant]
