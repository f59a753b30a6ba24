"""A history: its revisions, the steps between them with the version bump that each needs, and which step broke what.

Each revision is compared with the previous one and with the first. One comparison cannot be derived from the other: a field that one
step removes and the next reuses for something else is harmless in each step, and rejected across both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from acpgen.compat.compare import Side, compare_sides
from acpgen.compat.findings import SEVERITIES, Finding, Report, Severity, Verdict, list_failing
from acpgen.compat.project_releases import parse_version
from acpgen.compat.rules import RULES
from acpgen.errors import Faults

Size: TypeAlias = Literal["none", "patch", "minor", "major"]
"""The part of a version number that changes."""

SIZES: Final[tuple[Size, ...]] = ("none", "patch", "minor", "major")
"""The sizes, smallest first."""

FindingKey: TypeAlias = "tuple[object, ...]"
"""The identity of a finding among those between the same two revisions."""


@dataclass(frozen=True, slots=True)
class Milestone:
    """One revision: a release, a commit or a file.

    `subject`, `day` (an ISO date) and `tags` are those of a commit; a release has its title as a tag. `side` is its schema; `None` if it
    cannot be read, with the reasons in `unread`, one line each.
    """

    name: str
    subject: str = ""
    day: str = ""
    tags: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    side: Side | None = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The display name: the first tag, if any, else the name."""
        return self.tags[0] if self.tags else self.name


@dataclass(frozen=True, slots=True)
class Bump:
    """The version bump of a step according to Semantic Versioning.

    `needed` is the required size, `None` if the step could not be compared. `made` is the actual size according to the names of the
    releases, `None` if these are not versions. Below 1.0.0, a breaking change needs a minor version and any other a patch, as package
    managers interpret it; a pre-release may contain any change.
    """

    needed: Size | None
    made: Size | None = None
    below_one: bool = False
    prerelease: bool = False

    @property
    def is_enough(self) -> bool | None:
        """Whether the version bump is large enough for the step; `None` if unknown."""
        if self.needed is None or self.made is None or self.prerelease:
            return None
        return SIZES.index(self.made) >= SIZES.index(self.needed)


@dataclass(frozen=True, slots=True)
class RevisionStep:
    """A step from one readable revision to the next. `report` is `None` if the two could not be compared; `failure` is the reason."""

    old: Milestone
    new: Milestone
    report: Report | None
    bump: Bump
    failure: str = ""

    def counts(self, fail_on: str) -> bool:
        """Whether the step has findings that count under `--fail-on`."""
        return fail_on != "never" if self.report is None else bool(list_failing(self.report, fail_on))


