"""Questions about whole schemas: whether everything valid under one is valid under another, both ways.

"yes" is a proof of inclusion, "no" a witness that `jsonschema` has confirmed on both sides and that exact numbers and
ECMA-262's patterns do not contradict; everything else is "undecided". `format` is an annotation, but for those asked for.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from schema_inclusion.answers import Comparison, Relation, Satisfiability, Verdict, Witness
from schema_inclusion.budget import MOST_SEARCHES, Allowance, Budget, OverBudget
from schema_inclusion.document import (
    Dialect,
    SchemaDocument,
    UnknownDialect,
    dialect_of,
    every_schema,
    opened,
    unplaced,
)
from schema_inclusion.formats import chosen
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula
from schema_inclusion.inclusion import Prover
from schema_inclusion.normal import Normaliser
from schema_inclusion.outcome import Empty, Outcome, Satisfied, Unknown
from schema_inclusion.validation import is_schema, place_of_fault, reference_validator
from schema_inclusion.values import Json, as_json, same
from schema_inclusion.witness import FEWEST_CANDIDATES, MOST_CANDIDATES, Checker, searched, shown, with_fractions

STEPS: Final = 25_000
"""Steps that one question may take, and as many again for every 2,500 schemas in the documents: about a second."""
STEPS_A_SCHEMA: Final = 10
MOST_STEPS: Final = 250_000
"""What a question gets at most for large schemas: so one that cannot be decided leaves enough to the others, and ends in seconds."""
STEPS_OF_SEARCH: Final = 10_000
"""Steps that the search for a witness may take when the proof has failed."""

NOTHING: Final[Json] = {"not": {}}
"""What no value is valid under, in every draft: draft-04 has no `false`."""

SPENT: Final = "Budget: the steps of all questions together are spent."
"""Why a question was not asked to its end."""

EQUAL: Final = Relation(Verdict.YES, "The schemas are equal.")
PROVEN: Final = Relation(Verdict.YES, "Proven: no value is valid under the one schema and not under the other.")


def refuted(witness: Witness) -> Relation:
    """A "no", which only a verified witness gives."""
    assert witness.verified
    return Relation(Verdict.NO, "The witness is valid under the one schema and not under the other.", witness)


def _undecided(reason: str) -> Relation:
    return Relation(Verdict.UNDECIDED, reason)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One schema of a question, in its document."""

    document: SchemaDocument
    schema: Json


