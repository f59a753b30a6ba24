"""What decoding does not enforce: what neither types nor checks can judge, and what people are told of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acpgen.pointers import place_parts, pointer, pointer_parts
from acpgen.schema.walk import is_array, is_object

if TYPE_CHECKING:
    from acpgen import ir
    from acpgen.meaning.checks import Checks
    from acpgen.schema.bundle import Bundle

Gaps: TypeAlias = "Mapping[str, tuple[str, ...]]"
"""The keywords that decoding does not enforce, as places in the schema files, by definition."""

FEW: Final = 8
"""As many definitions, and keywords of one, are named."""

_WRITTEN_AS: Final[Mapping[str, tuple[str, ...]]] = {
    "$defs": ("definitions",),
    "prefixItems": ("items",),
    "items": ("additionalItems",),
    "dependentRequired": ("dependencies",),
    "dependentSchemas": ("dependencies",),
}
"""The names that keywords of 2020-12 have in earlier drafts."""


def gaps(protocol: ir.Protocol, bundle: Bundle) -> Gaps:
    """What decoding the definitions of a protocol does not enforce; a definition that enforces all is left out."""
    from acpgen.meaning.checks import checks

    return gaps_of(checks(protocol, bundle), bundle)


def gaps_of(found: Checks, bundle: Bundle) -> Gaps:
    """What checks leave, as places in the schema files."""
    return {
        name: tuple(dict.fromkeys(as_written(place, bundle.sources) for place in places))
        for name, places in found.left.items()
    }


def as_written(at: str, sources: Mapping[str, Any]) -> str:
    """A place of a bundle as its file has it; of what the bundle puts elsewhere, the nearest place that the file has."""
    path, _, fragment = at.partition("#")
    node: Any = sources.get(path)
    found: list[str] = []
    for part in pointer_parts(fragment):
        key = next((name for name in (part, *_WRITTEN_AS.get(part, ())) if _has(node, name)), None)
        if part == key == "items" and is_array(node["items"]):  # a tuple of earlier drafts
            key = "additionalItems" if "additionalItems" in node else None
        if key is None:
            break
        node = node[int(key)] if is_array(node) else node[key]
        found.append(key)
    return path + pointer(*found)


def _has(node: Any, key: str) -> bool:
    return (is_object(node) and key in node) or (is_array(node) and key.isdigit() and int(key) < len(node))


def told(label: str, found: Gaps) -> tuple[str, ...]:
    """The lines for people: how much, and of the first definitions where."""
    if not found:
        return ()
    count = sum(map(len, found.values()))
    head = (
        f"{label}: decode does not enforce {_counted(count, 'keyword')} of {_counted(len(found), 'definition')}. "
        "validate does (extra strict); the package lists every place in UNENFORCED."
    )
    rest = len(found) - FEW
    lines = [f"  {name}: {_summary(places)}" for name, places in [*found.items()][:FEW]]
    return (head, *lines, *([f"  and {_counted(rest, 'more definition', 'more definitions')}"] if rest > 0 else []))


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
