"""Faults of the requested outputs."""

from __future__ import annotations

from acpgen.errors import FaultKind

NO_OUTPUT = FaultKind(
    "no-output",
    "no output of this project has the target {target!q}.",
    'Add one: [tool.acpgen.outputs."FOLDER"] with target = "{target}" and protocols = ["{protocol}"].',
)
