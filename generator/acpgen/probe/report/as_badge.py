"""The outcome of a probe as a badge: the JSON that badge services read, with the version of the protocol that was spoken."""

from __future__ import annotations

import json
from typing import Final

from acpgen.probe.conformance import Conformance

_COLOURS: Final = {"passes": "brightgreen", "breaks": "red", "not judged": "lightgrey"}


def badge(report: Conformance) -> str:
    """The outcome as JSON for an endpoint badge. It counts what was judged, and never says more than that."""
    versions = " and ".join(f"v{version}" for version in report.versions)
    counts = report.counts
    words = {
        "passes": f"{len(report.reached)} cases, no MUST broken",
        "breaks": f"{counts['must']} MUST broken" if counts["must"] else f"{counts['should']} SHOULD broken",
        "not judged": "not judged",
    }
    row = {
        "schemaVersion": 1,
        "label": f"ACP {versions}".strip(),
        "message": words[report.verdict],
        "color": _COLOURS[report.verdict],
    }
    return json.dumps(row, indent=2) + "\n"
