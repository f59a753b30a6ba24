"""What a step means for the version number, by Semantic Versioning 2.0.0 and the reading of 0.x that package managers have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acpgen.compat.findings import Verdict
from acpgen.compat.history.timeline import SIZES, Bump, Milestone, Size
from acpgen.compat.numbering import numbers

_NEEDED: Final[Mapping[Verdict, Size]] = {
    "breaking": "major",
    "undecided": "major",
    "risky": "major",
    "additive": "minor",
    "editorial": "patch",
    "identical": "none",
}
"""What nobody has proven to be safe, and what strict peers refuse, needs what a break needs."""

_BELOW_ONE: Final[Mapping[Size, Size]] = {"major": "minor", "minor": "patch", "patch": "patch", "none": "none"}


def bump(verdict: Verdict | None, old: Milestone, new: Milestone) -> Bump:
    """The advice for a step of this verdict, `None` where there is none, and what the two revisions made of it."""
    needed = None if verdict is None else _NEEDED[verdict]
    before, after = _version(old), _version(new)
    if before is None or after is None:
        return Bump(needed)
    is_below = before[0] == 0 and after[0] == 0
    if needed is not None and is_below:
        needed = _BELOW_ONE[needed]
    return Bump(needed, _made(before[:3], after[:3]), is_below, bool(after[3]))


def _version(milestone: Milestone) -> tuple[int, int, int, str] | None:
    """The version that a tag or the name is."""
    return next((found for text in (*milestone.tags, milestone.name) if (found := numbers(text)) is not None), None)


def _made(old: tuple[int, ...], new: tuple[int, ...]) -> Size:
    largest: tuple[Size, ...] = ("major", "minor", "patch")
    changed: list[Size] = [size for size, before, after in zip(largest, old, new, strict=True) if before != after]
    return changed[0] if changed else SIZES[0]