class Comparer:
    """Compares many schemas of two documents and remembers what it has proven.

    `steps` bounds the work of one question, `allowance` that of all, and of whoever else takes from it. `dialect` is that of
    documents that name none; without it, their keywords tell. `formats` are asserted; all others are annotations. Raises `UnknownFormat`
    for names that are none of `FORMATS`.
    The documents, and every schema asked about, must not change while the comparer lives. Not for use by two threads.
    """

    def __init__(
        self,
        old: Json,
        new: Json,
        *,
        steps: int = STEPS,
        allowance: Allowance | None = None,
        formats: Collection[str] = (),
        dialect: Dialect | None = None,
    ) -> None:
        self._formats = chosen(formats)
        self._allowance = allowance
        self._granted = 0
        self._fault = ""
        old, new = self._as_json(old, "old"), self._as_json(new, "new")
        schemas = tuple(every_schema(old)), tuple(every_schema(new))
        self._steps = max(steps, min(steps + STEPS_A_SCHEMA * sum(map(len, schemas)), MOST_STEPS))
        self._budget = Budget(0)
        self._normal = Normaliser(Forms(self._budget), formats=self._formats)
        self._prover = Prover(self._normal.forms)
        self._kept: list[Json] = []
        self._too_large: set[int] = set()
        self._old = self._opened(old, "old", dialect, schemas[0])
        self._new = self._opened(new, "new", dialect, schemas[1])
        self._equal_roots = same(old, new)

    def _as_json(self, schema: Json, side: str) -> Json:
        try:
            return as_json(schema)
        except ValueError as fault:
            self._fault = self._fault or f"The {side} schema is not JSON: {fault}."
            return None

    def _opened(
        self, root: Json, side: str, unnamed: Dialect | None, schemas: tuple[dict[str, Json], ...]
    ) -> SchemaDocument | None:
        try:
            dialect = dialect_of(root, unnamed)
        except UnknownDialect as fault:
            self._fault = self._fault or f"The {side} schema is written in a dialect that is not understood: {fault}."
            return None
        if not is_schema(dialect, root):
            where = place_of_fault(dialect, root)
            self._fault = self._fault or f"The {side} schema is not what its meta-schema allows{where}."
            return None
        document = opened(root, dialect, schemas)
        if not all(is_schema(dialect, each) for each in unplaced(document)):
            self._fault = (
                self._fault or f"A reference of the {side} schema leads to what its meta-schema does not allow."
            )
            return None
        return document

    def compare(self, old: Json | None = None, new: Json | None = None) -> Comparison:
        """Both directions of two schemas, whose references are those of the two documents; `None` is the whole document."""
        sides = self._sides(old, new)
        if isinstance(sides, str):
            return Comparison(_undecided(sides), _undecided(sides), same=False)
        ours, theirs = sides
        if self._plainly_equal(ours, theirs):
            return Comparison(EQUAL, EQUAL, same=True)
        backward, forward = self._include(ours, theirs), self._include(theirs, ours)
        return Comparison(backward, forward, same=self._equal_forms(ours, theirs))

    def include(self, old: Json | None = None, new: Json | None = None) -> Relation:
        """Whether everything valid under the old schema is valid under the new one."""
        sides = self._sides(old, new)
        if isinstance(sides, str):
            return _undecided(sides)
        return EQUAL if self._plainly_equal(*sides) else self._include(*sides)

    def include_back(self, new: Json | None = None, old: Json | None = None) -> Relation:
        """Whether everything valid under the new schema is valid under the old one."""
        sides = self._sides(old, new)
        if isinstance(sides, str):
            return _undecided(sides)
        return EQUAL if self._plainly_equal(*sides) else self._include(sides[1], sides[0])

    def _sides(self, old: Json | None, new: Json | None) -> tuple[_Side, _Side] | str:
        if self._old is None or self._new is None:
            return self._fault
        try:
            pair = (
                _Side(self._old, self._old.root if old is None else as_json(old)),
                _Side(self._new, self._new.root if new is None else as_json(new)),
            )
        except ValueError as fault:
            return f"A schema is not JSON: {fault}."
        for side, name in zip(pair, ("old", "new"), strict=True):
            if side.schema is not side.document.root:
                self._kept.append(side.schema)
                if not is_schema(side.document.dialect, side.schema):
                    return f"The {name} schema is not what its meta-schema allows."
        return pair

    def _plainly_equal(self, ours: _Side, theirs: _Side) -> bool:
        return (
            self._equal_roots and ours.document.dialect is theirs.document.dialect and same(ours.schema, theirs.schema)
        )

    def _renew(self, steps: int, *, searches: int = MOST_SEARCHES) -> None:
        """Starts a part of a question with so many steps, or with what the allowance has left."""
        self._settle()
        self._granted = steps if self._allowance is None else min(steps, self._allowance.left)
        self._budget.renew(self._granted, searches=searches)

    def _settle(self) -> None:
        """Takes from the allowance what was used since the steps were renewed."""
        if self._allowance is not None:
            self._allowance.spend(self._granted - max(self._budget.left, 0) + self._budget.beside)
            self._budget.beside = 0
        self._granted = max(self._budget.left, 0)

    def _equal_forms(self, ours: _Side, theirs: _Side) -> bool:
        self._renew(self._steps)
        try:
            return self._form(ours) is self._form(theirs)
        except (OverBudget, RecursionError):
            self._reset()
            return False

    def _form(self, side: _Side) -> Formula:
        """The formula of a schema. Raises `OverBudget`, and again at once for the same question."""
        if id(side.schema) in self._too_large:
            raise OverBudget
        try:
            return self._normal.whole(side.schema, side.document.scope)
        except OverBudget:
            self._too_large.add(id(side.schema))
            raise

    def _reset(self) -> None:
        self._normal.reset()
        self._prover.reset()

    def _decided(self, ours: _Side, theirs: _Side) -> Outcome:
        """What the prover finds of values that are valid here and not there."""
        self._renew(self._steps)
        self._too_large.clear()
        forms = self._normal.forms
        try:
            return self._prover.decide(forms.all_of(self._form(ours), forms.negate(self._form(theirs))))
        except OverBudget:
            self._reset()
            return Unknown("the comparison went over its budget of steps")
        except RecursionError:
            self._reset()
            return Unknown("the schemas are nested too deeply")

    def _include(self, ours: _Side, theirs: _Side) -> Relation:
        found = _undecided(SPENT) if self._is_spent else self._answered(ours, theirs)
        self._settle()
        return _undecided(SPENT) if found.verdict is Verdict.UNDECIDED and self._is_spent else found

    @property
    def _is_spent(self) -> bool:
        return self._allowance is not None and self._allowance.is_spent

    def _answered(self, ours: _Side, theirs: _Side) -> Relation:
        outcome = self._decided(ours, theirs)
        if isinstance(outcome, Empty):
            return PROVEN
        self._renew(STEPS_OF_SEARCH, searches=0)
        accepts, refuses = self._checker(ours), self._checker(theirs)
        witness = shown(outcome, accepts, refuses)
        if witness is not None:
            return refuted(witness)
        witness = self._spelled(ours, theirs, accepts, refuses)
        if witness is not None:
            return refuted(witness)
        self._renew(STEPS_OF_SEARCH, searches=0)
        witness = searched(self._prover, accepts, refuses, FEWEST_CANDIDATES if self._too_large else MOST_CANDIDATES)
        if witness is not None:
            return refuted(witness)
        if isinstance(outcome, Satisfied):
            return _undecided(
                "A value was found that should tell the schemas apart, and the validator did not confirm it."
            )
        return _undecided(f"No proof and no witness: {outcome.reason}.")

    def _spelled(self, ours: _Side, theirs: _Side, accepts: Checker, refuses: Checker) -> Witness | None:
        """A witness in which every integer is written with a fraction, or none is: to draft-04 that makes a difference."""
        if not self._normal.asks_for_spelling:
            return None
        for has_fractions in (True, False):
            forms = Forms(self._budget)
            reader, prover = Normaliser(forms, formats=self._formats), Prover(forms)
            reader.written_as_integer = forms.bottom if has_fractions else forms.top
            self._renew(self._steps)
            try:
                formulas = [reader.whole(side.schema, side.document.scope) for side in (ours, theirs)]
                outcome = prover.decide(forms.all_of(formulas[0], forms.negate(formulas[1])))
            except (OverBudget, RecursionError):
                continue
            if isinstance(outcome, Satisfied):
                self._renew(STEPS_OF_SEARCH, searches=0)
                found = with_fractions(outcome.value) if has_fractions else outcome.value
                witness = shown(Satisfied(found), accepts, refuses)
                if witness is not None:
                    return witness
        return None

    def _checker(self, side: _Side) -> Checker:
        formula = self._form_or_doubt(side)
        return Checker(
            reference_validator(
                side.document, side.schema, apart=self._normal.tangled, allowance=self._allowance, formats=self._formats
            ),
            self._normal.forms,
            formula,
        )

    def _form_or_doubt(self, side: _Side) -> Formula:
        try:
            return self._form(side)
        except (OverBudget, RecursionError):
            self._reset()
            return self._normal.forms.opaque("the schema is too large")


