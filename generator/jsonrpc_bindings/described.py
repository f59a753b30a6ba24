"""What people read of generated types, for whoever asks: it is in the source, and read from there when it is wanted."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import Parameter, Signature
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from .constructing import DOOR

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo


@cache
def texts(module: str) -> Mapping[str, str]:
    """The words below the fields and types of a module, by `Class.field` and `Type`; empty where its source is not there."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    found = dict(_said(tree.body, ""))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= _said(node.body, f"{node.name}.")
    return found


def _said(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, str]]:
    for node, below in pairwise(body):
        match node, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ) if text:
                yield prefix + name, inspect.cleandoc(text)
            case _:
                continue


def description(model: type[BaseModel], name: str) -> str | None:
    """The words below a field, by the nearest class that has some; `None` where there are none."""
    for base in model.__mro__:
        if base.__module__ == _PYDANTIC:
            break
        found = texts(base.__module__).get(f"{base.__qualname__}.{name}")
        if found is not None:
            return found
    return None


_PYDANTIC: Final = "pydantic.main"


class Fields:
    """The attribute `model_fields`: what pydantic knows of the fields, and the words below them."""

    def __get__(self, instance: object, owner: type[BaseModel]) -> Mapping[str, FieldInfo]:
        fields = owner.__pydantic_fields__
        for name, field in fields.items():
            if field.description is None:
                field.description = description(owner, name)
        return fields


class ConstructorSignature:
    """The attribute `__signature__` of classes: fields by their Python names, and the door for further ones.

    Instances have none.
    """

    def __get__(self, instance: object, owner: type[BaseModel]) -> Signature:
        if instance is not None:
            raise AttributeError("__signature__")
        if "__pydantic_fields__" in owner.__dict__ and not owner.__pydantic_complete__:
            owner.model_rebuild()
        parameters = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=_default(field),
                annotation=field.rebuild_annotation(),
            )
            for name, field in owner.__pydantic_fields__.items()
        ]
        return Signature([*parameters, _DOOR], return_annotation=None)


def _default(field: FieldInfo) -> Any:
    if field.is_required():
        return Parameter.empty
    return field.get_default(call_default_factory=False) if field.default_factory is None else _Made(field)


class _Made:
    """A default that is made anew for each record."""

    __slots__ = ("field",)

    def __init__(self, field: FieldInfo) -> None:
        self.field: Final = field

    def __repr__(self) -> str:
        return repr(self.field.get_default(call_default_factory=True, validated_data={}))


_DOOR: Final = Parameter(DOOR, Parameter.KEYWORD_ONLY, default={}, annotation=Mapping[str, Any])
