"""What a command reports: a verdict, diagnostics with their evidence, and tables. Every format writes this and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from acpgen.ir import JSON

Tone: TypeAlias = Literal["bad", "unknown", "warning", "good", "quiet"]
Level: TypeAlias = Literal["error", "warning", "note", "none"]


@dataclass(frozen=True, slots=True)
class Severity:
    """How a word for a severity is shown, and the level that it has for services; `none` needs nobody's attention.

    `noun`: the word takes a plural. `is_heavy`: somebody must look at the diagnostic itself, so its place in a list of names is not enough.
    """

    tone: Tone
    level: Level
    noun: bool = False
    is_heavy: bool = True


SEVERITIES: Final[Mapping[str, Severity]] = {
    "breaking": Severity("bad", "error"),
    "error": Severity("bad", "error", noun=True),
    "MUST": Severity("bad", "error"),
    "undecided": Severity("unknown", "error"),
    "not judged": Severity("unknown", "warning"),
    "risky": Severity("warning", "warning"),
    "warning": Severity("warning", "warning", noun=True),
    "SHOULD": Severity("warning", "warning"),
    "note": Severity("quiet", "note", noun=True),
    "additive": Severity("good", "note", is_heavy=False),
    "editorial": Severity("quiet", "none", is_heavy=False),
}
"""The severities of all commands, worst first."""

_TONES: Final[Mapping[str, Tone]] = {
    **{word: severity.tone for word, severity in SEVERITIES.items()},
    **dict.fromkeys(("errors", "breaks", "wrong"), "bad"),
    **dict.fromkeys(("not compared", "cannot be read"), "unknown"),
    "warnings": "warning",
    **dict.fromkeys(("identical", "passes", "right", "clean"), "good"),
}


def tone(word: str) -> Tone:
    """How a severity or verdict is shown."""
    return _TONES.get(word, "quiet")


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in a file, counted from 1; line or column are 0 where there is none. `file` is its path inside the repository.

    `label` says which side it is on: `old`, `new`; `value` is what stands there, for those who show it.
    """

    file: str
    line: int = 0
    column: int = 0
    pointer: str = ""
    label: str = ""
    revision: str = ""
    value: JSON = field(default=None, repr=False, hash=False)

    def __str__(self) -> str:
        file = f"{self.revision}:{self.file}" if self.revision else self.file
        return ":".join((file, *(str(number) for number in (self.line, self.column) if number)))


@dataclass(frozen=True, slots=True)
class Snippet:
    """Evidence to look at: lines of text, else the JSON value. `brief` are the lines as far as a terminal needs them."""

    caption: str
    value: JSON = field(default=None, hash=False)
    lines: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replacement:
    """Lines of a file, counted from 1, and the text that takes their place."""

    file: str
    first: int
    last: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that a rule found.

    `subject` is what it is about; `reached` are further methods or places that it shows in, and `direction` says who sends to whom there.
    `context` is the place inside of a message. `statement` is the message without the name of the subject: those with one statement are
    told together. The first of `locations` is where to look. `group` and `case` are suite and name of a test that found it. `waived` says
    why it does not count; `fails`: it makes the exit code 1. `repair` is a sentence about `replacements`. `count` is how many findings it
    stands for. `properties` are for machines.
    """

    rule: str
    severity: str
    message: str
    subject: str = ""
    reached: tuple[str, ...] = ()
    reached_noun: str = "method"
    direction: str = ""
    context: str = ""
    statement: str = ""
    details: tuple[str, ...] = ()
    advice: str = ""
    waived: str = ""
    repair: str = ""
    fingerprint: str = ""
    locations: tuple[SourceLocation, ...] = ()
    evidence: tuple[Snippet, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    group: str = ""
    case: str = ""
    fails: bool = False
    count: int = 1
    properties: Mapping[str, JSON] = field(default_factory=dict[str, JSON], hash=False)

    @property
    def level(self) -> Level:
        """The level that services know."""
        return SEVERITIES[self.severity].level

    @property
    def is_heavy(self) -> bool:
        """Whether somebody must look at it."""
        return SEVERITIES[self.severity].is_heavy


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. A terminal shows it as a cell, below the row, or not at all."""

    name: str
    in_terminal: Literal["cell", "below", "no"] = "cell"


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table; the second cell of a row is a verdict, which gives the row its tone."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class RuleDescription:
    """What a rule says, in a sentence, in full, and as Markdown."""

    id: str
    summary: str
    text: str
    markdown: str = ""


Layout: TypeAlias = Literal["fitted", "full", "lines"]


@dataclass(frozen=True, slots=True)
class DiagnosticReport:
    """What a command found.

    `label` is what is judged, `title` what of it; `sentence` tells the verdict and `summary` the counts. `is_judged` is false where
    nothing could be judged. `passed` are the names of tests that found nothing, `skipped` names with the
    reason. `data` is the report as JSON; `describe` describes rules and `links` has pages of rules. `threshold` is the option that says
    what fails, `whole` the address of the full report, `code` the exit code. `layout`: a terminal gets the fullest form that fits, the
    full one, or a line for each diagnostic.
    """

    command: str
    label: str
    title: str
    verdict: str
    sentence: str
    summary: str
    facts: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    passed: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    is_judged: bool = True
    data: Callable[[], JSON] = dict
    describe: Callable[[Collection[str]], Sequence[RuleDescription]] = lambda rules: ()
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    threshold: str = ""
    whole: str = ""
    badge: str = ""
    layout: Layout = "fitted"
    code: int = 0

    @property
    def failing(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that make the exit code 1."""
        return tuple(each for each in self.diagnostics if each.fails)

    @property
    def reasons(self) -> Mapping[str, list[str]]:
        """The names of tests that were skipped, by the reason."""
        found: dict[str, list[str]] = {}
        for name, reason in self.skipped:
            found.setdefault(reason, []).append(name)
        return found
