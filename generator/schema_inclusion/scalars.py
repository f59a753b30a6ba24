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
from schema_inclusion.patterns import Example, NoText, TooHard, TooLong, Wanted, example, example_at_length, matches
from schema_inclusion.results import EMPTY, Result, Satisfied, Unknown
from schema_inclusion.values import spelled

MOST_TRIED: Final = 2_000
_EXACT: Final = 2**53
"""Up to here every whole number is a double."""
LONGEST_TEXT: Final = 20_000

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CHARACTERS: Final = range(0x21, 0xD800)


# Numbers.


def find_number(constraints: Constraints) -> Result:
    """A number that satisfies the constraints, a small whole one if possible."""
    if constraints.numbers is not None:
        fitting = sorted((each for each in constraints.numbers if number_fits(constraints, each)), key=abs)
        return _write(fitting[0]) if fitting else EMPTY
    is_finite = _find_grid(constraints) is not None and constraints.lower is not None and constraints.upper is not None
    for tried, candidate in enumerate(_list_candidates(constraints)):
        if number_fits(constraints, candidate):
            return _write(candidate)
        if tried > MOST_TRIED:
            is_finite = False
            break
    if is_finite or _is_never(constraints):
        return EMPTY
    return Unknown("no number was found within the limits, and none ruled out")


def _write(value: Fraction) -> Result:
    written = spelled(value)
    return Unknown("a number has no exact decimal spelling") if written is None else Satisfied(written)


def _find_grid(constraints: Constraints) -> Fraction | None:
    """The least common multiple of what a number must be a multiple of; `None` if it may be anything."""
    steps = [of for of, wanted in constraints.multiples.items() if wanted]
    if constraints.kinds & Kind.NUMBER == Kind.INTEGER:
        steps.append(Fraction(1))
    if not steps:
        return None
    numerator = math.lcm(*(step.numerator for step in steps))
    return Fraction(numerator, math.gcd(*(step.denominator for step in steps)))


def _list_candidates(constraints: Constraints) -> Iterator[Fraction]:
    """Numbers within the limits: every one on the grid, nearest to zero first; without a grid, finer and finer ones. Beyond a limit that
    a double may only be near to, a number comes first that is far from it: validators compare doubles.
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
        inside = False
        if high is None or above <= high:
            inside = True
            yield above * grid
        if distance and (low is None or below >= low):
            inside = True
            yield below * grid
        if not inside:
            return


def _is_never(constraints: Constraints) -> bool:
    """Whether the grid lies wholly inside what is excluded."""
    grid = _find_grid(constraints)
    if grid is None:
        return False
    if grid.denominator == 1 and not constraints.kinds & Kind.INTEGER:
        return True
    return any(not wanted and (grid / of).denominator == 1 for of, wanted in constraints.multiples.items())


# Strings.


def find_string(constraints: Constraints, budget: Budget) -> Result:
    """A string that satisfies the constraints, a short one."""
    if constraints.strings is not None:
        return _find_listed(constraints)
    low, high = constraints.sizes[Kind.STRING]
    if low > LONGEST_TEXT:
        return Unknown("a string would have to be too long to write down")
    if not constraints.patterns:
        return _find_plain(constraints)
    wanted = Wanted(
        tuple(sorted(pattern for pattern, holds in constraints.patterns.items() if holds)),
        tuple(sorted(pattern for pattern, holds in constraints.patterns.items() if not holds)),
        low,
        high,
        constraints.not_strings,
    )
    answer = example(wanted)
    if isinstance(answer, TooLong):
        answer = (
            example_at_length(wanted)
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
    for text in sorted(constraints.strings or (), key=lambda each: (len(each), each)):
        states = [state == wanted for state, wanted in _match_patterns(constraints, text) if state is not None]
        if not all(states):
            continue
        if len(states) == len(constraints.patterns):
            return Satisfied(text)
        doubt.append(text)
    return Unknown("a pattern is outside what can be compared", (doubt[0],)) if doubt else EMPTY


def _match_patterns(constraints: Constraints, text: str) -> list[tuple[bool | None, bool]]:
    return [(matches(pattern, text), wanted) for pattern, wanted in constraints.patterns.items()]


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
    """Up to `amount` different strings of a length, letters and digits first, for as many as there can be."""
    tail = min(length, 1 + amount // len(_LETTERS))
    plain = ("a" * (length - tail) + "".join(end) for end in product(_LETTERS, repeat=tail))
    others = ("a" * (length - 1) + chr(code) for code in _CHARACTERS if chr(code) not in _LETTERS)
    return islice(chain(plain, others) if length else plain, amount)
