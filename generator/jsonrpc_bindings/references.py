"""Types within types: so many levels down a reference stands for a type, whose schema is made when those above it are done.

pydantic makes the schema of a type in the middle of the schema that refers to it, and puts one that is used once in place of its
reference. So each type of a chain would take some levels of the schema, and of Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema

DEEPEST: Final = 16
"""So many types stand within one another."""


class _Pending:
    """How deep the schema in the making is nested, and the types that wait for theirs, by the names of their references."""

    __slots__ = ("depth", "names", "waiting")

    def __init__(self) -> None:
        self.depth = 0
        self.names: set[str] = set()
        self.waiting: list[tuple[str, Callable[[], Any]]] = []

    def make(self, make: Callable[[], Any]) -> core_schema.CoreSchema:
        """A schema that is one level deeper."""
        self.depth += 1
        try:
            made: core_schema.CoreSchema = make()
            return made
        finally:
            self.depth -= 1


_PENDING: ContextVar[_Pending | None] = ContextVar("_PENDING", default=None)


def nest(
    name: str, make: Callable[[], Any], make_later: Callable[[], Any], handler: GetCoreSchemaHandler
) -> core_schema.CoreSchema:
    """The schema of a type; deep inside others a reference by this name, for which `make_later` is called afterwards."""
    pending = _PENDING.get()
    if pending is not None and pending.depth < DEEPEST:
        return pending.make(make)
    if pending is not None:
        if name not in pending.names:
            pending.names.add(name)
            pending.waiting.append((name, make_later))
        return core_schema.definition_reference_schema(name, metadata={"nested": True})  # what has metadata is kept
    pending = _Pending()
    token = _PENDING.set(pending)
    try:
        schema = pending.make(make)
        for ref, later in pending.waiting:  # which grows
            _define(ref, later(), handler)
    finally:
        _PENDING.reset(token)
    return schema


def _define(ref: str, schema: Any, handler: GetCoreSchemaHandler) -> None:
    """Give a reference its schema, if pydantic does not call it so itself. pydantic takes definitions of a class alone."""
    if schema.get("schema_ref") == ref:
        return

    class _Definition:
        @classmethod
        def __get_pydantic_core_schema__(cls, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
            named: Any = {**schema, "ref": ref}
            return core_schema.definitions_schema(core_schema.any_schema(), [named])

    handler.generate_schema(_Definition)
