"""Find a number or a string that satisfies a conjunction without alternatives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, count, islice, product
from typing import Final

from schema_inclusion.budget import Budget
from schema_inclusion.conjunction import number_fits
from schema_inclusion.constraints import Constraints
from schema_inclusion.formula import Kind
from schema_inclusion.patterns import (
    Example,
    NoText,
    Query,
    TooHard,
    TooLong,
    find_example,
    find_long_example,
    matches,
)
from schema_inclusion.results import EMPTY, Result, Satisfied, Unknown
from schema_inclusion.values import to_number

MOST_TRIED: Final = 2_000
_EXACT: Final = 2**53
"""Every integer up to it is a double."""
LONGEST_TEXT: Final = 20_000

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CHARACTERS: Final = range(0x21, 0xD800)


# Numbers.


def find_number(constraints: Constraints) -> Result:
    """Find a number that satisfies the constraints, a small integer if possible."""
    if constraints.numbers is not None:
        fitting = sorted((number for number in constraints.numbers if number_fits(constraints, number)), key=abs)
        return _write(fitting[0]) if fitting else EMPTY
    is_finite = _find_grid(constraints) is not None and constraints.lower is not None and constraints.upper is not None
    for attempts, candidate in enumerate(_list_candidates(constraints)):
        if number_fits(constraints, candidate):
            return _write(candidate)
        if attempts > MOST_TRIED:
            is_finite = False
            break
    if is_finite or _is_never(constraints):
        return EMPTY
    return Unknown("no number was found within the limits, and none ruled out")


def _write(value: Fraction) -> Result:
    result = to_number(value)
    return Unknown("a number has no exact decimal spelling") if result is None else Satisfied(result)


def _find_grid(constraints: Constraints) -> Fraction | None:
    """The least common multiple of the required divisors of a number; `None` if there are none."""
    steps = [of for of, positive in constraints.multiples.items() if positive]
    if constraints.kinds & Kind.NUMBER == Kind.INTEGER:
        steps.append(Fraction(1))
    if not steps:
        return None
    numerator = math.lcm(*(step.numerator for step in steps))
    return Fraction(numerator, math.gcd(*(step.denominator for step in steps)))


def _list_candidates(constraints: Constraints) -> Iterator[Fraction]:
    """Yield numbers within the limits: all on the grid, nearest to zero first; without a grid, on finer and finer ones.

    Beyond a limit that a double may not represent exactly, a distant number comes first: validators compare doubles.
    """
    for limit in (constraints.lower, constraints.upper):
        if limit is not None and abs(limit[0]) > _EXACT:
            yield Fraction(2 * int(limit[0]))
    grid = _find_grid(constraints)
    if grid is not None:
        yield from _walk_grid(constraints, grid)
        return
    for size in (Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 4), Fraction(1, 100), Fraction(1, 1024)):
        yield from islice(_walk_grid(constraints, size), 60)
    if constraints.lower is not None and constraints.upper is not None:
        low, high = constraints.lower[0], constraints.upper[0]
        yield from (low + (high - low) * Fraction(part, 64) for part in range(65))


def _walk_grid(constraints: Constraints, grid: Fraction) -> Iterator[Fraction]:
    low = None if constraints.lower is None else math.ceil(constraints.lower[0] / grid)
    high = None if constraints.upper is None else math.floor(constraints.upper[0] / grid)
    start = max(0, low) if low is not None else 0
    start = min(start, high) if high is not None else start
    if low is not None and start < low:
        return
    for distance in count():
        above, below = start + distance, start - distance
        is_inside = False
        if high is None or above <= high:
            is_inside = True
            yield above * grid
        if distance and (low is None or below >= low):
            is_inside = True
            yield below * grid
        if not is_inside:
            return


def _is_never(constraints: Constraints) -> bool:
    """Whether the constraints exclude every number of the grid."""
    grid = _find_grid(constraints)
    if grid is None:
        return False
    if grid.denominator == 1 and not constraints.kinds & Kind.INTEGER:
        return True
    return any(not positive and (grid / of).denominator == 1 for of, positive in constraints.multiples.items())


# Strings.


def find_string(constraints: Constraints, budget: Budget) -> Result:
    """Find a short string that satisfies the constraints."""
    if constraints.strings is not None:
        return _find_listed(constraints)
    low, high = constraints.sizes[Kind.STRING]
    if low > LONGEST_TEXT:
        return Unknown("a string would have to be too long to write down")
    if not constraints.patterns:
        return _find_plain(constraints)
    query = Query(
        tuple(sorted(pattern for pattern, holds in constraints.patterns.items() if holds)),
        tuple(sorted(pattern for pattern, holds in constraints.patterns.items() if not holds)),
        low,
        high,
        constraints.not_strings,
    )
    answer = find_example(query)
    if isinstance(answer, TooLong):
        answer = (
            find_long_example(query)
            if budget.may_search_at_length()
            else TooHard("comparing patterns went over its budget")
        )
    match answer:
        case Example(text):
            return Satisfied(text)
        case NoText():
            return EMPTY
        case TooHard(reason):
            return Unknown(reason, ("a" * low,))


def _find_listed(constraints: Constraints) -> Result:
    doubt: list[str] = []
    for text in sorted(constraints.strings or (), key=lambda text: (len(text), text)):
        states = [state == positive for state, positive in _match_patterns(constraints, text) if state is not None]
        if not all(states):
            continue
        if len(states) == len(constraints.patterns):
            return Satisfied(text)
        doubt.append(text)
    return Unknown("a pattern is outside what can be compared", (doubt[0],)) if doubt else EMPTY


def _match_patterns(constraints: Constraints, text: str) -> list[tuple[bool | None, bool]]:
    return [(matches(pattern, text), positive) for pattern, positive in constraints.patterns.items()]


def _find_plain(constraints: Constraints) -> Result:
    low, high = constraints.sizes[Kind.STRING]
    for length in range(low, low + 2 + len(constraints.not_strings)):
        if high is not None and length > high:
            break
        for text in _list_texts(length, len(constraints.not_strings) + 1):
            if text not in constraints.not_strings:
                return Satisfied(text)
    return EMPTY if high == 0 else Unknown("more strings are excluded than were tried")


def _list_texts(length: int, amount: int) -> Iterator[str]:
    """Yield up to `amount` different strings of a length, letters and digits first, as far as there are so many."""
    tail = min(length, 1 + amount // len(_LETTERS))
    plain = ("a" * (length - tail) + "".join(end) for end in product(_LETTERS, repeat=tail))
    other_texts = ("a" * (length - 1) + chr(code) for code in _CHARACTERS if chr(code) not in _LETTERS)
    return islice(chain(plain, other_texts) if length else plain, amount)
