"""Faults of the requested outputs, and of what the system refuses."""

from __future__ import annotations

from acpgen.errors import FaultKind

NO_OUTPUT = FaultKind(
    "no-output",
    "no output of this project has the target {target!q}.",
    'Add one: [tool.acpgen.outputs."FOLDER"] with target = "{target}" and protocols = ["{protocol}"].',
)
NO_ACCESS = FaultKind(
    "no-access", "it cannot be used ({reason}).", "Give permission or free space, or name another path."
)
