"""Leaves of the proof: numbers and strings that satisfy settled facts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, count, islice, product
from typing import Final

from schema_inclusion.budget import Budget
from schema_inclusion.conjunction import number_fits
from schema_inclusion.facts import Facts
from schema_inclusion.formula import Kind
from schema_inclusion.outcome import EMPTY, Found, Outcome, Unknown
from schema_inclusion.patterns import Example, NoText, TooHard, TooLong, Wanted, example, example_apart, matches
from schema_inclusion.values import spelled

MOST_TRIED: Final = 2_000
LONGEST_TEXT: Final = 20_000

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CHARACTERS: Final = range(0x21, 0xD800)


# Numbers.


def number(facts: Facts) -> Outcome:
    """A number that satisfies the facts, a small whole one if possible."""
    if facts.numbers is not None:
        fitting = sorted((each for each in facts.numbers if number_fits(facts, each)), key=abs)
        return _as_found(fitting[0]) if fitting else EMPTY
    exhausted = False
    for tried, candidate in enumerate(_candidates(facts)):
        if number_fits(facts, candidate):
            return _as_found(candidate)
        if tried > MOST_TRIED:
            break
    else:
        exhausted = True
    if exhausted and _is_discrete(facts) and _bounded(facts):
        return EMPTY
    return EMPTY if _never(facts) else Unknown("no number was found within the limits, and none ruled out")


def _as_found(value: Fraction) -> Outcome:
    written = spelled(value)
    return Unknown("a number has no exact decimal spelling") if written is None else Found(written)


def _grid(facts: Facts) -> Fraction | None:
    """The least common multiple of what a number must be a multiple of; `None` if it may be anything."""
    steps = [of for of, wanted in facts.multiples.items() if wanted]
    if facts.kinds & Kind.NUMBER == Kind.INTEGER:
        steps.append(Fraction(1))
    if not steps:
        return None
    numerator = math.lcm(*(step.numerator for step in steps))
    return Fraction(numerator, math.gcd(*(step.denominator for step in steps)))


def _is_discrete(facts: Facts) -> bool:
    return _grid(facts) is not None


def _bounded(facts: Facts) -> bool:
    return facts.lower is not None and facts.upper is not None


def _candidates(facts: Facts) -> Iterator[Fraction]:
    """Numbers within the limits: every one on the grid, nearest to zero first; without a grid, finer and finer ones."""
    grid = _grid(facts)
    if grid is not None:
        yield from _on_grid(facts, grid)
        return
    for size in (Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 4), Fraction(1, 100), Fraction(1, 1024)):
        yield from islice(_on_grid(facts, size), 60)
    if facts.lower is not None and facts.upper is not None:
        low, high = facts.lower[0], facts.upper[0]
        yield from (low + (high - low) * Fraction(part, 64) for part in range(65))


def _on_grid(facts: Facts, grid: Fraction) -> Iterator[Fraction]:
    low = None if facts.lower is None else math.ceil(facts.lower[0] / grid)
    high = None if facts.upper is None else math.floor(facts.upper[0] / grid)
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


def _never(facts: Facts) -> bool:
    """Whether the grid lies wholly inside what is excluded."""
    grid = _grid(facts)
    if grid is None:
        return False
    if grid.denominator == 1 and not facts.kinds & Kind.INTEGER:
        return True
    return any(not wanted and (grid / of).denominator == 1 for of, wanted in facts.multiples.items())


# Strings.


def string(facts: Facts, budget: Budget) -> Outcome:
    """A string that satisfies the facts, a short one."""
    if facts.strings is not None:
        return _listed(facts)
    low, high = facts.length
    if low > LONGEST_TEXT:
        return Unknown("a string would have to be too long to write down")
    if not facts.patterns:
        return _plain(facts)
    wanted = Wanted(
        tuple(sorted(pattern for pattern, holds in facts.patterns.items() if holds)),
        tuple(sorted(pattern for pattern, holds in facts.patterns.items() if not holds)),
        low,
        high,
        facts.not_strings,
    )
    answer = example(wanted)
    if isinstance(answer, TooLong):
        answer = example_apart(wanted) if budget.may_ask_apart() else TooHard("comparing patterns went over its budget")
    match answer:
        case Example(text):
            return Found(text)
        case NoText():
            return EMPTY
        case TooHard(reason):
            return Unknown(reason, ("a" * low,))


def _listed(facts: Facts) -> Outcome:
    doubt: list[str] = []
    for text in sorted(facts.strings or (), key=lambda each: (len(each), each)):
        states = [state == wanted for state, wanted in _states(facts, text) if state is not None]
        if not all(states):
            continue
        if len(states) == len(facts.patterns):
            return Found(text)
        doubt.append(text)
    return Unknown("a pattern is outside what can be compared", (doubt[0],)) if doubt else EMPTY


def _states(facts: Facts, text: str) -> list[tuple[bool | None, bool]]:
    return [(matches(pattern, text), wanted) for pattern, wanted in facts.patterns.items()]


def _plain(facts: Facts) -> Outcome:
    low, high = facts.length
    for length in range(low, low + 2 + len(facts.not_strings)):
        if high is not None and length > high:
            break
        for text in _texts(length, len(facts.not_strings) + 1):
            if text not in facts.not_strings:
                return Found(text)
    return EMPTY if high == 0 else Unknown("more strings are excluded than were tried")


def _texts(length: int, amount: int) -> Iterator[str]:
    """Up to `amount` different strings of a length, letters and digits first, for as many as there can be."""
    tail = min(length, 1 + amount // len(_LETTERS))
    plain = ("a" * (length - tail) + "".join(end) for end in product(_LETTERS, repeat=tail))
    others = ("a" * (length - 1) + chr(code) for code in _CHARACTERS if chr(code) not in _LETTERS)
    return islice(chain(plain, others) if length else plain, amount)
