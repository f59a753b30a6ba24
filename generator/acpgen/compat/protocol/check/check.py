"""The check of two revisions of a protocol, from the messages to the findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from acpgen import ir
from acpgen.compat.changes import Change
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.findings import BUDGET, CheckResult, Inclusion, Reach
from acpgen.compat.protocol.check import frames, outside_messages
from acpgen.compat.protocol.check.content import Content
from acpgen.compat.protocol.check.context import Context
from acpgen.compat.protocol.check.counterparts import find_file_renames, list_shared_kinds
from acpgen.compat.protocol.check.methods import find_method_changes
from acpgen.compat.protocol.revision import SchemaRevision


def check(old: SchemaRevision, new: SchemaRevision, budget: int = BUDGET, formats: bool = False) -> CheckResult:
    """Compare two revisions within a budget of prover steps; questions that are open when it is spent are undecided.

    `formats` is whether `format` is an assertion or only an annotation.
    """
    context = Context(old, new, budget, formats)
    findings = [*_check_changes(context)]
    unread = [*outside_messages.find_unread_statements(context)]
    differing = [*outside_messages.find_differences(context, findings, frozenset(reach.new_at for reach in unread))]
    reaches = (
        *findings,
        *differing,
        *unread,
        *frames.find_unnamed(context, [*findings, *differing]),
        *outside_messages.find_unstable_differences(context, findings),
    )
    backward = outside_messages.find_inclusion(context, "old", reaches)
    forward = outside_messages.find_inclusion(context, "new", reaches)
    return CheckResult(reaches, Inclusion(backward, forward), outside_messages.measure_coverage(context, reaches))


def _check_changes(context: Context) -> Iterator[Reach]:
    pairs, walk = context.pairs, context.walk
    elsewhere = frozenset(pair for pair in context.held if walk.is_declared(pair)) | {
        messages.pair for messages in pairs
    }
    for messages in pairs:
        walk.visit(messages.pair)
    yield from find_method_changes(context)
    yield from outside_messages.find_unpaired(context)
    yield from frames.find_differences(context)
    root_kinds = frozenset(
        Pair(ir.Ref(name), ir.Ref(name))
        for root in context.roots
        for name in list_shared_kinds(context.old, context.new, root)
    )
    content = Content(context)
    for messages in pairs:
        yield from content.compare(messages, elsewhere if messages.alone else root_kinds)
    yield from content.find_unexplained_refusals()
    files = find_file_renames(context.old, context.new)
    for change in walk.list_documentation_changes():
        if change.kind != "definition" or files.get(change.old) != change.new:
            yield context.report_editorial(change)


def report_restructuring(
    old: SchemaRevision, new: SchemaRevision, old_at: str, new_at: str, broken: tuple[str, ...] | None = None
) -> Reach:
    """The finding that the files differ in nothing that matters, or only in the `broken` classes of generated code, where no other
    finding explains it.
    """
    change = Change("structure", new=broken, detail="classes" if broken else "files", old_at=old_at, new_at=new_at)
    return replace(Context(old, new).report_editorial(change), flow="both")
