"""Records of which a field says the kind: one class stands for all kinds, and builds the one that the field asks for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import MISSING, InitErrorDetails, PydanticCustomError, core_schema

from .constructing import DOOR
from .homes import home_of

__all__ = ["Kinds", "Table", "union_of"]


class Table(NamedTuple):
    """What a class chooses from: the alias of all kinds, the field by its Python and its wire name, and classes by what the field says.

    `default` is the class where it says nothing, `unknown` the one that keeps what has no class; empty where there is none.
    """

    union: str
    name: str
    wire: str
    classes: Mapping[Any, str]
    default: str
    unknown: str = ""


class _Signature:
    """The attribute `__signature__` of a class that stands for several: the parameters of all of them. Instances have none."""

    def __get__(self, instance: object, owner: type) -> Signature:
        if instance is not None or not is_front(owner):
            raise AttributeError("__signature__")
        table: Table = vars(owner)["_kinds"]
        texts: Any = Literal[tuple(table.classes)]
        said = Parameter(table.name, Parameter.KEYWORD_ONLY, default=None, annotation=texts | None)
        found = {table.name: said}
        for name in dict.fromkeys((table.default, *table.classes.values())):
            for parameter in signature(getattr(_package(owner), name)).parameters.values():
                found.setdefault(parameter.name, parameter)
        door = found.pop(DOOR)
        return Signature([*found.values(), door], return_annotation=None)


class Kinds:
    """Several classes that are one record but for what one field says: `IdleStateUpdate(stop_reason="end_turn")`.

    Calling it builds the class that the field asks for, and `isinstance` holds for each of them. As a type it is their union.
    """

    _kinds: ClassVar[Table]

    if not TYPE_CHECKING:  # the signatures are generated
        __signature__ = _Signature()

        def __new__(cls, /, **data: Any) -> Any:
            return object.__new__(built(cls, data) if is_front(cls) else cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return handler.generate_schema(union_of(cls))


def is_front(type_: Any) -> bool:
    """Whether a class stands for several, and is none of them."""
    return isinstance(type_, type) and Kinds in type_.__bases__


def union_of(type_: Any) -> Any:
    """The alias of all kinds of such a class; any other type as it is."""
    return getattr(_package(type_), type_._kinds.union) if is_front(type_) else type_


def built(front: Any, data: Mapping[str, Any]) -> type:
    """The class that the arguments ask for. Raises `ValidationError` where there is none."""
    table: Table = front._kinds
    said = data.get(table.name, data.get(table.wire, MISSING))
    found = (
        table.classes.get(said) if isinstance(said, str) else table.default if said is None or said is MISSING else None
    )
    if found is None:
        raise ValidationError.from_exception_data(
            front.__name__, [InitErrorDetails(type=_no_such_kind(table, said), loc=(table.name,), input=said)]
        )
    class_: type = getattr(_package(front), found)
    return class_


def _no_such_kind(table: Table, said: Any) -> PydanticCustomError:
    from difflib import get_close_matches  # only where something is wrong

    near = get_close_matches(said, table.classes, n=1) if isinstance(said, str) else []
    meant = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(map(repr, table.classes))}"
    own = f". What the schema does not know is built by {table.unknown}" if table.unknown and not near else ""
    return PydanticCustomError("no_such_kind", "{sentence}", {"sentence": f"the schema has no such value{meant}{own}"})


def _package(front: type) -> Any:
    return sys.modules[home_of(front.__module__)]
