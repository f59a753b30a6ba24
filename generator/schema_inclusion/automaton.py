"""Build and run non-deterministic automata that search for a pattern, with look-around and anchors anywhere in it.

A run of an automaton is a state with its watches. A watch is the automaton of a look-ahead that the run has passed, with the states that
it has reached; the following characters decide whether the run continues. `$` is a watch that no character may follow.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from schema_inclusion.regex import read
from schema_inclusion.syntax import (
    Ahead,
    BackReference,
    Behind,
    Boundary,
    Chars,
    Choice,
    Edge,
    Group,
    Node,
    Ranges,
    Repeat,
    Sequence,
    UnsupportedPattern,
    is_surrogate,
)

LARGEST_MACHINE: Final = 6_000
"""The maximum number of states of a pattern, and of runs at a time."""
MOST_STEPS: Final = 4_000_000
"""The maximum number of steps of all runs through one text: some seconds."""
_ANY: Final[Ranges] = ((0, 0x10FFFF),)
_LAST: Final = Ahead(Chars(_ANY), positive=False)


class Watch(NamedTuple):
    """A pending look-ahead: the number of its automaton, whether it must match, and the states that it has reached."""

    number: int
    positive: bool
    states: States


Watches: TypeAlias = frozenset[Watch]
Run: TypeAlias = tuple[int, Watches]
States: TypeAlias = frozenset[Run]

_NONE: Final[Watches] = frozenset()
MATCHED: Final[States] = frozenset({(-1, _NONE)})
"""The states after a match, whatever follows."""


class Before(NamedTuple):
    """An empty edge after a character of the ranges; if not `positive`, at any other position, such as the start of the text."""

    ranges: Ranges
    positive: bool


_FIRST: Final = Before(_ANY, positive=False)


class Look(NamedTuple):
    """An empty edge that depends on what follows: the number of the look-ahead's automaton, and whether it must match."""

    number: int
    positive: bool


