"""Pairs old with new from each method's params and result, and collects the facts of each pair.

A pair of types is looked at once, however many methods reach it; a pair that is met again while it is being looked at is assumed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from acpgen import ir
from acpgen.compat.protocol.comparing import compare
from acpgen.compat.protocol.comparison import Both, Comparison
from acpgen.compat.protocol.facts import PAPER, DefinitionRenamed, Fact
from acpgen.compat.protocol.placed import Compared, Home, Pair, PlacedFact, Step
from acpgen.compat.protocol.revision import Revised
from acpgen.compat.protocol.shapes import Shape


class Walk:
    """All pairs of one comparison."""

    def __init__(self, old: Revised, new: Revised, apart: Collection[str] = ()) -> None:
        """`apart` are definitions of which nothing is known: what they demand is told elsewhere."""
        self._both = Both(old, new, apart)
        self.nodes: dict[Pair, Compared] = {}
        self._changed: set[Pair] | None = None
        self._declared = frozenset((*old.declared, *new.declared))

    def visit(self, root: Pair) -> None:
        """Look at a pair and at all below it."""
        pending = [root]
        while pending:
            pair = pending.pop()
            if pair in self.nodes:
                continue
            node = self.nodes[pair] = Compared(
                pair.free or all(self._is_anything(type_, side) for type_, side in pair.sides)
            )
            compare(Comparison(self._both, node, pair))
            pending.extend(child for _, child in node.children)
        self._changed = None

    def wire_facts(self, root: Pair, told: frozenset[Pair] = frozenset()) -> Iterator[PlacedFact]:
        """The facts about messages below a pair, nearest first; a pair of definitions is entered by its shortest way only, any other pair
        by every way that does not lead through it already.

        Pairs that are `told` elsewhere are not entered.
        """
        changed = self._changed_pairs()
        seen = {root}
        level: list[tuple[Pair, tuple[Step, ...], Home, Home, frozenset[Pair]]] = []
        if root in changed:
            level.append((root, (), Home(root), Home(root), frozenset()))
        while level:
            following: list[tuple[Pair, tuple[Step, ...], Home, Home, frozenset[Pair]]] = []
            for pair, steps, home, named, around in level:
                node = self.nodes[pair]
                yield from (
                    PlacedFact(fact, steps, pair, node.free, home, named)
                    for fact in node.facts
                    if not isinstance(fact, PAPER)
                )
                for step, child in node.children:
                    if child in changed and child not in seen and child not in told and child not in around:
                        homes = home, named
                        if child.is_named:
                            seen.add(child)
                            here = Home(child, len(steps) + 1)
                            homes = here, here if self._declared.intersection(here.names) else named
                        within = around if child.is_named else around | {child}
                        following.append((child, (*steps, step), *homes, within))
            level = following

    def is_changed(self, pair: Pair) -> bool:
        """Whether there are facts about messages at a pair or below it."""
        return pair in self._changed_pairs()

    def paper_facts(self) -> Iterator[Fact]:
        """The facts about files alone, each once."""
        facts = (fact for node in self.nodes.values() for fact in node.facts if isinstance(fact, PAPER))
        told: set[tuple[object, str, str]] = set()
        for fact in facts:
            key = (fact, fact.old_at, fact.new_at)
            if key not in told:
                told.add(key)
                yield fact

    def renamed(self) -> dict[str, str]:
        """The definitions that have another name in the new revision, with that name."""
        return {fact.old: fact.new for fact in self.paper_facts() if isinstance(fact, DefinitionRenamed)}

    def shape(self, type_: ir.Type, side: Literal[0, 1]) -> Shape:
        """The shape of a type of one side."""
        return self._both.shape(type_, side)

    def _is_anything(self, type_: ir.Type, side: Literal[0, 1]) -> bool:
        shape = self.shape(type_, side)
        return shape.anything and not (self._both.old, self._both.new)[side].residue(shape.names)

    def _changed_pairs(self) -> set[Pair]:
        """The pairs with facts about messages at them or below them."""
        if self._changed is None:
            parents: dict[Pair, list[Pair]] = {}
            for pair, node in self.nodes.items():
                for _, child in node.children:
                    parents.setdefault(child, []).append(pair)
            pending = [
                pair for pair, node in self.nodes.items() if any(not isinstance(fact, PAPER) for fact in node.facts)
            ]
            self._changed = set(pending)
            while pending:
                for parent in parents.get(pending.pop(), ()):
                    if parent not in self._changed:
                        self._changed.add(parent)
                        pending.append(parent)
        return self._changed
