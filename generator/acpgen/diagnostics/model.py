"""The model of reports: a verdict, diagnostics with their evidence, and tables. Every format is written from this model alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from acpgen.ir import JSON

Tone: TypeAlias = Literal["bad", "unknown", "warning", "good", "quiet"]
Level: TypeAlias = Literal["error", "warning", "note", "none"]


class Severity(Struct, frozen=True):
    """The tone of a severity, and its level in code review services; `none` needs nobody's attention.

    `noun`: the word has a plural. `is_heavy`: each diagnostic needs attention of its own, so that a list of names is not enough.
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
    **dict.fromkeys(("errors", "breaks", "invalid"), "bad"),
    **dict.fromkeys(("not compared", "cannot be read"), "unknown"),
    "warnings": "warning",
    **dict.fromkeys(("identical", "passes", "valid", "clean"), "good"),
}


def get_tone(word: str) -> Tone:
    """The tone of a severity or verdict."""
    return _TONES.get(word, "quiet")


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in a file; line and column begin at 1, 0 if absent. `file` is the path inside the repository.

    `label` is the revision it belongs to: `old`, `new`; `value` is the value there, for formats that show it.
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
    """Evidence: lines of text, otherwise the JSON value. `brief` are the lines that a terminal shows."""

    caption: str
    value: JSON = field(default=None, hash=False)
    lines: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()


class Replacement(Struct, frozen=True):
    """A range of lines of a file, counted from 1, and the text that replaces it."""

    file: str
    first: int
    last: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding of a rule.

    - `subject`: what it is about; `reached`: further methods or places that it affects; `direction`: sender and receiver there.
    - `context`: the place inside a message.
    - `statement`: the message without the name of the subject; diagnostics with the same statement are grouped.
    - `locations`: the first one is the place to look at.
    - `group`, `case`: the suite and the name of the test that found it.
    - `waived`: the reason why it does not count; `fails`: it causes exit code 1.
    - `repair`: a sentence about `replacements`.
    - `count`: the number of findings it stands for.
    - `properties`: machine-readable data.
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
        """The level of its severity in code review services."""
        return SEVERITIES[self.severity].level

    @property
    def is_heavy(self) -> bool:
        """Whether it needs attention of its own."""
        return SEVERITIES[self.severity].is_heavy


class Column(Struct, frozen=True):
    """A column of a table; a terminal shows it as a cell, below the row, or not at all."""

    name: str
    in_terminal: Literal["cell", "below", "no"] = "cell"


class ReportTable(Struct, frozen=True):
    """A table; the second cell of a row is a verdict, which determines the tone of the row."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


class RuleDescription(Struct, frozen=True):
    """The description of a rule: in a sentence, in full, and as Markdown."""

    id: str
    summary: str
    text: str
    markdown: str = ""


Layout: TypeAlias = Literal["fitted", "full", "lines"]


@dataclass(frozen=True, slots=True)
class DiagnosticReport:
    """The report of a command.

    - `label`: what is checked; `title`: the object of the check; `sentence`: the verdict in words; `summary`: the counts.
    - `is_judged`: false if there is no verdict.
    - `passed`: the names of tests without findings; `skipped`: names with the reason.
    - `data`: the report as JSON; `describe`: descriptions of rules; `links`: URLs of pages on rules.
    - `threshold`: the option that determines what fails; `whole`: the URL of the full report; `code`: the exit code.
    - `layout`: a terminal shows the fullest form that fits, the full one, or a line for each diagnostic.
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
        """The diagnostics that cause exit code 1."""
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.fails)

    @property
    def reasons(self) -> Mapping[str, list[str]]:
        """The names of skipped tests, by reason."""
        names_by_reason: dict[str, list[str]] = {}
        for name, reason in self.skipped:
            names_by_reason.setdefault(reason, []).append(name)
        return names_by_reason
