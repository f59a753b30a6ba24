"""Faults in the meaning of a protocol: its methods, sides and keywords, and constructs that are unsupported."""

from __future__ import annotations

from acpgen.errors import FaultKind

NOTHING_DEFINED = FaultKind(
    "nothing-defined",
    "this file defines no type and no method: its root has no keyword of JSON Schema that describes a value, "
    "and '$defs' and 'definitions' are empty or missing.",
    "Name a file with a JSON Schema; documents that only contain schemas, such as OpenAPI, are not read.",
)
NOTHING_LISTED = FaultKind(
    "nothing-listed",
    "this is {kind} that lists no method and no type.",
    "Add the methods that it should describe.",
)
NO_ROLE = FaultKind(
    "no-role",
    "'x-method' says {method!q}, and the name {name!r} does not say whether this is params or result.",
    "Let it end in 'Request', 'Notification', 'Response' or 'Result', or set 'x-name' so.",
)
SIDES_DIFFER = FaultKind(
    "sides-differ",
    "'x-side' says that {side!r} handles the method {method!q}; its params, {params}, say {other!r}. The "
    "peer that handles a method stands on both.",
    "Correct one of them.",
)
ROLE_TAKEN = FaultKind(
    "role-taken",
    "this is a second {role} of the method {method!q}; the first is {other}.",
    "Remove 'x-method' from one of them.",
)
UNKNOWN_LENIENCY = FaultKind(
    "unknown-leniency",
    "{keyword!r} would change what is decoded, and is not known.",
    "Remove it or use a newer acpgen.",
)
UNSUPPORTED = FaultKind("unsupported", "{subject} cannot be made: {reason}.", "{remedy}.")
