"""Find a value that satisfies a formula, or prove that there is none.

One schema includes another exactly if no value satisfies the second and the negation of the first. Alternatives are split; members and
items are decided separately. A question that recurs inside itself is answered "nothing" there: values are finite, so a smallest one does
not contain another of its own kind. Such answers are provisional until the outer question has been answered the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from schema_inclusion import arrays, objects, scalars
from schema_inclusion.constraints import Constraints
from schema_inclusion.evaluation import holds
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Either, Formula, Kind, Ref, Switch
from schema_inclusion.results import EMPTY, Empty, Result, Satisfied, Unknown, combine_doubts
from schema_inclusion.values import Json

DEEPEST_VALUE: Final = 60
MOST_UNFOLDED: Final = 200
LARGEST_VALUE: Final = 10_000
"""The maximum number of values inside a value that is returned: `{"a": V, "b": V}` doubles at each level."""

_SINGLE_KINDS: Final = (*(Kind.NULL, Kind.FALSE, Kind.TRUE, Kind.STRING, Kind.NUMBER, Kind.ARRAY, Kind.OBJECT),)


def _rank_clause(clause: Either | Switch) -> tuple[float, int]:
    """The rank of a clause among those to be split, lowest first: one of which each branch says much soon decides the others."""
    if isinstance(clause, Switch):
        return -math.inf, 0
    return -min(_count_conjuncts(part) for part in clause.parts), len(clause.parts)


def _count_conjuncts(formula: Formula) -> float:
    """How much a formula says: a reference, which may lead to anything, more than all others."""
    return math.inf if isinstance(formula, Ref) and formula.holds else len(objects.split_conjunction(formula))


@dataclass(slots=True)
class _Question:
    """A formula that is being decided: its depth in the value, and the outermost question on which its answer depends."""

    position: int
    level: int
    leans_on: int


@dataclass(slots=True)
class Prover:
    """Decides formulas of one factory and caches the answers."""

    forms: Forms
    _answers: dict[Formula, Result] = field(default_factory=dict[Formula, Result])
    _provisional: dict[Formula, tuple[Result, int]] = field(default_factory=dict[Formula, "tuple[Result, int]"])
    _asked: dict[Formula, _Question] = field(default_factory=dict[Formula, _Question])
    _stack: list[_Question] = field(default_factory=list[_Question])
    _level: int = 0
    _sizes: dict[int, tuple[int, Json]] = field(default_factory=dict[int, "tuple[int, Json]"])

    def decide(self, formula: Formula) -> Result:
        """Find a value that satisfies the formula, or prove that there is none, or return the reason why neither was possible."""
        if formula is self.forms.bottom:
            return EMPTY
        answer = self._answers.get(formula)
        if answer is not None:
            return answer
        lent = self._provisional.get(formula)
        if lent is not None:
            self._lean(lent[1])
            return lent[0]
        again = self._asked.get(formula)
        if again is not None:
            return self._answer_repeated(again)
        if self._level > DEEPEST_VALUE:
            return Unknown("values are nested too deeply")
        return self._ask(formula)

    def reset(self) -> None:
        """Discard the questions left open by an interruption."""
        self._stack.clear()
        self._asked.clear()
        self._provisional.clear()
        self._level = 0

    def decide_inside(self, formula: Formula) -> Result:
        """Like `decide`, for a value inside the current one."""
        self._level += 1
        outcome = self.decide(formula)
        self._level -= 1
        return outcome

    def _answer_repeated(self, question: _Question) -> Result:
        if question.level == self._level:
            return Unknown("a reference leads back to itself without a step into the value")
        self._lean(question.position)
        return EMPTY

    def _lean(self, position: int) -> None:
        if self._stack:
            self._stack[-1].leans_on = min(self._stack[-1].leans_on, position)

    def _ask(self, formula: Formula) -> Result:
        self.forms.budget.spend()
        position = len(self._stack)
        question = _Question(position, self._level, position)
        self._stack.append(question)
        self._asked[formula] = question
        lent_before = len(self._provisional)
        outcome = self._split_kinds(formula)
        if isinstance(outcome, Satisfied) and self._measure(outcome.value) > LARGEST_VALUE:
            outcome = Unknown("a value would have to be too large to write down")
        self._stack.pop()
        del self._asked[formula]
        self._remember(formula, outcome, question, lent_before)
        return outcome

    def _measure(self, value: Json) -> int:
        """The number of values in a value, itself included. Cached by identity, as values share parts."""
        if not isinstance(value, (dict, list)):
            return 1
        entry = self._sizes.get(id(value))
        if entry is None:
            inner = value.values() if isinstance(value, dict) else value
            entry = (1 + sum(map(self._measure, inner)), value)
            self._sizes[id(value)] = entry
        return entry[0]

    def _remember(self, formula: Formula, outcome: Result, question: _Question, lent_before: int) -> None:
        is_final = question.leans_on >= question.position
        if isinstance(outcome, Satisfied):
            self._answers[formula] = outcome
        later_formulas = list(self._provisional)[lent_before:]
        if not isinstance(outcome, Empty):
            # What leaned on "nothing" here leaned on a mistake; it may have leaned on outer questions as well.
            for later_formula in later_formulas:
                del self._provisional[later_formula]
        elif is_final:
            for later_formula in later_formulas:
                self._answers[later_formula] = self._provisional.pop(later_formula)[0]
        if isinstance(outcome, Satisfied):
            return
        if is_final:
            self._answers[formula] = outcome
        else:
            if isinstance(outcome, Empty):
                self._provisional[formula] = (outcome, question.leans_on)
            self._lean(question.leans_on)

    def _split_kinds(self, formula: Formula) -> Result:
        unfolded = self._unfold(formula)
        if isinstance(unfolded, Unknown):
            return unfolded
        kinds = self.forms.constraints(unfolded).kinds if unfolded is not self.forms.bottom else Kind.NONE
        doubt: Empty | Unknown = EMPTY
        for kind in _SINGLE_KINDS:
            if kinds & kind:
                outcome = self._split(self.forms.all_of(unfolded, self.forms.types(kind)))
                if isinstance(outcome, Satisfied):
                    return outcome
                doubt = combine_doubts(doubt, outcome)
        return doubt

    def _unfold(self, formula: Formula) -> Formula | Unknown:
        """Replace the references that apply to the value itself by their targets."""
        for _ in range(MOST_UNFOLDED):
            if formula is self.forms.bottom:
                return formula
            constraints = self.forms.constraints(formula)
            if not constraints.refs:
                return formula
            self.forms.budget.spend()
            targets = [(ref, self.forms.unfold(ref.place)) for ref in constraints.refs]
            formula = self.forms.all_of(
                self._drop(formula, *constraints.refs),
                *(target if ref.holds else self.forms.negate(target) for ref, target in targets),
            )
        return Unknown("references lead on and on")

    def _drop(self, formula: Formula, *unwanted: Formula) -> Formula:
        return self.forms.all_of(*(part for part in objects.split_conjunction(formula) if part not in unwanted))

    # Alternatives.

    def _split(self, formula: Formula) -> Result:
        """Decide a formula on one kind of value by splitting its alternatives."""
        if formula is self.forms.bottom:
            return EMPTY
        constraints = self.forms.constraints(formula)
        if constraints.refs:
            return self.decide(formula)
        if not constraints.clauses:
            return self._find_leaf(formula, constraints)
        base = self.decide(self._drop(formula, *constraints.clauses))
        if isinstance(base, Empty):
            return EMPTY
        hit = self._reuse(formula, base)
        if hit is not None:
            return hit
        narrower = self._narrow(formula, constraints) if len(constraints.clauses) > 1 else formula
        if narrower is not formula:
            return self.decide(narrower)
        clause = min(constraints.clauses, key=_rank_clause)
        remainder = self._drop(formula, clause)
        doubt: Empty | Unknown = EMPTY
        for branch in self._list_branches(clause):
            outcome = self.decide(self.forms.all_of(remainder, *branch))
            if isinstance(outcome, Satisfied):
                return outcome
            doubt = combine_doubts(doubt, outcome)
        return doubt

    def _narrow(self, formula: Formula, constraints: Constraints) -> Formula:
        """The formula without disjunctions that a shorter one implies, and without alternatives that contradict what is certain.

        Alternatives that contain others themselves are not examined.
        """
        forms, certain = self.forms, self._drop(formula, *constraints.clauses)
        disjunctions = sorted(
            (clause for clause in constraints.clauses if isinstance(clause, Either)),
            key=lambda clause: len(clause.parts),
        )
        changes: dict[Formula, Formula] = {}
        shorter: dict[Formula, list[frozenset[Formula]]] = {}
        for _, group in groupby(disjunctions, key=lambda clause: len(clause.parts)):
            remaining: list[tuple[Formula, ...]] = []
            for clause in group:
                parts = clause.parts
                candidates = [known for part in parts for known in shorter.get(part, ())]
                forms.budget.weigh(len(parts) + len(candidates))
                if any(known.issubset(parts) for known in candidates):
                    changes[clause] = forms.top
                    continue
                if not any(inner.clauses or inner.refs for inner in map(forms.constraints, parts)):
                    parts = tuple(
                        part for part in parts if not isinstance(self.decide(forms.all_of(certain, part)), Empty)
                    )
                    if not parts:
                        return forms.bottom
                    if len(parts) < len(clause.parts):
                        changes[clause] = forms.any_of(*parts)
                remaining.append(parts)
            for parts in remaining:
                shorter.setdefault(parts[0], []).append(frozenset(parts))
        return forms.all_of(self._drop(formula, *changes), *changes.values()) if changes else formula

    def _reuse(self, formula: Formula, outcome: Satisfied | Unknown) -> Satisfied | None:
        """The value found or guessed for a weaker formula, if it satisfies this one too."""
        values = (outcome.value,) if isinstance(outcome, Satisfied) else outcome.guess
        return next((Satisfied(value) for value in values if holds(self.forms, formula, value)), None)

    def _list_branches(self, clause: Either | Switch) -> Iterator[tuple[Formula, ...]]:
        forms = self.forms
        if isinstance(clause, Either):
            yield from ((part,) for part in clause.parts)
            return
        for constant, case in clause.cases.items():
            tag_member = forms.member(clause.tag, forms.one_of([constant]))
            yield forms.all_of(forms.types(Kind.OBJECT), forms.has(clause.tag), tag_member), case
        yield forms.member(clause.tag, forms.negate(forms.one_of(clause.cases))), clause.otherwise

    # Leaves.

    def _find_leaf(self, formula: Formula, constraints: Constraints) -> Result:
        outcome = self._find_bare_leaf(formula, constraints)
        if constraints.opaque and isinstance(outcome, Satisfied):
            return Unknown(next(iter(constraints.opaque)).reason, (outcome.value,))
        return outcome

    def _find_bare_leaf(self, formula: Formula, constraints: Constraints) -> Result:
        kinds = constraints.kinds
        if kinds & Kind.STRING:
            return scalars.find_string(constraints, self.forms.budget)
        if kinds & Kind.NUMBER:
            return scalars.find_number(constraints)
        if kinds & Kind.ARRAY:
            return arrays.find_array(self, formula, constraints)
        if kinds & Kind.OBJECT:
            return objects.find_object(self, formula, constraints)
        return Satisfied(None if kinds & Kind.NULL else bool(kinds & Kind.TRUE))
