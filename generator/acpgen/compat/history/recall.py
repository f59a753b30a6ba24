"""Comparisons that are kept: what the rules said of two revisions, as JSON that is read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, cast

from acpgen import provenance
from acpgen.compat.compare import Side, checked
from acpgen.compat.findings import Coverage, Inclusion, Uncompared, Witness
from acpgen.compat.protocol.check.judged import Checked, Judged
from acpgen.compat.remembering import once
from acpgen.ir import JSON
from acpgen.kept import Kept

COMPARING: Final = ("acpgen.compat.compare", "acpgen.compat.history.recall")
"""The modules by which two sides are compared."""

_JUDGED: Final = tuple(field.name for field in fields(Judged))
_TUPLES: Final = ("cause", "refuses", "doubtful")
_WITNESS: Final = tuple(field.name for field in fields(Witness))


@dataclass(frozen=True, slots=True)
class Remembered:
    """Comparisons of sides, by their numbers. `contents` are what each side is made of."""

    sides: Sequence[Side]
    contents: Sequence[tuple[str, ...]]
    kept: Kept

    def __call__(self, old: int, new: int) -> Checked:
        """What the rules say of two sides: as it is kept, or compared now and kept. Raises `Faults`."""
        parts = (*self.contents[old], "", *self.contents[new])

        def made() -> JSON:
            return as_data(checked(self.sides[old], self.sides[new]))

        return from_data(once(self.kept, provenance.code(*COMPARING), "checked", parts, made))


def as_data(checked: Checked) -> JSON:
    """A list of what was judged, the relation of all messages, and the coverage, each a list in the order of its fields."""
    coverage = checked.coverage
    return [
        [[_plain(getattr(judged, name)) for name in _JUDGED] for judged in checked.judged],
        [checked.language.backward, checked.language.forward],
        [
            coverage.methods,
            coverage.definitions,
            coverage.compared,
            [[each.name, each.reason] for each in coverage.not_compared],
        ],
    ]


def from_data(data: JSON) -> Checked:
    """What `as_data` was given."""
    judged, language, (methods, definitions, compared, not_compared) = cast("Any", data)
    return Checked(
        judged=tuple(_judged(dict(zip(_JUDGED, each, strict=True))) for each in judged),
        language=Inclusion(*language),
        coverage=Coverage(methods, definitions, compared, tuple(Uncompared(*each) for each in not_compared)),
    )


def _plain(value: Any) -> JSON:
    if isinstance(value, Witness):
        return [getattr(value, name) for name in _WITNESS]
    return list(cast("tuple[JSON, ...]", value)) if isinstance(value, tuple) else cast("JSON", value)


def _judged(told: dict[str, Any]) -> Judged:
    told.update((name, tuple(told[name])) for name in _TUPLES)
    if told["witness"] is not None:
        told["witness"] = Witness(**dict(zip(_WITNESS, told["witness"], strict=True)))
    return Judged(**told)
