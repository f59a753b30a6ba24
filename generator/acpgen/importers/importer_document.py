"""What is made of a document that is not a JSON Schema: a schema, its methods, where both are in the document, and the rest."""

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
"""Finds path and value of another document by the location that a reference names, which is all of it before the fragment."""


@dataclass(slots=True)
class ImporterDocument:
    """A schema in the making. Params and results of `methods` are places of definitions in `value`, and
    `omitted` is "refused" where some of the params are required.

    `read` are the members of the document that its reader reads.
    `unread` is what the document says of messages and no reader understands, by a phrase that names it.
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
        """The place of something in the document."""
        return f"{self.path}#{plain_pointer(*keys)}"

    def define(self, name: str, schema: Any, at: str) -> str:
        """Make a definition of what stands at a place of the document, and return the definition's place."""
        here = self.at("definitions", name)
        self.definitions[name] = schema
        self.places[here] = at
        return here

    def free(self, *names: str) -> str:
        """The first of these names that no definition has, whatever its letters; else the last one with an underscore."""
        taken = {class_name(name) for name in self.definitions}
        return next((name for name in names if class_name(name) not in taken), f"{names[-1]}_")

    def leave(self, method: str, holder: Schema, read: Collection[str]) -> None:
        """Keep what a method says beside what is `read`. Members of an extension, `x-…`, say nothing of messages."""
        for key, value in holder.items():
            if key not in read and not key.startswith("x-"):
                self.unread[f"{key} of {method}"] = value

    def wrong(self, at: str, reason: str) -> None:
        self.faults.append(NOT_THAT_DOCUMENT(at=at, kind=self.kind, reason=reason))


def reference(name: str) -> Schema:
    """A reference to a definition of what is made."""
    return {"$ref": f"#{plain_pointer('definitions', name)}"}
