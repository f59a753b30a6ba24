"""Order and words that the formats for people share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from acpgen.diagnostics.model import SEVERITIES, Diagnostic, DiagnosticReport, Snippet
from acpgen.errors import visible
from acpgen.ir import JSON
from acpgen.schema.numbers import dumps

THE_ROOT: Final = "the root"
"""Stands for the name of a root, which has none."""

_ORDER: Final = list(SEVERITIES)


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """The diagnostics of one rule and severity."""

    severity: str
    rule: str
    diagnostics: tuple[Diagnostic, ...]

    @property
    def alike(self) -> list[tuple[str, list[Diagnostic]]]:
        """The diagnostics that say the same of different subjects, with what they say; those that there are most of come first."""
        groups: dict[str, list[Diagnostic]] = {}
        for each in self.diagnostics:
            groups.setdefault(each.statement or each.message, []).append(each)
        return [
            (statement if len(group) > 1 else group[0].message, group)
            for statement, group in sorted(groups.items(), key=lambda group: -len(group[1]))
        ]

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do, each piece of advice once: each sentence, where the diagnostics are given several."""
        given = dict.fromkeys(each.advice for each in self.diagnostics if each.advice)
        if len(given) < 2:
            return tuple(given)
        sentences = [[f"{each.rstrip('.')}." for each in advice.split(". ")] for advice in given]
        shared = [each for each in sentences[0] if all(each in others for others in sentences)]
        own = dict.fromkeys(each for others in sentences for each in others if each not in shared)
        return (*own, *shared)

    @property
    def count(self) -> int:
        """How many findings there are."""
        return sum(each.count for each in self.diagnostics)

    @property
    def size(self) -> str:
        """How many findings there are, where there are several: ` (7)`."""
        return f" ({self.count})" if self.count > 1 else ""


def groups(diagnostics: Iterable[Diagnostic], *, heavy: bool | None = None) -> list[RuleGroup]:
    """The diagnostics by severity and rule, worst first, then those that there are most of; all, or those that are heavy or not."""
    found: dict[tuple[str, str], list[Diagnostic]] = {}
    for each in diagnostics:
        if heavy is None or each.is_heavy == heavy:
            found.setdefault((each.severity, each.rule), []).append(each)
    made = [RuleGroup(severity, rule, tuple(group)) for (severity, rule), group in found.items()]
    return sorted(made, key=lambda group: (_ORDER.index(group.severity), -group.count, group.rule))


def counts(report: DiagnosticReport) -> Mapping[str, int]:
    """How many findings there are of each severity that occurs, worst first."""
    found = groups(report.diagnostics)
    return {
        severity: sum(group.count for group in found if group.severity == severity)
        for severity in dict.fromkeys(group.severity for group in found)
    }


def tally(diagnostics: Sequence[Diagnostic], notes: Sequence[Diagnostic] = ()) -> str:
    """How many there are of each severity, and how many notes: `2 breaking (1 of them waived), 1 risky, 1 note`."""
    parts: list[str] = []
    for severity in SEVERITIES:
        found = [each for each in diagnostics if each.severity == severity]
        waived = sum(bool(each.waived) for each in found)
        count = sum(each.count for each in found)
        which = "" if not waived else " (waived)" if waived == len(found) else f" ({waived} of them waived)"
        if found:
            told = counted(count, severity) if SEVERITIES[severity].noun else f"{count} {severity}"
            parts.append(f"{told}{which}")
    return ", ".join([*parts, *([counted(len(notes), "note")] if notes else [])])


def overview(found: Sequence[RuleGroup], severity: str) -> str:
    """How many findings there are of each rule: `field-removed 7, method-removed 2`."""
    return ", ".join(f"{group.rule} {group.count}" for group in found if group.severity == severity)


def by_file(group: RuleGroup) -> Iterator[str]:
    """How many findings there are in each file: `schema.json: 7`."""
    found: dict[str, int] = {}
    for each in group.diagnostics:
        file = each.locations[0].file if each.locations else each.subject
        found[file] = found.get(file, 0) + each.count
    return (f"{file}: {count}" for file, count in found.items())


def name(diagnostic: Diagnostic) -> str:
    """What a diagnostic is about, as a list names it: the root of a schema has no name of its own."""
    return diagnostic.subject or THE_ROOT


def extent(diagnostic: Diagnostic) -> str:
    """How many methods or other places it reaches, where they are several."""
    count, is_method = len(diagnostic.reached), diagnostic.reached_noun == "method"
    if not count or (is_method and count == 1):
        return ""
    return f"{'' if is_method else 'also in '}{counted(count, diagnostic.reached_noun)}"


def reach(diagnostic: Diagnostic, *, way: bool = True) -> str:
    """What it reaches, and who sends it: `session/prompt, client → agent`, `15 methods: session/new, …; both ways`."""
    some_of = extent(diagnostic)
    names = diagnostic.reached
    shown = f"{some_of}: {names[0]}{', …' if len(names) > 1 else ''}" if some_of else "".join(names)
    direction = diagnostic.direction if way else ""
    return ("; " if len(names) > 1 else ", ").join(filter(None, (shown, direction)))


def headline(diagnostic: Diagnostic, told: str, *, way: bool = True) -> str:
    """What it is about, what it reaches, and what is said of it."""
    reached = reach(diagnostic, way=way)
    subject = f"{diagnostic.subject} ({reached})" if reached else diagnostic.subject
    return f"{subject}: {told}" if subject else told


def some(names: Sequence[str], room: int) -> str:
    """As many names as fit into so many characters, at least one, and how many more there are."""
    shown: list[str] = []
    size = 0
    for each in names:
        size += len(each) + 2
        if shown and size > room:
            return f"{', '.join(shown)} and {len(names) - len(shown)} more"
        shown.append(each)
    return ", ".join(shown)


def snippet_lines(snippet: Snippet, width: int) -> list[str]:
    """The lines of a snippet; a JSON value is one line if that fits, else indented."""
    if snippet.lines:
        return [visible(line) for line in snippet.lines]
    line = dumps(snippet.value, ensure_ascii=False)
    return [line] if len(line) <= width else json_lines(snippet.value)


def json_lines(value: JSON) -> list[str]:
    """A JSON value as indented lines."""
    return dumps(value, indent=2, ensure_ascii=False).splitlines()


def told_in_full(diagnostic: Diagnostic) -> Iterator[str]:
    """All that is said of a diagnostic, as lines without layout."""
    yield f"{diagnostic.message}{times(diagnostic)}"
    yield from (*diagnostic.details, diagnostic.waived, diagnostic.advice, diagnostic.repair)
    for each in reversed(diagnostic.locations):
        yield f"{each.label} {each}".strip()
    for snippet in diagnostic.evidence:
        yield snippet.caption
        yield from snippet_lines(snippet, 0)


def times(diagnostic: Diagnostic) -> str:
    """How many findings a diagnostic stands for, where it is more than one."""
    return f" ({counted(diagnostic.count, 'time')})" if diagnostic.count > 1 else ""


def fails(report: DiagnosticReport) -> str:
    """How many diagnostics fail, and by which option; empty where nothing was found."""
    if not report.diagnostics and not report.notes:
        return ""
    count = len(report.failing)
    return (
        f"{count} {'finding fails' if count == 1 else 'findings fail'} `{report.threshold}`."
        if report.threshold
        else ""
    )


def fence(text: str) -> str:
    """A fence of Markdown that nothing in the text ends."""
    return "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))


def counted(count: int, noun: str) -> str:
    """`1 method`, `2 methods`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
