"""Common parts of the text formats: order, counts, and the lines on a rule, whose parts may be code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, TypeAlias

from msgspec import Struct

from acpgen.diagnostics.model import SEVERITIES, Diagnostic, Replacement, Snippet
from acpgen.errors import count_noun, make_visible
from acpgen.input.numbers import dumps
from acpgen.ir import JSON

THE_ROOT: Final = "the root"
"""Stands for the name of a root, which has none."""

_ORDER: Final = list(SEVERITIES)


class CodeSpan(str):
    """A name or a place, which is shown as code."""

    __slots__ = ()


Parts: TypeAlias = tuple[str, ...]


class Item(Struct, frozen=True):
    """A list item at a level below the title of a rule."""

    level: int
    parts: Parts
    is_quiet: bool = False


Line: TypeAlias = Item | Snippet | Replacement


class RuleGroup(Struct, frozen=True):
    """The diagnostics of one rule and severity."""

    severity: str
    rule: str
    diagnostics: tuple[Diagnostic, ...]

    @property
    def alike(self) -> list[tuple[str, list[Diagnostic]]]:
        """The diagnostics grouped by statement, with this statement, or the message of a single one; largest groups first."""
        by_statement: dict[str, list[Diagnostic]] = {}
        for diagnostic in self.diagnostics:
            by_statement.setdefault(diagnostic.statement or diagnostic.message, []).append(diagnostic)
        ordered = sorted(by_statement.items(), key=lambda group: -len(group[1]))
        return [(statement if len(group) > 1 else group[0].message, group) for statement, group in ordered]

    @property
    def advice(self) -> tuple[str, ...]:
        """The advice without duplicates; split into sentences, the common ones last, if the diagnostics have different advice."""
        pieces = dict.fromkeys(diagnostic.advice for diagnostic in self.diagnostics if diagnostic.advice)
        if len(pieces) < 2:
            return tuple(pieces)
        sentences = [[f"{sentence.rstrip('.')}." for sentence in advice.split(". ")] for advice in pieces]
        common = [sentence for sentence in sentences[0] if all(sentence in block for block in sentences)]
        specific = dict.fromkeys(sentence for block in sentences for sentence in block if sentence not in common)
        return (*specific, *common)

    @property
    def count(self) -> int:
        """The number of findings."""
        return sum(diagnostic.count for diagnostic in self.diagnostics)

    @property
    def size(self) -> str:
        """The number of findings in parentheses if it is more than one: ` (7)`."""
        return f" ({self.count})" if self.count > 1 else ""

    @property
    def by_file(self) -> list[str]:
        """The number of findings by file: `schema.json: 7`."""
        count_by_file: dict[str, int] = {}
        for diagnostic in self.diagnostics:
            file = diagnostic.locations[0].file if diagnostic.locations else diagnostic.subject
            count_by_file[file] = count_by_file.get(file, 0) + diagnostic.count
        return [f"{file}: {count}" for file, count in count_by_file.items()]


def group_by_rule(diagnostics: Iterable[Diagnostic], *, heavy: bool | None = None) -> list[RuleGroup]:
    """Group diagnostics by severity and rule, worst first, then largest first; `heavy` selects those that are heavy, or those that are
    not.
    """
    by_rule: dict[tuple[str, str], list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if heavy is None or diagnostic.is_heavy == heavy:
            by_rule.setdefault((diagnostic.severity, diagnostic.rule), []).append(diagnostic)
    groups = [RuleGroup(severity, rule, tuple(group)) for (severity, rule), group in by_rule.items()]
    return sorted(groups, key=lambda group: (_ORDER.index(group.severity), -group.count, group.rule))


def count_by_severity(diagnostics: Iterable[Diagnostic]) -> Mapping[str, int]:
    """The number of findings by severity, worst first; severities without any are omitted."""
    counts: dict[str, int] = {}
    for group in group_by_rule(diagnostics):
        counts[group.severity] = counts.get(group.severity, 0) + group.count
    return counts


def tally(diagnostics: Sequence[Diagnostic]) -> str:
    """The counts by severity as text: `2 breaking (1 of them waived), 1 risky, 1 note`."""
    parts: list[str] = []
    for severity, count in count_by_severity(diagnostics).items():
        matching = [diagnostic for diagnostic in diagnostics if diagnostic.severity == severity]
        waived = sum(bool(diagnostic.waived) for diagnostic in matching)
        waivers = "" if not waived else " (waived)" if waived == len(matching) else f" ({waived} of them waived)"
        parts.append(f"{count_noun(count, severity) if SEVERITIES[severity].noun else f'{count} {severity}'}{waivers}")
    return ", ".join(parts)


# --- lines -----------------------------------------------------------------------------------------------------------


def describe_fully(group: RuleGroup) -> Iterator[Line]:
    """Yield the diagnostics of a rule with their places and evidence; a shared message and shared evidence are written once."""
    for _, run in groupby(
        group.diagnostics, lambda diagnostic: (diagnostic.subject, diagnostic.evidence or diagnostic.message)
    ):
        alike = list(run)
        for head in dict.fromkeys(
            (*_make_head(diagnostic), diagnostic.message, describe_count(diagnostic)) for diagnostic in alike
        ):
            yield Item(1, head)
        for diagnostic in alike[: 1 if alike[0].evidence else None]:
            yield from describe_details(diagnostic)
    yield from list_advice(group)


def describe_details(diagnostic: Diagnostic) -> Iterator[Line]:
    """Yield the lines on a diagnostic below its message."""
    if diagnostic.context != diagnostic.subject and diagnostic.context.count(".") + diagnostic.context.count("(") > 1:
        yield Item(2, ("at ", CodeSpan(diagnostic.context)), is_quiet=True)
    yield from (Item(2, (line,)) for line in (*diagnostic.details, diagnostic.waived) if line)
    for place in reversed(diagnostic.locations):
        yield Item(2, (f"{place.label} ".lstrip(), CodeSpan(place)), is_quiet=True)
    if diagnostic.fingerprint:
        yield Item(2, (CodeSpan(diagnostic.fingerprint),), is_quiet=True)
    yield from diagnostic.evidence
    yield from (Item(2, (line,)) for line in (diagnostic.repair,) if line)
    yield from diagnostic.replacements


def describe_briefly(group: RuleGroup) -> Iterator[Line]:
    """Yield the diagnostics of a rule, each on a line; a shared statement is written once."""
    for statement, similar in group.alike:
        several = len(similar) > 1
        if several:
            yield Item(1, (statement,))
        for diagnostic in similar:
            reach = describe_reach(diagnostic)
            words = (
                (name_subject(diagnostic), f" ({reach})" if reach else "")
                if several
                else (*_make_head(diagnostic), statement)
            )
            mark = (" [", CodeSpan(diagnostic.fingerprint), "]") if diagnostic.fingerprint else ()
            yield Item(1 + several, (*words, f" {diagnostic.waived}" if diagnostic.waived else "", *mark))
            yield from (Item(2 + several, (line,)) for line in (diagnostic.repair,) if line)
    yield from list_advice(group)


def list_subjects(group: RuleGroup, room: float = float("inf")) -> Iterator[Line]:
    """Yield the names of a rule's diagnostics by statement."""
    for statement, similar in group.alike:
        yield Item(1, (statement,))
        yield Item(2, join_subjects(similar, room))
    yield from list_advice(group)


