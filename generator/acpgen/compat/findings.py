"""What the check reports: findings with their proof, and the report that holds them. Frozen data, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from acpgen.ir import JSON

if TYPE_CHECKING:
    from acpgen.input.git_revisions import MergeBase

Mode: TypeAlias = Literal["protocol", "language"]
Revision: TypeAlias = Literal["old", "new"]
Answer: TypeAlias = Literal["yes", "no", "undecided"]
Severity: TypeAlias = Literal["breaking", "undecided", "risky", "additive", "editorial"]
Verdict: TypeAlias = Literal["breaking", "undecided", "risky", "additive", "editorial", "identical"]
Bindings: TypeAlias = Literal["identical", "additive", "breaking"]
Effect: TypeAlias = Literal["refused", "lost", "claimed", "added", "renamed", "reworded"]

BUDGET: Final = 1_000_000
"""Steps that the proofs of a comparison may take together, the same on each machine. The largest protocols at hand take 120,000."""

SEVERITIES: Final[tuple[Severity, ...]] = ("breaking", "undecided", "risky", "additive", "editorial")
"""Worst first."""

NO_ACTION: Final = "No action is needed."
"""The advice of a finding that asks for nothing."""


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A place in a source: the file as people know it, the JSON Pointer inside it, and line and column, counted from 1.

    `value` is what stands there, for those who show it; `None` for a whole file.
    """

    file: str
    pointer: str
    line: int
    column: int
    value: JSON = field(default=None, repr=False, compare=False, hash=False)

    def __str__(self) -> str:
        return f"{self.file}#{self.pointer}"


@dataclass(frozen=True, slots=True)
class Witness:
    """A whole message that proves a finding.

    A refusal names the revision that accepts it and the one that refuses it; a loss names the revision in which the message
    carries the meaning that is lost. `verified`: a validator has confirmed what is said of each revision that is named, one that takes
    formats as annotations where the comparison does. `formats`: one that asserts them has confirmed it too; `None` where none was asked.
    """

    value: JSON = field(hash=False)
    verified: bool = field(kw_only=True)
    accepted_by: Revision | None = None
    refused_by: Revision | None = None
    carried_by: Revision | None = None
    formats: bool | None = None


