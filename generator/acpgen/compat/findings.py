"""The results of the check: findings with their proof, and the report that contains them. Frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from acpgen.ir import JSON

if TYPE_CHECKING:
    from acpgen.input.git_revisions import MergeBase

Mode: TypeAlias = Literal["protocol", "language"]
Revision: TypeAlias = Literal["old", "new"]
REVISIONS: Final[tuple[Revision, ...]] = ("old", "new")
Answer: TypeAlias = Literal["yes", "no", "undecided"]
Severity: TypeAlias = Literal["breaking", "undecided", "risky", "additive", "editorial"]
Verdict: TypeAlias = Literal["breaking", "undecided", "risky", "additive", "editorial", "identical"]
Bindings: TypeAlias = Literal["identical", "additive", "breaking"]
Effect: TypeAlias = Literal["refused", "lost", "claimed", "added", "renamed", "reworded"]

BUDGET: Final = 1_000_000
"""The total number of proof steps of a comparison, the same on every machine. The largest protocols tested take 120,000."""

SEVERITIES: Final[tuple[Severity, ...]] = ("breaking", "undecided", "risky", "additive", "editorial")
"""The severities, worst first."""

NO_ACTION: Final = "No action is needed."
"""The advice of a finding that requires no action."""

_Part = TypeVar("_Part", covariant=True)


class Sides(NamedTuple, Generic[_Part]):
    """What each of the two revisions has."""

    old: _Part
    new: _Part

    def on(self, revision: Revision) -> _Part:
        """What one revision has."""
        return self.old if revision == "old" else self.new


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A place in a source: the display name of the file, the JSON Pointer in it, and line and column, counted from 1.

    `value` is the JSON value there, for display; `None` for a whole file.
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
    """A complete message that proves a finding.

    For a rejection, the revisions that accept and reject it are set; for a loss, the revision in which it carries the lost meaning.
    `verified`: a validator has confirmed this for each of these revisions, treating formats as annotations if the comparison does.
    `formats`: a validator that asserts formats has confirmed it too; `None` if none was run.
    """

    value: JSON = field(hash=False)
    verified: bool = field(kw_only=True)
    accepted_by: Revision | None = None
    refused_by: Revision | None = None
    carried_by: Revision | None = None
    formats: bool | None = None


@dataclass(frozen=True, slots=True)
class Waiver:
    """An accepted finding: the reason and the end, either the last day `expires` or the release `until`.

    The finding is identified by rule, fingerprint and places. `at` and `line` are the position of the waiver in its file.
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
        """The end for display: `2027-01-31`, `release 1.7.0`."""
        return f"release {self.until}" if self.expires is None else self.expires.isoformat()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A range of lines of a file, counted from 1, and the text that replaces it."""

    first_line: int
    last_line: int
    text: str


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The edits of one file: a JSON Patch (RFC 6902), and the same edits as lines."""

    file: str
    patch: tuple[JSON, ...] = field(hash=False)
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True)
class Repair:
    """An edit of the new schema that removes a finding and makes nothing worse, confirmed by a new comparison.

    It does not depend on the repair of another finding. `keeps_change`: the purpose of the change is preserved; otherwise `why_not_kept`
    says why it cannot be.
    """

    description: str
    keeps_change: bool
    why_not_kept: str
    files: tuple[FilePatch, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """All repairs together: the remaining verdict, and how many of the findings that count they remove."""

    verdict: Verdict
    ended: int
    findings: int
    files: tuple[FilePatch, ...]


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """The check's own severity of a finding that the project's policy changed, and the reason for it."""

    judged: Severity
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """A change in one kind of message, and its effect.

    `method` is `None` for a change outside methods; `location` is the place in the message, `old_at` and `new_at` are `file#/pointer` in
    the sources. `breaks` describes the exchange that fails; `sender` is the revision whose messages are affected, if the rule names one.
    `refuses` are the revisions that reject what the other sends, `doubtful` those for which this is undecided; `is_cut_off` if the
    budget was exhausted first. `declaration` is the display name of the changed part, `cause` identifies it, `statement` is the rule's
    statement and `subject` identifies it among those of its kind, `None` if only the two texts do: messages that agree in these belong
    to one finding. `fingerprint` is for waivers of this message alone.
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
    statement: str = ""
    subject: str | None = ""
    fingerprint: str = ""
    waived: Waiver | None = None
    ruled: PolicyDecision | None = None

    @property
    def breaks_for(self) -> tuple[Revision, ...]:
        """The revisions that reject what the other sends, or that break because a name has lost its meaning."""
        if self.severity != "breaking" or self.effect != "lost":
            return self.refuses
        revisions_with_loss: tuple[Revision, ...] = (
            ("old", "new") if self.sender is None else (get_opposite(self.sender),)
        )
        return tuple(dict.fromkeys((*self.refuses, *revisions_with_loss)))

    @property
    def answers_for(self) -> tuple[Revision, ...]:
        """The revisions that do not accept and understand all that the other sends, or for which this is undecided."""
        return (*self.breaks_for, *self.doubtful)

    @property
    def senders(self) -> tuple[Revision, ...]:
        """The revisions whose messages are affected: the one that the rule names, and those whose messages the other may reject."""
        rule_senders = () if self.sender is None else (self.sender,)
        return tuple(dict.fromkeys((*rule_senders, *(get_opposite(receiver) for receiver in self.answers_for))))

    @property
    def failing_sender(self) -> Revision | None:
        """The sender if an exchange fails; otherwise `None`."""
        return self.sender if self.breaks else None

    @property
    def own_severity(self) -> Severity:
        """The severity that the check found, before the project's policy."""
        return self.severity if self.ruled is None else self.ruled.judged


def _delegate_to_first(name: str) -> Any:
    """A property of a finding that returns the attribute of its first reach."""
    return property(lambda finding: getattr(finding.reaches[0], name))


@dataclass(frozen=True, slots=True)
class Finding:
    """One changed declaration and its effect on peers.

    `reaches` are its places in messages, worst first, or in language mode the definitions that contain it, at least one: the attributes
    of the finding are those of the first, but `breaks` names every failing exchange. `fingerprint` does not change when more messages
    contain the declaration, unless their harm is a different one.
    """

    reaches: tuple[Reach, ...]
    fingerprint: str
    old: SourcePosition | None = None
    new: SourcePosition | None = None
    waived: Waiver | None = None
    repair: Repair | None = None
    no_repair: str = ""

    rule: ClassVar[str] = _delegate_to_first("rule")
    severity: ClassVar[Severity] = _delegate_to_first("severity")
    effect: ClassVar[Effect] = _delegate_to_first("effect")
    method: ClassVar[str | None] = _delegate_to_first("method")
    flow: ClassVar[str] = _delegate_to_first("flow")
    location: ClassVar[str] = _delegate_to_first("location")
    message: ClassVar[str] = _delegate_to_first("message")
    advice: ClassVar[str] = _delegate_to_first("advice")
    declaration: ClassVar[str] = _delegate_to_first("declaration")
    witness: ClassVar[Witness | None] = _delegate_to_first("witness")

    @property
    def first(self) -> Reach:
        return self.reaches[0]

    @property
    def breaks(self) -> str:
        return "; ".join(dict.fromkeys(reach.breaks for reach in self.reaches if reach.breaks))

    @property
    def ruled(self) -> PolicyDecision | None:
        """The check's severity of the worst message, with the policy's reasons for changes; `None` if it changed nothing."""
        reasons = dict.fromkeys(reach.ruled.reason for reach in self.reaches if reach.ruled is not None)
        if not reasons:
            return None
        rank = min(SEVERITIES.index(reach.own_severity) for reach in self.reaches)
        return PolicyDecision(SEVERITIES[rank], " ".join(reasons))

    @property
    def repair_sentence(self) -> str:
        """The repair, or the reason why there is none; empty if no repair was requested."""
        if self.repair is None:
            return f"No repair: {self.no_repair}" if self.no_repair else ""
        return f"Repair: {self.repair.description} {self.repair.why_not_kept}".rstrip()

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods whose messages contain the changed part."""
        return tuple(dict.fromkeys(reach.method for reach in self.reaches if reach.method is not None))

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The finding's own fingerprint and those of its reaches."""
        return tuple(dict.fromkeys((self.fingerprint, *(reach.fingerprint for reach in self.reaches))))


@dataclass(frozen=True, slots=True)
class Note:
    """A remark that is not a finding: it affects neither the verdict nor the exit code. `at` is its place."""

    rule: str
    message: str
    advice: str
    at: SourcePosition


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Whether one revision accepts everything that the other accepts: `backward` from old to new, `forward` from new to old."""

    backward: Answer
    forward: Answer


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A definition or another part of a file that was not compared, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was compared: the number of methods in both revisions, of definitions in either, and of compared definitions.

    `not_compared` are the parts that were not compared.
    """

    methods: int
    definitions: int
    compared: int
    not_compared: tuple[NotCompared, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The unordered results of all rules, and the plain inclusion of all messages, method by method."""

    reaches: tuple[Reach, ...]
    language: Inclusion
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Nameable:
    """The names of either revision that a policy may use: roles, methods, and the positions of definitions."""

    roles: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    definitions: tuple[SourcePosition, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a comparison. `findings` are sorted: worst first, then by method and place.

    `verdict` is the worst severity in the schemas, waived or not; `identical` means no findings. `coverage` is `None` in language mode,
    which compares the documents as they are. `merge_base` is the commit of the old side if a merge base was requested. `earlier` are the
    releases also compared for a transitive promise, `None` without one. `unruled` is the verdict without the project's policy, `None` if
    it is the same. `docs` is the URL of the site with the rule pages, `whole` that of the complete report; empty if there is none. `fix`
    is the combined result of all repairs, if requested and found. `named` are the names that a policy may use, empty in language mode.
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


def describe_readers(witness: Witness) -> str:
    """The description of the reader that breaks when a plain schema rejects a value."""
    return f"a reader with the {witness.refused_by} schema that receives a value of the {witness.accepted_by} one"


def get_opposite(revision: Revision) -> Revision:
    """The other revision."""
    return "new" if revision == "old" else "old"


def order(finding: Finding) -> tuple[int, bool, str, str, str, str]:
    """The sort key of a finding in a report: worst first, then by method and place."""
    rank = SEVERITIES.index(finding.severity)
    return rank, finding.method is None, finding.method or "", finding.location, finding.rule, finding.fingerprint


def find_worst(severities: tuple[Severity, ...]) -> Verdict:
    """The worst of the severities; `identical` if there are none."""
    for severity in SEVERITIES:
        if severity in severities:
            return severity
    return "identical"


_FAILING: Final[dict[str, tuple[Severity, ...]]] = {
    "never": (),
    "breaking": ("breaking", "undecided"),
    "risky": ("breaking", "undecided", "risky"),
    "additive": ("breaking", "undecided", "risky", "additive"),
}


def list_failing(report: Report, fail_on: str) -> tuple[Finding, ...]:
    """The findings that count under `--fail-on`: not waived, with a severe enough reach that is not waived either.

    Undecided findings always count, except with `never`.
    """
    bad = _FAILING[fail_on]
    return tuple(
        finding
        for finding in report.findings
        if finding.waived is None and any(reach.severity in bad and reach.waived is None for reach in finding.reaches)
    )


def fails(report: Report, fail_on: str, fail_on_bindings: str = "never") -> bool:
    """Whether a report makes the command exit with 1."""
    stopping = {"never": (), "breaking": ("breaking",), "additive": ("breaking", "additive")}[fail_on_bindings]
    return bool(list_failing(report, fail_on)) or report.bindings in stopping


def count_policy_changes(report: Report) -> dict[str, int]:
    """The number of findings whose severity the project's policy lowered, and raised, in any message."""
    moves = [
        [SEVERITIES.index(reach.severity) - SEVERITIES.index(reach.own_severity) for reach in finding.reaches]
        for finding in report.findings
    ]
    return {"lowered": sum(max(shifts) > 0 for shifts in moves), "raised": sum(min(shifts) < 0 for shifts in moves)}


def count_severities(report: Report) -> dict[Severity, int]:
    """The number of findings of each severity that occurs, worst first."""
    severities = [finding.severity for finding in report.findings]
    return {severity: severities.count(severity) for severity in SEVERITIES if severity in severities}
