"""Which step brought each finding between the oldest and the newest revision.

A finding may come, go and come back: the step is the last one after which it stays. Where all revisions were compared with the oldest
one, that step is read off; elsewhere the steps that show the same finding by themselves are tried first, then what is left is halved.
What was renamed first and removed later is gone for peers of the oldest revision since it was renamed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from acpgen.compat.findings import SEVERITIES
from acpgen.compat.history.timeline import Milestone, Origin

if TYPE_CHECKING:
    from acpgen.compat.history.comparisons import Comparisons
    from acpgen.compat.protocol.check.judged import Judged

Key: TypeAlias = "tuple[str | None, ...]"
"""What tells a finding between two revisions from others between the same two."""

_RENAMED: Final = {
    "method-removed": "method-renamed",
    "field-removed": "field-renamed",
    "required-field-removed": "field-renamed",
    "variant-removed": "variant-renamed",
    "closed-variant-removed": "variant-renamed",
}
"""What takes a name from peers that know no other, by what takes the thing."""


def origins(comparisons: Comparisons, milestones: Sequence[Milestone]) -> tuple[Origin, ...]:
    """The findings of the whole span, worst first, then by step; those of one step that say the same together."""
    last = len(milestones) - 1
    dating = _Dating(comparisons)
    folded: dict[Origin, list[str]] = {}
    for judged in dating.found(0, last).values():
        if judged.severity != "editorial":
            step = dating.step(judged, last)
            names = milestones[step - 1].name, milestones[step].name
            origin = Origin(judged.rule, judged.severity, judged.said, (), *names, dating.is_exact(step, last))
            folded.setdefault(origin, []).append(judged.declaration)
    order = {milestone.name: number for number, milestone in enumerate(milestones)}
    told = (replace(origin, declarations=tuple(sorted(set(names)))) for origin, names in folded.items())
    return tuple(sorted(told, key=lambda each: (SEVERITIES.index(each.severity), order[each.new])))


class _Dating:
    def __init__(self, comparisons: Comparisons) -> None:
        self._comparisons = comparisons
        self._known: dict[tuple[int, int], dict[Key, Judged]] = {}

    def step(self, judged: Judged, last: int) -> int:
        """The number of the revision since which a finding between the first and the last one stands."""
        known = (number for number in range(last) if self._comparisons.is_known(0, number))
        absent = max(number for number in known if not self._stands(judged, number))
        present = last
        for number in [each for each in range(last, absent, -1) if self._is_told(judged, each - 1, each)]:
            if not absent < number <= present:
                continue
            if not self._stands(judged, number):
                absent = number
            elif not self._stands(judged, number - 1):
                return number
            else:
                present = number - 1
        while present - absent > 1:
            middle = (absent + present) // 2
            if self._stands(judged, middle):
                present = middle
            else:
                absent = middle
        return present

    def is_exact(self, step: int, last: int) -> bool:
        """Whether each revision from a step on was compared with the first one."""
        return all(self._comparisons.is_known(0, number) for number in range(step, last))

    def found(self, old: int, new: int) -> dict[Key, Judged]:
        """The findings between two revisions."""
        if old == new or self._comparisons.groups[old] == self._comparisons.groups[new]:
            return {}
        if (old, new) not in self._known:
            found = self._comparisons.between(old, new)
            self._known[old, new] = {} if found is None else {_key(each): each for each in found.judged}
        return self._known[old, new]

    def _stands(self, judged: Judged, number: int) -> bool:
        """Whether a finding stands between the first revision and another one."""
        return self._is_told(judged, 0, number)

    def _is_told(self, judged: Judged, old: int, new: int) -> bool:
        """Whether a finding is one between two revisions, or what it says is gone has another name in the newer one."""
        found = self.found(old, new)
        renamed = _RENAMED.get(judged.rule)
        return _key(judged) in found or (
            renamed is not None
            and any(each.rule == renamed and _former(each) == _former(judged) for each in found.values())
        )


def _key(judged: Judged) -> Key:
    return judged.rule, judged.severity, judged.method, judged.flow, judged.location, judged.subject


def _former(judged: Judged) -> Key:
    """What a finding takes from peers of the older revision."""
    return judged.severity, judged.method, judged.flow, judged.old_at
