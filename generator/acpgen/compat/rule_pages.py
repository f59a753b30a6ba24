"""The page of each rule of the compatibility check: how bad, why, a change that harms somebody and one that harms nobody."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from acpgen.compat.catalogue import PAGES, CatalogueEntry, catalogue, examples
from acpgen.markup import quoting

INDEX: Final = "compatibility.md"


def pages() -> Mapping[str, str]:
    """The page of each rule by its path in the docs."""
    return {entry.page: page(entry) for entry in catalogue()}


def address(docs: str, rule: str) -> str:
    """Where the page of a rule stands on the site `docs`; empty without one."""
    return f"{docs}{PAGES}/{rule}.html" if docs else ""


def page(entry: CatalogueEntry, *, linked: bool = True, here: Iterable[str] = ()) -> str:
    """The page of a rule as Markdown, `linked` to those of other rules; `here` is what a project's policy says of it."""
    return "\n".join(_lines(entry, here, linked=linked)).rstrip() + "\n"


def _lines(entry: CatalogueEntry, here: Iterable[str], *, linked: bool) -> Iterator[str]:
    pairs = examples()[entry.id]

    def name(rule: str) -> str:
        return f"[`{rule}`]({rule}.md)" if linked and rule != entry.id else f"`{rule}`"

    yield f"# {entry.id}\n"
    yield f"{' or '.join(f'**{severity}**' for severity in entry.severities)}: {entry.doc}\n"
    if entry.mirror:
        yield f"The change in the other direction is {name(entry.mirror)}.\n"
    else:
        yield f"It has no mirror: {entry.unmirrored}.\n"
    yield from (f"{line}\n" for line in here)
    said = quoting if linked else str
    yield "## Bad\n"
    yield from _pair(pairs["bad"], name, said)
    yield "## Good\n"
    yield from _pair(pairs["good"], name, said)
    if linked:
        yield f"[All rules](../{INDEX}#{entry.id})"


def _pair(pair: Mapping[str, Any], name: Callable[[str], str], said: Callable[[str], str]) -> Iterator[str]:
    yield from _fenced("diff", pair["difference"])
    for file, text in pair["files"].items():
        yield f"With `{file}`:\n"
        yield from _fenced("toml", text)
    finding = pair.get("finding")
    if finding is None:
        yield "Nothing is found.\n"
        return
    breaks = f" Breaks {finding['breaks']}." if finding["breaks"] else ""
    yield f"**{finding['severity']}** {name(finding['rule'])}: {said(finding['message'])}{breaks}\n"
    if "witness" in finding:
        yield "This message shows it:\n"
        yield from _fenced("json", json.dumps(finding["witness"], indent=2, ensure_ascii=False))
    yield "The check exits with 1.\n" if pair["counts"] else "The check exits with 0.\n"


def _fenced(language: str, text: str) -> Iterator[str]:
    yield f"```{language}"
    yield text.rstrip("\n")
    yield "```\n"
