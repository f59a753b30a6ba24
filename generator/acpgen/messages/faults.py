"""What can be wrong with a conversation: its recording, the command that is run, the schemas that judge it."""

from __future__ import annotations

from acpgen.errors import FaultKind

SAME_VERSION = FaultKind("same-version", "{first!q} and {second!q} are the same version.", "Name one of them.")
NOT_STARTED = FaultKind("not-started", "this command cannot be started ({reason}).", "Correct it, or give its path.")
NOT_CREATED = FaultKind("not-created", "this file cannot be written ({reason}).", "Name another path.")
