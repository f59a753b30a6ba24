"""Values made from the IR, and damage done to them.

Every decision is a choice among a few options, so the same code serves Hypothesis, which shrinks, and a seeded random generator, which is
quick enough to reach every definition of every schema.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar, assert_never

from hypothesis import strategies as st

from acpgen import ir
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.samples import Values
from bindings.meaning import Meaning, Path, at, changed, without

T = TypeVar("T")

TEXTS: Final = (
    *(
        "",
        "a",
        "session_id",
        "/home/x",
        "C:\\x",
        "é",
        "e\u0301",
        "\U0001f600",
        "\u0000",
        " ",
        "1",
        "true",
        "_x",
        "\n",
        "x" * 300,
    ),
    *("https://example.com", "text@example.com", "2026-07-02"),
)
NUMBERS: Final = (
    *(0, 1, -1, 2, 1.0, 0.0, -0.0, 0.5, 1.5, 2**31, 2**53 + 1, 2**60, 2**64, 10**30, 1e300, 5e-324, 1e22, -(2**63)),
)
_NESTED: Final[list[Any]] = [[], {}, [None], [[]], [1, "a"], {"a": 1}, {"": None}, {"meta": {}, "_meta": {}}]
ANYTHING: Final[list[Any]] = [
    *(None, True, False, *TEXTS, *NUMBERS, *_NESTED),
    {"a": [{"b": {"c": _NESTED}}]},
]
NAMES_OF_PYTHON: Final = ("self", "model_config", "__class__", "__dict__", "model_extra", "class", "tag", "payload", "")


class Chooser:
    """Makes the decisions. This one is random, from a seed."""

    def __init__(self, seed: object) -> None:
        self.random = random.Random(str(seed))

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self.random.choice(options)

    def once_in(self, times: int) -> bool:
        """True, once in so many times."""
        return self.pick(range(times)) == times - 1


class Drawn(Chooser):
    """Makes the decisions that Hypothesis wants made; the first option is the simplest."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self.data.draw(st.sampled_from(options))


Change: TypeAlias = Callable[[], Any]


class Instances:
    """Values of one protocol's definitions."""

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning
        self.definitions = meaning.definitions
        self._fits: dict[ir.Type, list[Any]] = {}

    def valid(self, choose: Chooser, name: str) -> Any:
        """A value that a definition means to accept. A few are not accepted after all: branches by shape may exclude one another."""
        return self._definition(choose, name, 0)

    def damaged(self, choose: Chooser, name: str) -> Any:
        """Such a value with nothing, one or two things changed in it."""
        value = self.valid(choose, name)
        for _ in range(choose.pick((0, 1, 1, 1, 2))):
            value = damage(choose, value)
        return copy.deepcopy(value)

    # --- values ---

    def _definition(self, choose: Chooser, name: str, depth: int) -> Any:
        definition = self.definitions[name]
        match definition:
            case ir.Record():
                return self._record(choose, definition, depth)
            case ir.TaggedUnion():
                branches = [variant.type for variant in definition.variants]
                others = definition.fallback_shapes or ((definition.fallback,) if definition.fallback else ())
                default = (definition.default,) if definition.default else ()
                return self._definition(choose, choose.pick((*branches, *others, *default)), depth)
            case ir.Enum():
                if definition.openness != "closed" and choose.once_in(4):
                    return self._type(choose, definition.base, depth)
                return choose.pick([value.value for value in definition.values])
            case ir.Alias():
                return self._type(choose, definition.type, depth)
            case _:
                assert_never(definition)

    def _record(self, choose: Chooser, record: ir.Record, depth: int) -> dict[str, Any]:
        excluded = dict(record.excluded)
        value: dict[str, Any] = {}
        for field in record.fields:
            if not field.required and not choose.once_in(2 + depth):
                continue
            if field.name in excluded:
                value[field.name] = choose.pick(("_vendor", "future", ""))
            else:
                value[field.name] = self._type(choose, field.type, depth + 1)
        if not isinstance(record.extra, ir.Nothing) and choose.once_in(5):
            key = choose.pick((*NAMES_OF_PYTHON, *(_snake(field.name) for field in record.fields), "é"))
            value.setdefault(key, self._type(choose, record.extra, depth + 1))
        return value

    def _type(self, choose: Chooser, type_: ir.Type, depth: int) -> Any:
        match type_:
            case ir.Anything() | ir.Nothing():
                return choose.pick(ANYTHING)
            case ir.Null():
                return None
            case ir.Boolean():
                return choose.pick((False, True))
            case ir.Number():
                return choose.pick(self._fitting(type_, lambda: (*_near(type_), *NUMBERS)))
            case ir.String():
                return choose.pick(self._fitting(type_, lambda: (*TEXTS, *_as_long_as(type_))))
            case ir.Constant():
                return choose.pick(type_.values)
            case ir.Array():
                least = type_.min_items or 0
                most_items = min(
                    least + (2 if depth < 4 else 0), math.inf if type_.max_items is None else type_.max_items
                )
                length = choose.pick(range(least, int(most_items) + 1))
                return [self._type(choose, type_.items, depth + 1) for _ in range(length)]
            case ir.Tuple():
                least = max(type_.min_items or 0, len(type_.first))
                more = choose.pick((0, 0, 1)) if type_.rest != ir.Nothing() else 0
                entries = [*type_.first, *[type_.rest] * (least - len(type_.first) + more)]
                return [self._type(choose, one, depth + 1) for one in entries]
            case ir.Map():
                keys = [choose.pick(TEXTS) for _ in range(choose.pick(range(3 if depth < 4 else 1)))]
                return {key: self._type(choose, type_.values, depth + 1) for key in keys}
            case ir.Ref():
                return self._definition(choose, type_.name, depth)
            case ir.AnyOf():
                return self._type(choose, choose.pick(type_.types), depth)
            case _:
                assert_never(type_)

    def _fitting(self, type_: ir.Type, listed: Callable[[], Sequence[Any]]) -> list[Any]:
        """The listed values that are of a type, or all if none is."""
        if type_ not in self._fits:
            values = listed()
            self._fits[type_] = [value for value in values if self.meaning.fits(type_, value)] or list(values)
        return self._fits[type_]


