"""Keep `jsonschema` from importing modules that only check formats."""

from __future__ import annotations

import sys
from typing import Final

_FORMATS: Final = (
    *("fqdn", "isoduration", "rfc3339_validator", "rfc3986_validator", "rfc3987"),
    *("rfc3987_syntax", "uri_template", "webcolors"),
)
"""Modules that `jsonschema` imports, if installed, to check formats; one of them takes a second to load a grammar.

Here `jsonschema-rs` checks them.
"""


def without_formats() -> None:
    """Keep `jsonschema` from importing modules that check formats. For a process of our own, before it imports `jsonschema`."""
    for name in _FORMATS:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
