"""The faults of targets, including those of other packages."""

from __future__ import annotations

from acpgen.errors import FaultKind

PATH_CLASH = FaultKind(
    "path-clash",
    "two protocols or targets need {path!q} for different content.",
    "Give each its own output.",
)
TARGET_FAILED = FaultKind(
    "target-failed",
    "the target {name!q} failed: {reason}. Nothing was written.",
    "Report this to the authors of the target.",
)
TARGET_REFUSED = FaultKind(
    "target-refused",
    "the target {name!q} cannot use it: {reason}. Nothing was written.",
    "Change the schema, or choose another target.",
)
INVALID_EXAMPLE = FaultKind(
    "invalid-example",
    "the schema refuses this example: {reason}.",
    "Correct the example or the schema{otherwise}.",
)
