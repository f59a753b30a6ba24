"""The pages on the rules of the monitor: what `acpgen validate --session`, `acpgen tap` and `acp_monitor` report."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from inspect import getdoc
from typing import TYPE_CHECKING, Final, TypeAlias

from acpgen import embedded, resources
from acpgen.diagnostics.markup import make_identifier
from acpgen.input.load import read_data
from acpgen.publish.pages import Page
from acpgen.publish.versions import Version
from acpgen.targets.docs.templates import lay_out

if TYPE_CHECKING:
    from acp_monitor import Rule

PAGE: Final = "monitor.md"
FAMILIES: Final = ("acp", "mcp")
"""The protocols that the monitor supports."""

LEVELS: Final = {
    "must": "Breaks what the documents demand.",
    "should": "Breaks what the documents recommend.",
    "note": "Breaks nothing, and is worth knowing.",
}


def is_known(version: Version) -> bool:
    """Whether the monitor supports a version's protocol."""
    return version.family in FAMILIES


def find_page(rule: Rule) -> str:
    """The page that describes a rule: that of its subject."""
    return f"monitor/{make_identifier(rule.check.__module__.rpartition('.')[2])}.md"


def map_pages(*, for_site: bool = True) -> Mapping[str, str]:
    """The page that describes each rule, by the rule's id: for a site that of its subject, otherwise the page of all rules."""
    return {name: find_page(rule) if for_site else PAGE for name, rule in embedded.monitor.RULES.items()}


Requirements: TypeAlias = Mapping[int | str, tuple[str, str]]
"""The text and the address of each requirement of a project, by its id."""


def write_pages(versions: Sequence[Version], requirements: Requirements, *, for_site: bool = True) -> list[Page]:
    """Write the page of all rules with an anchor for each, and for a site a page for each subject.

    A subject's page has the text of its rules, their level, what they check, and the protocols that they apply to.
    """
    monitored_versions = [version for version in versions if is_known(version)]
    subjects = _group_by_subject()
    text = lay_out(
        "monitor", path=PAGE, subjects=subjects, levels=LEVELS, remarks=embedded.monitor.REMARKS, linked=for_site
    )
    group = ("Rules", "Monitor rules")
    pages = [Page(PAGE, text, (*group, "All rules"), about="The rules of the monitor")]
    for page, (title, about, rules_) in subjects.items() if for_site else ():
        text = lay_out(
            "monitor-of",
            path=page,
            title=title,
            about=about,
            rules=[(rule, find_protocols(rule, monitored_versions)) for rule in rules_],
            requirements=requirements,
            examples=read_data(resources.MONITOR_EXAMPLES),
            home=PAGE,
        )
        pages.append(Page(page, text, (*group, title)))
    return pages


def _group_by_subject() -> Mapping[str, tuple[str, str, Sequence[Rule]]]:
    """The title, the description and the rules of each subject, by its page."""
    groups: dict[str, tuple[str, str, list[Rule]]] = {}
    for rule in embedded.monitor.RULES.values():
        doc = (getdoc(sys.modules[rule.check.__module__]) or "").partition("\n\n")[0]
        title, _, about = " ".join(doc.split()).partition(": ")
        about = f"{about[:1].upper()}{about[1:]}{'' if about.endswith('.') else '.'}" if about else ""
        groups.setdefault(find_page(rule), (title, about, []))[2].append(rule)
    return groups


def find_protocols(rule: Rule, versions: Sequence[Version]) -> tuple[str, ...]:
    """The names of those protocols among `versions` that a rule applies to."""
    names: list[str] = []
    for version in versions:
        has = not rule.methods or not {method.name for method in version.protocol.methods}.isdisjoint(rule.methods)
        if has and (not rule.protocols or version.protocol.name in rule.protocols):
            names.append(version.protocol.name)
    return tuple(names)
