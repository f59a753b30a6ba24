"""The places of what a protocol means, as the files themselves have them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from acpgen import ir
from acpgen.schema.bundle import Bundle
from acpgen.schema.foreign import relocated

_PLAIN: Final = frozenset({"doc", "examples"})


def placed(protocol: ir.Protocol, bundle: Bundle) -> ir.Protocol:
    """The protocol with the places that a foreign document has in place of those in the schema that was made of it."""
    if not bundle.places:
        return protocol
    definitions = {name: _placed(definition, bundle) for name, definition in protocol.definitions.items()}
    return replace(protocol, definitions=definitions)


def _placed(value: Any, bundle: Bundle) -> Any:
    if isinstance(value, tuple):
        items: tuple[Any, ...] = value
        return tuple(_placed(item, bundle) for item in items)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for field in fields(value):
        inside = getattr(value, field.name)
        if field.name == "at":
            changed["at"] = relocated(inside, bundle.places)
        elif field.name == "unenforced":
            changed["unenforced"] = tuple(_keyword_at(at, bundle) for at in inside)
        elif field.name not in _PLAIN and isinstance(inside, tuple):
            changed[field.name] = _placed(inside, bundle)
    return replace(value, **changed)


def _keyword_at(at: str, bundle: Bundle) -> str:
    """The place of a keyword: that of its schema, and the keyword."""
    schema, _, keyword = at.rpartition("/")
    return f"{relocated(schema, bundle.places)}/{keyword}"
