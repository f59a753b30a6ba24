"""Changes of methods other than the content of their messages: additions, removals, kinds, positions of params, batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from acpgen import ir
from acpgen.compat.changes import Change
from acpgen.compat.diff.methods import compare
from acpgen.compat.findings import Reach, Revision, Witness, get_opposite
from acpgen.compat.protocol.check.context import UNPROVEN, Context
from acpgen.compat.protocol.check.counterparts import DIRECTIONS, MessagePair, make_method_pair
from acpgen.compat.protocol.messages import NO_ROUTE, wrap_message
from acpgen.compat.protocol.sender_schemas import write_schema
from acpgen.compat.rules import judge
from acpgen.input.walk import Schema, is_array


def find_method_changes(context: Context) -> Iterator[Reach]:
    """Yield the findings of all changes of methods."""
    for change in compare(context.old, context.new):
        yield _report_method(context, change)
    for old, new in context.methods:
        yield from _find_moved_params(context, old, new)
    if context.old.protocol.batch != context.new.protocol.batch:
        yield _report_batches(context)


def _report_method(context: Context, change: Change) -> Reach:
    old, new = change.within
    part: Literal["params", "result"] = "result" if change.kind == "null-result" else "params"
    pair = make_method_pair(old, new, part, context.new.protocol.sides)
    judgement = judge(change)
    witness = None
    if judgement.carried_by == "old":
        proof = context.acceptance.find_carried(pair.pair, "old").witness
        witness = context.validator.make_witness(pair.routes, "old", proof, is_refused=False)
    return context.reach(judgement, pair, change, pair.new.part, witness)


def _report_batches(context: Context) -> Reach:
    old, new = context.old.protocol.batch or None, context.new.protocol.batch or None
    change = Change("batch", old, new, **context.locate_roots())
    judgement = judge(change)
    accepted_by: Revision = "new" if change.new else "old"
    refused_by = get_opposite(accepted_by)
    validator = context.validator
    whole = MessagePair(NO_ROUTE, NO_ROUTE)
    for before, after in context.methods:
        pair = make_method_pair(before, after, "params", ())
        proof = context.acceptance.find_carried(pair.pair, accepted_by).witness
        loss = validator.make_witness(pair.routes, accepted_by, proof, is_refused=False)
        if loss is not None and validator.accepts(pair.routes, refused_by, loss.value):
            batch = Witness([loss.value], verified=True, accepted_by=accepted_by, refused_by=refused_by)
            if (witness := validator.confirm(pair.routes, batch, accepted_by)) is not None:
                return context.reach(judgement, whole, change, "message", witness)
    return context.reach(judgement, whole, change, "message")


# --- positions of params ---------------------------------------------------------------------------------------------


def _find_moved_params(context: Context, old: ir.Method, new: ir.Method) -> Iterator[Reach]:
    """Yield a finding if positional params are read as other params. If all of them are refused, the refusal is reported instead.

    If params may also be sent by name, a removed param is reported there.
    """
    changes = [names for names in zip(old.positions, new.positions, strict=False) if names[0] != names[1]]
    if old.params is None or new.params is None or not changes:
        return
    shapes = context.old.get_shape(ir.Ref(old.params)), context.new.get_shape(ir.Ref(new.params))
    is_named = all(shape.select("object") for shape in shapes)
    if is_named and not any(was in new.positions or name in old.positions for was, name in changes):
        return
    misread_values = _find_misread(context, old, new)
    if misread_values is None:
        return
    change = Change("positions", old.positions, new.positions, old_at=old.at, new_at=new.at)
    pair = make_method_pair(old, new, "params", context.new.protocol.sides)
    judgement = judge(change)
    witness = None
    for value in misread_values:
        whole = wrap_message(context.new.protocol.envelope, pair.new, value)
        if all(context.validator.accepts(pair.routes, revision, whole) for revision, _ in DIRECTIONS):
            witness = context.validator.confirm(pair.routes, Witness(whole, verified=True, carried_by="old"), "old")
    if witness is None:
        judgement = replace(judgement, effect="undetermined", message=f"{judgement.message} {UNPROVEN}")
    yield context.reach(judgement, pair, change, "params", witness)


def _find_misread(context: Context, old: ir.Method, new: ir.Method) -> list[ir.JSON] | None:
    """Params that one revision assigns to other names than the other does; `None` if all such params are refused.

    Empty if none were found but it is not proven that there are none.
    """
    accepted, refused = write_schema(ir.Ref(old.params or "")), {"not": write_schema(ir.Ref(new.params or ""))}

    def find_common(demand: Schema) -> tuple[ir.JSON, bool]:
        """An example of params that both revisions accept, if one was found; and whether it is undecided that there is none."""
        relation = context.acceptance.include({"allOf": [accepted, demand]}, refused, "old")
        example = None if relation.witness is None else relation.witness.value
        return example, example is None and relation.verdict.value != "yes"

    is_open = False
    for index, name in enumerate(old.positions[: len(new.positions)]):
        if new.positions[index] == name:
            continue
        example, doubtful = find_common({"type": "array", "minItems": index + 1})
        moved_to = new.positions.index(name) if name in new.positions else None
        if (
            is_array(example)
            and moved_to is not None
            and moved_to < len(example)
            and example[index] == example[moved_to]
        ):
            example, doubtful = find_common(_write_difference(index, moved_to, example[index]))
        if example is not None:
            return [example]
        is_open |= doubtful
    return [] if is_open else None


def _write_difference(index: int, moved_to: int, value: ir.JSON) -> Schema:
    """The schema of lists with a value at one position and a different value at the other."""
    entries: list[Any] = [{}] * (max(index, moved_to) + 1)
    entries[index], entries[moved_to] = {"const": value}, {"not": {"const": value}}
    return {"type": "array", "minItems": len(entries), "prefixItems": entries}
