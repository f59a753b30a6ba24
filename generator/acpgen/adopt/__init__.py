"""Adoption of upstream changes: merge the facts of a newer upstream schema into our files; our descriptions and differences stay.

In: a newer upstream schema and the folder that follows an older one. Out: the new files, conflicts, and a report. `adopt` computes,
`report` describes the result, `save` writes.
"""

from __future__ import annotations

from acpgen.adopt.adoption import BASE, Adoption, adopt, find_followers, find_nearest, start_following
from acpgen.adopt.overlays import find_overlays
from acpgen.adopt.releases import find_folder, is_family, keep_release
from acpgen.adopt.report import Report, make_report, write_lines, write_markdown, write_summary
from acpgen.files import save

__all__ = [
    "BASE",
    "Adoption",
    "Report",
    "adopt",
    "find_folder",
    "find_followers",
    "find_nearest",
    "find_overlays",
    "is_family",
    "keep_release",
    "make_report",
    "save",
    "start_following",
    "write_lines",
    "write_markdown",
    "write_summary",
]
