"""What changed about methods: which there are, their kinds, positions of params, batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acpgen import ir
from acpgen.compat.findings import Revision
from acpgen.compat.protocol import policy
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.check.routes import DIRECTIONS, Joined, is_heir, pair_of, root_of, sides_of
from acpgen.compat.protocol.check.rulings import UNPROVEN, Rulings
from acpgen.compat.protocol.facts import (
    BatchChanged,
    Fact,
    GateChanged,
    MethodAdded,
    MethodKindChanged,
    MethodRemoved,
    NullResultChanged,
)
from acpgen.compat.protocol.messages import Part, Route, message
from acpgen.compat.protocol.misread import misread, moved
from acpgen.compat.protocol.rules.rulebook import judge


class MethodFacts:
    """Tells what changed about methods."""

    def __init__(self, on: Inquiry, rulings: Rulings) -> None:
        self.on = on
        self.rulings = rulings

    def told(self) -> Iterator[Judged]:
        """The findings of all that changed about methods."""
        before = {(m.name, m.side, m.kind): m for m in self.on.old.methods}
        after = {(m.name, m.side, m.kind): m for m in self.on.new.methods}
        kinds_before = {(m.name, m.side): m for m in self.on.old.methods}
        kinds_after = {(m.name, m.side): m for m in self.on.new.methods}
        several = [(m.name, m.side) for m in self.on.new.methods]
        for key, method in before.items():
            if key in after:
                continue
            twin = kinds_after.get(key[:2])
            if twin is not None and several.count(key[:2]) == 1 and (*key[:2], twin.kind) not in before:
                fact: Fact = MethodKindChanged(method, twin, old_at=method.at, new_at=twin.at)
            else:
                heir = next((m for m in self.on.new.methods if is_heir(m, method)), None)
                fact = MethodRemoved(
                    method, heir.name if heir else None, old_at=method.at, new_at=heir.at if heir else ""
                )
            yield self._of_method(fact, method, method)
        for key, method in after.items():
            renamed = any(is_heir(method, m) for m in self.on.old.methods if (m.name, m.side, m.kind) not in after)
            if (
                key not in before
                and not renamed
                and not ((twin := kinds_before.get(key[:2])) is not None and (*key[:2], twin.kind) not in after)
            ):
                yield self._of_method(MethodAdded(method, old_at="", new_at=method.at), method, method)
        for one, other in self.on.methods:
            at = {"old_at": one.at, "new_at": other.at}
            if one.capability != other.capability and not (
                one.capability is None and self.on.old.may_gate(other.capability)
            ):
                fact = GateChanged(f"method {other.name!r}", "", one.capability, other.capability, **at)
                yield self._of_method(fact, one, other)
            if one.null_result != other.null_result:
                yield self._of_method(NullResultChanged(other.null_result, **at), one, other)
            yield from self._positions(one, other)
            if one.batch != other.batch and self.on.old.protocol.batch == self.on.new.protocol.batch:
                yield self._of_method(BatchChanged(other.batch is None, other.name, **at), one, other)
        if self.on.old.protocol.batch != self.on.new.protocol.batch:
            yield from self._batch()

    def _of_method(self, fact: Fact, old: ir.Method, new: ir.Method) -> Judged:
        handler, callers = sides_of(new, self.on.new.protocol.sides)
        part: Part = "result" if isinstance(fact, NullResultChanged) else "params"
        flow: policy.Flow = "both" if handler == callers else "to-caller" if part == "result" else "to-handler"
        routes = Joined((Route("params", old), old.params), (Route("params", new), new.params), flow, handler, callers)
        rule, judgement = judge(fact)
        witness = None
        if judgement.carried_by == "old":
            value = self.on.acceptance.carried(pair_of(routes), "old")
            witness = None if value is None else self.on.court.loss(routes.sides, "old", *value)
        return self.rulings.judged(rule, judgement, routes, fact, new.name, part, witness, proven=witness is not None)

    def _positions(self, old: ir.Method, new: ir.Method) -> Iterator[Judged]:
        """Params that are read as other params; where all of them are refused, that is told of what refuses them."""
        if old.params is None or new.params is None:
            return
        shapes = self.on.walk.shape(ir.Ref(old.params), 0), self.on.walk.shape(ir.Ref(new.params), 1)
        is_named = all(shape.of("object") for shape in shapes)
        fact = moved(old, new, is_named=is_named)
        found = None if fact is None else misread(self.on.acceptance, old, new)
        if fact is None or found is None:
            return
        handler, callers = sides_of(new, self.on.new.protocol.sides)
        flow: policy.Flow = "both" if handler == callers else "to-handler"
        routes = Joined((Route("params", old), old.params), (Route("params", new), new.params), flow, handler, callers)
        rule, judgement = judge(fact)
        witness = None
        if found.value is not None:
            whole = message(self.on.new.protocol.envelope, routes.new[0], found.value)
            verified = all(self.on.court.accepts(routes.sides, revision, whole) for revision, _ in DIRECTIONS)
            witness = self.on.court.carried(routes.sides, whole, "old") if verified else None
        if witness is None:
            judgement = replace(judgement, weight="undetermined", message=f"{judgement.message} {UNPROVEN}")
        yield self.rulings.judged(rule, judgement, routes, fact, new.name, "params", witness, proven=True)

    def _batch(self) -> Iterator[Judged]:
        fact = BatchChanged(self.on.new.protocol.batch, old_at=root_of(self.on.old), new_at=root_of(self.on.new))
        rule, judgement = judge(fact)
        accepted_by: Revision = "new" if fact.allowed else "old"
        refused_by: Revision = "old" if fact.allowed else "new"
        witness = None
        routes = Joined((Route("document", None), None), (Route("document", None), None), "both", "peer", "peer")
        for one, other in self.on.methods:
            method = Joined((Route("params", one), one.params), (Route("params", other), other.params), "both", "", "")
            value = self.on.acceptance.carried(pair_of(method), accepted_by)
            shown = None if value is None else self.on.court.loss(method.sides, accepted_by, *value)
            if (
                shown is not None
                and self.on.court.confirms(method.sides, accepted_by, [shown.value])
                and self.on.court.accepts(method.sides, refused_by, shown.value)
            ):
                routes, witness = method, self.on.court.proof(method.sides, [shown.value], accepted_by)
            if witness is not None:
                break
        yield self.rulings.judged(rule, judgement, routes, fact, None, "message", witness, proven=witness is not None)
