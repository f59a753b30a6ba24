"""Two revisions, and everything that is asked about them within one budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from acpgen import ir
from acpgen.compat.changes import Change
from acpgen.compat.diff.definitions import Walk
from acpgen.compat.diff.methods import same_methods
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import BUDGET, Revision
from acpgen.compat.protocol.acceptance import Acceptance
from acpgen.compat.protocol.check.routes import (
    DIRECTIONS,
    Joined,
    document,
    kinds_of_both,
    names_of,
    pair_of,
    roots_of_both,
    routes_of,
)
from acpgen.compat.protocol.covered import Cover, cover, groups, messages
from acpgen.compat.protocol.envelopes import carries, envelopes
from acpgen.compat.protocol.frames import Framed, framed
from acpgen.compat.protocol.messages import Court
from acpgen.compat.protocol.revision import Revised
from acpgen.compat.protocol.revision import rewritten as rewritten_names
from acpgen.schema.walk import Schema
from schema_inclusion import Allowance


class Inquiry:
    """Two revisions with the walk that finds changes, the court that judges messages, and the prover, all within one budget."""

    def __init__(self, old: Revised, new: Revised, budget: int = BUDGET, formats: bool = False) -> None:
        self.budget = budget
        self.formats = formats
        self.allowance = Allowance(budget)
        self.old = old
        self.new = new
        self.groups = groups(old, new)
        self.walk = Walk(old, new, self.groups)
        self.court = Court(old, new, self.allowance, formats=formats)
        self.acceptance = Acceptance(old, new, self.allowance, formats=formats)
        self.routes = [(joined, pair_of(joined)) for joined in routes_of(old, new)]

    @cached_property
    def methods(self) -> Sequence[tuple[ir.Method, ir.Method]]:
        """The methods of both revisions."""
        return [*same_methods(self.old, self.new)]

    @cached_property
    def roots(self) -> Mapping[str, str]:
        """The definitions that stand for roots, with what people call these."""
        return roots_of_both(self.old, self.new)

    def kinds(self, root: str) -> list[str]:
        """The kinds of documents that a root is a union of in both revisions."""
        return kinds_of_both(self.old, self.new, root)

    @cached_property
    def rewritten(self) -> frozenset[str]:
        """The definitions that are written differently."""
        return rewritten_names(self.old, self.new, self.groups)

    @cached_property
    def messages(self) -> dict[Revision, set[str]]:
        """The definitions of whole messages."""
        return {"old": messages(self.old), "new": messages(self.new)}

    @cached_property
    def envelopes(self) -> list[tuple[str, Schema, Schema]]:
        """The envelopes that both revisions have under the same name and that differ: name, old, new."""
        ours, theirs = envelopes(self.old), envelopes(self.new)
        shared = (name for name in ours if name in theirs and carries(ours[name]) == carries(theirs[name]))
        return [(name, ours[name], theirs[name]) for name in shared if ours[name] != theirs[name]]

    @cached_property
    def frames(self) -> list[Framed]:
        """The kinds of messages that the revisions frame differently."""
        return [*framed(self.old, self.new, self.methods, self.rewritten)]

    @cached_property
    def cover(self) -> Cover:
        """The definitions that no message holds."""
        for _, pair in self.routes:
            self.walk.visit(pair)
        return cover(self.old, self.new, [names for pair in self.walk.nodes if (names := names_of(pair)) is not None])

    @cached_property
    def pairs(self) -> list[tuple[Joined, Pair]]:
        """All that is compared: what messages hold, and the definitions that stand on their own."""
        alone = [replace(document(one, other, other), alone=True) for one, other in self.cover.alone]
        return [*self.routes, *((joined, pair_of(joined)) for joined in alone)]

    def doubt(self, reason: str, joined: Joined) -> Change:
        """A doubt about one kind of message, at its definitions."""
        (_, old), (_, new) = joined.old, joined.new
        places = [side.definitions[name].at if name else "" for side, name in ((self.old, old), (self.new, new))]
        return Change("undecided", detail=reason, old_at=places[0], new_at=places[1])

    def is_changed(self, joined: Joined, pair: Pair) -> bool:
        """Whether messages have changed, or are written differently though no change tells why."""
        (_, old), (_, new) = joined.old, joined.new
        is_rewritten = old is not None and new is not None and (old != new or old in self.rewritten)
        return self.walk.is_changed(pair) or is_rewritten

    def is_included(self, pair: Pair, *, declared: bool) -> bool:
        """Whether both sides of a pair accept what the other has, or what it declares."""
        return all(self.acceptance.included(pair, sender, declared=declared) == "yes" for sender, _ in DIRECTIONS)

    def is_alike(self, old: Schema, new: Schema) -> bool:
        """Whether two schemas admit the same."""
        relations = (self.acceptance.between(old, new, sender) for sender, _ in DIRECTIONS)
        return old == new or all(relation.verdict.value == "yes" for relation in relations)

    def refusals(self, pair: Pair) -> Iterator[tuple[Revision, Revision]]:
        """The directions in which a value of the sender's definition may be refused, undeclared members and all."""
        for sender, receiver in DIRECTIONS:
            if self.acceptance.included(pair, sender, declared=False) != "yes":
                yield sender, receiver
