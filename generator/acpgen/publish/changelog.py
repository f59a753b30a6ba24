"""The changelog of a protocol, computed: what the compatibility check finds between each release that is kept and the one before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from acpgen.compat.check_report import VERDICTS
from acpgen.compat.compare import side
from acpgen.compat.findings import worst
from acpgen.compat.protocol.check.check import check, restructuring
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.sources import open_input
from acpgen.diagnostics.markup import Markdown, code, quoting
from acpgen.publish.history import History
from acpgen.publish.release_verdicts import FEW, ChangelogEntry, ChangelogStep, summarize
from acpgen.publish.versions import Version
from acpgen.targets.docs.page_paths import PagePaths, join_markdown
from acpgen.targets.docs.templates import lay_out, relative

PAGE: Final = "changelog.md"

MANY: Final = 60
"""As many changes are told of a step between releases, which no change of the schema changes."""

_EVERYWHERE: Final = 3
"""A change that more methods share than this stands before the methods."""


def page(
    name: str,
    history: History,
    path: str,
    rules: str,
    version: Version | None = None,
    places: PagePaths | None = None,
    *,
    has_own: bool,
) -> str:
    """The changelog of a protocol, or of a family of them, newest first. `version` is what the protocol is today,
    `places` where its pages are.

    With `has_own`, its end tells what that says otherwise than the newest release.
    """
    writer = _EntryWriter(version, places, path, rules)
    steps = [_step(writer, old.title, new.title, new.verdict, date=new.date) for old, new in pairwise(history.releases)]
    own = None
    if version is not None and has_own:
        own = _step(writer, history.releases[-1].title, "this schema", _own(history, version), most=None)
    return lay_out(
        "changelog",
        path=path,
        version=name,
        about=history.about,
        steps=steps[::-1],
        own=own,
        first=history.releases[0].title,
        rules=rules,
    )


def _own(history: History, version: Version) -> ChangelogStep:
    """What the schema of this project says otherwise than the newest release: all of it, one by one.

    Changes that share a row depend on one another, so two branches with one each would not merge.
    """
    last = side(open_input(history.releases[-1].documents), unstable=False).meaning
    present = SchemaRevision(version.protocol, version.bundle)
    found = check(last, present).reaches
    if not found and last.bundle.schema != present.bundle.schema:
        found = (restructuring(last, present, "", ""),)
    return summarize(found, is_joined=False)


def _step(
    writer: _EntryWriter, old: str, new: str, step: ChangelogStep, *, date: str = "", most: int | None = MANY
) -> dict[str, Any]:
    """What a template shows of one step between revisions: as many changes as `most`."""
    return {
        "date": date,
        "old": old,
        "new": new,
        "verdict": VERDICTS[worst(step.severities)],
        "failure": step.failure,
        "severities": step.severities,
        "groups": list(writer.groups(step.changes[:most])),
        "is_cut": most is not None and len(step.changes) > most,
    }


@dataclass(frozen=True, slots=True)
class _EntryWriter:
    """Puts changes into words and links for one page."""

    version: Version | None
    places: PagePaths | None
    path: str
    rules: str

    def groups(self, changes: Sequence[ChangelogEntry]) -> Iterator[tuple[Markdown, list[Markdown]]]:
        """The changes by method; first those that many methods share."""
        heads: dict[str, list[ChangelogEntry]] = {}
        for change in changes:
            heads.setdefault(change.methods[0] if len(change.methods) == 1 else "", []).append(change)
        shared = heads.pop("", [])
        if shared:
            yield Markdown("In several methods"), [self._entry(change) for change in shared]
        for name in sorted(heads):
            yield self._method(name), [self._entry(change) for change in heads[name]]

    def _entry(self, change: ChangelogEntry) -> Markdown:
        rule = Markdown(f"[{code(change.rule)}]({relative(self.path, self.rules)}#{change.rule})")
        parts = [Markdown(f"**{change.severity}**, {rule}: {quoting(change.message)}")]
        if len(change.methods) > 1:
            parts.append(Markdown(f"In {_some([self._method(name) for name in change.methods])}."))
        if len(change.methods) <= _EVERYWHERE and change.places:
            parts.append(Markdown(f"At {_some([code(place) for place in change.places])}."))
        types: Mapping[str, str] = {} if self.places is None else self.places.types
        links = [self._link(name, types[name]) for name in change.types if name in types]
        if links:
            parts.append(Markdown(f"See {_some(links)}."))
        return join_markdown(parts, " ")

    def _method(self, name: str) -> Markdown:
        return self._link(name, None if self.places is None else self.places.methods.get(name))

    def _link(self, name: str, page: str | None) -> Markdown:
        if page is None or self.version is None or self.places is None:
            return code(name)
        return Markdown(f"[{code(name)}]({relative(self.path, self.version.path(self.places.address(page)))})")


def _some(items: Sequence[Markdown]) -> Markdown:
    """The first few, and whether there are more."""
    shown = join_markdown(items[:FEW])
    return shown if len(items) <= FEW else Markdown(f"{shown} and others")
