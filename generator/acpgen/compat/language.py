"""The scope of comparing two plain schemas beyond their roots: unreferenced definitions, and objects that are no schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urljoin

from acpgen.compat.findings import Answer, Inclusion
from acpgen.compat.protocol.formats import count_unknown_formats, doubt_formats
from acpgen.input.drafts import MODERN, draft_of
from acpgen.input.numbers import dumps
from acpgen.input.walk import (
    ASSERTIONS,
    DEFINITIONS,
    KEYWORDS,
    asserts,
    children,
    inside,
    is_object,
    reachable,
    refs,
    refs_anywhere,
)
from acpgen.pointers import pointer, pointer_parts, resolve

if TYPE_CHECKING:
    from acpgen.input.drafts import Draft
    from acpgen.ir import JSON
    from schema_inclusion import Comparison, Relation

ROOT: Final = "#"
"""The place of a root among those of its definitions."""


class Definitions:
    """The definitions of a schema by their places, and the references of each, by pointer or by the URI of a definition."""

    def __init__(self, whole: JSON) -> None:
        self.draft = draft_of(whole, {})
        self.places = _definitions(whole)
        base = _address(whole)
        bases = {place: _join(base, _address(node)) for place, node in self.places.items() if _address(node)}
        at = {base: ROOT, **{address: place for place, address in bases.items()}}

        def meant(reference: str, place: str) -> str:
            """The place of the definition that a reference resolves to; empty if it is not a definition."""
            address, _, fragment = _join(bases.get(place, base), reference).partition("#")
            return f"{at[address]}{unquote(fragment)}" if address in at else ""

        root = {key: each for key, each in whole.items() if key not in DEFINITIONS} if is_object(whole) else whole
        self.schemas = {ROOT: root, **self.places}
        self._refers = {
            place: [meant(each, place) for each in refs_anywhere(one)] for place, one in self.schemas.items()
        }
        draft = self.draft or MODERN
        judging = {place: [meant(each, place) for each in _judging(one, draft)] for place, one in self.schemas.items()}
        self.judged_by_root = self._reach([ROOT], judging)

    def reach(self, start: Iterable[str]) -> set[str]:
        """The definitions at these places and all that they transitively refer to."""
        return self._reach(start, self._refers)

    def lead_to(self, ends: Iterable[str]) -> set[str]:
        """The definitions at these places and all that transitively refer to one of them."""
        by: dict[str, list[str]] = {}
        for place, others in self._refers.items():
            for other in others:
                by.setdefault(other, []).append(place)
        return self._reach(ends, by)

    def _reach(self, start: Iterable[str], edges: Mapping[str, Sequence[str]]) -> set[str]:
        return self.schemas.keys() & reachable(start, lambda place: edges.get(place, ()))


def unreferenced(old: Definitions, new: Definitions) -> tuple[tuple[str, str], ...]:
    """The pairs of places of shared definitions that a root does not refer to and that differ or refer to a differing one.

    Equal text differs if it is read under another draft.
    """
    renames = _renames(old, new)
    differing = {
        one
        for one, other in renames.items()
        if old.draft is not new.draft or one != other or _text(old.places[one]) != _text(new.places[other])
    }
    touched = old.lead_to(differing | (old.places.keys() - renames.keys()))
    touched_now = new.lead_to({renames[one] for one in differing} | (new.places.keys() - set(renames.values())))
    return tuple(
        (one, other)
        for one, other in renames.items()
        if not (one in old.judged_by_root and other in new.judged_by_root) and (one in touched or other in touched_now)
    )


def removed(old: Definitions, new: Definitions) -> tuple[str, ...]:
    """The places of definitions that only the old schema has and that neither its root nor a shared definition refers to."""
    renames = _renames(old, new)
    reached = old.judged_by_root | old.reach(renames)
    return tuple(place for place in old.places if place not in renames and place not in reached)


def _renames(old: Definitions, new: Definitions) -> dict[str, str]:
    """The places in the new schema of the old definitions that both have; `definitions` and `$defs` are treated as equal."""
    new_by_modern_place = {_modern(place): place for place in new.places if place not in old.places}
    pairs = (
        (place, place if place in new.places else new_by_modern_place.get(_modern(place), "")) for place in old.places
    )
    return {one: other for one, other in pairs if other}


def _modern(place: str) -> str:
    """A place with `$defs` for `definitions`."""
    return pointer(*("$defs" if part in DEFINITIONS else part for part in pointer_parts(place)))


def doubt_unknown_formats(
    comparison: Comparison, old: Definitions, new: Definitions, places: tuple[str, str]
) -> Comparison:
    """A comparison with asserted formats, with proofs weakened where the two schemas use different formats that cannot be asserted.

    `places` are those of the compared definitions, empty for the root.
    """
    unknown_formats = [
        count_unknown_formats(side.schemas[each] for each in side.reach([place or ROOT]))
        for side, place in zip((old, new), places, strict=True)
    ]
    return replace(
        comparison,
        backward=doubt_formats(comparison.backward, *unknown_formats),
        forward=doubt_formats(comparison.forward, *unknown_formats),
    )


def referenced_places(schema: JSON) -> frozenset[str]:
    """The places that references transitively reach by a pointer from the root, `#/components/schemas/Thing`."""

    def below(part: JSON) -> list[str]:
        return [place for place in map(unquote, refs(part)) if place.startswith("#/")]

    def referenced(place: str) -> list[str]:
        try:
            return below(resolve(schema, place))
        except KeyError:
            return []

    return frozenset(reachable(below(schema), referenced))


def is_other(schema: JSON) -> bool:
    """Whether an object is not a JSON Schema: it has members, but no keyword."""
    return is_object(schema) and bool(schema) and not any(key in KEYWORDS or key.startswith("x-") for key in schema)


def combine(comparisons: Sequence[Comparison], *, is_gone: bool, is_unread: bool) -> Inclusion:
    """Combine the answers of all comparisons into one.

    `is_gone`: a definition of the old schema had no counterpart. `is_unread`: parts that are not read differ.
    """
    return Inclusion(
        _worst([each.backward for each in comparisons], is_gone or is_unread),
        _worst([each.forward for each in comparisons], is_unread),
    )


def _worst(relations: Iterable[Relation], is_open: bool) -> Answer:
    answers: set[Answer] = {each.verdict.value for each in relations}
    if is_open:
        answers.add("undecided")
    return "no" if "no" in answers else "undecided" if "undecided" in answers else "yes"


def _definitions(schema: JSON) -> dict[str, JSON]:
    """The definitions of a schema by their places, including those in groups and inside other schemas."""
    definitions: dict[str, JSON] = {}
    pending: list[tuple[tuple[str, ...], JSON]] = [((), schema)]
    while pending:
        keys, node = pending.pop()
        if keys and is_object(node) and node and ASSERTIONS.isdisjoint(node) and all(map(is_object, node.values())):
            pending += [((*keys, name), member) for name, member in reversed(node.items())]
            continue
        if keys:
            definitions[pointer(*keys)] = node
        for below, inner in inside(node):
            groups = [((*keys, *below, each), inner[each]) for each in DEFINITIONS if is_object(inner.get(each))]
            pending += [((*at, name), member) for at, group in groups for name, member in reversed(group.items())]
    return {place: node for place, node in definitions.items() if is_object(node) or isinstance(node, bool)}


def _judging(schema: JSON, draft: Draft) -> Iterator[str]:
    """Yield the references of a schema that affect validation, without those of its definitions."""
    pending = [schema]
    while pending:
        node = pending.pop()
        if not is_object(node):
            continue
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
            if draft.is_lone_ref:
                continue
        is_conditional = "if" in node and ("then" in node or "else" in node)
        for (keyword, *_), child in children(node):
            if asserts(keyword) and draft.knows(keyword) and (is_conditional or keyword not in _CONDITIONS):
                pending.append(child)


_CONDITIONS: Final = ("if", "then", "else")


def _join(base: str, reference: str) -> str:
    """The URI that a reference resolves to; the reference itself if it is not a valid URI."""
    if reference.startswith("#"):
        return f"{base}{reference}"
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _address(schema: JSON) -> str:
    """The `$id` (or `id`) of a schema without a trailing `#`; empty if it has none or only an anchor."""
    own = (schema.get("$id") or schema.get("id")) if is_object(schema) else None
    return own.removesuffix("#") if isinstance(own, str) and not own.startswith("#") else ""


def _text(schema: JSON) -> str:
    return dumps(schema, sort_keys=True)
