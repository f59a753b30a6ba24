"""The targets that come with acpgen, with their descriptions. The registry adds those of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BUILT_IN: Final[Mapping[str, str]] = {
    "bundle": "One standard JSON Schema 2020-12 in one file, with its method table.",
    "docs": "Pages of documentation in Markdown, in which every example was checked.",
    "ir": "What the schema means, as JSON.",
    "python": "Typed Python bindings, with decoding, encoding and validators.",
    "typescript": "TypeScript declarations and modules that decode, encode and validate.",
    "vectors": "Messages with verdicts as JSON Lines, to test any implementation.",
}
