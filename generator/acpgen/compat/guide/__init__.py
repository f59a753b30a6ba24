"""The migration guide between two versions: what the new version says of the old one, and what the check found, told to those who must
change their code.

What was found is grouped by area (the schema file in which a method stands) and method. Each method shows a smallest message of both
versions, what the sender does differently, and what it may do besides. Two tables hold what stands in many methods: capabilities, and
the types that have come, gone or been renamed.

That something is gone is computed; what takes its place is not. The new version says it by `x-migration`; where it does not, the guide
says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from acpgen.compat import moves
from acpgen.compat.guide import entries, told_capabilities, told_methods, told_types
from acpgen.compat.protocol.check.check import check
from acpgen.compat.protocol.revision import Revised
from acpgen.markup import code, plain


def guide(old: Revised, new: Revised) -> str:
    """The guide from one version to the next, as Markdown."""
    return "\n".join(_lines(old, new)).rstrip() + "\n"


def _lines(old: Revised, new: Revised) -> Iterator[str]:
    judged = check(old, new).judged
    mine = [each for each in judged if each.severity != "editorial"]
    where = "where each thing went, checklists by role, and " if new.bundle.moves else ""
    yield f"# Migration guide: {plain(old.protocol.name)} to {plain(new.protocol.name)}\n"
    yield (
        f"How to move an implementation from {code(old.protocol.name)} to {code(new.protocol.name)}: {where}every difference between "
        "the two schemas. Every message in this guide was checked against the schema of its version.\n"
    )
    yield from told_methods.overview(old, new, judged)
    yield from moves.lines(old, new)
    yield "\n## What the schemas say\n"
    yield "All differences between the schemas of the two versions, by method. They are computed, so none is left out.\n"
    for area, names in told_methods.areas(old, new).items():
        yield f"\n## {plain(area)}: methods"
        for name in names:
            yield from told_methods.told(name, [each for each in mine if each.method == name], old, new)
    rest = [each for each in mine if each.method is None]
    if rest:
        yield "\n## Every message\n"
        yield from entries.grouped(rest, old, new)
    yield from told_capabilities.lines(old, new)
    yield from told_types.lines(old, new)
