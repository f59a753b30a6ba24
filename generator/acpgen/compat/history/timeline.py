"""A history as data: its revisions, the steps between them with the version that each needs, and what was broken by which step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from acpgen.compat.findings import Report, Severity, failing
from acpgen.compat.project_releases import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpgen.compat.findings import Verdict

Size: TypeAlias = Literal["none", "patch", "minor", "major"]
"""How much of a version number changes."""


@dataclass(frozen=True, slots=True)
class Milestone:
    """One revision: a release, a commit or a file.

    `subject`, `day` (an ISO date) and `tags` are those of a commit; a release has its title as a tag.
    `unread` says why the schema cannot be read, a line each.
    """

    name: str
    subject: str = ""
    day: str = ""
    tags: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What people call it: its first tag, if it has one."""
        return self.tags[0] if self.tags else self.name


@dataclass(frozen=True, slots=True)
class Bump:
    """What a step means for the version by Semantic Versioning.

    `needed` is how much must change, `None` where the step could not be compared. `made` is how much the names of the two releases differ,
    `None` where they are no such versions. Below 1.0.0 a break needs a minor version and all else a patch, as package managers read it;
    a pre-release may hold anything.
    """

    needed: Size | None
    made: Size | None = None
    zero: bool = False
    prerelease: bool = False

    @property
    def is_enough(self) -> bool | None:
        """Whether the version says what the step does; `None` where that cannot be told."""
        if self.needed is None or self.made is None or self.prerelease:
            return None
        return SIZES.index(self.made) >= SIZES.index(self.needed)


SIZES: Final[tuple[Size, ...]] = ("none", "patch", "minor", "major")
"""Smallest first."""

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
    changed: list[Size] = [
        size for size, one, other in zip(reversed(SIZES), before[:3], after[:3], strict=False) if one != other
    ]
    made: Size = changed[0] if changed else "none"
    return Bump(needed, made, is_below, bool(after[3]))


def _version(milestone: Milestone) -> tuple[int, int, int, str] | None:
    """The version that a tag or the name is."""
    return next((found for text in (*milestone.tags, milestone.name) if (found := numbers(text)) is not None), None)


@dataclass(frozen=True, slots=True)
class Stride:
    """From one revision that could be read to the next. `report` is `None` where the two could not be compared: `failure` says why."""

    old: Milestone
    new: Milestone
    report: Report | None
    bump: Bump
    failure: str = ""

    def counts(self, fail_on: str) -> bool:
        """Whether something of it counts under `--fail-on`."""
        return fail_on != "never" if self.report is None else bool(failing(self.report, fail_on))


@dataclass(frozen=True, slots=True)
class Origin:
    """Something that the newest revision does to peers of the oldest, and the step since which it does.

    `declarations` are what changed so.
    """

    rule: str
    severity: Severity
    message: str
    declarations: tuple[str, ...]
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The history of one schema, oldest first. `notes` say what was left out, and where the schema stood before.

    `origins` are the findings between the oldest and the newest revision that could be read.
    """

    about: str
    milestones: tuple[Milestone, ...]
    strides: tuple[Stride, ...]
    origins: tuple[Origin, ...]
    notes: tuple[str, ...] = ()

    @property
    def unread(self) -> tuple[Milestone, ...]:
        """The revisions that could not be read."""
        return tuple(each for each in self.milestones if each.unread)

    def fails(self, fail_on: str) -> bool:
        """Whether a step counts under `--fail-on`; what could not be read or compared does, but for `never`."""
        return fail_on != "never" and (bool(self.unread) or any(each.counts(fail_on) for each in self.strides))
