"""The changelog of a protocol, computed: the findings of the compatibility check between each release in the project and the one before
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

from acpgen.compat import catalogue
from acpgen.compat.check_report import VERDICTS
from acpgen.compat.compare import read_side
from acpgen.compat.findings import find_worst
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.sources import open_input
from acpgen.diagnostics.markup import Markdown, write_code
from acpgen.publish.release_verdicts import FEW, ChangelogEntry, ChangelogStep, History, summarize
from acpgen.publish.versions import Version
from acpgen.targets.docs.page_paths import PagePaths, join_markdown
from acpgen.targets.docs.templates import lay_out, relativize

PAGE: Final = "changelog.md"

MANY: Final = 60
"""The maximum number of changes in a step between releases; such a step does not depend on the current schema."""

NO_PAGES: Final[Mapping[str, str]] = MappingProxyType({})

_EVERYWHERE: Final = 3
"""A change that affects more methods than this is shown before the methods."""


def write_page(
    name: str,
    history: History,
    about: str,
    path: str,
    version: Version | None = None,
    places: PagePaths | None = None,
    *,
    has_own: bool,
) -> str:
    """Write the changelog of a protocol, or of a family of protocols, newest release first.

    `about` says where the releases come from. `version` is the protocol as it is today, `places` are the paths of its pages. With
    `has_own`, the changelog also shows how that version differs from the newest release.
    """
    steps = [_make_step(old.title, new.title, new.verdict, date=new.date) for old, new in pairwise(history)]
    step_of_schema = None
    if version is not None and has_own:
        step_of_schema = _make_step(history[-1].title, "this schema", _compare_with_newest(history, version), most=None)

    def link(name: str, page: str | None) -> Markdown:
        if page is None or places is None:
            return write_code(name)
        return Markdown(f"[{write_code(name)}]({relativize(path, places.locate(page))})")

    def link_names(names: Sequence[str], pages: Mapping[str, str] = NO_PAGES) -> Markdown:
        """The first few names with links, and a remark if there are more."""
        links = join_markdown(link(name, pages.get(name)) for name in names[:FEW])
        return links if len(names) <= FEW else Markdown(f"{links} and others")

    return lay_out(
        "changelog",
        path=path,
        version=name,
        about=about,
        steps=steps[::-1],
        own=step_of_schema,
        first=history[0].title,
        rules=catalogue.INDEX,
        named=link_names,
        few=_EVERYWHERE,
        methods=NO_PAGES if places is None else places.methods,
        types=NO_PAGES if places is None else places.types,
    )


def _compare_with_newest(history: History, version: Version) -> ChangelogStep:
    """Compare the schema of this project with the newest release and list every change separately.

    Changes in one row depend on one another: two branches that each add a change to it would not merge.
    """
    from acpgen.compat.protocol.check.check import check, report_restructuring

    newest = read_side(open_input(history[-1].documents), unstable=False).meaning
    present = SchemaRevision(version.protocol, version.bundle)
    reaches = check(newest, present).reaches
    if not reaches and newest.bundle.schema != present.bundle.schema:
        reaches = (report_restructuring(newest, present, "", ""),)
    return summarize(reaches, is_joined=False)


def _make_step(old: str, new: str, step: ChangelogStep, *, date: str = "", most: int | None = MANY) -> dict[str, Any]:
    """The template values of one step between revisions: at most `most` changes by method, those that several methods share first."""
    groups: dict[str, list[ChangelogEntry]] = {}
    for change in step.changes[:most]:
        groups.setdefault(change.methods[0] if len(change.methods) == 1 else "", []).append(change)
    return {
        "date": date,
        "old": old,
        "new": new,
        "verdict": VERDICTS[find_worst(step.severities)],
        "failure": step.failure,
        "severities": step.severities,
        "groups": sorted(groups.items()),
        "is_cut": most is not None and len(step.changes) > most,
    }
