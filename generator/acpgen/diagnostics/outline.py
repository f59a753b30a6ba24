"""What the formats for people share: order, counts, and the lines that tell of a rule, as parts of which some are code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

from acpgen.diagnostics.model import SEVERITIES, Diagnostic, Replacement, Snippet
from acpgen.errors import counted as counted
from acpgen.errors import visible
from acpgen.input.numbers import dumps
from acpgen.ir import JSON

THE_ROOT: Final = "the root"
"""Stands for the name of a root, which has none."""

_ORDER: Final = list(SEVERITIES)


class CodeSpan(str):
    """A name or a place, which pages show as code."""

    __slots__ = ()


Parts: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A line at a level below the title of a rule."""

    level: int
    parts: Parts
    is_quiet: bool = False


Line: TypeAlias = Item | Snippet | Replacement


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """The diagnostics of one rule and severity."""

    severity: str
    rule: str
    diagnostics: tuple[Diagnostic, ...]

    @property
    def alike(self) -> list[tuple[str, list[Diagnostic]]]:
        """The diagnostics that say the same of different subjects, with what they say; those that there are most of come first."""
        found: dict[str, list[Diagnostic]] = {}
        for each in self.diagnostics:
            found.setdefault(each.statement or each.message, []).append(each)
        ordered = sorted(found.items(), key=lambda group: -len(group[1]))
        return [(said if len(group) > 1 else group[0].message, group) for said, group in ordered]

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

    @property
    def by_file(self) -> list[str]:
        """How many findings there are in each file: `schema.json: 7`."""
        found: dict[str, int] = {}
        for each in self.diagnostics:
            file = each.locations[0].file if each.locations else each.subject
            found[file] = found.get(file, 0) + each.count
        return [f"{file}: {count}" for file, count in found.items()]


def group_by_rule(diagnostics: Iterable[Diagnostic], *, heavy: bool | None = None) -> list[RuleGroup]:
    """The diagnostics by severity and rule, worst first, then those that there are most of; all, or those that are heavy or not."""
    found: dict[tuple[str, str], list[Diagnostic]] = {}
    for each in diagnostics:
        if heavy is None or each.is_heavy == heavy:
            found.setdefault((each.severity, each.rule), []).append(each)
    made = [RuleGroup(severity, rule, tuple(group)) for (severity, rule), group in found.items()]
    return sorted(made, key=lambda group: (_ORDER.index(group.severity), -group.count, group.rule))


def count_by_severity(diagnostics: Iterable[Diagnostic]) -> Mapping[str, int]:
    """How many findings there are of each severity that occurs, worst first."""
    found: dict[str, int] = {}
    for group in group_by_rule(diagnostics):
        found[group.severity] = found.get(group.severity, 0) + group.count
    return found


def tally(diagnostics: Sequence[Diagnostic]) -> str:
    """How many there are of each severity: `2 breaking (1 of them waived), 1 risky, 1 note`."""
    parts: list[str] = []
    for severity, count in count_by_severity(diagnostics).items():
        found = [each for each in diagnostics if each.severity == severity]
        waived = sum(bool(each.waived) for each in found)
        which = "" if not waived else " (waived)" if waived == len(found) else f" ({waived} of them waived)"
        parts.append(f"{counted(count, severity) if SEVERITIES[severity].noun else f'{count} {severity}'}{which}")
    return ", ".join(parts)


# --- lines -----------------------------------------------------------------------------------------------------------


def describe_fully(group: RuleGroup) -> Iterator[Line]:
    """The diagnostics of one rule with their places and evidence; what the same evidence proves is told with it once."""
    for _, found in groupby(
        group.diagnostics, lambda each: (each.subject, each.evidence) if each.evidence else id(each)
    ):
        alike = list(found)
        for each in alike:
            yield Item(1, (*_head(each), each.message, describe_count(each)))
        yield from describe_details(alike[0])
    yield from list_advice(group)


def describe_details(one: Diagnostic) -> Iterator[Line]:
    """What is told of one diagnostic below its message."""
    if one.context.count(".") + one.context.count("(") > 1:
        yield Item(2, ("at ", CodeSpan(one.context)), is_quiet=True)
    yield from (Item(2, (line,)) for line in (*one.details, one.waived) if line)
    for place in reversed(one.locations):
        yield Item(2, (f"{place.label} ".lstrip(), CodeSpan(place)), is_quiet=True)
    if one.fingerprint:
        yield Item(2, (CodeSpan(one.fingerprint),), is_quiet=True)
    yield from one.evidence
    yield from (Item(2, (line,)) for line in (one.repair,) if line)
    yield from one.replacements


