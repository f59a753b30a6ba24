"""Faults about the location of an output."""

from __future__ import annotations

from acpgen.errors import FaultKind

FOREIGN_FOLDER = FaultKind(
    "foreign-folder",
    "this folder is not empty, and acpgen did not write it.",
    "Name a new or empty folder, or empty it yourself.",
)
STRAY_FILE = FaultKind(
    "stray-file",
    "acpgen did not write this file, and the folder holds only what acpgen writes.",
    "Move the file out of the folder.",
)
FOREIGN_FILE = FaultKind(
    "foreign-file",
    "acpgen did not write this file, and an output has a file of the same name.",
    "Move the file away, or name another folder.",
)
NOT_EMPTY = FaultKind(
    "not-empty",
    "a project needs a new or empty folder, and this is not one.",
    "Name another folder.",
)
NOT_A_FOLDER = FaultKind(
    "not-a-folder",
    "the output must be a folder, and this is a file or a link.",
    "Name another path.",
)
UNWRITABLE = FaultKind(
    "unwritable",
    "it cannot be written ({reason}). Nothing was changed.",
    "Give permission or free space, or name another path.",
)
NOT_RESTORED = FaultKind(
    "not-restored",
    "it cannot be written ({reason}), and not all files written before it could be restored. Their old text "
    "is in {left}.",
    "Give permission or free space, and rename them back.",
)