def damage(choose: Chooser, value: Any) -> Any:
    """A value with one thing changed in it."""
    path = choose.pick(list(nodes(value)))
    here = at(value, path)
    changes: list[Change] = [lambda: changed(value, path, choose.pick(ANYTHING))]
    if path:
        changes.append(lambda: without(value, path))
    if is_object(here):
        changes.append(lambda: changed(value, path, {**here, choose.pick(TEXTS): choose.pick(ANYTHING)}))
        changes.append(lambda: changed(value, path, {_snake(key): item for key, item in here.items()}))
    elif is_array(here):
        changes.append(lambda: changed(value, path, [*here, choose.pick(ANYTHING)]))
        changes.append(lambda: changed(value, path, [*here, *here]))
    elif isinstance(here, bool):
        changes.append(lambda: changed(value, path, int(here)))
    elif isinstance(here, int) and abs(here) < 2**53:
        changes.append(lambda: changed(value, path, float(here)))
        changes.append(lambda: changed(value, path, bool(here)))
    elif isinstance(here, str):
        changes.append(lambda: changed(value, path, f"{here}x"))
        changes.append(lambda: changed(value, path, [here]))
    return choose.pick(changes)()


def nodes(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of everything in a value."""
    yield path
    items: Any = value.items() if is_object(value) else enumerate(value) if is_array(value) else ()
    for key, item in items:
        yield from nodes(item, (*path, key))


def smallest(meaning: Meaning, name: str) -> Any:
    """A value of a definition with no field that is not required."""
    return copy.deepcopy(Values(meaning.definitions).make_small(name))


def smallest_of(meaning: Meaning, type_: ir.Type) -> Any:
    """A value of a type, as `smallest`."""
    return copy.deepcopy(Values(meaning.definitions).make(type_))


WRONG: Final[tuple[Any, ...]] = (7, "text", None, True, [], {}, 1.5, [{}], -1)


def wrong_for(meaning: Meaning, type_: ir.Type) -> list[Any]:
    """Values that a type does not take."""
    return [value for value in WRONG if not meaning.fits(type_, value)][:3]


def _near(number: ir.Number) -> list[int | float]:
    limits = [limit for limit in (number.minimum, number.maximum) if limit is not None]
    return [value for limit in limits for value in (limit, limit + 1, limit - 1, float(limit))]


def _as_long_as(string: ir.String) -> list[str]:
    limits = [limit for limit in (string.min_length, string.max_length) if limit is not None and limit < 5000]
    return [character * (limit + more) for limit in limits for character in "aé" for more in (0, 1) if limit + more]


def _snake(text: str) -> str:
    return "".join(f"_{character.lower()}" if character.isupper() else character for character in text).lstrip("_")
