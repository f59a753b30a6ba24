"""What records do with fields that the schema does not name."""

from __future__ import annotations

from typing import Final

from acpgen.schema.bundle import Bundle

_OF_MORE: Final = ("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames")


def speaking_of_more(bundle: Bundle) -> frozenset[str]:
    """The definitions that speak of fields which they do not name: their records keep them whatever is chosen for others."""
    return frozenset(
        name
        for name, schema in bundle.definitions.items()
        if any(schema.get(keyword) not in (None, False) for keyword in _OF_MORE)
    )
