"""Require a culprit at a path inside a value, and check whether it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, TypeVar

from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula, Kind
from schema_inclusion.values import Json

_Schema = TypeVar("_Schema")


class Part(Enum):
    """A step to some item or some member of a value."""

    ITEM = "item"
    MEMBER = "member"


Step: TypeAlias = "str | int | Part | dict[str, Json]"
"""The name of a member, the index of an item, some item or member, or a schema under which the value reached by the steps is valid."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """What a witness contains at the path `at`: a value that is valid under `accepted` and not under `refused`.

    References of `accepted` and of the steps are resolved in the document that accepts the witness, those of `refused` in the other.
    Where a step is a `Part`, every item or member is such a culprit if possible, so that nothing else causes the witness to be refused.
    """

    at: Sequence[Step] = ()
    accepted: Json = field(default_factory=dict[str, Json])
    refused: Json = field(default_factory=lambda: dict[str, Json]({"not": {}}))


def require_at(
    forms: Forms,
    steps: Sequence[str | int | Part | _Schema],
    inner: Formula,
    read: Callable[[_Schema], Formula],
    *,
    universal: bool,
) -> Formula:
    """The formula of a value that satisfies `inner` at the path of the steps.

    `universal`: where a step is a `Part`, all items or members satisfy it, not only one.
    """
    for step in reversed(steps):
        match step:
            case str():
                inner = forms.all_of(forms.types(Kind.OBJECT), forms.has(step), forms.member(step, inner))
            case int():
                inner = forms.all_of(
                    forms.types(Kind.ARRAY), forms.size(Kind.ARRAY, step + 1, None), forms.item(step, inner)
                )
            case Part.ITEM:
                quantified = forms.items(0, inner) if universal else forms.amount(0, inner, 1, None)
                inner = forms.all_of(forms.types(Kind.ARRAY), forms.size(Kind.ARRAY, 1, None), quantified)
            case Part.MEMBER:
                names = forms.types(Kind.STRING)
                quantified = forms.members(names, inner) if universal else forms.some_member(names, inner)
                inner = forms.all_of(forms.types(Kind.OBJECT), forms.size(Kind.OBJECT, 1, None), quantified)
            case _:
                inner = forms.all_of(read(step), inner)
    return inner


def find_parts(
    value: Json, steps: Sequence[str | int | Part | _Schema], accepts: Callable[[_Schema, Json], bool | None]
) -> Iterator[tuple[list[str | int | _Schema], Json, bool]]:
    """Yield the parts of a value to which a path leads, each with its own path, which has a name or an index for each `Part`.

    The third is false where `accepts` cannot decide on a schema in the path: the part is then the value that the schema is about.
    """
    if not steps:
        yield [], value, True
        return
    step, *remaining_steps = steps
    inner: list[tuple[str | int | _Schema, Json]] = []
    match step, value:
        case str(), dict():
            inner = [(step, value[step])] if step in value else []
        case int(), list():
            inner = [(step, part) for part in value[step : step + 1]]
        case Part.ITEM, list():
            inner = [*enumerate(value)]
        case Part.MEMBER, dict():
            inner = [*value.items()]
        case ((str() | int() | Part()), _):
            pass
        case schema, _:
            is_accepted = accepts(schema, value)
            if is_accepted is None:
                yield [schema], value, False
            inner = [(schema, value)] if is_accepted else []
    for key, inner_value in inner:
        for path, part, is_decided in find_parts(inner_value, remaining_steps, accepts):
            yield [key, *path], part, is_decided


def is_at(
    value: Json,
    steps: Sequence[str | int | Part | _Schema],
    accepts: Callable[[_Schema, Json], bool | None],
    is_refused: Callable[[Json], bool | None],
) -> bool | None:
    """Whether the value contains a refused value at the path of the steps; `None` if that cannot be decided."""
    states = {is_refused(part) if is_decided else None for _, part, is_decided in find_parts(value, steps, accepts)}
    return True if True in states else None if None in states else False
