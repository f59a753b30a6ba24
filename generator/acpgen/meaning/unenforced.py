"""What decoding does not enforce: what neither types nor checks can judge, and what people are told of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from acpgen.pointers import place_parts
from acpgen.schema.drafts import as_written

if TYPE_CHECKING:
    from acpgen import ir
    from acpgen.meaning.checks import Checks
    from acpgen.schema.bundle import Bundle

Gaps: TypeAlias = "Mapping[str, Mapping[str, str]]"
"""The keywords that decoding does not enforce, as places in the schema files, by definition. With each stands what strict validators do
not enforce of it either, and why; nothing, if they enforce all.
"""

FEW: Final = 8
"""As many definitions, and keywords of one, are named."""


def gaps(protocol: ir.Protocol, bundle: Bundle) -> Gaps:
    """What decoding the definitions of a protocol does not enforce; a definition that enforces all is left out."""
    from acpgen.meaning.checks import checks

    return gaps_of(checks(protocol, bundle), bundle)


def gaps_of(found: Checks, bundle: Bundle) -> Gaps:
    """What checks leave, as places in the schema files."""
    return {
        name: {as_written(place, bundle.sources): gap for place, gap in places.items()}
        for name, places in found.left.items()
    }


def told(label: str, found: Gaps) -> tuple[str, ...]:
    """The lines for people: how much, and of the first definitions where."""
    if not found:
        return ()
    count = sum(map(len, found.values()))
    open_to_all = {place: gap for places in found.values() for place, gap in places.items() if gap}
    but = f", but not {_counted(len(open_to_all), 'pattern')}" if open_to_all else ""
    head = (
        f"{label}: decode does not enforce {_counted(count, 'keyword')} of {_counted(len(found), 'definition')}. "
        f"validate does (extra strict){but}; the package lists every place in UNENFORCED."
    )
    rest = len(found) - FEW
    lines = [f"  {name}: {_summary(places)}" for name, places in [*found.items()][:FEW]]
    more = [f"  and {_counted(rest, 'more definition', 'more definitions')}"] if rest > 0 else []
    return (
        head,
        *lines,
        *more,
        *(f"  {place}: no validator here enforces it: {gap}" for place, gap in open_to_all.items()),
    )


def _summary(places: Iterable[str]) -> str:
    """The keywords of a definition with their numbers, and the first place."""
    first = next(iter(places))
    counts = Counter(_keyword(place) for place in places)
    named = [f"{keyword} ({count} times)" if count > 1 else keyword for keyword, count in [*counts.items()][:FEW]]
    more = [f"{len(counts) - FEW} more"] if len(counts) > FEW else []
    return f"{', '.join([*named, *more])}; {'the first ' if sum(counts.values()) > 1 else ''}at {first}"


def _keyword(place: str) -> str:
    """The keyword at the end of a place, or the one that holds the schema there."""
    parts = place_parts(place)
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-2] in ("properties", "patternProperties")):
        parts = parts[:-1]
    return parts[-1] if parts else "#"


def _counted(count: int, noun: str, several: str = "") -> str:
    return f"{count} {noun if count == 1 else several or f'{noun}s'}"
