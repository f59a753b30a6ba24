"""The translation of a document that is not JSON Schema: a schema, methods, their source locations, and the parts that were ignored."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from acpgen import ir
from acpgen.errors import Fault
from acpgen.importers.faults import NOT_THAT_DOCUMENT
from acpgen.input.walk import Schema
from acpgen.naming.identifiers import class_name
from acpgen.pointers import plain_pointer

Elsewhere: TypeAlias = Callable[[str], tuple[str, Any] | None]
"""Returns the path and the value of another document, by the part of a reference before its fragment; `None` if there is no such
document.
"""


@dataclass(slots=True)
class ImporterDocument:
    """A schema under construction. Params and results of `methods` are places of definitions in `value`.

    `omitted` of a method is "refused" if some of its params are required. `read` are the members of the document that its reader reads.
    `unread` is what the document states about messages and the reader ignores, by a phrase that names it.
    """

    path: str
    kind: str
    read: tuple[str, ...]
    definitions: Schema = field(default_factory=dict[str, Any])
    value: Schema = field(default_factory=dict[str, Any])
    methods: list[ir.Method] = field(default_factory=list[ir.Method])
    places: dict[str, str] = field(default_factory=dict[str, str])
    unread: dict[str, Any] = field(default_factory=dict[str, Any])
    faults: list[Fault] = field(default_factory=list[Fault])

    def at(self, *keys: str | int) -> str:
        """The place of a value in the document."""
        return f"{self.path}#{plain_pointer(*keys)}"

    def define(self, name: str, schema: Any, at: str) -> str:
        """Add a definition of a schema that is at a place of the document; return the place of the definition."""
        here = self.at("definitions", name)
        self.definitions[name] = schema
        self.places[here] = at
        return here

    def free(self, *names: str) -> str:
        """The first of these names whose class name no definition has; else the last name with an underscore."""
        class_names = {class_name(name) for name in self.definitions}
        return next((name for name in names if class_name(name) not in class_names), f"{names[-1]}_")

    def leave(self, method: str, holder: Schema, read: Collection[str]) -> None:
        """Record the members of a method that are not in `read`. Extensions, `x-…`, do not affect messages and are skipped."""
        for key, value in holder.items():
            if key not in read and not key.startswith("x-"):
                self.unread[f"{key} of {method}"] = value

    def wrong(self, at: str, reason: str) -> None:
        self.faults.append(NOT_THAT_DOCUMENT(at=at, kind=self.kind, reason=reason))


def reference(name: str) -> Schema:
    """A reference to a definition of the translation."""
    return {"$ref": f"#{plain_pointer('definitions', name)}"}
