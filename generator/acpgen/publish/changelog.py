"""The changelog of a protocol, computed: what the compatibility check finds between each release that is kept and the one before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

from acpgen.compat.check_report import VERDICTS
from acpgen.compat.compare import side
from acpgen.compat.findings import worst
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.sources import open_input
from acpgen.diagnostics.markup import Markdown, code
from acpgen.publish.release_verdicts import FEW, ChangelogEntry, ChangelogStep, History, summarize
from acpgen.publish.versions import Version
from acpgen.targets.docs.page_paths import PagePaths, join_markdown
from acpgen.targets.docs.templates import lay_out, relative

PAGE: Final = "changelog.md"

MANY: Final = 60
"""As many changes are told of a step between releases, which no change of the schema changes."""

NO_PAGES: Final[Mapping[str, str]] = MappingProxyType({})

_EVERYWHERE: Final = 3
"""A change that more methods share than this stands before the methods."""


def write_page(
    name: str,
    history: History,
    about: str,
    path: str,
    rules: str,
    version: Version | None = None,
    places: PagePaths | None = None,
    *,
    has_own: bool,
) -> str:
    """The changelog of a protocol, or of a family of them, newest first; `about` says where its releases come from. `version` is what the
    protocol is today, `places` where its pages are.

    With `has_own`, its end tells what that says otherwise than the newest release.
    """
    steps = [_make_step(old.title, new.title, new.verdict, date=new.date) for old, new in pairwise(history)]
    own = None
    if version is not None and has_own:
        own = _make_step(history[-1].title, "this schema", _compare_with_newest(history, version), most=None)

    def link(name: str, page: str | None) -> Markdown:
        if page is None or version is None or places is None:
            return code(name)
        return Markdown(f"[{code(name)}]({relative(path, version.path(places.address(page)))})")

    def named(names: Sequence[str], pages: Mapping[str, str] = NO_PAGES) -> Markdown:
        """The first few names, and whether there are more."""
        shown = join_markdown(link(each, pages.get(each)) for each in names[:FEW])
        return shown if len(names) <= FEW else Markdown(f"{shown} and others")

    return lay_out(
        "changelog",
        path=path,
        version=name,
        about=about,
        steps=steps[::-1],
        own=own,
        first=history[0].title,
        rules=rules,
        named=named,
        few=_EVERYWHERE,
        methods=NO_PAGES if places is None else places.methods,
        types=NO_PAGES if places is None else places.types,
    )


def _compare_with_newest(history: History, version: Version) -> ChangelogStep:
    """What the schema of this project says otherwise than the newest release: all of it, one by one.

    Changes that share a row depend on one another, so two branches with one each would not merge.
    """
    from acpgen.compat.protocol.check.check import check, restructuring

    last = side(open_input(history[-1].documents), unstable=False).meaning
    present = SchemaRevision(version.protocol, version.bundle)
    found = check(last, present).reaches
    if not found and last.bundle.schema != present.bundle.schema:
        found = (restructuring(last, present, "", ""),)
    return summarize(found, is_joined=False)


def _make_step(old: str, new: str, step: ChangelogStep, *, date: str = "", most: int | None = MANY) -> dict[str, Any]:
    """What a template shows of one step between revisions: as many changes as `most`, by method; first those that many methods share."""
    groups: dict[str, list[ChangelogEntry]] = {}
    for change in step.changes[:most]:
        groups.setdefault(change.methods[0] if len(change.methods) == 1 else "", []).append(change)
    return {
        "date": date,
        "old": old,
        "new": new,
        "verdict": VERDICTS[worst(step.severities)],
        "failure": step.failure,
        "severities": step.severities,
        "groups": sorted(groups.items()),
        "is_cut": most is not None and len(step.changes) > most,
    }
