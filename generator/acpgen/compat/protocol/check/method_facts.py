"""What changed about methods: which there are, their kinds, positions of params, batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acpgen import ir
from acpgen.compat.changes import Change
from acpgen.compat.diff.methods import compare
from acpgen.compat.findings import Revision
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.check.routes import DIRECTIONS, Joined, pair_of, root_of, sides_of
from acpgen.compat.protocol.check.rulings import UNPROVEN, Rulings
from acpgen.compat.protocol.messages import Part, Route, message
from acpgen.compat.protocol.misread import misread, moved
from acpgen.compat.rules import Flow, judge


class MethodFacts:
    """Tells what changed about methods."""

    def __init__(self, on: Inquiry, rulings: Rulings) -> None:
        self.on = on
        self.rulings = rulings

    def told(self) -> Iterator[Judged]:
        """The findings of all that changed about methods."""
        for change in compare(self.on.old, self.on.new):
            yield self._of_method(change)
        for one, other in self.on.methods:
            yield from self._positions(one, other)
        if self.on.old.protocol.batch != self.on.new.protocol.batch:
            yield from self._batch()

    def _of_method(self, change: Change) -> Judged:
        old, new = change.within
        handler, callers = sides_of(new, self.on.new.protocol.sides)
        part: Part = "result" if change.kind == "null-result" else "params"
        flow: Flow = "both" if handler == callers else "to-caller" if part == "result" else "to-handler"
        routes = Joined((Route("params", old), old.params), (Route("params", new), new.params), flow, handler, callers)
        rule, judgement = judge(change)
        witness = None
        if judgement.carried_by == "old":
            value = self.on.acceptance.carried(pair_of(routes), "old")
            witness = None if value is None else self.on.court.loss(routes.sides, "old", *value)
        return self.rulings.judged(rule, judgement, routes, change, new.name, part, witness)

    def _positions(self, old: ir.Method, new: ir.Method) -> Iterator[Judged]:
        """Params that are read as other params; where all of them are refused, that is told of what refuses them."""
        if old.params is None or new.params is None:
            return
        shapes = self.on.walk.shape(ir.Ref(old.params), 0), self.on.walk.shape(ir.Ref(new.params), 1)
        is_named = all(shape.of("object") for shape in shapes)
        change = moved(old, new, is_named=is_named)
        found = None if change is None else misread(self.on.acceptance, old, new)
        if change is None or found is None:
            return
        handler, callers = sides_of(new, self.on.new.protocol.sides)
        flow: Flow = "both" if handler == callers else "to-handler"
        routes = Joined((Route("params", old), old.params), (Route("params", new), new.params), flow, handler, callers)
        rule, judgement = judge(change)
        witness = None
        if found.value is not None:
            whole = message(self.on.new.protocol.envelope, routes.new[0], found.value)
            verified = all(self.on.court.accepts(routes.sides, revision, whole) for revision, _ in DIRECTIONS)
            witness = self.on.court.carried(routes.sides, whole, "old") if verified else None
        if witness is None:
            judgement = replace(judgement, weight="undetermined", message=f"{judgement.message} {UNPROVEN}")
        yield self.rulings.judged(rule, judgement, routes, change, new.name, "params", witness)

    def _batch(self) -> Iterator[Judged]:
        change = Change(
            "batch",
            self.on.old.protocol.batch or None,
            self.on.new.protocol.batch or None,
            old_at=root_of(self.on.old),
            new_at=root_of(self.on.new),
        )
        rule, judgement = judge(change)
        accepted_by: Revision = "new" if change.new else "old"
        refused_by: Revision = "old" if change.new else "new"
        witness = None
        routes = Joined((Route("document", None), None), (Route("document", None), None), "both", "peer", "peer")
        for one, other in self.on.methods:
            method = Joined((Route("params", one), one.params), (Route("params", other), other.params), "both", "", "")
            value = self.on.acceptance.carried(pair_of(method), accepted_by)
            shown = None if value is None else self.on.court.loss(method.sides, accepted_by, *value)
            if shown is not None and self.on.court.accepts(method.sides, refused_by, shown.value):
                witness = self.on.court.proof(method.sides, [shown.value], accepted_by)
            if witness is not None:
                routes = method
                break
        yield self.rulings.judged(rule, judgement, routes, change, None, "message", witness)
