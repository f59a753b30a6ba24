"""Faults of an upstream schema, or of the folder that follows it."""

from __future__ import annotations

from acpgen.errors import FaultKind

NOT_ADOPTABLE = FaultKind(
    "not-adoptable",
    "{reason}.",
    "Only a schema laid out as ACP publishes it can be adopted: one file, all definitions in '$defs'.",
    "The schema is not laid out as ACP publishes it, which alone can be adopted: one file, all definitions in '$defs'.",
)
CANNOT_FOLLOW = FaultKind(
    "cannot-follow",
    "{reason}, so these files cannot follow an upstream schema.",
    "Put each definition into '$defs' at the top of a file, and refer to it there alone.",
)
NO_BASE = FaultKind(
    "no-base",
    "this file is missing. Without it, local changes cannot be distinguished from upstream changes.",
    "Write it from the revision that the folder follows: acpgen adopt FILE --into {protocol} --start.",
)
BASE_EXISTS = FaultKind(
    "base-exists",
    "this file says that the folder follows another revision.",
    "To merge the new one, leave out --start; if the files of {protocol} follow the new one already, remove "
    "this file first.",
)
UNCLEAR_PROTOCOL = FaultKind(
    "unclear-protocol",
    "it is not clear which protocol this schema belongs to.",
    "Name it: {choices}.",
)
UNSTABLE_PARTS = FaultKind(
    "unstable-parts",
    "its descriptions call parts of it unstable, so it goes into no stable protocol by itself.",
    "Name one: {choices}.",
)
ADOPTION_REFUSED = FaultKind(
    "adoption-refused",
    "adopting this would leave a schema that cannot be used: {reason} Nothing was written.",
    "Correct the cause in the folder or upstream first.",
)
