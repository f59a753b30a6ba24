"""What can be wrong with many recordings, and with the file of their results."""

from __future__ import annotations

from acpgen.errors import FaultKind

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
