"""The check of two revisions of a protocol, from the routes to the findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acpgen import ir
from acpgen.compat.changes import Change
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import BUDGET
from acpgen.compat.protocol.bindings import broken
from acpgen.compat.protocol.check.around import Around
from acpgen.compat.protocol.check.inclusion import Inclusions
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.inside import Inside
from acpgen.compat.protocol.check.judged import Checked, Judged
from acpgen.compat.protocol.check.method_facts import MethodFacts
from acpgen.compat.protocol.check.rulings import Rulings
from acpgen.compat.protocol.check.statements import Statements
from acpgen.compat.protocol.check.unnamed import Unnamed
from acpgen.compat.protocol.covered import of_files
from acpgen.compat.protocol.revision import Revised


def check(old: Revised, new: Revised, budget: int = BUDGET, formats: bool = False) -> Checked:
    """Compare two revisions within a budget, in steps: what is left when it is spent is undecided. `formats` are asserted, or annotate."""
    on = Inquiry(old, new, budget, formats)
    rulings = Rulings(on)
    around, unnamed, inclusions = Around(on, rulings), Unnamed(on, rulings), Inclusions(on)
    found = [*_found(on, rulings, around, unnamed)]
    differing = [*unnamed.written_differently(found)]
    judged = (*found, *differing, *unnamed.unread(), *around.frames([*found, *differing]), *unnamed.left_out(found))
    return Checked(judged, inclusions.language(judged), inclusions.coverage(judged))


def _found(on: Inquiry, rulings: Rulings, around: Around, unnamed: Unnamed) -> Iterator[Judged]:
    """The findings of all changes."""
    pairs = on.pairs
    elsewhere = frozenset(pair for pair in on.walk.nodes if pair.is_named) | {pair for _, pair in pairs}
    for _, pair in pairs:
        on.walk.visit(pair)
    yield from MethodFacts(on, rulings).told()
    yield from around.envelopes()
    yield from unnamed.without_counterpart()
    yield from around.whole_messages()
    yield from around.roots()
    known = frozenset(Pair(ir.Ref(name), ir.Ref(name)) for root in on.roots for name in on.kinds(root))
    inside = Inside(on, Statements(on, rulings))
    for each, pair in pairs[: len(on.routes)]:
        yield from inside.compared(each, pair, known)
    for each, pair in pairs[len(on.routes) :]:
        yield from inside.compared(each, pair, elsewhere)
    yield from inside.unexplained()
    files = of_files(on.old, on.new)
    for change in on.walk.paper_changes():
        if change.kind != "definition" or files.get(change.old) != change.new:
            yield rulings.on_paper(change)


def rewritten(old: Revised, new: Revised, old_at: str, new_at: str) -> Judged:
    """The finding that names the classes of generated code that differ, where nothing else says why."""
    change = Change("structure", new=broken(old, new), old_at=old_at, new_at=new_at)
    return replace(Rulings(Inquiry(old, new)).on_paper(change), flow="both")


def restructured(old: Revised, new: Revised, old_at: str, new_at: str) -> Judged:
    """The finding that says that the files differ in nothing that matters."""
    change = Change("structure", old_at=old_at, new_at=new_at)
    return replace(Rulings(Inquiry(old, new)).on_paper(change), flow="both")
