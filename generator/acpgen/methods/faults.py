"""Faults in a profile of methods."""

from __future__ import annotations

from acpgen.errors import FaultKind

BAD_PROFILE = FaultKind(
    "bad-profile",
    "{reason}.",
    "{remedy}",
    "A profile of methods does not have the form of one; the error says what is wrong and what to do.",
)
UNUSED_RULE = FaultKind(
    "unused-rule",
    "{what_for}.",
    "Correct the name, or remove the entry.",
    "A profile of methods names something that the schema does not have. Correct the name, or remove the entry.",
)
NO_METHODS = FaultKind(
    "no-methods",
    "the profile {profile!q} finds no method here.",
    "Name the one that fits the schema, write one, or leave '--methods' out: then acpgen tells what it finds "
    "by itself.",
)
