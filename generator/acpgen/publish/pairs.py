"""What changed between any two releases that are kept: a page on which the reader chooses them, and the data that it shows.

The data has the finding of every pair, each told once: most pairs share most of what changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from acpgen.compat.findings import SEVERITIES
from acpgen.compat.report.markdown import VERDICTS
from acpgen.ir import JSON
from acpgen.markup import Markdown, html
from acpgen.publish import changelog
from acpgen.publish.history import History
from acpgen.publish.versions import Version
from acpgen.schema.numbers import dumps, loads
from acpgen.targets import docs

PAGE: Final = "compare.md"
DATA: Final = "compare.js"

MODULES: Final = ("acpgen.compat.compare", "acpgen.publish.changelog", "acpgen.publish.pairs")
"""What makes the data of releases alone."""

FEWEST: Final = 2
"""So many releases make a pair."""


def pages(
    name: str,
    history: History,
    dates: Mapping[str, str],
    version: Version | None,
    path: str,
    others: Mapping[str, str],
) -> Mapping[str, str]:
    """The page of a protocol or family at `path`, and its data beside it. `version` has the pages of methods, `others` the paths of
    the pages `rules`, `history` and, where there is one, `changelog`.
    """
    script = f"{path.removesuffix(PAGE)}{DATA}"
    shown = {
        "releases": [[each.title, dates.get(each.version, "")] for each in history.releases],
        "verdicts": VERDICTS,
        "severities": SEVERITIES,
        "rules": _html(docs.relative(path, others["rules"])),
        "methods": _methods(version, path),
        **loads(history.once("pairs", MODULES, (), lambda: dumps(_compared(history)))),
    }
    page = docs.lay_out(
        "compare",
        path=path,
        name=name,
        releases=[each.title for each in history.releases],
        data=Markdown(html(dumps({"name": name, "script": DATA}))),
        **{key: others.get(key) for key in ("rules", "history", "changelog")},
    )
    return {path: page, script: f"(globalThis.acpReleases ??= {{}})[{dumps(name)}] = {dumps(shown)};\n"}


def _compared(history: History) -> Mapping[str, JSON]:
    """The changes, each once, and which of them each pair has: `old-new` by the numbers of the releases, `null` if not comparable."""
    known: dict[str, int] = {}
    pairs: dict[str, Any] = {}
    comparisons = history.comparisons
    for old, new in combinations(range(len(history.releases)), FEWEST):
        if comparisons.groups[old] == comparisons.groups[new]:
            pairs[f"{old}-{new}"] = []
            continue
        found = comparisons.between(old, new)
        told = None if found is None else [_told(change) for change in changelog.changes(found.judged)]
        pairs[f"{old}-{new}"] = None if told is None else [known.setdefault(dumps(c), len(known)) for c in told]
    return {"changes": [loads(each) for each in known], "pairs": pairs}


def _told(change: changelog.ToldChange) -> Sequence[JSON]:
    """Severity, rule, sentence, who breaks, methods, places, and whether there are more places."""
    places = list(dict.fromkeys(each.location for each in change.judged if each.location))
    breaks = next((each.breaks for each in change.judged if each.breaks), "")
    few = changelog.FEW
    methods: list[JSON] = [name for name in change.methods if name]
    return [change.severity, change.rule, change.message, breaks, methods, [*places[:few]], len(places) > few]


def _methods(version: Version | None, path: str) -> Mapping[str, str]:
    """The page of each method that the schema of today has, as seen from this page of the site."""
    if version is None:
        return {}
    found = docs.places_of(version.protocol, version.bundle).methods
    return {name: _html(docs.relative(path, version.path(page))) for name, page in found.items()}


def _html(page: str) -> str:
    return f"{page.removesuffix('.md')}.html"