@dataclass(frozen=True, slots=True)
class Origin:
    """An effect of the newest revision on peers of the oldest, and the step that introduced it.

    `declarations` are the changed parts.
    """

    rule: str
    severity: Severity
    message: str
    declarations: tuple[str, ...]
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The history of one schema, oldest first.

    `notes` say what was left out and where the schema was before it moved. `origins` are the findings between the oldest and the newest
    readable revision.
    """

    about: str
    milestones: tuple[Milestone, ...]
    steps: tuple[RevisionStep, ...]
    origins: tuple[Origin, ...]
    notes: tuple[str, ...] = ()

    @property
    def unread(self) -> tuple[Milestone, ...]:
        """The revisions that could not be read."""
        return tuple(milestone for milestone in self.milestones if milestone.unread)

    def fails(self, fail_on: str) -> bool:
        """Whether a step counts under `--fail-on`; unreadable revisions and failed comparisons do, except with `never`."""
        return fail_on != "never" and (bool(self.unread) or any(step.counts(fail_on) for step in self.steps))


def make_timeline(
    about: str,
    milestones: Sequence[Milestone],
    *,
    notes: Sequence[str] = (),
    waive: Callable[[Report], Report] = lambda report: report,
    compare: Callable[[Side, Side], Report] = compare_sides,
) -> Timeline:
    """Compare revisions, oldest first. `waive` applies policy and waivers to the report of a step."""
    readable = [(milestone, milestone.side) for milestone in milestones if milestone.side is not None]

    def report(old: int, new: int) -> Report | Faults:
        try:
            return compare(readable[old][1], readable[new][1])
        except Faults as faults:
            return faults

    reports = [report(number - 1, number) for number in range(1, len(readable))]
    spans = reports[:1]
    for number, step_report in enumerate(reports[1:], 2):
        spans.append(spans[-1] if _is_silent(step_report) else report(0, number))
    steps: list[RevisionStep] = []
    for ((old, _), (new, _)), step_report in zip(pairwise(readable), reports, strict=True):
        is_failure = isinstance(step_report, Faults)
        judged = None if isinstance(step_report, Faults) else waive(step_report)
        verdict = None if judged is None else judged.verdict
        steps.append(RevisionStep(old, new, judged, bump(verdict, old, new), str(step_report) if is_failure else ""))
    origins = _find_origins(spans, [milestone for milestone, _ in readable])
    return Timeline(about, tuple(milestones), tuple(steps), origins, tuple(notes))


def _is_silent(step: Report | Faults) -> bool:
    """Whether a step has no effect on messages, so that comparisons with the first revision keep their result."""
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
"""The version bump that each verdict requires. Undecided and risky changes require the same as breaking ones."""

_BELOW_ONE: Final[Mapping[Size, Size]] = {"major": "minor", "minor": "patch", "patch": "patch", "none": "none"}


def bump(verdict: Verdict | None, old: Milestone, new: Milestone) -> Bump:
    """The version bump that a verdict requires, `None` without a verdict, and the actual one between two revisions."""
    required_size = None if verdict is None else _NEEDED[verdict]
    before, after = _find_version(old), _find_version(new)
    if before is None or after is None:
        return Bump(required_size)
    below_one = before[0] == 0 and after[0] == 0
    if required_size is not None and below_one:
        required_size = _BELOW_ONE[required_size]
    sizes: tuple[Size, ...] = ("major", "minor", "patch")
    actual_size: Size = "none"
    for size, was, now in zip(reversed(sizes), before[2::-1], after[2::-1], strict=True):
        actual_size = size if was != now else actual_size
    return Bump(required_size, actual_size, below_one, bool(after[3]))


def _find_version(milestone: Milestone) -> tuple[int, int, int, str] | None:
    """The version in the first tag that is one, else in the name; `None` if there is none."""
    return next(
        (version for text in (*milestone.tags, milestone.name) if (version := parse_version(text)) is not None), None
    )


# --- since when ------------------------------------------------------------------------------------------------------

_RENAMED: Final = {row.id: row.renamed for row in RULES if row.renamed}


def _find_origins(spans: Sequence[Report | Faults], milestones: Sequence[Milestone]) -> tuple[Origin, ...]:
    """The findings between the oldest and the newest revision, worst first, then by the step that introduced them.

    Equal findings of one step are combined. A finding may disappear and return: its step is the last one after which it persists. A part
    that was first renamed and later removed counts as gone for peers of the oldest revision since the rename.
    """
    findings_by_span: list[Mapping[FindingKey, Finding] | None] = [{}]
    findings_by_span += [
        None if isinstance(span, Faults) else {_make_key(finding): finding for finding in span.findings}
        for span in spans
    ]
    declarations: dict[tuple[int, Origin], set[str]] = {}
    for finding in (findings_by_span[-1] or {}).values():
        if finding.severity != "editorial":
            last = max(
                number
                for number, span_findings in enumerate(findings_by_span)
                if span_findings is not None and not _stands(finding, span_findings)
            )
            names = milestones[last].name, milestones[last + 1].name
            origin = Origin(finding.rule, finding.severity, finding.message, (), *names)
            declarations.setdefault((last, origin), set()).add(finding.declaration)
    ordered = sorted(declarations.items(), key=lambda entry: (SEVERITIES.index(entry[0][1].severity), entry[0][0]))
    return tuple(replace(origin, declarations=tuple(sorted(names))) for (_, origin), names in ordered)


def _stands(finding: Finding, span_findings: Mapping[FindingKey, Finding]) -> bool:
    """Whether a span contains a finding, or a rename of the part that the finding reports as removed."""
    renames = (rename for rename in span_findings.values() if rename.rule == _RENAMED.get(finding.rule))
    loss = _make_loss_key(finding)
    return _make_key(finding) in span_findings or any(_make_loss_key(rename) == loss for rename in renames)


def _make_key(finding: Finding) -> FindingKey:
    return finding.rule, finding.severity, finding.method, finding.flow, finding.location, finding.declaration


def _make_loss_key(finding: Finding) -> FindingKey:
    """The identity of what a finding takes from peers of the older revision."""
    return finding.severity, finding.method, finding.flow, str(finding.old)
