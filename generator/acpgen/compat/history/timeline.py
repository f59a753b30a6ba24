"""A history: its revisions, the steps between them with the version that each needs, and what was broken by which step.

Each revision is compared with the one before it, and with the first one. Neither is composed of the other: a field that one step drops and
the next one claims for something else is harmless in each step, and refused across both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from acpgen.compat.compare import Side, compare_sides
from acpgen.compat.findings import SEVERITIES, Finding, Report, Severity, Verdict, failing
from acpgen.compat.project_releases import numbers
from acpgen.errors import Faults

Size: TypeAlias = Literal["none", "patch", "minor", "major"]
"""How much of a version number changes."""

SIZES: Final[tuple[Size, ...]] = ("none", "patch", "minor", "major")
"""Smallest first."""

FindingKey: TypeAlias = "tuple[object, ...]"
"""What tells a finding between two revisions from others between the same two."""


@dataclass(frozen=True, slots=True)
class Milestone:
    """One revision: a release, a commit or a file.

    `subject`, `day` (an ISO date) and `tags` are those of a commit; a release has its title as a tag.
    `side` is its schema; where that cannot be read, it is `None`, and `unread` says why, a line each.
    """

    name: str
    subject: str = ""
    day: str = ""
    tags: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    side: Side | None = field(default=None, repr=False, compare=False)

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
    below_one: bool = False
    prerelease: bool = False

    @property
    def is_enough(self) -> bool | None:
        """Whether the version says what the step does; `None` where that cannot be told."""
        if self.needed is None or self.made is None or self.prerelease:
            return None
        return SIZES.index(self.made) >= SIZES.index(self.needed)


@dataclass(frozen=True, slots=True)
class RevisionStep:
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
    steps: tuple[RevisionStep, ...]
    origins: tuple[Origin, ...]
    notes: tuple[str, ...] = ()

    @property
    def unread(self) -> tuple[Milestone, ...]:
        """The revisions that could not be read."""
        return tuple(each for each in self.milestones if each.unread)

    def fails(self, fail_on: str) -> bool:
        """Whether a step counts under `--fail-on`; what could not be read or compared does, but for `never`."""
        return fail_on != "never" and (bool(self.unread) or any(each.counts(fail_on) for each in self.steps))


def timeline(
    about: str,
    milestones: Sequence[Milestone],
    *,
    notes: Sequence[str] = (),
    waive: Callable[[Report], Report] = lambda report: report,
    compare: Callable[[Side, Side], Report] = compare_sides,
) -> Timeline:
    """The history of revisions, oldest first. `waive` marks the findings of a step that are accepted."""
    readable = [(each, each.side) for each in milestones if each.side is not None]

    def report(old: int, new: int) -> Report | Faults:
        try:
            return compare(readable[old][1], readable[new][1])
        except Faults as faults:
            return faults

    reports = [report(number - 1, number) for number in range(1, len(readable))]
    spans = reports[:1]
    for number, found in enumerate(reports[1:], 2):
        spans.append(spans[-1] if _is_silent(found) else report(0, number))
    steps: list[RevisionStep] = []
    for ((old, _), (new, _)), found in zip(pairwise(readable), reports, strict=True):
        failed = isinstance(found, Faults)
        judged = None if isinstance(found, Faults) else waive(found)
        verdict = None if judged is None else judged.verdict
        steps.append(RevisionStep(old, new, judged, bump(verdict, old, new), str(found) if failed else ""))
    origins = _origins(spans, [each for each, _ in readable])
    return Timeline(about, tuple(milestones), tuple(steps), origins, tuple(notes))


def _is_silent(step: Report | Faults) -> bool:
    """Whether no message shows a step, so that all is as it was before it."""
    if isinstance(step, Faults) or step.verdict not in ("identical", "editorial"):
        return False
    return step.wire.backward == step.wire.forward == "yes"


# --- versions --------------------------------------------------------------------------------------------------------

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
    below_one = before[0] == 0 and after[0] == 0
    if needed is not None and below_one:
        needed = _BELOW_ONE[needed]
    sizes: tuple[Size, ...] = ("major", "minor", "patch")
    made: Size = "none"
    for size, one, other in zip(reversed(sizes), before[2::-1], after[2::-1], strict=True):
        made = size if one != other else made
    return Bump(needed, made, below_one, bool(after[3]))


def _version(milestone: Milestone) -> tuple[int, int, int, str] | None:
    """The version that a tag or the name is."""
    return next((found for text in (*milestone.tags, milestone.name) if (found := numbers(text)) is not None), None)


# --- since when ------------------------------------------------------------------------------------------------------

_RENAMED: Final = {
    "method-removed": "method-renamed",
    **dict.fromkeys(("field-removed", "required-field-removed"), "field-renamed"),
    **dict.fromkeys(("variant-removed", "closed-variant-removed"), "variant-renamed"),
}
"""What takes a name from peers that know no other, by what takes the thing."""


def _origins(spans: Sequence[Report | Faults], milestones: Sequence[Milestone]) -> tuple[Origin, ...]:
    """The findings between the oldest and the newest revision, worst first, then by the step that brought each; those of one step that
    say the same together.

    A finding may come, go and come back: the step is the last one after which it stays. What was renamed first and removed later is gone
    for peers of the oldest revision since it was renamed.
    """
    known: list[Mapping[FindingKey, Finding] | None] = [{}]
    known += [None if isinstance(each, Faults) else {_key(one): one for one in each.findings} for each in spans]
    alike: dict[tuple[int, Origin], set[str]] = {}
    for finding in (known[-1] or {}).values():
        if finding.severity != "editorial":
            last = max(
                number for number, found in enumerate(known) if found is not None and not _stands(finding, found)
            )
            names = milestones[last].name, milestones[last + 1].name
            origin = Origin(finding.rule, finding.severity, finding.message, (), *names)
            alike.setdefault((last, origin), set()).add(finding.declaration)
    ordered = sorted(alike.items(), key=lambda each: (SEVERITIES.index(each[0][1].severity), each[0][0]))
    return tuple(replace(origin, declarations=tuple(sorted(names))) for (_, origin), names in ordered)


def _stands(finding: Finding, found: Mapping[FindingKey, Finding]) -> bool:
    """Whether a finding is among those of a span, or what it says is gone has another name there."""
    others = (each for each in found.values() if each.rule == _RENAMED.get(finding.rule))
    return _key(finding) in found or any(_loss(each) == _loss(finding) for each in others)


def _key(finding: Finding) -> FindingKey:
    return finding.rule, finding.severity, finding.method, finding.flow, finding.location, finding.declaration


def _loss(finding: Finding) -> FindingKey:
    """What a finding takes from peers of the older revision."""
    return finding.severity, finding.method, finding.flow, str(finding.old)