def compare(
    old: Json,
    new: Json,
    *,
    steps: int = STEPS,
    allowance: Allowance | None = None,
    formats: Collection[str] = (),
    dialect: Dialect | None = None,
) -> Comparison:
    """Both directions of two whole schema documents. The options are those of `Comparer`."""
    return Comparer(old, new, steps=steps, allowance=allowance, formats=formats, dialect=dialect).compare()


def include(
    old: Json,
    new: Json,
    *,
    steps: int = STEPS,
    allowance: Allowance | None = None,
    formats: Collection[str] = (),
    dialect: Dialect | None = None,
) -> Relation:
    """Whether everything valid under the old schema document is valid under the new one. The options are those of `Comparer`."""
    return Comparer(old, new, steps=steps, allowance=allowance, formats=formats, dialect=dialect).include()


def is_satisfiable(
    schema: Json,
    *,
    steps: int = STEPS,
    allowance: Allowance | None = None,
    formats: Collection[str] = (),
    dialect: Dialect | None = None,
) -> Satisfiability:
    """Whether any value is valid under a schema document: it is not if that under which nothing is valid includes it."""
    relation = include(schema, NOTHING, steps=steps, allowance=allowance, formats=formats, dialect=dialect)
    match relation.verdict:
        case Verdict.YES:
            return Satisfiability(Verdict.NO, "Proven: no value is valid under the schema.")
        case Verdict.NO:
            return Satisfiability(Verdict.YES, "The instance is valid under the schema.", relation.witness)
        case Verdict.UNDECIDED:
            return Satisfiability(Verdict.UNDECIDED, relation.reason.replace("The old schema", "The schema"))
