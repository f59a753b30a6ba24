"""The requirements on each page.

A method or a type has those that name it, refer to its schema, or are in a section of its name. An area has those of its documents that
are about no single method or type; the page of messages has the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from acpgen import ir
from acpgen.pointers import split_pointer
from acpgen.publish.requirement_table import PEERS, Requirement, Table
from acpgen.publish.requirements import describe_checks, map_addresses
from acpgen.publish.versions import Version
from acpgen.targets.docs.page_notes import RequirementNote
from acpgen.targets.docs.page_paths import MESSAGES

_NAMED: Final = re.compile(r"`([^`]+)`")


def group_requirements(table: Table, version: Version) -> Mapping[str, Sequence[RequirementNote]]:
    """The requirements of a version by page, each list in the order of the table; each requirement is on at least one page."""
    protocol, paths = version.protocol, version.make_page_paths()
    titles = {name.casefold(): name for name in protocol.definitions}
    addresses = map_addresses(table)
    pages: dict[str, list[RequirementNote]] = {}
    remaining: list[tuple[Requirement, RequirementNote]] = []
    area_counts: dict[str, Counter[str]] = {}
    for rule in (rule for rule in table.rules if protocol.name in rule.protocols):
        note = RequirementNote(rule.level, PEERS[rule.who], rule.says, describe_checks(rule), addresses[rule.id])
        types, methods = _find_subjects(rule, protocol, titles)
        for page in (*(paths.types[name] for name in types), *(paths.methods[method.name] for method in methods)):
            pages.setdefault(page, []).append(note)
        if not types and not methods:
            remaining.append((rule, note))
        holders = {*types, *(method.params or method.result or "" for method in methods)} & paths.area_of.keys()
        area_counts.setdefault(rule.document, Counter()).update({paths.area_of[name] for name in holders})
    for rule, note in remaining:
        area = _find_area(rule.document, area_counts, paths.areas)
        pages.setdefault(MESSAGES if area is None else paths.areas[area], []).append(note)
    return pages


def _find_subjects(
    rule: Requirement, protocol: ir.Protocol, titles: Mapping[str, str]
) -> tuple[list[str], list[ir.Method]]:
    """The types and the methods that a requirement is about; `titles` maps case-folded section titles to types."""
    types = list(dict.fromkeys([*_find_types(rule, protocol), *filter(None, [titles.get(rule.section.casefold())])]))
    method_names = {*rule.methods, *_NAMED.findall(rule.says)}
    matches = {
        method.name: method
        for method in protocol.methods
        if method.name in method_names or not {method.params, method.result}.isdisjoint(types)
    }
    return types, list(matches.values())


def _find_area(document: str, area_counts: Mapping[str, Counter[str]], areas: Collection[str]) -> str | None:
    """The area named like a document, else the area of most types and methods that its other requirements are about; `None` if there is
    none.
    """
    name, counts = document.rpartition("/")[2], area_counts[document]
    return name if name in areas else min(counts, key=lambda area: (-counts[area], area), default=None)


def _find_types(rule: Requirement, protocol: ir.Protocol) -> Iterator[str]:
    """Yield the types whose schema a requirement refers to."""
    for place in (where for places in rule.schema for where in places.at):
        name, _, fragment = place.partition("#")
        match list(split_pointer(fragment)):
            case ["$defs", definition, *_] if name == protocol.name and definition in protocol.definitions:
                yield definition
            case _:
                pass
