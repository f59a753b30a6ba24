"""Compare whole schemas in both directions.

"yes" is a proof of inclusion. "no" is a witness that `jsonschema` has confirmed on both sides and that exact numbers and the patterns of
ECMA-262 do not contradict. Everything else is "undecided". `format` is an annotation, except for the requested formats.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Final, TypedDict, Unpack

from msgspec import Struct

from schema_inclusion.answers import Comparison, Relation, Satisfiability, Verdict, Witness
from schema_inclusion.budget import Allowance, Budget, OverBudget
from schema_inclusion.culprits import Culprit, Part, require_at
from schema_inclusion.document import (
    Dialect,
    SchemaDocument,
    UnknownDialect,
    find_dialect,
    find_unplaced,
    list_references,
    list_schemas,
    open_document,
)
from schema_inclusion.equivalence import Equivalents, find_equivalents, find_written_alike
from schema_inclusion.factory import FormulaFactory
from schema_inclusion.formats import require_known
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula
from schema_inclusion.inclusion import Prover
from schema_inclusion.normal import Normaliser
from schema_inclusion.results import Empty, Result, Satisfied, Unknown
from schema_inclusion.validation import DocumentValidator, ReferenceValidator, is_schema, locate_fault
from schema_inclusion.values import Json, as_json, is_equal
from schema_inclusion.witness import Checker, find_witness, write_fractions

STEPS: Final = 25_000
"""The default number of steps of one question; another 25,000 are added for every 2,500 schemas in the documents. About a second."""
STEPS_A_SCHEMA: Final = 10
MOST_STEPS: Final = 250_000
"""The maximum number of steps of a question about large schemas: an undecidable one ends in seconds and leaves steps to others."""
STEPS_OF_CHECK: Final = 10_000
"""The number of steps for checking the values that the proof has found or guessed."""

MOST_JOINED: Final = 400
"""The maximum number of pairs of `allOf` parts that are compared for equality before any proof."""

NOTHING: Final[Json] = {"not": {}}
"""The schema under which no value is valid, in every draft: draft-04 has no `false`."""

SPENT: Final = "Budget: the steps of all questions together are spent."
"""The reason of an answer when the shared allowance is spent."""

EQUAL: Final = Relation(Verdict.YES, "The schemas are equal.")
JOINED: Final = Relation(Verdict.YES, "The one schema joins the other with more.")
PROVEN: Final = Relation(Verdict.YES, "Proven: no value is valid under the one schema and not under the other.")


def refute(witness: Witness) -> Relation:
    """A "no", which requires a verified witness."""
    assert witness.verified
    return Relation(Verdict.NO, "The witness is valid under the one schema and not under the other.", witness)


def _list_conjuncts(schema: Json) -> list[Json]:
    """The flattened `allOf` of a schema; the schema alone if it has other keywords."""
    pending, conjuncts = [schema], list[Json]()
    for conjunct in pending:  # which grows
        inner = conjunct["allOf"] if isinstance(conjunct, dict) and conjunct.keys() == {"allOf"} else None
        if isinstance(inner, list):
            pending += inner
        else:
            conjuncts.append(conjunct)
    return conjuncts


def _read(reader: Normaliser, side: _Side) -> Formula:
    return reader.read_whole(side.schema, side.document.scope)


def _leave_open(reason: str) -> Relation:
    return Relation(Verdict.UNDECIDED, reason)


class _Unusable(ValueError):
    """A question that cannot be asked; the message says why."""


class _Side(Struct, frozen=True, eq=False):
    """One schema of a question, in its document."""

    document: SchemaDocument
    schema: Json


class _Question(Struct, frozen=True, eq=False):
    """Whether `superset` accepts every value that `subset` accepts and that contains, at the path `at`, a value that `refused` refuses."""

    subset: _Side
    superset: _Side
    at: tuple[str | int | Part | _Side, ...] = ()
    refused: _Side | None = None

    def read(self, forms: Forms, read: Callable[[_Side], Formula], *, universal: bool) -> tuple[Formula, Formula]:
        """The formula of the values in question and that of the other schema; `universal` is passed to `require_at`."""
        inner = forms.top if self.refused is None else forms.negate(read(self.refused))
        return forms.all_of(read(self.subset), require_at(forms, self.at, inner, read, universal=universal)), read(
            self.superset
        )


class Comparer:
    """Compares many schemas of two documents and caches what it has proven.

    `steps` bounds the work of one question, `allowance` that of all questions and of everything else that shares it. `dialect` is that
    of documents without `$schema`; by default, their keywords determine it. `formats` are asserted; all others are annotations. Raises
    `UnknownFormat` for names that are not in `FORMATS`.

    The documents, and every schema asked about, must not change during the lifetime of the comparer. Not thread-safe.
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
        self._formats = require_known(formats)
        self._allowance = allowance
        self._granted = 0
        self._fault = ""
        old, new = self._as_json(old, "old"), self._as_json(new, "new")
        schemas = tuple(list_schemas(old)), tuple(list_schemas(new))
        self._steps = max(steps, min(steps + STEPS_A_SCHEMA * sum(map(len, schemas)), MOST_STEPS))
        self._budget = Budget(0)
        self._kept: list[Json] = []
        self._too_large: set[int] = set()
        self._old = self._open(old, "old", dialect, schemas[0])
        self._new = self._open(new, "new", dialect, schemas[1])
        self._validators = [
            DocumentValidator(document, self._allowance, self._formats)
            for document in (self._old, self._new)
            if document is not None
        ]
        self._equal_roots = is_equal(old, new)
        self._is_merged = False
        equivalents = Equivalents({}, ())
        if self._old is not None and self._new is not None and not self._equal_roots:
            equivalents = find_written_alike(self._old, self._new)
        self._read_instead(equivalents)

    def _read_instead(self, equivalents: Equivalents) -> None:
        """Start with a new normaliser, which reads equal schemas as one."""
        self._shared = equivalents.shared
        self._normal = Normaliser(FormulaFactory(self._budget), formats=self._formats, twins=equivalents.twins)
        self._prover = Prover(self._normal.forms)

    def _merge(self) -> bool:
        """Read equal schemas as one from now on, however they are written; `False` if that is so already."""
        if self._old is None or self._new is None or self._is_merged:
            return False
        self._is_merged = True
        self._read_instead(find_equivalents(self._old, self._new))
        return True

    def _as_json(self, schema: Json, side: str) -> Json:
        try:
            return as_json(schema)
        except ValueError as fault:
            self._fault = self._fault or f"The {side} schema is not JSON: {fault}."
            return None

    def _open(
        self, root: Json, side: str, unnamed: Dialect | None, schemas: tuple[dict[str, Json], ...]
    ) -> SchemaDocument | None:
        try:
            dialect = find_dialect(root, unnamed)
        except UnknownDialect as fault:
            self._fault = self._fault or f"The {side} schema is written in a dialect that is not understood: {fault}."
            return None
        if not is_schema(dialect, root):
            where = locate_fault(dialect, root)
            self._fault = self._fault or f"The {side} schema is not what its meta-schema allows{where}."
            return None
        document = open_document(root, dialect, schemas)
        if not all(is_schema(dialect, target) for target in find_unplaced(document)):
            self._fault = (
                self._fault or f"A reference of the {side} schema leads to what its meta-schema does not allow."
            )
            return None
        return document

    def compare(self, old: Json | None = None, new: Json | None = None) -> Comparison:
        """Compare two schemas in both directions. Their references are resolved in the two documents; `None` is the whole document."""
        try:
            old_side, new_side = self._make_sides(old, new)
        except _Unusable as fault:
            return Comparison(_leave_open(str(fault)), _leave_open(str(fault)), same=False)
        backward, forward = self._include(_Question(old_side, new_side)), self._include(_Question(new_side, old_side))
        return Comparison(
            backward, forward, same=backward is forward is EQUAL or self._has_equal_forms(old_side, new_side)
        )

    def include(self, old: Json | None = None, new: Json | None = None, *, culprit: Culprit | None = None) -> Relation:
        """Whether everything valid under the old schema is valid under the new one; with a culprit, only for values that contain it."""
        return self._relate(old, new, culprit)

    def include_back(
        self, new: Json | None = None, old: Json | None = None, *, culprit: Culprit | None = None
    ) -> Relation:
        """Whether everything valid under the new schema is valid under the old one; with a culprit, only for values that contain it."""
        return self._relate(old, new, culprit, back=True)

    def are_equal(self, old: Json, new: Json) -> bool:
        """Whether two schemas differ at most in names, in references, and in the order of keywords and branches."""
        try:
            sides = self._make_sides(old, new)
        except _Unusable:
            return False
        self._merge()
        return self._compare_at_sight(*sides) is EQUAL

    def find_form(self, schema: Json, *, is_new: bool = False) -> Formula | None:
        """The normal form of a schema of the old document, or with `is_new` of the new one; `None` if there is none within the budget.

        Schemas with the same form accept the same values.
        """
        try:
            side = self._make_sides(None, schema)[1] if is_new else self._make_sides(schema, None)[0]
        except _Unusable:
            return None
        self._merge()
        self._renew(self._steps)
        try:
            return self._read_form(side)
        except (OverBudget, RecursionError):
            self._reset()
            return None
        finally:
            self._charge_allowance()

    def _relate(self, old: Json | None, new: Json | None, culprit: Culprit | None, *, back: bool = False) -> Relation:
        try:
            subset, superset = self._make_sides(old, new)[:: -1 if back else 1]
            if culprit is None:
                return self._include(_Question(subset, superset))
            steps = (
                self._make_side(subset.document, step, "culprit's") if isinstance(step, dict) else step
                for step in culprit.at
            )
            accepted_side = self._make_side(subset.document, culprit.accepted, "culprit's")
            refused_side = self._make_side(superset.document, culprit.refused, "culprit's")
            return self._include(_Question(subset, superset, (*steps, accepted_side), refused_side))
        except _Unusable as fault:
            return _leave_open(str(fault))

    def _make_sides(self, old: Json | None, new: Json | None) -> tuple[_Side, _Side]:
        if self._old is None or self._new is None:
            raise _Unusable(self._fault)
        return self._make_side(self._old, old, "old"), self._make_side(self._new, new, "new")

    def _make_side(self, document: SchemaDocument, schema: Json | None, name: str) -> _Side:
        if schema is None or schema is document.root:
            return _Side(document, document.root)
        try:
            side = _Side(document, as_json(schema))
        except ValueError as fault:
            raise _Unusable(f"A schema is not JSON: {fault}.") from None
        self._kept.append(side.schema)
        if not is_schema(document.dialect, side.schema):
            raise _Unusable(f"The {name} schema is not what its meta-schema allows.")
        return side

    def _compare_at_sight(self, subset: _Side, superset: _Side) -> Relation | None:
        """A "yes" if the schemas are equal, or `subset` has all `allOf` parts of `superset`, with the same meaning; `None` otherwise."""
        if subset.document.dialect is not superset.document.dialect:
            return None
        conjuncts, parts = _list_conjuncts(subset.schema), _list_conjuncts(superset.schema)
        if len(conjuncts) * len(parts) > MOST_JOINED or not all(
            any(is_equal(conjunct, part) for conjunct in conjuncts) for part in parts
        ):
            return None
        if not self._equal_roots and any(
            reference not in self._shared for part in parts for reference in list_references(part)
        ):
            return None
        return EQUAL if len(conjuncts) == len(parts) else JOINED

    def _renew(self, steps: int) -> None:
        """Start a part of a question with `steps`, or with what is left of the allowance."""
        self._charge_allowance()
        self._granted = steps if self._allowance is None else min(steps, self._allowance.left)
        self._budget.renew(self._granted)

    def _charge_allowance(self) -> None:
        """Charge the allowance for the steps since the last `_renew`."""
        if self._allowance is not None:
            self._allowance.spend(self._granted - max(self._budget.left, 0) + self._budget.search_steps)
            self._budget.search_steps = 0
        self._granted = max(self._budget.left, 0)

    def _has_equal_forms(self, left: _Side, right: _Side) -> bool:
        self._renew(self._steps)
        try:
            return self._read_form(left) is self._read_form(right)
        except (OverBudget, RecursionError):
            self._reset()
            return False

    def _read_form(self, side: _Side) -> Formula:
        """The formula of a schema. Raises `OverBudget`, and immediately when the same question reads it again."""
        if id(side.schema) in self._too_large:
            raise OverBudget
        try:
            return _read(self._normal, side)
        except OverBudget:
            self._too_large.add(id(side.schema))
            raise

    def _reset(self) -> None:
        self._normal.reset()
        self._prover.reset()

    def _decide(self, question: _Question) -> Result:
        """Search for a value that is valid under the subset and not under the superset."""
        self._renew(self._steps)
        self._too_large.clear()
        forms = self._normal.forms
        try:
            subset, superset = question.read(forms, self._read_form, universal=True)
            if any(isinstance(step, Part) for step in question.at) and isinstance(self._prover.decide(subset), Empty):
                subset, superset = question.read(forms, self._read_form, universal=False)
            return self._prover.decide(forms.all_of(subset, forms.negate(superset)))
        except OverBudget:
            self._reset()
            return Unknown("the comparison went over its budget of steps")
        except RecursionError:
            self._reset()
            return Unknown("the schemas are nested too deeply")

    def _include(self, question: _Question) -> Relation:
        at_sight = self._compare_at_sight(question.subset, question.superset)
        if at_sight is not None:
            return at_sight
        relation = _leave_open(SPENT) if self._is_spent else self._answer(question)
        if relation.verdict is Verdict.UNDECIDED and not self._is_spent and self._merge():
            relation = self._compare_at_sight(question.subset, question.superset) or self._answer(question)
        self._charge_allowance()
        return _leave_open(SPENT) if relation.verdict is Verdict.UNDECIDED and self._is_spent else relation

    @property
    def _is_spent(self) -> bool:
        return self._allowance is not None and self._allowance.is_spent

    def _answer(self, question: _Question) -> Relation:
        outcome = self._decide(question)
        if isinstance(outcome, Empty):
            return PROVEN
        self._renew(STEPS_OF_CHECK)
        accepts, refuses = self._make_checkers(question)
        witness = find_witness(outcome, accepts, refuses)
        if witness is not None:
            return refute(witness)
        witness = self._try_spellings(question, accepts, refuses)
        if witness is not None:
            return refute(witness)
        if isinstance(outcome, Satisfied):
            return _leave_open(
                "A value was found that should tell the schemas apart, and the validator did not confirm it."
            )
        return _leave_open(f"No proof and no witness: {outcome.reason}.")

    def _try_spellings(self, question: _Question, accepts: Checker, refuses: Checker) -> Witness | None:
        """Find a witness in which every integer is written with a fraction, or none is: draft-04 distinguishes the two."""
        if not self._normal.asks_for_spelling:
            return None
        for has_fractions in (True, False):
            forms = FormulaFactory(self._budget)
            reader, prover = Normaliser(forms, formats=self._formats), Prover(forms)
            reader.written_as_integer = forms.bottom if has_fractions else forms.top
            self._renew(self._steps)
            try:
                subset, superset = question.read(forms, partial(_read, reader), universal=True)
                outcome = prover.decide(forms.all_of(subset, forms.negate(superset)))
            except (OverBudget, RecursionError):
                continue
            if isinstance(outcome, Satisfied):
                self._renew(STEPS_OF_CHECK)
                value = write_fractions(outcome.value) if has_fractions else outcome.value
                witness = find_witness(Satisfied(value), accepts, refuses)
                if witness is not None:
                    return witness
        return None

    def _make_checkers(self, question: _Question) -> tuple[Checker, Checker]:
        forms = self._normal.forms
        try:
            subset, superset = question.read(forms, self._read_form_or_doubt, universal=False)
        except (OverBudget, RecursionError):
            self._reset()
            subset = superset = forms.opaque("the question is too large")
        steps = [self._make_validator(step) if isinstance(step, _Side) else step for step in question.at]
        refused_validator = None if question.refused is None else self._make_validator(question.refused)
        return Checker(self._make_validator(question.subset), forms, subset, (*steps,), refused_validator), Checker(
            self._make_validator(question.superset), forms, superset
        )

    def _make_validator(self, side: _Side) -> ReferenceValidator:
        return self._validators[side.document is self._new].of(side.schema)

    def _read_form_or_doubt(self, side: _Side) -> Formula:
        try:
            return self._read_form(side)
        except (OverBudget, RecursionError):
            self._reset()
            return self._normal.forms.opaque("the schema is too large")


class Options(TypedDict, total=False):
    """The options of a `Comparer` besides its documents."""

    steps: int
    allowance: Allowance | None
    formats: Collection[str]
    dialect: Dialect | None


def compare(old: Json, new: Json, **options: Unpack[Options]) -> Comparison:
    """Compare two whole schema documents in both directions. The options are those of `Comparer`."""
    return Comparer(old, new, **options).compare()


def include(old: Json, new: Json, **options: Unpack[Options]) -> Relation:
    """Whether everything valid under the old schema document is valid under the new one. The options are those of `Comparer`."""
    return Comparer(old, new, **options).include()


def is_satisfiable(schema: Json, **options: Unpack[Options]) -> Satisfiability:
    """Whether any value is valid under a schema document: it is unsatisfiable if the schema that accepts nothing includes it."""
    relation = include(schema, NOTHING, **options)
    match relation.verdict:
        case Verdict.YES:
            return Satisfiability(Verdict.NO, "Proven: no value is valid under the schema.")
        case Verdict.NO:
            return Satisfiability(Verdict.YES, "The instance is valid under the schema.", relation.witness)
        case Verdict.UNDECIDED:
            return Satisfiability(Verdict.UNDECIDED, relation.reason.replace("The old schema", "The schema"))
