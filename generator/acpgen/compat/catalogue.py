"""The catalogue of rules, as `acpgen rules` prints it and the docs show it, with the severities that a project's policy sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from textwrap import fill
from typing import Any, Final

from acpgen.compat.policy import NONE, Policy, is_removal
from acpgen.compat.rules import RULES
from acpgen.diagnostics.markup import write_code_block, write_message
from acpgen.input.load import read_data
from acpgen.resources import RULE_EXAMPLES

PAGES: Final = "compatibility"
"""The folder of the rule pages in the docs."""
INDEX: Final = "compatibility.md"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One rule: its id, description, its mirror rule or the reason why it has none, and the severities of its findings, worst first.

    The severity `note` marks messages that do not count.
    """

    id: str
    doc: str
    mirror: str
    unmirrored: str
    severities: tuple[str, ...]

    @property
    def page(self) -> str:
        """The path of the rule's page in the docs."""
        return f"{PAGES}/{self.id}.md"


@cache
def list_rules() -> tuple[CatalogueEntry, ...]:
    """All rules in alphabetical order."""
    rules = [row for row in RULES if row.doc]
    mirrors = {row.id: row.mirror for row in rules if row.mirror} | {row.mirror: row.id for row in rules if row.mirror}
    examples: Mapping[str, Any] = read_data(RULE_EXAMPLES)
    severities = {row.id: tuple(examples.get(row.id, {}).get("severities", ())) for row in rules}
    return tuple(
        CatalogueEntry(row.id, row.doc, mirrors.get(row.id, ""), row.unmirrored, severities[row.id])
        for row in sorted(rules, key=lambda row: row.id)
    )


def list_policy_entries(entry: CatalogueEntry, policy: Policy) -> Iterator[dict[str, str]]:
    """Yield what a policy sets for the findings of one rule: the area, the severity and the reason."""
    for setting in policy.entries:
        at, reason = "" if setting.area is None else setting.area.written, setting.reason
        if setting.table == "severity" and setting.rule in ("", entry.id):
            yield {"at": at, "severity": setting.severity, "reason": reason}
        elif setting.table == "deprecated" and is_removal(entry.id):
            reason = f"from {setting.sunset.isoformat()} on: {reason}"
            yield {"at": at, "severity": setting.severity, "reason": reason}


