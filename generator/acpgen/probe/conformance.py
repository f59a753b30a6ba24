"""The outcome of a probe as data: findings with their evidence, which cases were judged, and the verdict."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from acpgen.pointers import split_pointer
from acpgen.probe.clauses import Clause, Strength

Verdict: TypeAlias = Literal["breaks", "passes", "not judged"]

LEVELS: Final = ("must", "should", "note")


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """A line of a transcript. `message` is its text; a gap stands for omitted lines."""

    sender: str
    message: bytes
    is_gap: bool = False


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """A violation of a demand.

    `rule` is a rule of the monitor or the case itself, `case` the case that ran, `sent` the message after which it shows. `place`
    distinguishes the violations of one rule across runs. `spoken` is the version on the connection, if the monitor found it.
    """

    rule: str
    case: str
    clause: Clause
    level: Strength
    message: str
    transcript: tuple[TranscriptLine, ...]
    sent: bytes
    place: str = ""
    times: int = 1
    spoken: str = ""

    @property
    def version(self) -> str:
        """The protocol version; empty if a handshake case found it."""
        return self.spoken or (self.case.partition("/")[0] if self.case[:2] in ("v1", "v2") else "")

    @property
    def key(self) -> str:
        """The last key of the place in the message; empty if the place is no pointer."""
        _, mark, pointer = self.place.partition(" /")
        names = [step for step in split_pointer(f"/{pointer}") if step != "*"] if mark else []
        return names[-1] if names else ""

    @property
    def fingerprint(self) -> str:
        """The identity in a baseline: the same in each run and on each machine."""
        origin = self.spoken or self.case  # what the monitor sees may show in another case next time
        return hashlib.sha256(f"{self.rule}\n{origin}\n{self.level}\n{self.place}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SkippedCase:
    """A case that was not judged, and why."""

    case: str
    reason: str


@dataclass(slots=True)
class Conformance:
    """The outcome of a probe. A baseline sets `known`, the findings that it contains, and `gone`, those of it that no longer occur."""

    command: tuple[str, ...]
    side: str
    seed: int
    program: Mapping[str, Any] = field(default_factory=dict[str, Any])
    versions: tuple[int, ...] = ()
    findings: list[ProbeFinding] = field(default_factory=list[ProbeFinding])
    reached: list[str] = field(default_factory=list[str])
    not_reached: list[SkippedCase] = field(default_factory=list[SkippedCase])
    errors: str = ""
    seconds: float = 0.0
    known: list[ProbeFinding] = field(default_factory=list[ProbeFinding])
    gone: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    options: tuple[str, ...] = ()
    """Options that reproduce the run, besides case and seed."""
    is_strict: bool = False
    """Whether recommendations count."""

    @property
    def counts(self) -> Counter[str]:
        """The number of findings of each level."""
        return Counter(finding.level for finding in self.findings)

    @property
    def verdict(self) -> Verdict:
        """`not judged` if nothing that could fail was reached: neither good nor bad."""
        if self.failing:
            return "breaks"
        return "passes" if self.reached and self.versions else "not judged"

    @property
    def failing(self) -> Sequence[ProbeFinding]:
        """The findings that make the exit code 1."""
        levels = ("must", "should") if self.is_strict else ("must",)
        return [finding for finding in self.findings if finding.level in levels]

    @property
    def code(self) -> int:
        """The exit code."""
        return 0 if self.verdict == "passes" else 1
