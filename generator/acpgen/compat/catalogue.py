"""Every rule with its documentation: what `acpgen rules` prints and the docs list."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from acpgen.compat import compare, promises, waivers
from acpgen.compat.protocol.rules import MIRRORS, RULES, UNMIRRORED


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One rule: its id, what it says, and its mirror or why it has none."""

    id: str
    doc: str
    mirror: str
    unmirrored: str


def catalogue() -> tuple[CatalogueEntry, ...]:
    """All rules in alphabetical order."""
    functions: list[Callable[..., object]] = [rule for rules in RULES.values() for rule in rules]
    functions += [compare.language_narrowed, compare.language_widened, compare.language_undecided]
    functions += [promises.policy_applied, waivers.waiver_expired, waivers.waiver_unused]
    mirrors = {**MIRRORS, **{other: rule for rule, other in MIRRORS.items()}}
    entries: list[CatalogueEntry] = []
    for function in functions:
        name = function.__name__.replace("_", "-")
        doc = " ".join((inspect.getdoc(function) or "").split())
        assert doc, f"{name} has no documentation"
        entries.append(CatalogueEntry(name, doc, mirrors.get(name, ""), UNMIRRORED.get(name, "")))
    return tuple(sorted(entries, key=lambda entry: entry.id))


def as_json() -> str:
    """The catalogue as JSON."""
    return json.dumps([asdict(entry) for entry in catalogue()], indent=2, ensure_ascii=False) + "\n"


def as_markdown() -> str:
    """The catalogue as Markdown, one heading a rule."""
    parts = ["# Compatibility rules", ""]
    for entry in catalogue():
        other = f"Mirror: [`{entry.mirror}`](#{entry.mirror})." if entry.mirror else f"No mirror: {entry.unmirrored}."
        parts += [f"## {entry.id}", "", entry.doc, "", other, ""]
    return "\n".join(parts).rstrip() + "\n"


def as_text(width: int = 80) -> str:
    """The catalogue for a terminal."""
    from textwrap import fill

    parts: list[str] = []
    for entry in catalogue():
        other = f"Mirror: {entry.mirror}." if entry.mirror else f"No mirror: {entry.unmirrored}."
        body = fill(
            f"{entry.doc} {other}", width, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
        )
        parts.append(f"{entry.id}\n{body}\n")
    return "\n".join(parts)