@dataclass(slots=True, eq=False)
class Machine:
    """A non-deterministic automaton by Thompson's construction, which starts in its first state; read-only once it is complete.

    `moves` holds for each state its character edge, or `None`; `skips` its empty edges, each with its guard, or `None`. `alive` are the
    states from which a match can still be reached once a character has been read. `lookers` are the automata of the look-aheads.
    `looks_behind`: an empty edge depends on the character before. `classes` are the ranges that distinguish characters for the automaton
    and its lookers. `room` is the number of states that may still be added.
    """

    room: list[int]
    moves: list[tuple[Ranges, int] | None] = field(default_factory=list[tuple[Ranges, int] | None])
    skips: list[list[tuple[Before | Look | None, int]]] = field(
        default_factory=list[list[tuple[Before | Look | None, int]]]
    )
    numbers: dict[Node, int] = field(default_factory=dict[Node, int])
    accept: int = 0
    alive: frozenset[int] = frozenset()
    lookers: tuple[Machine, ...] = ()
    looks_behind: bool = False
    classes: frozenset[Ranges] = frozenset()

    def add_state(self) -> int:
        if not self.room[0]:
            raise UnsupportedPattern("the pattern is too large")
        self.room[0] -= 1
        self.moves.append(None)
        self.skips.append([])
        return len(self.moves) - 1

    def add_skip(self, source: int, guard: Before | Look | None = None) -> int:
        target = self.add_state()
        self.skips[source].append((guard, target))
        return target

    def add(self, node: Node, source: int) -> int:
        """Add a node after the state `source`, and return the state after the node."""
        match node:
            case Chars(ranges):
                if self.moves[source] is not None:
                    source = self.add_skip(source)
                target = self.add_state()
                self.moves[source] = (ranges, target)
                return target
            case Edge(start):
                return self.add_skip(source, _FIRST) if start else self.add(_LAST, source)
            case Behind(Chars(ranges), positive):
                return self.add_skip(source, Before(ranges, positive))
            case Ahead(part, positive):
                return self.add_skip(source, Look(self.numbers.setdefault(part, len(self.numbers)), positive))
            case Sequence(parts):
                for part in parts:
                    source = self.add(part, source)
                return source
            case Choice(parts):
                target = self.add_state()
                for part in parts:
                    self.skips[self.add(part, source)].append((None, target))
                return target
            case Repeat(part, low, high):
                return self.add_repeat(part, low, high, source)
            case Behind() | BackReference() | Boundary() | Group():
                raise AssertionError(node)

    def add_repeat(self, part: Node, low: int, high: int | None, source: int) -> int:
        for _ in range(low):
            source = self.add(part, source)
        target = self.add_state()
        if high is None:
            loop = self.add_skip(source)
            self.skips[self.add(part, loop)].append((None, loop))
            self.skips[loop].append((None, target))
            return target
        self.skips[source].append((None, target))
        for _ in range(high - low):
            source = self.add(part, source)
            self.skips[source].append((None, target))
        return target

    def complete(self, accept: int) -> Machine:
        """Complete the construction with the accepting state."""
        self.accept, self.alive = accept, self.find_alive(accept)
        self.lookers = tuple(_build(part, self.room, searches=False) for part in self.numbers)
        move_ranges = {move[0] for move in self.moves if move is not None}
        look_behind_ranges = {
            guard.ranges for skips in self.skips for guard, _ in skips if isinstance(guard, Before) and guard != _FIRST
        }
        self.looks_behind = bool(look_behind_ranges) or any(looker.looks_behind for looker in self.lookers)
        self.classes = frozenset(move_ranges | look_behind_ranges).union(*(looker.classes for looker in self.lookers))
        return self

    def find_alive(self, accept: int) -> frozenset[int]:
        sources: dict[int, list[int]] = {}
        for source, move in enumerate(self.moves):
            if move is not None and move[0]:
                sources.setdefault(move[1], []).append(source)
            for guard, target in self.skips[source]:
                if guard != _FIRST:
                    sources.setdefault(target, []).append(source)
        alive = {accept}
        pending = [accept]
        while pending:
            for source in sources.get(pending.pop(), ()):
                if source not in alive:
                    alive.add(source)
                    pending.append(source)
        return frozenset(alive)


def build_machine(pattern: str) -> Machine:
    """Build the automaton that searches for a pattern. Raises `UnsupportedPattern`."""
    outcome = _try_machine(pattern)
    if isinstance(outcome, Machine):
        return outcome
    raise UnsupportedPattern(outcome)


@lru_cache(maxsize=512)
def _try_machine(pattern: str) -> Machine | str:
    try:
        return _build(read(pattern), [LARGEST_MACHINE], searches=True)
    except UnsupportedPattern as fault:
        return str(fault)


def _build(node: Node, room: list[int], *, searches: bool) -> Machine:
    """Build the automaton of a node. It begins anywhere in a text if it `searches`, otherwise at the current position; it ends anywhere."""
    machine = Machine(room)
    source = machine.add_state()
    if searches:
        machine.moves[source] = (_ANY, source)
        source = machine.add_skip(source)
    accept = machine.add_skip(machine.add(node, source))
    machine.moves[accept] = (_ANY, accept)
    return machine.complete(accept)


def begin(automaton: Machine, before: int | None = None) -> States:
    """The initial states, given the character `before` the current position; `None` at the start of the text."""
    return _reach(automaton, 0, before)


def step(automaton: Machine, states: States, character: int) -> States:
    """The states after one more character. Raises `UnsupportedPattern` if there are too many runs."""
    if states is MATCHED:
        return MATCHED
    before = character if automaton.looks_behind else 0
    following: set[Run] = set()
    followed: dict[Watch, States] = {}
    for state, watches in states:
        move = automaton.moves[state]
        if move is None or move[1] not in automaton.alive or not _holds(move[0], character):
            continue
        open_watches = _follow(automaton, watches, character, followed) if watches else watches
        if open_watches is None:
            continue
        reached = _reach(automaton, move[1], before)
        if not open_watches:
            if reached is MATCHED:
                return MATCHED
            following |= reached
        elif reached is MATCHED:
            following.add((automaton.accept, open_watches))
        else:
            following.update((target, open_watches | target_watches) for target, target_watches in reached)
    if automaton.lookers:
        following -= {run for run in following if run[1] and (run[0], _NONE) in following}
        if count_runs(following) > LARGEST_MACHINE:
            raise UnsupportedPattern("look-around has too many ways")
    return frozenset(following)


