"""What no validator enforces: patterns that ECMA-262 does not define or that no engine here can check, and what people are told of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from acpgen.input.drafts import as_written

if TYPE_CHECKING:
    from acpgen import ir
    from acpgen.bundle.bundle import Bundle

Gaps: TypeAlias = "Mapping[str, Mapping[str, str]]"
"""The keywords that neither decoding nor validation enforces, as places in the schema files, by definition; with each the reason."""

FEW: Final = 8
"""As many places are named."""


def gaps(protocol: ir.Protocol, bundle: Bundle) -> Gaps:
    """What no validator enforces of the definitions of a protocol, as places in the schema files; a definition of which all is enforced is
    left out.
    """
    from acpgen.meaning.unchecked_patterns import unchecked

    return {
        name: {as_written(place, bundle.sources): gap for place, gap in places.items()}
        for name, places in unchecked(protocol, bundle).items()
    }


def told(label: str, found: Gaps) -> tuple[str, ...]:
    """The lines for people: how many, and of the first where and why."""
    every = {place: gap for places in found.values() for place, gap in places.items()}
    if not every:
        return ()
    head = (
        f"{label}: no validator here enforces {_counted(len(every), 'pattern')} of {_counted(len(found), 'definition')}; "
        f"the package lists every place in UNENFORCED."
    )
    lines = [f"  {place}: {gap}" for place, gap in [*every.items()][:FEW]]
    rest = len(every) - FEW
    return (head, *lines, *([f"  and {_counted(rest, 'more pattern')}"] if rest > 0 else []))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun}s'}"