@dataclass(frozen=True, slots=True)
class Waiver:
    """An accepted finding: the reason, and until when, which is the last day `expires` or the release `until`.

    The finding is named by rule, fingerprint and places. `at` and `line` are the place of the waiver in its file.
    """

    rule: str
    fingerprint: str
    reason: str
    expires: date | None = None
    until: str = ""
    old: str = ""
    new: str = ""
    at: str = field(default="", compare=False)
    line: int = field(default=1, compare=False)

    @property
    def end(self) -> str:
        """The end for people: `2027-01-31`, `release 1.7.0`."""
        return f"release {self.until}" if self.expires is None else self.expires.isoformat()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Lines of a file, counted from 1, and the text that takes their place."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The edits of one file: a JSON Patch (RFC 6902) against it, and the same as lines."""

    file: str
    patch: tuple[JSON, ...] = field(hash=False)
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True)
class Repair:
    """An edit of the new schema that ends a finding and makes nothing worse: the comparison has been made again with it.

    It needs no repair of another finding. `keeps`: what the change was made for remains; otherwise `why` says why it cannot.
    """

    description: str
    keeps: bool
    why: str
    patches: tuple[FilePatch, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """All repairs at once: the verdict that remains, and how many of the findings that count they end."""

    verdict: Verdict
    ended: int
    findings: int
    patches: tuple[FilePatch, ...]


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What the check says of a finding that the project's policy judges otherwise, and why it does."""

    judged: Severity
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What changed in one kind of message, and what happens to that.

    `method` is `None` for what belongs to no method; `location` is the place in the message, `old_at` and `new_at` are `file#/pointer` of
    the sources. `breaks` says in words which exchange fails; `sender` is the revision whose messages suffer, as far as the rule says.
    `refuses` are the revisions that refuse what the other sends, `doubtful` those of which that could not be told, `is_cut_off` where the
    budget was spent before. `declaration` is what people call the thing that changed, `cause` tells it from all others, `said` is what its
    rule says of it and `subject` which of its kind it is, `None` where only the two texts do: messages of which these are the same hold one
    thing. `fingerprint` is for waivers of this message alone.
    """

    rule: str
    severity: Severity
    effect: Effect
    method: str | None
    flow: str
    location: str
    message: str
    advice: str
    old_at: str = ""
    new_at: str = ""
    breaks: str = ""
    sender: Revision | None = None
    witness: Witness | None = None
    refuses: tuple[Revision, ...] = ()
    doubtful: tuple[Revision, ...] = ()
    is_cut_off: bool = False
    declaration: str = ""
    cause: tuple[str | None, ...] = ()
    said: str = ""
    subject: str | None = ""
    fingerprint: str = ""
    waived: Waiver | None = None
    ruled: PolicyDecision | None = None

    @property
    def breaks_for(self) -> tuple[Revision, ...]:
        """The revisions that refuse what the other sends, or that it breaks because a name has lost its meaning."""
        if self.severity != "breaking" or self.effect != "lost":
            return self.refuses
        lost: tuple[Revision, ...] = ("old", "new") if self.sender is None else (opposite(self.sender),)
        return tuple(dict.fromkeys((*self.refuses, *lost)))

    @property
    def senders(self) -> tuple[Revision, ...]:
        """The revisions whose messages suffer: that which the rule names, and those whose messages the other may refuse."""
        named = () if self.sender is None else (self.sender,)
        return tuple(dict.fromkeys((*named, *(opposite(each) for each in (*self.breaks_for, *self.doubtful)))))

    @property
    def failing_sender(self) -> Revision | None:
        """The sender, where an exchange fails."""
        return self.sender if self.breaks else None

    @property
    def own_severity(self) -> Severity:
        """What the check says, whatever the project's policy does."""
        return self.severity if self.ruled is None else self.ruled.judged


def _of_first(name: str) -> Any:
    """What is said of the first message of a finding, for the finding."""
    return property(lambda finding: getattr(finding.reaches[0], name))


@dataclass(frozen=True, slots=True)
class Finding:
    """One declaration that changed, and what the change does to peers.

    `reaches` are the messages that hold it, worst first, and there is one at least: what is said of the finding is said of the first, and
    `breaks` names every exchange that fails. `fingerprint` stays the same when further messages come to hold it, unless these suffer other
    harm.
    """

    reaches: tuple[Reach, ...]
    fingerprint: str
    old: SourcePosition | None = None
    new: SourcePosition | None = None
    waived: Waiver | None = None
    repair: Repair | None = None
    no_repair: str = ""

    rule: ClassVar[str] = _of_first("rule")
    severity: ClassVar[Severity] = _of_first("severity")
    effect: ClassVar[Effect] = _of_first("effect")
    method: ClassVar[str | None] = _of_first("method")
    flow: ClassVar[str] = _of_first("flow")
    location: ClassVar[str] = _of_first("location")
    message: ClassVar[str] = _of_first("message")
    advice: ClassVar[str] = _of_first("advice")
    declaration: ClassVar[str] = _of_first("declaration")
    witness: ClassVar[Witness | None] = _of_first("witness")

    @property
    def first(self) -> Reach:
        return self.reaches[0]

    @property
    def breaks(self) -> str:
        return "; ".join(dict.fromkeys(each.breaks for each in self.reaches if each.breaks))

    @property
    def ruled(self) -> PolicyDecision | None:
        """What the check says of the worst message, and why the project's policy judges any of them otherwise."""
        reasons = dict.fromkeys(each.ruled.reason for each in self.reaches if each.ruled is not None)
        if not reasons:
            return None
        rank = min(SEVERITIES.index(each.own_severity) for each in self.reaches)
        return PolicyDecision(SEVERITIES[rank], " ".join(reasons))

    @property
    def repair_sentence(self) -> str:
        """What repairs it, or why nothing does; empty where no repair was asked for."""
        if self.repair is None:
            return f"No repair: {self.no_repair}" if self.no_repair else ""
        return f"Repair: {self.repair.description}{f' {self.repair.why}' if self.repair.why else ''}"

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods whose messages hold what changed."""
        return tuple(dict.fromkeys(each.method for each in self.reaches if each.method is not None))

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """Its own, and those of the messages that hold what changed."""
        return tuple(dict.fromkeys((self.fingerprint, *(each.fingerprint for each in self.reaches))))


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know that is no finding: neither the verdict nor the exit code depends on it. `at` is its place."""

    rule: str
    message: str
    advice: str
    at: SourcePosition


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Whether one revision accepts what the other does: `backward` from old to new, `forward` from new to old."""

    backward: Answer
    forward: Answer


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A definition or another part of a file that was not compared, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was compared: how many methods are in both revisions, how many definitions in either, how many of these were compared, and
    what was not.
    """

    methods: int
    definitions: int
    compared: int
    not_compared: tuple[NotCompared, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Everything that the rules have to say, in no order that matters, and the plain relation of all messages, method by method."""

    reaches: tuple[Reach, ...]
    language: Inclusion
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Nameable:
    """What either revision has that a policy may name: roles, methods, and where each definition stands."""

    roles: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    definitions: tuple[SourcePosition, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a comparison. `findings` are sorted: worst first, then by method and place.

    `verdict` is the worst severity that stands in the schemas, waived or not; `identical` means that nothing was found. `coverage` is
    `None` in language mode, which compares the documents as they are. `merge_base` is the commit of the old side where that was asked for.
    `earlier` are the releases that a transitive promise has compared too, `None` without one. `unruled` is the verdict without the
    project's policy, `None` where that is the verdict. `docs` is the address of the site that has a page for each rule, `whole` that of
    the whole report; both are empty where there is none. `fix` is what all repairs come to, where these were asked for and some were
    found. `named` is what the revisions have that a policy may name; it is empty in language mode.
    """

    mode: Mode
    old: str
    new: str
    verdict: Verdict
    wire: Inclusion
    language: Inclusion
    bindings: Bindings
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...] = ()
    coverage: Coverage | None = None
    fix: Fix | None = None
    merge_base: MergeBase | None = None
    earlier: tuple[str, ...] | None = None
    unruled: Verdict | None = None
    docs: str = ""
    whole: str = ""
    named: Nameable = field(default_factory=Nameable, repr=False)


def readers(witness: Witness) -> str:
    """Who breaks where a plain schema refuses a value."""
    return f"a reader with the {witness.refused_by} schema that receives a value of the {witness.accepted_by} one"


def opposite(revision: Revision) -> Revision:
    """The other revision of the two."""
    return "new" if revision == "old" else "old"


def order(finding: Finding) -> tuple[int, bool, str, str, str, str]:
    """Where a finding stands in a report: worst first, then by method and place."""
    rank = SEVERITIES.index(finding.severity)
    return rank, finding.method is None, finding.method or "", finding.location, finding.rule, finding.fingerprint


def worst(severities: tuple[Severity, ...]) -> Verdict:
    """The worst of the severities; `identical` if there are none."""
    for severity in SEVERITIES:
        if severity in severities:
            return severity
    return "identical"


FailOn: TypeAlias = Literal["risky", "breaking", "additive", "never"]

_FAILING: Final[dict[str, tuple[Severity, ...]]] = {
    "never": (),
    "breaking": ("breaking", "undecided"),
    "risky": ("breaking", "undecided", "risky"),
    "additive": ("breaking", "undecided", "risky", "additive"),
}


def failing(report: Report, fail_on: str) -> tuple[Finding, ...]:
    """The findings that count under `--fail-on`: not waived, and of any message not waived by itself that is bad enough. What is undecided
    always counts, but for `never`.
    """
    bad = _FAILING[fail_on]
    return tuple(
        each
        for each in report.findings
        if each.waived is None and any(one.severity in bad and one.waived is None for one in each.reaches)
    )


def fails(report: Report, fail_on: str, fail_on_bindings: str = "never") -> bool:
    """Whether a report stops a pipeline."""
    stopping = {"never": (), "breaking": ("breaking",), "additive": ("breaking", "additive")}[fail_on_bindings]
    return bool(failing(report, fail_on)) or report.bindings in stopping


def lowered_findings(report: Report) -> tuple[Finding, ...]:
    """The findings that the project's policy takes for less than the check does, in any message."""
    return tuple(each for each in report.findings if any(_lowered_by(one) > 0 for one in each.reaches))


def raised_findings(report: Report) -> tuple[Finding, ...]:
    """The findings that the project's policy takes for worse than the check does, in any message."""
    return tuple(each for each in report.findings if any(_lowered_by(one) < 0 for one in each.reaches))


def _lowered_by(reach: Reach) -> int:
    """How many ranks a policy has lowered the severity."""
    return SEVERITIES.index(reach.severity) - SEVERITIES.index(reach.own_severity)


def counts(report: Report) -> dict[Severity, int]:
    """How many findings there are of each severity that occurs, worst first."""
    found = [finding.severity for finding in report.findings]
    return {severity: found.count(severity) for severity in SEVERITIES if severity in found}