def ends(automaton: Machine, states: States) -> bool:
    """Whether the pattern matches if the text ends here."""
    return states is MATCHED or any(
        state == automaton.accept
        and all(ends(automaton.lookers[number], reached) == positive for number, positive, reached in watches)
        for state, watches in states
    )


def count_runs(states: Collection[Run]) -> int:
    """The number of runs, plus those of each watch beyond its first."""
    return len(states) + sum(count_runs(watch.states) - 1 for _, watches in states if watches for watch in watches)


def search(pattern: str, text: str) -> bool:
    """Whether the pattern matches somewhere in the text, in time linear in the text. Raises `UnsupportedPattern`."""
    automaton = build_machine(pattern)
    if any(map(is_surrogate, text)):
        raise UnsupportedPattern("half of a surrogate pair in the text")
    states = begin(automaton)
    steps = MOST_STEPS
    for character in text:
        states = step(automaton, states, ord(character))
        if states is MATCHED or not states:
            break
        steps -= count_runs(states)
        if steps < 0:
            raise UnsupportedPattern("a text that takes too many steps")
    return ends(automaton, states)


def _holds(ranges: Ranges, character: int) -> bool:
    for low, high in ranges:  # noqa: SIM110 - a search spends half its time here, and a generator doubles that
        if low <= character <= high:
            return True
    return False


def _follow(automaton: Machine, watches: Watches, character: int, cache: dict[Watch, States]) -> Watches | None:
    """Advance the watches by one character. Returns those that are still open; `None` if one of them rejects the run."""
    open_watches: list[Watch] = []
    for watch in watches:
        if watch not in cache:
            cache[watch] = step(automaton.lookers[watch.number], watch.states, character)
        decided = _decide(cache[watch], positive=watch.positive)
        if decided is False:
            return None
        if decided is None:
            open_watches.append(watch._replace(states=cache[watch]))
    return frozenset(open_watches)


def _decide(states: States, *, positive: bool) -> bool | None:
    """Whether a look-ahead in these states lets its run continue; `None` while that is open."""
    return positive if states is MATCHED else None if states else not positive


@lru_cache(maxsize=1 << 16)
def _reach(automaton: Machine, source: int, before: int | None) -> States:
    """The runs that empty edges lead to from a state and that wait for a character; `MATCHED` if one of them accepts."""
    allowed_states = range(len(automaton.moves)) if source == 0 else automaton.alive
    begun = [begin(looker, before) for looker in automaton.lookers]
    reached: set[Run] = {(source, _NONE)}
    pending = list(reached)
    while pending:
        state, watches = pending.pop()
        if state == automaton.accept and not watches:
            return MATCHED
        for guard, target in automaton.skips[state]:
            next_watches = _pass_guard(watches, guard, before, begun)
            if next_watches is not None and target in allowed_states and (target, next_watches) not in reached:
                reached.add((target, next_watches))
                pending.append((target, next_watches))
        if len(reached) > LARGEST_MACHINE:
            raise UnsupportedPattern("look-around has too many ways")
    return frozenset(run for run in reached if automaton.moves[run[0]] is not None)


def _pass_guard(
    watches: Watches, guard: Before | Look | None, before: int | None, begun: list[States]
) -> Watches | None:
    """The watches of a run after an empty edge; `None` if the run cannot pass it."""
    match guard:
        case None:
            return watches
        case Before(ranges, positive):
            return watches if (before is not None and _holds(ranges, before)) is positive else None
        case Look(number, positive):
            decided = _decide(begun[number], positive=positive)
            if decided is None:
                return watches | {Watch(number, positive, begun[number])}
            return watches if decided else None
