"""Facts about booleans, strings and numbers at one place: limits, known constants and their openness."""

from __future__ import annotations

from collections.abc import Iterable

from acpgen import ir
from acpgen.compat.protocol import leaves
from acpgen.compat.protocol.comparison import Comparison
from acpgen.compat.protocol.facts import (
    FactPlaces,
    OpennessChanged,
    ValueAdded,
    ValueRemoved,
    ValuesNamed,
    ValuesUnnamed,
)
from acpgen.compat.protocol.heirs import heirs, likely
from acpgen.compat.protocol.shapes import Alternative, Constants, key_of_value


def booleans(work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
    """Which of true and false each side admits."""
    values = [a for a in old if isinstance(a, Constants)], [a for a in new if isinstance(a, Constants)]
    free = any(isinstance(a, ir.Boolean) for a in old), any(isinstance(a, ir.Boolean) for a in new)
    if free == (True, True):
        return
    known = [{v.value for group in side for v in group.values} for side in values]
    admitted = [{True, False} if is_free else found for is_free, found in zip(free, known, strict=True)]
    before, after = admitted
    words = _set(before), _set(after)
    gone = leaves.limits("enum", sorted(before - after, key=str), *words, "old", work.at())
    come = leaves.limits("enum", sorted(after - before, key=str), *words, "new", work.at())
    work.fact(*leaves.together([*gone, *come]))


def scalars(work: Comparison, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
    """Strings or numbers: their known constants, and the limits of the others."""
    old_values, new_values = _merged(old), _merged(new)
    old_free, new_free = _free(old), _free(new)
    if old_values is not None and new_values is not None:
        values(work, old_values, new_values)
    elif new_values is not None and old_free and new_free:
        work.fact(ValuesNamed(new_values, old_at=work.old_at, new_at=new_values.at))
    elif old_values is not None and new_free and old_free:
        work.fact(ValuesUnnamed(old_values, old_at=old_values.at, new_at=work.new_at))
    work.fact(*leaves.scalar_limits(old_values, old_free, new_values, new_free, work.at()))


def values(work: Comparison, old: Constants, new: Constants) -> None:
    """Two sets of known constants, and what happens to others."""
    at: FactPlaces = {"old_at": old.at or work.old_at, "new_at": new.at or work.new_at}
    before = {key_of_value(v.value): v for v in old.values}
    after = {key_of_value(v.value): v for v in new.values}
    called = heirs(before, after)
    gone = [one for key, one in before.items() if key not in after and key not in called]
    added = [one for key, one in after.items() if key not in before and key not in called.values()]
    seems = likely(gone, added, work.said(gone, added))
    for key, value in before.items():
        if key not in after:
            heir = str(after[called[key]].value) if key in called else None
            places: FactPlaces = {"old_at": value.at or at["old_at"], "new_at": at["new_at"]}
            work.fact(ValueRemoved(old, new, value, heir, seems.get(str(value.value)), **places))
        else:
            other = after[key]
            work.gate(f"value {value.value!r}", "", value.capability, other.capability, value.at, other.at)
            work.words(f"{value.value!r}", value.doc, other.doc, value.at, other.at)
    for key, value in after.items():
        if key not in before:
            was = next((str(before[known].value) for known, heir in called.items() if heir == key), None)
            work.fact(ValueAdded(old, new, value, was, old_at=at["old_at"], new_at=value.at or at["new_at"]))
    if old.openness != new.openness:
        work.fact(OpennessChanged("enum", new.name or old.name or "", None, old.openness, new.openness, **at))


def _merged(alternatives: Iterable[Alternative]) -> Constants | None:
    """All known constants of a kind as one set; open if any of the alternatives admits others."""
    groups = [each for each in alternatives if isinstance(each, Constants)]
    if not groups:
        return None
    first = groups[0]
    if len(groups) == 1 and not _free(alternatives):
        return first
    free = _free(alternatives)
    openness: ir.Openness = "open" if free else first.openness
    values = {key_of_value(v.value): v for group in reversed(groups) for v in group.values}
    return Constants(tuple(values.values()), openness, free[0] if free else None, first.name, first.at)


def _free(alternatives: Iterable[Alternative]) -> tuple[ir.Number | ir.String, ...]:
    """The types of a scalar kind that admit more than known constants."""
    found: list[ir.Number | ir.String] = []
    for each in alternatives:
        if isinstance(each, ir.Number | ir.String):
            found.append(each)
        elif isinstance(each, Constants) and isinstance(each.base, ir.Number | ir.String):
            found.append(each.base)
    return tuple(dict.fromkeys(found))


def _set(values: Iterable[object]) -> str:
    return ", ".join(sorted(str(value).lower() for value in values)) or "nothing"
