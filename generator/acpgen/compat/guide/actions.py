"""What a reader of a migration guide does about each kind of finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

INSTEAD: Final[Mapping[str, str]] = {
    "alternative-added": "Be ready to receive this new form.",
    "alternative-removed": "Do not send this form any more.",
    "batch-allowed": "Be ready to receive messages in batches.",
    "batch-withdrawn": "Send each message on its own, not in batches.",
    "closed-field-added": "You may send it.",
    "closed-value-added": "Be ready to receive it.",
    "closed-value-removed": "Do not send this value any more.",
    "closed-variant-added": "Be ready to receive it.",
    "closed-variant-removed": "Do not send this variant any more.",
    "default-changed": "Send the value instead of leaving it out.",
    "demand-changed": "See which capability requires it now.",
    "extension-declared": "Send nothing else under the name.",
    "extension-undeclared": "It stays allowed as an extension.",
    "field-added": "You may send it.",
    "field-became-optional": "Be ready to receive messages without it.",
    "field-became-required": "Always send it.",
    "field-removed": "Stop sending it: receivers ignore it.",
    "field-renamed": "Use the new name.",
    "gate-added": "Send it only to peers that advertise the capability.",
    "gate-moved": "Check the new capability before you send it.",
    "gate-removed": "Be ready to receive it without having advertised anything.",
    "leniency-added": "Invalid values are decoded leniently now.",
    "leniency-withdrawn": "Send valid values.",
    "limit-changed": "Observe the new limit.",
    "limit-loosened": "Be ready to receive more values.",
    "limit-tightened": "Observe the new limit.",
    "method-added": "You may send it where its description allows it.",
    "method-kind-changed": "Requests are answered, notifications are not: change whether you wait for an answer.",
    "method-removed": "Do not send it any more.",
    "method-renamed": "Use the new name.",
    "null-allowed": "Be ready to receive null.",
    "null-forbidden": "Send a value instead of null; leave the field out where it is optional.",
    "null-meaning-changed": "Check what null means before you send it.",
    "null-result-withdrawn": "Answer with an object, not with null.",
    "object-closed": "Send declared members only.",
    "object-opened": "Be ready to receive members that are not declared.",
    "position-changed": "Send each item at its new position.",
    "required-field-added": "Send it.",
    "required-field-removed": "Stop sending it, and do not require it of others.",
    "tag-renamed": "Name the variant in the new member.",
    "tolerance-added": "Keep unknown variants.",
    "tolerance-withdrawn": "Reject unknown variants.",
    "type-changed": "Send the new type only.",
    "type-narrowed": "Send the new type only.",
    "type-widened": "Be ready to receive the new type.",
    "undeclared-narrowed": "Send declared members only.",
    "unknown-accepted": "Keep unknown values instead of rejecting them.",
    "unknown-refused": "Send known values only.",
    "untagged-variant-added": "Be ready to receive this form without a tag.",
    "untagged-variant-removed": "Give every variant its tag.",
    "value-added": "You may send it; be ready to receive it.",
    "value-removed": "Do not send this value any more.",
    "values-named": "Some values have a known meaning now.",
    "values-unnamed": "Do not rely on known values.",
    "variant-added": "You may send it; be ready to receive it.",
    "variant-beside-default-added": "Be ready to receive it.",
    "variant-renamed": "Use the new tag.",
    "variant-removed": "Do not send this variant any more.",
}
"""What a reader does about a finding. What is not listed needs nothing to be done."""

REMOVED: Final = frozenset(
    {
        *(
            "closed-value-removed",
            "closed-variant-removed",
            "field-removed",
            "method-removed",
            "required-field-removed",
        ),
        *("untagged-variant-removed", "value-removed", "variant-removed"),
    }
)
"""The rules about what only the old version has."""

REPLACED: Final = frozenset({"default-changed", "null-forbidden", "type-changed", "type-narrowed", "type-widened"})
"""The rules about what has another form now, which `x-migration` tells better than the difference of the schemas."""
