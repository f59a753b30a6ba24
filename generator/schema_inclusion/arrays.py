"""Find an array that satisfies a conjunction without alternatives.

From some index on, all items have the same constraints, and items there that no constraint requires can be removed from a satisfying
array. So only arrays long enough for the mentioned and required items are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Final

from schema_inclusion.conjunction import join_item
from schema_inclusion.constraints import Constraints
from schema_inclusion.formula import Formula, Kind
from schema_inclusion.objects import Decider, split_conjunction
from schema_inclusion.results import EMPTY, Empty, Result, Satisfied, Unknown, collect, combine_doubts
from schema_inclusion.values import Json, is_equal

LONGEST: Final = 2_000
MOST_DISTINCT: Final = 600
MOST_MATCHED: Final = 60
"""The number of different items up to which the values of each are listed and matched, where taking any other value does not succeed."""
MOST_COUNTS: Final = 4
MOST_COUNTED: Final = 64


def find_array(prover: Decider, formula: Formula, constraints: Constraints) -> Result:
    """Find an array that satisfies the constraints."""
    shorter = _find_limit(prover, constraints)
    if shorter is not None:
        return prover.decide(prover.forms.all_of(formula, prover.forms.size(Kind.ARRAY, 0, shorter)))
    counts = [key for key, limits in constraints.counts.items() if limits != (0, None)]
    if counts:
        return _find_counted(prover, formula, constraints)
    least, _ = constraints.sizes[Kind.ARRAY]
    if least > LONGEST:
        return _find_long(prover, constraints)
    if constraints.unique is False:
        return _find_with_repeat(prover, constraints)
    outcomes = [prover.decide_inside(join_item(prover.forms, constraints, index)) for index in range(least)]
    if constraints.unique:
        return _find_distinct(prover, constraints, outcomes)
    return collect(outcomes)


def _find_uniform_start(constraints: Constraints) -> int:
    """The index from which on all items have the same constraints."""
    starts = [start for start, _ in constraints.counts]
    return max([0, *(index + 1 for index in constraints.item), *constraints.items, *starts])


def _find_limit(prover: Decider, constraints: Constraints) -> int | None:
    """The length that the array cannot exceed because the next item is impossible; `None` if there is none or it is the size limit."""
    _, high = constraints.sizes[Kind.ARRAY]
    for index in range(_find_uniform_start(constraints) + 1):
        if high is not None and index >= high:
            return None
        if isinstance(prover.decide_inside(join_item(prover.forms, constraints, index)), Empty):
            return index
    return None


def _find_long(prover: Decider, constraints: Constraints) -> Result:
    uniform = _find_uniform_start(constraints)
    if uniform < LONGEST and constraints.unique is None:
        first = collect(
            [prover.decide_inside(join_item(prover.forms, constraints, index)) for index in range(uniform + 1)]
        )
        if isinstance(first, Empty):
            return EMPTY
    return Unknown("an array would have to be too long to write down")


# Items that differ, or repeat.


def _find_with_repeat(prover: Decider, constraints: Constraints) -> Result:
    """Find an array with two equal items: some pair of indexes can hold the same value."""
    forms = prover.forms
    low, high = constraints.sizes[Kind.ARRAY]
    uniform = _find_uniform_start(constraints)
    if uniform > MOST_MATCHED:
        return Unknown("too many different items to find two that may be equal")

    doubt: Empty | Unknown = EMPTY
    for first, second in combinations(range(uniform + 2), 2):
        if high is not None and second >= high:
            continue
        common_value = prover.decide_inside(
            forms.all_of(join_item(forms, constraints, first), join_item(forms, constraints, second))
        )
        if isinstance(common_value, Empty):
            continue
        outcome = collect(
            common_value if index in (first, second) else prover.decide_inside(join_item(forms, constraints, index))
            for index in range(max(low, second + 1))
        )
        if isinstance(outcome, Satisfied):
            return outcome
        doubt = combine_doubts(doubt, outcome)
    return doubt


def _find_distinct(prover: Decider, constraints: Constraints, outcomes: list[Result]) -> Result:
    """Find an array of different items, one for each index."""
    joint_result = collect(outcomes)
    if not isinstance(joint_result, Satisfied):
        return joint_result
    amount = len(outcomes)
    if amount > MOST_DISTINCT:
        return Unknown("an array would need too many different items to write down")
    choices: list[list[Json] | None] = []
    greedy: list[Json] = []
    for index in range(amount):
        value = _find_another(prover, join_item(prover.forms, constraints, index), greedy)
        if not isinstance(value, Satisfied):
            break
        greedy.append(value.value)
    else:
        return Satisfied(greedy)
    if amount > MOST_MATCHED:
        return Unknown("an array would need too many different items to try all")
    for index in range(amount):
        domain = _list_domain(prover, join_item(prover.forms, constraints, index), amount)
        if isinstance(domain, Unknown):
            return domain
        choices.append(domain)
    return _match(prover, constraints, choices)


def _find_another(prover: Decider, form: Formula, values: list[Json]) -> Result:
    """Find a value that satisfies the form and is not one of `values`."""
    forms = prover.forms
    return prover.decide_inside(forms.all_of(form, *(forms.negate(forms.constant(value)) for value in values)))


def _list_domain(prover: Decider, form: Formula, amount: int) -> list[Json] | Unknown | None:
    """All values that satisfy the form if they are fewer than `amount`, otherwise `None`."""
    values: list[Json] = []
    while len(values) < amount:
        outcome = _find_another(prover, form, values)
        if isinstance(outcome, Empty):
            return values
        if isinstance(outcome, Unknown):
            return outcome
        values.append(outcome.value)
    return None


def _match(prover: Decider, constraints: Constraints, choices: list[list[Json] | None]) -> Result:
    """Choose one value for each index, all different: indexes with few values are matched first, the others take any other value."""
    matching: list[tuple[Json, int]] = []

    def place(index: int, visited_values: list[Json]) -> bool:
        for value in choices[index] or ():
            if any(is_equal(value, visited_value) for visited_value in visited_values):
                continue
            visited_values.append(value)
            match_index = next(
                (at for at, (matched_value, _) in enumerate(matching) if is_equal(matched_value, value)), None
            )
            if match_index is None:
                matching.append((value, index))
                return True
            if place(matching[match_index][1], visited_values):
                matching[match_index] = (value, index)
                return True
        return False

    few = [index for index, domain in enumerate(choices) if domain is not None]
    if not all(place(index, []) for index in few):
        return EMPTY
    assignment = {index: value for value, index in matching}
    for index in range(len(choices)):
        if index not in assignment:
            outcome = _find_another(prover, join_item(prover.forms, constraints, index), list(assignment.values()))
            if not isinstance(outcome, Satisfied):
                return Unknown("no array of different items was found, and none ruled out")
            assignment[index] = outcome.value
    return Satisfied([assignment[index] for index in range(len(choices))])


# Counting.


def _find_counted(prover: Decider, formula: Formula, constraints: Constraints) -> Result:
    """Find a satisfying array item by item: branch on what each next item is, or that there is none, until nothing is left to count."""
    forms = prover.forms
    counts = [(start, form, limits) for (start, form), limits in constraints.counts.items() if limits != (0, None)]
    if (
        len(counts) > MOST_COUNTS
        or constraints.sizes[Kind.ARRAY][0] > MOST_COUNTED
        or any(low > MOST_COUNTED for _, _, (low, _) in counts)
    ):
        return Unknown("too much of an array is counted at once")
    if constraints.unique is False and any(high is not None for _, _, (_, high) in counts):
        return Unknown("repeated items collect with counted ones are not compared")
    position = min(start for start, _, _ in counts)
    remainder = forms.all_of(
        *(part for part in split_conjunction(formula) if part not in _list_count_parts(prover, constraints))
    )
    doubt: Empty | Unknown = EMPTY
    for branch in _list_next(prover, constraints, counts, position):
        outcome = prover.decide(forms.all_of(remainder, branch))
        if isinstance(outcome, Satisfied):
            return outcome
        doubt = combine_doubts(doubt, outcome)
    return doubt


def _list_count_parts(prover: Decider, constraints: Constraints) -> set[Formula]:
    return {prover.forms.amount(start, form, *limits) for (start, form), limits in constraints.counts.items()}


def _list_next(
    prover: Decider, constraints: Constraints, counts: list[tuple[int, Formula, tuple[int, int | None]]], position: int
) -> Iterator[Formula]:
    """Yield what may be at `position`, as formulas that continue the counts at the next index.

    Items with the same constraints are interchangeable: among them, those that are still required come first, and the others only fill
    the array up to its minimum size.
    """
    forms = prover.forms
    low, high = constraints.sizes[Kind.ARRAY]
    has_open_minimum = any(least > 0 for _, _, (least, _) in counts)
    if position >= low and not has_open_minimum:
        yield forms.size(Kind.ARRAY, 0, position)
    if high is not None and position >= high:
        return
    current_counts = [count for count in counts if count[0] == position]
    later = [forms.amount(start, form, *limits) for start, form, limits in counts if start > position]
    alike = position >= _find_uniform_start(constraints)
    for labels in product((True, False), repeat=len(current_counts)):
        useful = any(label and limits[0] > 0 for label, (_, _, limits) in zip(labels, current_counts, strict=True))
        if alike and not useful and (has_open_minimum or position >= low):
            continue
        next_counts = (
            _count_on(prover, count, label=label) for count, label in zip(current_counts, labels, strict=True)
        )
        yield forms.all_of(forms.size(Kind.ARRAY, position + 1, None), *later, *next_counts)


def _count_on(prover: Decider, count: tuple[int, Formula, tuple[int, int | None]], *, label: bool) -> Formula:
    """The count from the next index on, given whether the item here counts. Without an upper limit, an uncounted item is unconstrained."""
    forms = prover.forms
    position, form, (least, most) = count
    spent = 1 if label else 0
    if most is not None and most < spent:
        return forms.bottom
    item_form = form if label else forms.top if most is None else forms.negate(form)
    next_count = forms.amount(position + 1, form, least - spent, None if most is None else most - spent)
    return forms.all_of(forms.item(position, item_form), next_count)
