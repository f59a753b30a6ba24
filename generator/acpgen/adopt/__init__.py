"""When upstream moves: the facts of a newer upstream schema come into our files, and our words and differences stay.

`adopt` computes, `report` says what it did, `save` writes.
"""

from __future__ import annotations

from acpgen.adopt.adoption import BASE, Adoption, adopt, followers, nearest, start
from acpgen.adopt.report import Report, markdown, report, summary, text
from acpgen.adopt.save import save, save_report

__all__ = [
    "BASE",
    "Adoption",
    "Report",
    "adopt",
    "followers",
    "markdown",
    "nearest",
    "report",
    "save",
    "save_report",
    "start",
    "summary",
    "text",
]
