"""Groups changes into findings with all messages that contain them, and computes fingerprints, so that a waiver covers only its finding.

A fingerprint depends on the subject of a finding and on its severity: a waived finding must not become worse. For a finding without a
subject, it also depends on the content at its places, without descriptive text and without unreferenced definitions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urljoin

from acpgen.compat.findings import SEVERITIES, Finding, Reach, order
from acpgen.compat.source_positions import SourcePositions
from acpgen.input.numbers import dumps
from acpgen.input.walk import DEFINITIONS, find_reachable, find_refs_anywhere, is_array, is_object, without_prose
from acpgen.pointers import resolve

if TYPE_CHECKING:
    from acpgen.compat.sources import Input
    from acpgen.ir import JSON

_ADDRESSED: Final = frozenset({"$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"})
"""Keywords because of which a reference may resolve differently than as a pointer."""


def group_findings(reaches: Iterable[Reach], old: Input, new: Input) -> tuple[Finding, ...]:
    """Group the reaches into findings, one per changed part, with positions in files: worst first, then by method and location."""
    causes: dict[tuple[object, ...], list[Reach]] = {}
    for reach in reaches:
        causes.setdefault((reach.rule, reach.subject, reach.statement, reach.cause), []).append(reach)
    positions = SourcePositions(old), SourcePositions(new)
    return tuple(sorted((_make_finding(group, *positions) for group in causes.values()), key=order))


def _make_finding(group: list[Reach], old: SourcePositions, new: SourcePositions) -> Finding:
    """The finding of one cause.

    Without a subject, the content at both places identifies it, since other content may be a different change.
    """
    group = sorted(_without_duplicates(group), key=_sort_key)
    first = group[0]
    places = ((old, first.old_at), (new, first.new_at)) if first.subject is None else ()
    contents = [text for positions, at in places for text in collect_contents(positions.get_value, at).values()]
    harms = sorted({(reach.severity, reach.effect, reach.flow, reach.breaks) for reach in group})
    return Finding(
        tuple(replace(reach, fingerprint=fingerprint(*_identify(reach), *contents)) for reach in group),
        fingerprint(first.rule, first.cause, first.subject, harms, *contents),
        old.find_position(first.old_at),
        new.find_position(first.new_at),
    )


def _identify(reach: Reach) -> list[str | None]:
    """The identity of a reach: edits elsewhere do not change it, and a change for the worse does."""
    return [reach.severity, reach.rule, reach.method, reach.flow, reach.location, reach.subject]


def _without_duplicates(group: list[Reach]) -> list[Reach]:
    """The reaches without those at a branch, `#/oneOf/0.n`, that duplicate one of the whole document, `(text).n`."""

    def rank_harm(reach: Reach) -> tuple[object, ...]:
        return reach.severity, reach.effect, reach.method, reach.flow, reach.breaks, reach.old_at, reach.new_at

    document_harms = {rank_harm(reach) for reach in group if "#/" not in reach.location}
    return [reach for reach in group if "#/" not in reach.location or rank_harm(reach) not in document_harms]


def _sort_key(reach: Reach) -> tuple[int, int, bool, str, str, str]:
    """The sort key of a reach: worst first, then the smallest witness."""
    size = 0 if reach.witness is None else len(dumps(reach.witness.value))
    return SEVERITIES.index(reach.severity), size, reach.method is None, reach.method or "", reach.flow, reach.location


def fingerprint(*about: object) -> str:
    """A short hash of the identifying values of a finding."""
    return hashlib.sha256(dumps(about, sort_keys=True).encode()).hexdigest()[:16]


def collect_contents(value_at: Callable[[str], JSON], at: str) -> dict[str, JSON]:
    """The content at a place and at all places that it transitively refers to, without prose; by place, sorted."""
    values_by_place: dict[str, JSON] = {}

    def list_references(place: str) -> list[str]:
        value = without_prose(value_at(place))
        values_by_place[place] = value if place.partition("#")[2] else _without_definitions(value)
        return [urljoin(place, unquote(ref)) for ref in find_refs_anywhere(values_by_place[place])]

    return {place: values_by_place[place] for place in sorted(find_reachable([at], list_references))}


def collect_assertions(schema: JSON, at: str = "#") -> JSON:
    """The assertions of a schema at a place, `#/$defs/Thing`, and at the places that it transitively refers to, without prose.

    The whole schema without prose if references use more than pointers.
    """

    def get_value(place: str) -> JSON:
        if place != "#" and not place.startswith("#/"):
            raise KeyError(place)
        value: JSON = resolve(schema, place[1:])
        return value

    with suppress(KeyError):
        if is_object(schema) and not _is_addressed(schema):
            return collect_contents(get_value, at)
    rest: JSON = without_prose(schema)
    return rest


def _without_definitions(root: JSON) -> JSON:
    """A document without its definitions, because the relevant ones are referenced; unchanged if it has both keywords for definitions."""
    if not is_object(root) or all(key in root for key in DEFINITIONS):
        return root
    return {key: value for key, value in root.items() if key not in DEFINITIONS}


def _is_addressed(value: JSON) -> bool:
    if is_object(value):
        return not _ADDRESSED.isdisjoint(value) or any(map(_is_addressed, value.values()))
    return is_array(value) and any(map(_is_addressed, value))
