"""Which requirements a method or a type page tells of: those that name it, that stand in its schema, or that are told under its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from acpgen import ir
from acpgen.pointers import pointer_parts
from acpgen.publish.requirements import path
from acpgen.publish.table import PEERS, WAYS, Requirement, Table
from acpgen.publish.versions import Version
from acpgen.targets.docs.rule_notes import RuleNote, RuleNotes

_NAMED: Final = re.compile(r"`([^`]+)`")


def demands(table: Table, version: Version) -> RuleNotes:
    """The requirements of the methods and types of a version, each list in the order of the table."""
    protocol = version.protocol
    methods: dict[str, list[RuleNote]] = {}
    types: dict[str, list[RuleNote]] = {}
    titles = {name.casefold(): name for name in protocol.definitions}
    names = {method.name for method in protocol.methods}
    for rule in table.rules:
        if protocol.name not in rule.protocols:
            continue
        note = _note(rule)
        about = dict.fromkeys([*_types(rule, protocol), *filter(None, [titles.get(rule.section.casefold())])])
        for name in about:
            types.setdefault(name, []).append(note)
        told = {*rule.methods, *_NAMED.findall(rule.says)} & names
        told |= {method.name for method in protocol.methods if {method.params, method.result} & set(about)}
        for name in told:
            methods.setdefault(name, []).append(note)
    return RuleNotes(
        {name: tuple(found) for name, found in methods.items()}, {name: tuple(found) for name, found in types.items()}
    )


def _types(rule: Requirement, protocol: ir.Protocol) -> Iterator[str]:
    """The types in whose schema a requirement stands."""
    for place in (where for each in rule.schema for where in each.at):
        name, _, fragment = place.partition("#")
        match list(pointer_parts(fragment)):
            case ["$defs", definition, *_] if name == protocol.name and definition in protocol.definitions:
                yield definition
            case _:
                pass


def _note(rule: Requirement) -> RuleNote:
    ways = ", ".join(WAYS[key].lower() for key in rule.ways if key != "documentation")
    return RuleNote(str(rule.id), rule.level, PEERS[rule.who], rule.says, ways, f"{path(rule.document)}#{rule.anchor}")