def list_advice(group: RuleGroup) -> Iterator[Item]:
    """The advice on the diagnostics of a rule, as items."""
    return (Item(1, (f"→ {advice}",)) for advice in group.advice)


def join_subjects(diagnostics: Iterable[Diagnostic], room: float) -> Parts:
    """As many subjects with their extent as fit into `room` characters: see `join_names`."""
    extents = ((diagnostic, _describe_extent(diagnostic)) for diagnostic in diagnostics)
    return join_names(
        [(name_subject(diagnostic), f" ({extent})" if extent else "") for diagnostic, extent in extents], room
    )


def join_names(names: Sequence[Parts], room: float) -> Parts:
    """As many names as fit into `room` characters, at least one, and the number of the remaining ones."""
    parts: list[str] = []
    for number, name in enumerate(names):
        pieces = [", "] * bool(parts) + list(name)
        room -= len("".join(pieces))
        if parts and room < 0:
            return (*parts, f" and {len(names) - number} more")
        parts += pieces
    return tuple(parts)


def _make_head(diagnostic: Diagnostic) -> Parts:
    """The subject of a diagnostic and its reach, which precede its message."""
    if not diagnostic.subject:
        return ("",)
    return CodeSpan(diagnostic.subject), f" ({describe_reach(diagnostic)}): " if describe_reach(diagnostic) else ": "


def write_headline(diagnostic: Diagnostic) -> str:
    """The subject of a diagnostic, its reach, its message and its count."""
    return "".join((*_make_head(diagnostic), diagnostic.message, describe_count(diagnostic)))


def name_subject(diagnostic: Diagnostic) -> str:
    """The subject of a diagnostic in a list; a file has its line, and the root of a schema no name of its own."""
    subject = next(
        (str(location) for location in diagnostic.locations if location.file == diagnostic.subject), diagnostic.subject
    )
    return CodeSpan(subject) if subject else THE_ROOT


def _describe_extent(diagnostic: Diagnostic) -> str:
    """The number of methods or other places that a diagnostic reaches; empty for none and for a single method."""
    count, is_method = len(diagnostic.reached), diagnostic.reached_noun == "method"
    if not count or (is_method and count == 1):
        return ""
    return f"{'' if is_method else 'also in '}{count_noun(count, diagnostic.reached_noun)}"


def describe_reach(diagnostic: Diagnostic) -> str:
    """The reach of a diagnostic, and the direction: `session/prompt, client → agent`, `15 methods: session/new, …; both ways`."""
    extent, reached = _describe_extent(diagnostic), diagnostic.reached
    text = f"{extent}: {reached[0]}{', …' if len(reached) > 1 else ''}" if extent else "".join(reached)
    return ("; " if len(reached) > 1 else ", ").join(filter(None, (text, diagnostic.direction)))


def split_snippet(snippet: Snippet, width: int) -> list[str]:
    """The lines of a snippet; a JSON value is one line if it fits, otherwise indented."""
    if snippet.lines:
        return [make_visible(line) for line in snippet.lines]
    line = dumps(snippet.value, ensure_ascii=False)
    return [line] if len(line) <= width else split_json(snippet.value)


def split_json(value: JSON) -> list[str]:
    """A JSON value as indented lines."""
    return dumps(value, indent=2, ensure_ascii=False).splitlines()


def describe_count(diagnostic: Diagnostic) -> str:
    """The number of findings of a diagnostic as text; empty for one."""
    return f" ({count_noun(diagnostic.count, 'time')})" if diagnostic.count > 1 else ""
