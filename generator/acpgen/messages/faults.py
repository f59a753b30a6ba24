"""Faults of conversations: the recording, the command that is run, the schemas that validate it."""

from __future__ import annotations

from acpgen.errors import FaultKind

SAME_VERSION = FaultKind("same-version", "{first!q} and {second!q} are the same version.", "Name one of them.")
NOT_STARTED = FaultKind("not-started", "this command cannot be started ({reason}).", "Correct it, or give its path.")
NOT_CREATED = FaultKind("not-created", "this file cannot be written ({reason}).", "Name another path.")
NO_RECORDINGS = FaultKind(
    "no-recordings",
    "no file here has the extension of a recording: .jsonl or .ndjson, optionally with .gz or .zst.",
    "Name the file itself.",
)
INFLATED = FaultKind(
    "inflated",
    "it decompresses to over {times} times its size, and the rest was not read.",
    "If you trust it, decompress it and name the plain file.",
)
OTHER_RESULTS = FaultKind(
    "other-results",
    "the results in this file cannot be continued: {reason}.",
    "Name a new file, or remove this one.",
)
