"""What a comparison of two plain schemas covers beside their roots: the definitions that these do not refer to, and what is no schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urljoin

from acpgen.compat.findings import Answer, Inclusion
from acpgen.compat.protocol.formats import count_unknown_formats, doubt_about
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


def definitions(old: JSON, new: JSON) -> tuple[tuple[str, str], ...]:
    """The places, in each of them, of the definitions of both schemas that a root does not refer to, and that differ or refer to what
    differs. Equal text differs where another draft reads it.
    """
    before, after = _places(old), _places(new)
    renames = _renames(before, after)
    reached = _judged(before, old), _judged(after, new)
    is_read_alike = draft_of(old, {}) is draft_of(new, {})
    differing = {
        one
        for one, other in renames.items()
        if not is_read_alike or one != other or _text(before[one]) != _text(after[other])
    }
    gone, added = before.keys() - renames.keys(), after.keys() - set(renames.values())
    touched = _leading_to(before, differing | gone, old)
    touched_now = _leading_to(after, {renames[one] for one in differing} | added, new)
    return tuple(
        (one, other)
        for one, other in renames.items()
        if not (one in reached[0] and other in reached[1]) and (one in touched or other in touched_now)
    )


def _renames(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> dict[str, str]:
    """The definitions of the old schema that the new one has too, with their places there: `definitions` and `$defs` are one."""
    moved = {_modern(place): place for place in after if place not in before}
    found = ((place, place if place in after else moved.get(_modern(place), "")) for place in before)
    return {one: other for one, other in found if other}


def _modern(place: str) -> str:
    """A place with `$defs` for `definitions`."""
    return pointer(*("$defs" if part in DEFINITIONS else part for part in pointer_parts(place)))


def doubt_unknown_formats(
    comparison: Comparison, old: JSON, new: JSON, places: tuple[str, str] = ("", "")
) -> Comparison:
    """A comparison of two schemas, or of their definitions at two places, in which formats are asserted: what it proves is not proven where
    the two name other formats that cannot be.
    """
    found = [count_unknown_formats(_reached(schema, place)) for schema, place in zip((old, new), places, strict=True)]
    reason = doubt_about(*found)
    return (
        replace(
            comparison, backward=_doubted(comparison.backward, reason), forward=_doubted(comparison.forward, reason)
        )
        if reason
        else comparison
    )


def _doubted(relation: Relation, reason: str) -> Relation:
    if relation.witness is not None:
        return relation
    return replace(relation, verdict=type(relation.verdict).UNDECIDED, reason=f"{reason}.")


def _reached(schema: JSON, place: str) -> list[JSON]:
    """A schema without its definitions, or one of these, and the definitions that it leads to."""
    places = _places(schema)
    if place:
        return [places[each] for each in _closure(places, [place], schema)]
    whole = {key: value for key, value in schema.items() if key not in DEFINITIONS} if is_object(schema) else schema
    return [whole, *(places[each] for each in _closure(places, _of_root(schema), schema))]


def removed_definitions(old: JSON, new: JSON) -> tuple[str, ...]:
    """The places of the definitions that only the old schema has, and to which neither its root refers nor a definition of both."""
    before, after = _places(old), _places(new)
    renames = _renames(before, after)
    reached = _judged(before, old) | _closure(before, renames, old)
    return tuple(place for place in before if place not in renames and place not in reached)


def referenced_places(schema: JSON) -> frozenset[str]:
    """The places that references lead to by a pointer from the root, `#/components/schemas/Thing`, however far."""

    def below(part: JSON) -> list[str]:
        return [place for place in map(unquote, refs(part)) if place.startswith("#/")]

    def referenced(place: str) -> list[str]:
        try:
            return below(resolve(schema, place))
        except KeyError:
            return []

    return frozenset(reachable(below(schema), referenced))


def is_other(schema: JSON) -> bool:
    """Whether an object is not a JSON Schema at all: it has members, and none of them is a keyword."""
    return is_object(schema) and bool(schema) and not any(key in KEYWORDS or key.startswith("x-") for key in schema)


def combine(comparisons: Sequence[Comparison], *, is_gone: bool, is_unread: bool) -> Inclusion:
    """The answers of all comparisons as one. `is_gone`: a definition of the old schema was compared with nothing. `is_unread`: what is
    not read differs.
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


