"""The faults of comparisons, waivers and repairs."""

from __future__ import annotations

from acpgen.errors import FaultKind

NOT_AT_A_REVISION = FaultKind(
    "not-at-a-revision",
    "'--merge-base' cannot be used: OLD names no git revision, and only revisions have a merge base.",
    "Name one, such as 'main:acp/v1', or leave '--merge-base' out.",
)
NO_KEYWORD = FaultKind(
    "no-keyword",
    "this is not a JSON Schema: none of its members is a keyword.",
    "Name the schema itself; documents that only contain schemas, such as OpenAPI, are not read.",
)
NOT_APPENDABLE = FaultKind(
    "not-appendable", "no waiver can be appended to this file.", "Write its waivers as separate tables: [[waiver]]."
)
NOT_REPAIRABLE = FaultKind(
    "not-repairable", "no repair can be written here: {reason}. Nothing was changed.", "Make the change by hand."
)
