"""The places of what a protocol means, as the files themselves have them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.importers.documents import relocated

_MEMBERS: Final = frozenset({"fields", "values", "variants"})
"""What holds things that have places of their own."""


def placed(protocol: ir.Protocol, bundle: Bundle) -> ir.Protocol:
    """The protocol with the places that a foreign document has in place of those in the schema that was made of it."""
    if not bundle.places:
        return protocol
    definitions = {name: _placed(definition, bundle) for name, definition in protocol.definitions.items()}
    return replace(protocol, definitions=definitions)


def _placed(value: Any, bundle: Bundle) -> Any:
    """A definition or a member of one with the places of the document."""
    changed: dict[str, Any] = {}
    for field in fields(value):
        inside: Any = getattr(value, field.name)
        if field.name == "at":
            changed["at"] = relocated(inside, bundle.places)
        elif field.name == "unenforced":
            changed["unenforced"] = tuple(_keyword_at(at, bundle) for at in inside)
        elif field.name in _MEMBERS:
            changed[field.name] = tuple(_placed(item, bundle) for item in inside)
    return replace(value, **changed)


def _keyword_at(at: str, bundle: Bundle) -> str:
    """The place of a keyword: that of its schema, and the keyword."""
    schema, _, keyword = at.rpartition("/")
    return f"{relocated(schema, bundle.places)}/{keyword}"