def _places(schema: JSON) -> dict[str, JSON]:
    """The definitions of a schema by their places, those in groups and inside other schemas too."""
    found: dict[str, JSON] = {}
    pending: list[tuple[tuple[str, ...], JSON]] = [((), schema)]
    while pending:
        keys, node = pending.pop()
        if keys and is_object(node) and node and ASSERTIONS.isdisjoint(node) and all(map(is_object, node.values())):
            pending += [((*keys, name), member) for name, member in reversed(node.items())]
            continue
        if keys:
            found[pointer(*keys)] = node
        for below, inner in inside(node):
            groups = [((*keys, *below, each), inner[each]) for each in DEFINITIONS if is_object(inner.get(each))]
            pending += [((*at, name), member) for at, group in groups for name, member in reversed(group.items())]
    return {place: node for place, node in found.items() if is_object(node) or isinstance(node, bool)}


def _of_root(schema: JSON) -> list[str]:
    """The references of a root, its definitions aside."""
    if not is_object(schema):
        return []
    own = {key: value for key, value in schema.items() if key not in DEFINITIONS}
    return [*refs_anywhere(own)]


def _judged(places: Mapping[str, JSON], whole: JSON) -> set[str]:
    """The definitions that a root judges values by, however far its references lead to them."""
    judging = partial(_judging, draft=draft_of(whole, {}) or MODERN)
    return _closure(places, judging(whole), whole, judging)


def _judging(schema: JSON, draft: Draft) -> Iterator[str]:
    """The references of a schema by which it judges values, its definitions aside."""
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


def _closure(
    places: Mapping[str, JSON],
    start: Iterable[str],
    whole: JSON,
    references: Callable[[JSON], Iterable[str]] = refs_anywhere,
) -> set[str]:
    """The definitions of a whole schema that references, or places, lead to, however far."""
    means = _Means(places, whole)

    def below(place: str) -> list[str]:
        return [means.place(each, place) for each in references(places[place])] if place in places else []

    first = (place if place in places else means.place(place) for place in start)
    return {place for place in reachable(first, below) if place in places}


def _leading_to(places: Mapping[str, JSON], ends: Iterable[str], whole: JSON) -> set[str]:
    """The places that are among the ends, and the definitions whose references lead to one, however far."""
    means = _Means(places, whole)
    by: dict[str, list[str]] = {}
    for place, schema in places.items():
        for reference in refs_anywhere(schema):
            by.setdefault(means.place(reference, place), []).append(place)
    return {*reachable((end for end in ends if end in places), lambda place: by.get(place, ()))}


class _Means:
    """What the references of a schema mean: by a pointer, or by the address of a definition."""

    def __init__(self, places: Mapping[str, JSON], whole: JSON) -> None:
        self._root = _address(whole)
        self._of = {place: _joined(self._root, own) for place, node in places.items() if (own := _address(node))}
        self._at = {address: place for place, address in self._of.items()}

    def place(self, reference: str, within: str = "") -> str:
        """The place that a reference means which stands in the definition at a place; empty where that is no definition."""
        address, _, written = _joined(self._of.get(within, self._root), reference).partition("#")
        at = self._at.get(address, "#" if address == self._root else None)
        return "" if at is None else f"{at}{unquote(written)}"


def _joined(base: str, reference: str) -> str:
    """The address that a reference means; the reference itself where it is no address."""
    if reference.startswith("#"):
        return f"{base}{reference}"
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _address(schema: JSON) -> str:
    """What a schema calls itself; empty where it does not, or names an anchor alone."""
    own = (schema.get("$id") or schema.get("id")) if is_object(schema) else None
    return own.removesuffix("#") if isinstance(own, str) and not own.startswith("#") else ""


def _text(schema: JSON) -> str:
    return dumps(schema, sort_keys=True)
