"""When upstream moves: the facts of a newer upstream schema come into our files, and our words and differences stay.

In: a newer upstream schema and the folder that follows an older one. Out: the files as they are to be, conflicts, and a report.
`adopt` computes, `report` says what it did, `save` writes.
"""

from __future__ import annotations

from acpgen.adopt.adoption import BASE, Adoption, adopt, followers, nearest, start
from acpgen.adopt.overlays import overlays
from acpgen.adopt.releases import folder_of, is_family, keep
from acpgen.adopt.report import Report, markdown, report, summary, text
from acpgen.files import save

__all__ = [
    "BASE",
    "Adoption",
    "Report",
    "adopt",
    "folder_of",
    "followers",
    "is_family",
    "keep",
    "markdown",
    "nearest",
    "overlays",
    "report",
    "save",
    "start",
    "summary",
    "text",
]
