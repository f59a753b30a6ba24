"""The history of the kept releases as a page: each step, which revisions understand each other, and which step brought what."""

from __future__ import annotations

from typing import Final

from acpgen.compat.history.assembling import assembled
from acpgen.compat.history.timeline import Milestone
from acpgen.compat.report.history_markdown import history_section
from acpgen.publish.history import History
from acpgen.targets import docs

PAGE: Final = "history.md"

ROWS: Final = 10
"""As many rows of the table of which revisions understand each other are shown: comparisons grow with the square of them."""

MODULES: Final = ("acpgen.compat.history.assembling", "acpgen.compat.report.history_markdown")
"""What makes the section of a page that follows from the releases alone."""


def page(name: str, history: History, path: str, rules: str, changelog: str | None) -> str:
    """The page of one protocol; `rules` and `changelog` are pages of the docs."""
    link = docs.relative(path, rules)

    def section() -> str:
        milestones = [Milestone(each.title) for each in history.releases]
        return history_section(name, assembled(name, milestones, history.comparisons, most_rows=ROWS), link)

    return docs.lay_out(
        "history",
        path=path,
        name=name,
        about=history.about,
        rules=rules,
        changelog=changelog,
        body=docs.Markdown(history.once("history", MODULES, (name, link, str(ROWS)), section)),
    )