def summarize_policy(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the policy settings that apply to all rules, as a name and a text."""
    roles = ", ".join(f"{promise} to {role}" for role, promise in policy.promises.items())
    yield "promise", f"{roles}, {policy.promise} to all others" if roles else policy.promise
    since = {None: "OLD alone", "": "every release that is kept"}
    yield "compared", since.get(policy.since, f"the releases that are kept, from {policy.since} on")
    yield "formats", "asserted" if policy.formats else "annotations"
    for setting in policy.entries:
        if setting.table == "experimental" and setting.area is not None:
            yield setting.table, f"{setting.area.written}: {setting.reason}"


def as_json(policy: Policy = NONE, entries: Sequence[CatalogueEntry] | None = None) -> str:
    """The catalogue as JSON, with the examples of each rule and its policy entries."""
    rows = [
        {**asdict(entry), **read_data(RULE_EXAMPLES)[entry.id], "policy": list(list_policy_entries(entry, policy))}
        for entry in (list_rules() if entries is None else entries)
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


_INTRODUCTION: Final = (
    "`acpgen diff OLD NEW` compares two revisions of a protocol by these rules. Each finding names its rule and has a severity:",
    "",
    "| Severity | Meaning |",
    "| --- | --- |",
    "| breaking | A message that a peer of one revision sends is rejected or misread by a peer of the other. |",
    "| undecided | The check can neither prove nor refute it, or did not compare it. |",
    "| risky | A strict peer rejects it, or its meaning changes. |",
    "| additive | Old peers are not affected. |",
    "| editorial | No message changes. |",
    "",
    "Where a rule has several severities, the place of the change decides: for instance who sends the value, or whether readers keep",
    "unknown members. The mirror of a rule finds the same change with OLD and NEW exchanged.",
    "",
)


def as_markdown(policy: Policy = NONE, *, linked: bool = False) -> str:
    """The catalogue as Markdown, one heading per rule; with `linked`, each links to the page of its rule."""
    parts = ["# Compatibility rules", "", *_INTRODUCTION]
    if policy != NONE:
        parts += [*(f"- {name}: {words}" for name, words in summarize_policy(policy)), ""]
    for entry in list_rules():
        parts += [f"## {entry.id}", "", f"{' or '.join(entry.severities).capitalize()}. {entry.doc}", ""]
        lines = [f"- {line}" for line in describe_policy(entry, policy)]
        parts += [*lines, ""] if lines else []
        mirror = f"Mirror: [`{entry.mirror}`](#{entry.mirror})." if entry.mirror else f"No mirror: {entry.unmirrored}."
        parts += [f"{mirror} [Examples]({entry.page})." if linked else mirror, ""]
    return "\n".join(parts).rstrip() + "\n"


def as_text(width: int = 80, policy: Policy = NONE) -> str:
    """The catalogue as plain text for a terminal."""

    def fold(line: str) -> str:
        return fill(line, width, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)

    parts: list[str] = []
    if policy != NONE:
        policy_text = [fold(f"{name}: {words}") for name, words in summarize_policy(policy)]
        parts.append("\n".join(["  The policy of this project", *policy_text, ""]))
    for entry in list_rules():
        mirror = f"Mirror: {entry.mirror}." if entry.mirror else f"No mirror: {entry.unmirrored}."
        lines = [fold(f"{' or '.join(entry.severities).capitalize()}. {entry.doc} {mirror}")]
        lines += [fold(f"→ {line}") for line in describe_policy(entry, policy)]
        parts.append("\n".join([entry.id, *lines, ""]))
    return "\n".join(parts)


def describe_policy(entry: CatalogueEntry, policy: Policy) -> Iterator[str]:
    """Yield the policy entries of a rule as sentences."""
    for setting in list_policy_entries(entry, policy):
        at = f" at {setting['at']}" if setting["at"] else ""
        yield f"Here{at}: {setting['severity']}. {setting['reason']}"


# --- the page of each rule: how bad, why, a change that harms somebody and one that harms nobody ---------------------


def write_pages() -> Mapping[str, str]:
    """The page of each rule by its path in the docs."""
    return {entry.page: write_page(entry) for entry in list_rules()}


def get_address(docs: str, rule: str) -> str:
    """The URL of a rule's page on the documentation site `docs`; empty if there is no site."""
    return f"{docs}{PAGES}/{rule}.html" if docs else ""


def write_page(entry: CatalogueEntry, *, linked: bool = True, here: Iterable[str] = ()) -> str:
    """The page of a rule as Markdown.

    With `linked`, it links to the pages of other rules. `here` are the lines on what a project's policy sets for the rule.
    """
    return "\n".join(_write_lines(entry, here, linked=linked)).rstrip() + "\n"


def _write_lines(entry: CatalogueEntry, here: Iterable[str], *, linked: bool) -> Iterator[str]:
    pairs = read_data(RULE_EXAMPLES)[entry.id]

    def name(rule: str) -> str:
        return f"[`{rule}`]({rule}.md)" if linked and rule != entry.id else f"`{rule}`"

    yield f"# {entry.id}\n"
    yield f"{' or '.join(f'**{severity}**' for severity in entry.severities)}: {entry.doc}\n"
    if entry.mirror:
        yield f"The change in the other direction is {name(entry.mirror)}.\n"
    else:
        yield f"It has no mirror: {entry.unmirrored}.\n"
    yield from (f"{line}\n" for line in here)
    render_text = write_message if linked else str
    yield "## Bad\n"
    yield from _pair(pairs["bad"], name, render_text)
    yield "## Good\n"
    yield from _pair(pairs["good"], name, render_text)
    if linked:
        yield f"[All rules](../{INDEX}#{entry.id})"


def _pair(pair: Mapping[str, Any], name: Callable[[str], str], render_text: Callable[[str], str]) -> Iterator[str]:
    yield _write_code_block("diff", pair["difference"])
    for file, text in pair["files"].items():
        yield f"With `{file}`:\n"
        yield _write_code_block("toml", text)
    finding = pair.get("finding")
    if finding is None:
        yield "Nothing is found.\n"
        return
    breaks = f" Breaks {finding['breaks']}." if finding["breaks"] else ""
    yield f"**{finding['severity']}** {name(finding['rule'])}: {render_text(finding['message'])}{breaks}\n"
    if "witness" in finding:
        yield "This message shows it:\n"
        yield _write_code_block("json", json.dumps(finding["witness"], indent=2, ensure_ascii=False))
    yield "The check exits with 1.\n" if pair["counts"] else "The check exits with 0.\n"


def _write_code_block(language: str, text: str) -> str:
    return f"{write_code_block(text.rstrip(), language)}\n"