def describe_briefly(group: RuleGroup) -> Iterator[Line]:
    """The diagnostics of one rule, each on a line; what several say is said once."""
    for statement, found in group.alike:
        several = len(found) > 1
        if several:
            yield Item(1, (statement,))
        for each in found:
            reach = describe_reach(each)
            words = (name_subject(each), f" ({reach})" if reach else "") if several else (*_head(each), statement)
            mark = (" [", CodeSpan(each.fingerprint), "]") if each.fingerprint else ()
            yield Item(1 + several, (*words, f" {each.waived}" if each.waived else "", *mark))
            yield from (Item(2 + several, (line,)) for line in (each.repair,) if line)
    yield from list_advice(group)


def list_subjects(group: RuleGroup, room: float = float("inf")) -> Iterator[Line]:
    """The names of the diagnostics of one rule by what they say."""
    for statement, found in group.alike:
        yield Item(1, (statement,))
        yield Item(2, join_subjects(found, room))
    yield from list_advice(group)


def list_advice(group: RuleGroup) -> Iterator[Item]:
    """What to do about the diagnostics of one rule."""
    return (Item(1, (f"→ {each}",)) for each in group.advice)


def join_subjects(diagnostics: Sequence[Diagnostic], room: float) -> Parts:
    """As many names as fit into so many characters, at least one, and how many more there are."""
    parts: list[str] = []
    for number, each in enumerate(diagnostics):
        extent = _extent(each)
        more = [", "] * bool(parts) + [name_subject(each), f" ({extent})" if extent else ""]
        room -= len("".join(more))
        if parts and room < 0:
            return (*parts, f" and {len(diagnostics) - number} more")
        parts += more
    return tuple(parts)


def _head(diagnostic: Diagnostic) -> Parts:
    """What it is about and what it reaches, before what is said of it."""
    if not diagnostic.subject:
        return ("",)
    return CodeSpan(diagnostic.subject), f" ({describe_reach(diagnostic)}): " if describe_reach(diagnostic) else ": "


def write_headline(diagnostic: Diagnostic) -> str:
    """What it is about, what it reaches, and what is said of it."""
    return "".join((*_head(diagnostic), diagnostic.message, describe_count(diagnostic)))


def name_subject(diagnostic: Diagnostic) -> str:
    """What a diagnostic is about, as a list names it: the root of a schema has no name of its own."""
    return CodeSpan(diagnostic.subject) if diagnostic.subject else THE_ROOT


def _extent(diagnostic: Diagnostic) -> str:
    """How many methods or other places it reaches, where they are several."""
    count, is_method = len(diagnostic.reached), diagnostic.reached_noun == "method"
    if not count or (is_method and count == 1):
        return ""
    return f"{'' if is_method else 'also in '}{counted(count, diagnostic.reached_noun)}"


def describe_reach(diagnostic: Diagnostic) -> str:
    """What it reaches, and who sends it: `session/prompt, client → agent`, `15 methods: session/new, …; both ways`."""
    extent, found = _extent(diagnostic), diagnostic.reached
    shown = f"{extent}: {found[0]}{', …' if len(found) > 1 else ''}" if extent else "".join(found)
    return ("; " if len(found) > 1 else ", ").join(filter(None, (shown, diagnostic.direction)))


def split_snippet(snippet: Snippet, width: int) -> list[str]:
    """The lines of a snippet; a JSON value is one line if that fits, else indented."""
    if snippet.lines:
        return [visible(line) for line in snippet.lines]
    line = dumps(snippet.value, ensure_ascii=False)
    return [line] if len(line) <= width else split_json(snippet.value)


def split_json(value: JSON) -> list[str]:
    """A JSON value as indented lines."""
    return dumps(value, indent=2, ensure_ascii=False).splitlines()


def describe_count(diagnostic: Diagnostic) -> str:
    """How many findings a diagnostic stands for, where it is more than one."""
    return f" ({counted(diagnostic.count, 'time')})" if diagnostic.count > 1 else ""


def choose_fence(text: str) -> str:
    """A fence of Markdown that nothing in the text ends."""
    return "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
