"""A lean dataclass behaves as one of the standard library, whichever of its methods is called first."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from schema_inclusion import lean

SHAPES: list[dict[str, Any]] = [
    {},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "slots": True, "order": True},
    {"slots": True},
    {"slots": True, "eq": False},
]


def made(decorate: Callable[..., Any], options: dict[str, Any]) -> tuple[type[Any], type[Any]]:
    """A class with all kinds of fields, and a smaller one with methods of its own that inherits from it."""

    @decorate(**options)
    class Large:
        shared: ClassVar[int] = 3
        first: int
        second: Any = field(compare=False, repr=False)
        third: list[int] = field(default_factory=list[int])
        fourth: str = "four"
        fifth: int = field(default=5, hash=False)
        sixth: int = field(init=False, default=6)
        seventh: list[int] = field(init=False, default_factory=list[int], compare=False)
        eighth: str = field(init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "eighth", f"made of {self.first}")

    @decorate(**options)
    class Small(Large):
        fourth: str = "other"
        ninth: int = 9

        def __repr__(self) -> str:
            return "small"

        def __hash__(self) -> int:
            return 1

    return Large, Small


def tried(call: Callable[..., Any], *values: Any, **named: Any) -> Any:
    try:
        return call(*values, **named)
    except Exception as error:  # noqa: BLE001 - what is raised is compared
        return type(error), str(error)


def fields(value: Any) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}


def assigned(value: Any) -> None:
    copy.copy(value).first = 4


def deleted(value: Any) -> None:
    del copy.copy(value).first


def replaced(value: Any) -> str:
    return repr(dataclasses.replace(value, first=8))


def copied(value: Any) -> dict[str, Any]:
    return dataclasses.asdict(copy.deepcopy(value))


def hashed(one: Any, other: Any) -> bool:
    return hash(one) == hash(other)


def less(one: Any, other: Any) -> bool:
    return bool(one < other)


def seen(large: type[Any], small: type[Any]) -> list[Any]:
    """What can be seen of both classes."""
    shown: list[Any] = []
    for cls in (large, small):
        values = [tried(cls, first=1, second=2), tried(cls, first=1, second=3), tried(cls, 1, 2, [3], "x", 7)]
        for value in values:
            shown += [tried(call, value) for call in (repr, fields, assigned, deleted, replaced, copied)]
            shown += [hasattr(value, "__dict__"), value == "one", *(value == each for each in values)]
            shown += [tried(call, value, each) for call in (less, hashed) for each in values]
        shown += [tried(cls), tried(cls, 1, 2, no=3), cls.__match_args__, cls.shared, cls.__hash__ is None]
    return [*shown, tried(large, 1, 2) == tried(small, 1, 2)]


@pytest.mark.parametrize("options", SHAPES, ids=str)
def test_is_what_the_standard_library_makes(options: dict[str, Any]) -> None:
    lean_ones, known = made(lean.dataclass, options), made(dataclasses.dataclass, options)
    assert seen(*lean_ones) == seen(*known)
    assert seen(*lean_ones) == seen(*known), "again, when every method is compiled"


@pytest.mark.parametrize("first", ["__eq__", "__hash__", "__repr__"])
def test_any_method_may_be_the_first(first: str) -> None:
    one, other = Value(1, "a"), Value(1, "a")
    restored: Any = pickle.loads(pickle.dumps(one))
    arguments = [one] if first == "__eq__" else []
    expected = {"__eq__": True, "__hash__": hash(other), "__repr__": repr(other)}
    assert getattr(restored, first)(*arguments) == expected[first]


@lean.dataclass(frozen=True, slots=True)
class Value:
    """What can be pickled: it stands in a module."""

    number: int
    text: str


@lean.dataclass(slots=True)
class Node:
    """What may hold itself."""

    inner: Any = None


def test_a_value_that_holds_itself_is_shown() -> None:
    node = Node()
    node.inner = node
    assert repr(node) == "Node(inner=...)"


def test_an_initialiser_is_shared_with_a_class_that_is_none() -> None:
    class Longer(Value):
        pass

    assert Longer(1, "a").number == 1
    assert Longer(1, "a") != Value(1, "a")
    with pytest.raises(FrozenInstanceError):
        Longer(1, "a").text = "b"  # type: ignore[misc]


def test_a_subject_of_match_is_taken_apart() -> None:
    match Value(1, "a"):
        case Value(number, text):
            assert (number, text) == (1, "a")


def test_fields_that_are_no_attributes_are_refused() -> None:
    with pytest.raises(TypeError, match="InitVar"):

        @lean.dataclass
        class Wrong:
            given: dataclasses.InitVar[int]
