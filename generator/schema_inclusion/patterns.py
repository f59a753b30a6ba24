"""Find a short text that some patterns match and others do not, or prove that there is none.

The automata of the patterns run in parallel, breadth first, so that the first text found is a shortest one. A search has a fixed number
of steps, so verdicts do not depend on the speed of the machine. When they are used up, the result is `TooHard`, never a verdict.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar

from schema_inclusion.automaton import MATCHED, Machine, States, begin, build_machine, count_runs, ends, search, step
from schema_inclusion.syntax import Ranges, UnsupportedPattern

STEPS: Final = 4_000
MOST_STEPS: Final = 120_000
"""The number of steps of a long search: about a second."""


@dataclass(frozen=True, slots=True)
class Query:
    """A text to search for: it matches all of `matching`, none of `failing`, has an allowed length, and is not in `excluded`."""

    matching: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    low: int = 0
    high: int | None = None
    excluded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Example:
    """A text that satisfies the search."""

    text: str


@dataclass(frozen=True, slots=True)
class NoText:
    """No text satisfies the search."""


@dataclass(frozen=True, slots=True)
class TooHard:
    """The search was not decided, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class TooLong:
    """The search needs more steps: call `find_long_example`."""


Answer: TypeAlias = Example | NoText | TooHard


@lru_cache(maxsize=1 << 16)
def matches(pattern: str, text: str) -> bool | None:
    """Whether the pattern matches somewhere in the text; `None` if the pattern is not supported."""
    try:
        return search(pattern, text)
    except UnsupportedPattern:
        return None


@lru_cache(maxsize=4096)
def find_example(query: Query) -> Answer | TooLong:
    """A shortest text that satisfies the search, or that there is none."""
    return NoText() if set(query.matching) & set(query.failing) else _answer(query, STEPS, TooLong())


@lru_cache(maxsize=256)
def find_long_example(query: Query) -> Answer:
    """The same search with more steps."""
    return _answer(query, MOST_STEPS, TooHard("comparing patterns went over its budget"))


_T = TypeVar("_T", TooHard, TooLong)


def _answer(query: Query, steps: int, over: _T) -> Answer | _T:
    try:
        return _search(query, steps)
    except UnsupportedPattern as fault:
        return TooHard(f"a pattern is outside what can be compared: {fault}")
    except _OutOfSteps:
        return over


class _OutOfSteps(Exception):
    """The search has used all its steps."""


def _rank(code: int) -> tuple[int, int]:
    """A sort key: letters first, then digits, then printable ASCII, then control characters, then the rest.

    The line feed precedes the line terminators that Python's dot matches and that of ECMA-262 does not.
    """
    character = chr(code)
    if code > 126 or code < 32:
        return (4 if code < 32 else 5), code
    if character.islower():
        return 0, code
    if character.isupper():
        return 1, code
    return (2 if character.isdigit() else 3), code


def _choose_alphabet(automata: Iterable[Machine], texts: Iterable[str]) -> list[int]:
    """One character for each class of characters that the automata and the excluded texts distinguish."""
    classes: dict[Ranges, None] = {}
    for automaton in automata:
        classes.update(dict.fromkeys(automaton.classes))
    for code in {ord(character) for text in texts for character in text}:
        classes.setdefault(((code, code),))
    edges = {0, 0xE000, *(edge for ranges in classes for low, high in ranges for edge in (low, high + 1))}
    samples = {edge for edge in edges if edge <= 0x10FFFF and not 0xD800 <= edge <= 0xDFFF}
    for sample in (*range(97, 123), *range(48, 58), *range(65, 91), *range(32, 127)):
        samples.add(sample)
    representatives: dict[tuple[bool, ...], int] = {}
    for sample in sorted(samples, key=_rank):
        signature = tuple(any(low <= sample <= high for low, high in ranges) for ranges in classes)
        representatives.setdefault(signature, sample)
    return list(representatives.values())


_State: TypeAlias = tuple[tuple[States, ...], int, str | None]


def _search(query: Query, steps: int) -> Example | NoText:
    automata = [build_machine(pattern) for pattern in (*query.matching, *query.failing)]
    required = len(query.matching)
    alphabet = _choose_alphabet(automata, query.excluded)
    prefixes = {text[:end] for text in query.excluded for end in range(len(text) + 1)}
    moves: dict[tuple[int, States, int], States] = {}

    def move(index: int, states: States, character: int) -> States:
        nonlocal steps
        key = (index, states, character)
        if key not in moves:
            steps -= count_runs(states) // 4
            moves[key] = step(automata[index], states, character)
        return moves[key]

    def is_hopeless(states: Sequence[States]) -> bool:
        return any(not state for state in states[:required]) or any(state is MATCHED for state in states[required:])

    def is_answer(states: tuple[States, ...], length: int, prefix: str | None) -> bool:
        if length < query.low or (prefix is not None and prefix in query.excluded):
            return False
        return all(ends(automata[index], state) == (index < required) for index, state in enumerate(states))

    initial = tuple(begin(automaton) for automaton in automata)
    if is_hopeless(initial):
        return NoText()
    first: _State = (initial, 0, "" if prefixes else None)
    if is_answer(initial, 0, first[2]):
        return Example("")
    texts: dict[_State, str] = {first: ""}
    queue: deque[_State] = deque([first])
    while queue:
        state = queue.popleft()
        states, text = state[0], texts[state]
        if query.high is not None and len(text) >= query.high:
            continue
        for code in alphabet:
            steps -= 1
            if steps < 0:
                raise _OutOfSteps
            following = tuple(move(index, automaton_states, code) for index, automaton_states in enumerate(states))
            if is_hopeless(following):
                continue
            longer = text + chr(code)
            prefix = longer if longer in prefixes else None
            if is_answer(following, len(longer), prefix):
                return Example(longer)
            successor: _State = (following, min(len(longer), query.low), prefix)
            if successor not in texts:
                texts[successor] = longer
                queue.append(successor)
    return NoText()
