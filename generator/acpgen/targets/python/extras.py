"""What records do with fields that the schema does not name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from acpgen import ir
from acpgen.errors import Fault, Faults, UnknownName, did_you_mean
from acpgen.schema.bundle import Bundle

_OF_MORE: Final = ("additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames")

_WILD: Final = frozenset("*?[")
"""What makes a name a pattern: it may match nothing, since an output can hold several protocols."""


def keeping_records(protocol: ir.Protocol, bundle: Bundle, patterns: tuple[str, ...]) -> frozenset[str]:
    """The records that keep unknown fields whatever is chosen for others: their schema speaks of fields that it does not name, or one of
    the patterns matches. Raises `Faults` for a name that is no record.
    """
    of_more = {
        name
        for name, schema in bundle.definitions.items()
        if any(schema.get(keyword) not in (None, False) for keyword in _OF_MORE)
    }
    records = [name for name, one in protocol.definitions.items() if isinstance(one, ir.Record)]
    matched = {pattern: [name for name in records if fnmatchcase(name, pattern)] for pattern in patterns}
    faults: list[Fault] = [
        UnknownName(at="keep-unknown-in", kind="record", name=pattern, hint=did_you_mean(pattern, records))
        for pattern, names in matched.items()
        if not names and not _WILD.intersection(pattern)
    ]
    if faults:
        raise Faults(faults)
    return frozenset(of_more.union(*matched.values()))
