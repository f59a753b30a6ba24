"""The requirements on each page.

A method or a type has those that name it, refer to its schema, or are in a section of its name. An area has those of its documents that
are about no single method or type; the page of messages has the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from acpgen import ir
from acpgen.pointers import pointer_parts
from acpgen.publish.requirement_table import PEERS, Requirement, Table
from acpgen.publish.requirements import describe_checks, map_addresses
from acpgen.publish.versions import Version
from acpgen.targets import docs
from acpgen.targets.docs.page_notes import RequirementNote, RequirementNotes

_NAMED: Final = re.compile(r"`([^`]+)`")


def requirements_by_page(table: Table, version: Version) -> RequirementNotes:
    """The requirements of a version by page, each list in the order of the table; each requirement is on at least one page."""
    protocol = version.protocol
    methods: dict[str, list[RequirementNote]] = {}
    types: dict[str, list[RequirementNote]] = {}
    titles = {name.casefold(): name for name in protocol.definitions}
    remaining: list[Requirement] = []
    notes = {
        rule.id: _make_note(rule, address)
        for rule, address in zip(table.rules, map_addresses(table).values(), strict=True)
    }
    area_of = docs.page_paths(protocol, version.bundle).area_of
    area_counts: dict[str, Counter[str]] = {}
    for rule in table.rules:
        if protocol.name not in rule.protocols:
            continue
        note = notes[rule.id]
        about, subject_methods = _find_subjects(rule, protocol, titles)
        for name in about:
            types.setdefault(name, []).append(note)
        for method in subject_methods:
            methods.setdefault(method.name, []).append(note)
        if not about and not subject_methods:
            remaining.append(rule)
        holders = {*about, *(method.params or method.result or "" for method in subject_methods)}
        area_counts.setdefault(rule.document, Counter()).update({area_of[name] for name in holders if name in area_of})
    areas: dict[str, list[RequirementNote]] = {}
    messages: list[RequirementNote] = []
    for rule in remaining:
        area = _find_area(rule.document, area_counts, {*area_of.values()})
        (areas.setdefault(area, []) if area is not None else messages).append(notes[rule.id])
    return RequirementNotes(_freeze(methods), _freeze(types), _freeze(areas), tuple(messages))


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


def _find_area(document: str, area_counts: Mapping[str, Counter[str]], areas: set[str]) -> str | None:
    """The area named like a document, else the area of most types and methods that its other requirements are about; `None` if there is
    none.
    """
    name, counts = document.rpartition("/")[2], area_counts[document]
    return name if name in areas else min(counts, key=lambda area: (-counts[area], area), default=None)


def _freeze(lists: Mapping[str, list[RequirementNote]]) -> Mapping[str, tuple[RequirementNote, ...]]:
    return {name: tuple(notes) for name, notes in lists.items()}


def _find_types(rule: Requirement, protocol: ir.Protocol) -> Iterator[str]:
    """Yield the types whose schema a requirement refers to."""
    for place in (where for each in rule.schema for where in each.at):
        name, _, fragment = place.partition("#")
        match list(pointer_parts(fragment)):
            case ["$defs", definition, *_] if name == protocol.name and definition in protocol.definitions:
                yield definition
            case _:
                pass


def _make_note(rule: Requirement, address: str) -> RequirementNote:
    return RequirementNote(rule.level, PEERS[rule.who], rule.says, describe_checks(rule), address)
