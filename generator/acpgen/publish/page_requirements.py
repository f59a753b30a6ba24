"""Which requirements a page tells of. A method or a type has those that name it, that stand in its schema, or that are told under its name;
an area has those of its documents that are about no single method or type, and the page of messages has the rest.
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
    """The requirements of a version by the pages that tell them, each list in the order of the table; each is told at least once."""
    protocol = version.protocol
    methods: dict[str, list[RequirementNote]] = {}
    types: dict[str, list[RequirementNote]] = {}
    titles = {name.casefold(): name for name in protocol.definitions}
    left: list[Requirement] = []
    notes = {
        rule.id: _make_note(rule, address)
        for rule, address in zip(table.rules, map_addresses(table).values(), strict=True)
    }
    area_of = docs.page_paths(protocol, version.bundle).area_of
    known: dict[str, Counter[str]] = {}
    for rule in table.rules:
        if protocol.name not in rule.protocols:
            continue
        note = notes[rule.id]
        about, told = _find_subjects(rule, protocol, titles)
        for name in about:
            types.setdefault(name, []).append(note)
        for method in told:
            methods.setdefault(method.name, []).append(note)
        if not about and not told:
            left.append(rule)
        holders = {*about, *(method.params or method.result or "" for method in told)}
        known.setdefault(rule.document, Counter()).update({area_of[name] for name in holders if name in area_of})
    areas: dict[str, list[RequirementNote]] = {}
    messages: list[RequirementNote] = []
    for rule in left:
        area = _find_area(rule.document, known, {*area_of.values()})
        (areas.setdefault(area, []) if area is not None else messages).append(notes[rule.id])
    return RequirementNotes(_freeze(methods), _freeze(types), _freeze(areas), tuple(messages))


def _find_subjects(
    rule: Requirement, protocol: ir.Protocol, titles: Mapping[str, str]
) -> tuple[list[str], list[ir.Method]]:
    """The types and the methods that a requirement is about; `titles` are the types by what a section may be called."""
    types = list(dict.fromkeys([*_find_types(rule, protocol), *filter(None, [titles.get(rule.section.casefold())])]))
    named = {*rule.methods, *_NAMED.findall(rule.says)}
    found = {
        method.name: method
        for method in protocol.methods
        if method.name in named or not {method.params, method.result}.isdisjoint(types)
    }
    return types, list(found.values())


def _find_area(document: str, known: Mapping[str, Counter[str]], areas: set[str]) -> str | None:
    """The area with the name of a document, else that of most types and methods that its other requirements are about."""
    name, counts = document.rpartition("/")[2], known[document]
    return name if name in areas else min(counts, key=lambda area: (-counts[area], area), default=None)


def _freeze(lists: Mapping[str, list[RequirementNote]]) -> Mapping[str, tuple[RequirementNote, ...]]:
    return {name: tuple(found) for name, found in lists.items()}


def _find_types(rule: Requirement, protocol: ir.Protocol) -> Iterator[str]:
    """The types in whose schema a requirement stands."""
    for place in (where for each in rule.schema for where in each.at):
        name, _, fragment = place.partition("#")
        match list(pointer_parts(fragment)):
            case ["$defs", definition, *_] if name == protocol.name and definition in protocol.definitions:
                yield definition
            case _:
                pass


def _make_note(rule: Requirement, address: str) -> RequirementNote:
    return RequirementNote(rule.level, PEERS[rule.who], rule.says, describe_checks(rule), address)
