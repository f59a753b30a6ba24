"""Entries of a profile that match nothing in a schema."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from acpgen.errors import shown
from acpgen.methods.payload_locations import Message, Reader, find_params, one_of
from acpgen.methods.profile import Rule

Match: TypeAlias = tuple[Rule, Sequence[Message], Sequence[Message]]
"""A rule, its messages, and those of them that no earlier rule finds."""

Entry: TypeAlias = tuple[tuple[str, ...], str]
"""The keys of an entry, and the reason why it matches nothing."""


def find_unused(reader: Reader, matches: Sequence[Match], methods: Collection[str]) -> Iterator[Entry]:
    """Yield the entries of a profile that match nothing. `methods` are those of the schema."""
    profile = reader.profile
    for name, side in profile.handled.items():
        if name not in methods:
            yield ("handled", side), f"the schema has no method {shown(name)}"
    for name in profile.results:
        if name not in methods:
            yield ("results", name), f"the schema has no method {shown(name)}"
    for name, members in profile.alternatives.items():
        if reader.schemas.written.get(name) != one_of(members):
            names = " and ".join(map(shown, members))
            yield ("alternatives", name), f"the schema lacks one of {names}, or has a definition {shown(name)} itself"
    places = [("results", name, place) for name, place in profile.results.items()]
    places += [("methods", name, place) for name, one in profile.listed.items() for place in (one.params, one.result)]
    for key, name, place in places:
        if place and reader.payload(place) is None:
            yield (key, name), f"the schema has no definition or property {shown(place)}"
    for side, names_ in profile.sent.items():
        for name in names_:
            if not _is_union(reader, name):
                yield ("sent", side), f"the schema has no union {shown(name)}"
    for index, match in enumerate(matches):
        for keys, why in _of_rule(reader, *match):
            yield ("messages", str(index), *keys), why


def _is_union(reader: Reader, name: str) -> bool:
    """Whether the schema has a union with this name; one of a single message may be written as the message."""
    return any(node.union is not None or reader.is_message(node) for node in reader.named([name]))


def _of_rule(reader: Reader, rule: Rule, messages: Sequence[Message], own: Sequence[Message]) -> Iterator[Entry]:
    missing = [name for name in rule.unions if name != "*" and not _is_union(reader, name)]
    for name in missing:
        yield (), f"the schema has no union {shown(name)}"
    if missing:
        return
    if not messages:
        is_named = rule.named and any(reader.rule_stem(rule, node) for node in reader.schemas.values())
        if rule.named and not is_named:
            yield (), f"the schema has no definition that is called like {shown(rule.named)}"
            return
        subject = f"the definitions called like {shown(rule.named)}" if rule.named else "the branches of the unions"
        yield (), f"{subject} have no property {shown(rule.method)} that is a constant, so none is a message"
    elif not own:
        yield (), "rules before this one find each message that it would find"
    else:
        for place, template in enumerate(rule.results):
            results = (
                reader.payload(template, one.stem, reader.params_name(find_params(one)), one.place) for one in own
            )
            if all(result is None for result in results):
                yield ("results", str(place)), f"for no message of this rule the schema has {shown(template)}"
