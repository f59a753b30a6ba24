"""Entries of a profile that match nothing in a schema."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from acpgen.errors import shown
from acpgen.methods.profile import Profile, Rule


@dataclass(frozen=True, slots=True)
class Fit:
    """What a rule matches: definitions by their names, messages, those of them that no earlier rule finds, and places of results."""

    named: tuple[str, ...]
    found: int
    own: int
    results: frozenset[str]


def unused_entries(
    profile: Profile,
    fits: Sequence[Fit],
    methods: Collection[str],
    places: Collection[str],
    unions: Collection[str],
    made: Collection[str],
) -> Iterator[tuple[tuple[str, ...], str]]:
    """The keys of the entries that match nothing, each with the reason. `methods`, `places` and `unions` are those that the schema has,
    `made` are the alternatives that were made.
    """
    for side, name in ((side, name) for name, side in profile.handled.items()):
        if name not in methods:
            yield ("handled", side), f"the schema has no method {shown(name)}"
    for name in profile.results:
        if name not in methods:
            yield ("results", name), f"the schema has no method {shown(name)}"
    for name, members in profile.alternatives.items():
        if name not in made:
            known = " and ".join(map(shown, members))
            yield ("alternatives", name), f"the schema lacks one of {known}, or has a definition {shown(name)} itself"
    said = [("results", name, place) for name, place in profile.results.items()]
    said += [("methods", name, place) for name, one in profile.listed.items() for place in (one.params, one.result)]
    for key, name, place in said:
        if place and place not in places:
            yield (key, name), f"the schema has no definition or property {shown(place)}"
    for side, names in profile.sent.items():
        for name in names:
            if name not in unions:
                yield ("sent", side), f"the schema has no union {shown(name)}"
    for index, (rule, fit) in enumerate(zip(profile.rules, fits, strict=True)):
        for keys, why in _of_rule(rule, fit, unions):
            yield ("messages", str(index), *keys), why


def _of_rule(rule: Rule, fit: Fit, unions: Collection[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    missing = [name for name in rule.unions if name != "*" and name not in unions]
    for name in missing:
        yield (), f"the schema has no union {shown(name)}"
    if missing:
        return
    if fit.found == 0:
        yield (), _why(rule, fit)
    elif fit.own == 0:
        yield (), "rules before this one find each message that it would find"
    else:
        for place, template in enumerate(rule.results):
            if template not in fit.results:
                yield ("results", str(place)), f"for no message of this rule the schema has {shown(template)}"


def _why(rule: Rule, fit: Fit) -> str:
    """Why a rule finds no message."""
    if rule.named and not fit.named:
        return f"the schema has no definition that is called like {shown(rule.named)}"
    called = f"the definitions called like {shown(rule.named)}" if rule.named else "the branches of the unions"
    return f"{called} have no property {shown(rule.method)} that is a constant, so none is a message"
