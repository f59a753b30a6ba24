"""Annotations of generated types: how they are resolved, and how the branches of a union are discriminated."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    ForwardRef,
    Literal,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
)

Tag: TypeAlias = "str | int | float | bool"


class Marker:
    """Metadata in `Annotated`, beside the type."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Tagged(Marker):
    """A union that is discriminated by the constant in one field.

    The branches declare their constants themselves. A class for unknown variants takes the tags that no branch declares. `exclusive`: a
    value that two branches accept is rejected.
    """

    field: str
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Shapes(Marker):
    """A union whose branches are tried in order. `exclusive`: a value that two branches accept is rejected."""

    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Constants(Marker):
    """A set of constants, some of which no `Literal` can express: floats, and integers of more than 64 bits."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """The constraints of a type. `min_length` and `max_length` apply to strings, arrays and objects."""

    ge: int | float | None = None
    gt: int | float | None = None
    le: int | float | None = None
    lt: int | float | None = None
    multiple_of: int | float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None


def Choice(module: str, text: str, *, judged: str = "") -> Any:  # noqa: N802 - it stands where a type stands
    """A type given as source text of a module; it may be recursive. `judged` names a definition whose schema is stricter than the text."""
    return Alias(module, text, judged)


@dataclass(frozen=True, slots=True)
class Alias:
    """A type that is evaluated on first use: it may refer to itself and to names that are defined later in the module."""

    module: str
    text: str
    judged: str = ""

    def resolve_annotation(self) -> Any:
        """The resolved annotation."""
        return resolve(self.text, self.module)

    def __call__(self) -> None:
        """Make `typing` accept this object as a type."""

    def __or__(self, value: Any) -> Any:
        return Union[self, value]  # noqa: UP007

    def __ror__(self, value: Any) -> Any:
        return Union[value, self]  # noqa: UP007


if TYPE_CHECKING:
    Number: TypeAlias = int | float
else:

    class Number:
        """A JSON number: an integer of any size, or a finite float."""


class _Names(dict[str, Any]):
    """The globals of a module; names that are bound to text become aliases."""

    def __init__(self, module: str) -> None:
        super().__init__()
        self.module = module
        self.globals: Mapping[str, Any] = vars(sys.modules[module])

    def __missing__(self, name: str) -> Any:
        if name not in self.globals:
            raise KeyError(name)
        value = self.globals[name]
        if isinstance(value, str) and name not in _WORDS:
            return Alias(self.module, value)
        return Alias(self.module, value.__forward_arg__) if isinstance(value, ForwardRef) else value


_WORDS: Final = frozenset({"__name__", "__doc__", "__file__", "__package__"})


def resolve(annotation: Any, module: str) -> Any:
    """Resolve the text inside an annotation; aliases remain aliases."""
    if isinstance(annotation, str):
        return _evaluate(annotation, module)
    if isinstance(annotation, ForwardRef):
        return Alias(module, annotation.__forward_arg__)
    origin = get_origin(annotation)
    if origin is None or origin is Literal:
        return NoneType if annotation is None else annotation
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        return Annotated[cast("Any", (resolve(inner, module), *metadata))]
    arguments = tuple(
        argument if argument is Ellipsis else _resolve_part(argument, module) for argument in get_args(annotation)
    )
    if origin in (Union, UnionType):
        return Union[arguments]  # noqa: UP007
    return origin[arguments if len(arguments) != 1 else arguments[0]]


@cache
def _evaluate(text: str, module: str) -> Any:
    annotation = eval(compile(text, f"<annotation in {module}>", "eval"), {"__builtins__": _BUILTINS}, _Names(module))  # noqa: S307 - the text is ours
    return Alias(module, annotation) if isinstance(annotation, str) else resolve(annotation, module)


def _resolve_part(argument: Any, module: str) -> Any:
    annotation = resolve(argument, module)
    return next(iter(annotation)) if is_unpacked(argument) else annotation


def is_unpacked(annotation: Any) -> bool:
    """Whether an annotation is that of the remaining items of a tuple (`*tuple[T, ...]`)."""
    return bool(getattr(annotation, "__unpacked__", False))


_BUILTINS: Final[Mapping[str, Any]] = {
    cls.__name__: cls for cls in (str, int, float, bool, list, dict, tuple, object, type)
} | {"None": None}
