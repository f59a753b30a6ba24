"""The outcome of a probe for a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from acpgen.compat.report.columns import WIDTH, cut, paint, plain, wrapped
from acpgen.probe.conformance import Conformance, Proven
from acpgen.probe.report.telling import SENTENCES, again, spoken, summary, times, who

_KINDS: Final = {"must": "breaking", "should": "risky", "note": "editorial"}
_FEW: Final = 4
_MANY: Final = 24
_LONGEST: Final = 280
"""Characters of a line of a transcript. Other reports show more."""

_WORDS: Final = {"must": "MUST", "should": "SHOULD", "note": "note"}


def text(report: Conformance) -> str:
    """The outcome as plain text."""
    return plain(coloured(report))


def coloured(report: Conformance) -> str:
    """The outcome with colours of a terminal."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Conformance) -> Iterator[str]:
    versions = " and ".join(f"v{version}" for version in report.versions)
    yield paint(cut(f"{report.verdict.upper()}  {who(report)}  {versions}".rstrip(), WIDTH), "heading")
    yield from wrapped(f"{SENTENCES[report.verdict]} {summary(report)}.")
    for _, alike in groupby(report.findings, lambda one: (one.level, one.rule, one.case, one.clause, one.transcript)):
        yield ""
        yield from _found([*alike], report)
    if report.known:
        yield ""
        yield from wrapped(f"{len(report.known)} known findings of the baseline are left out.")
    for gone in report.gone:
        yield from wrapped(f"gone: {gone.get('rule')}: {gone.get('message')}", "  ")
    if report.not_reached:
        yield ""
        yield paint("Not reached", "heading")
        reasons: dict[str, list[str]] = {}
        for one in report.not_reached:
            reasons.setdefault(one.reason, []).append(one.case)
        for reason, cases in reasons.items():
            yield from wrapped(reason, "  ")
            yield from wrapped(", ".join(_sections(cases)), "    ", "2")
    if report.errors and not report.versions:
        yield ""
        yield paint("The end of its standard error", "heading")
        for line in report.errors.splitlines()[-8:]:
            yield from wrapped(line, "  ")
    yield ""
    yield from wrapped(f"Seed {report.seed}; {report.seconds:.1f} s.")


def _found(alike: Sequence[Proven], report: Conformance) -> Iterator[str]:
    """Findings that the same messages prove: what each says, then the messages once."""
    one = alike[0]
    yield from wrapped(f"{_WORDS[one.level]}  {one.rule}  [{one.case}]", colour=_code(one.level))
    for each in alike:
        yield from wrapped(f"{each.message}{times(each)}", "  ")
    yield from wrapped(str(one.clause), "  ", "2")
    for row in one.transcript:
        key = one.key if row is one.transcript[-1] else ""
        yield from wrapped(spoken(row, _LONGEST, key), "    ", below="      ")
    yield from wrapped(again(one, report), "  $ ", below="    ")


def _code(level: str) -> str:
    from acpgen.compat.report.columns import COLOURS

    return COLOURS[_KINDS[level]]


def _sections(cases: list[str]) -> Iterator[str]:
    """The names of cases; of more than a few, how many of each section."""
    if len(cases) <= _FEW:
        yield from cases
        return
    part = 0 if len(cases) > _MANY else -1
    for section, count in Counter(_section(name, part) for name in cases).items():
        yield f"{section} ({count})"


def _section(name: str, part: int) -> str:
    """The version, or all but the last part of a name."""
    return name.partition("/")[0] if part == 0 else name.rpartition("/")[0]
