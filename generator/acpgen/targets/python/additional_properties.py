"""How records treat fields that the schema does not name."""

from __future__ import annotations

from typing import Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle

_OF_MORE: Final = ("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames")


def find_open_definitions(bundle: Bundle) -> frozenset[str]:
    """The definitions with keywords for fields that they do not name: their records retain such fields regardless of the options."""
    return frozenset(
        name
        for name, schema in bundle.definitions.items()
        if any(schema.get(keyword) not in (None, False) for keyword in _OF_MORE)
    )


def find_pattern_definitions(protocol: ir.Protocol, bundle: Bundle) -> list[str]:
    """The definitions whose only keyword for further fields is `patternProperties`, and that are not the base of another record."""
    keywords = frozenset(_OF_MORE) - {"patternProperties"}
    bases = {definition.base for definition in protocol.definitions.values() if isinstance(definition, ir.Record)}
    return [
        name
        for name in sorted(find_open_definitions(bundle) - bases)
        if isinstance(protocol.definitions.get(name), ir.Record)
        if all(bundle.definitions[name].get(keyword) is None for keyword in keywords)
    ]
