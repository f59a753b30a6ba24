"""The changelog of a protocol, computed: what the compatibility check finds between each release that is kept and the one before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from acpgen import provenance
from acpgen.compat.findings import SEVERITIES, Severity, worst
from acpgen.compat.history import recall
from acpgen.compat.protocol.check.check import check, restructured
from acpgen.compat.protocol.check.judged import Checked, Judged
from acpgen.compat.protocol.revision import Revised
from acpgen.compat.remembering import recorded
from acpgen.compat.report.markdown import VERDICTS
from acpgen.errors import Faults
from acpgen.markup import quoting
from acpgen.pointers import place_parts
from acpgen.publish.history import History
from acpgen.publish.versions import Version
from acpgen.targets import docs
from acpgen.targets.docs import Markdown, Places, code, joined

PAGE: Final = "changelog.md"

MODULES: Final = (*recall.COMPARING, "acpgen.publish.changelog")
"""What compares the schema of today with a release."""

FEW: Final = 6
"""As many places, types or methods are named of a change that has more. How many more is not said: a number that grows with each
addition would be wrong where two of them are merged."""

MANY: Final = 60
"""As many changes are told of a step between releases, which no change of the schema changes."""

_EVERYWHERE: Final = 3
"""A change that more methods share than this stands before the methods."""


def page(version: Version, places: Places, history: History, rules: str) -> str:
    """The changelog, newest first; at its end what the schema of this project says otherwise than the newest release."""
    path = version.path(PAGE)
    teller = _Teller(version, places, path, rules)
    steps = [
        _step(teller, old.title, new.title, found.judged)
        for (old, new), found in zip(pairwise(history.releases), history.comparisons.steps, strict=True)
        if not isinstance(found, Faults)
    ]
    own = _step(teller, history.releases[-1].title, "this schema", _own(history, version), most=None)
    return docs.lay_out(
        "changelog",
        path=path,
        version=version.protocol.name,
        about=history.about,
        steps=steps[::-1],
        own=own,
        first=history.releases[0].title,
        rules=rules,
    )


def _own(history: History, version: Version) -> Sequence[Judged]:
    """What the schema of this project says otherwise than the newest release."""
    last, present = history.releases[-1], Revised(version.protocol, version.bundle)

    def made() -> Checked:
        found = check(last.revised, present)
        if found.judged or last.revised.bundle.schema == present.bundle.schema:
            return found
        return replace(found, judged=(restructured(last.revised, present, "", ""),))

    if not version.content:
        return made().judged
    parts = (*last.content, "", version.content)
    return recorded(history.kept, provenance.code(*MODULES), "own", parts, made).judged


@dataclass(frozen=True, slots=True)
class ToldChange:
    """One rule's findings with the same words, in as many places as there are."""

    severity: Severity
    rule: str
    message: str
    judged: tuple[Judged, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.method or "" for each in self.judged))


def _step(teller: _Teller, old: str, new: str, judged: Sequence[Judged], most: int | None = MANY) -> dict[str, Any]:
    """What a template shows of one step between revisions: as many changes as `most`.

    Without, all of them, those with the same words one by one: rows of the schema of today that depend on one another would not merge.
    """
    verdict = worst(tuple(each.severity for each in judged))
    present = {each.severity for each in judged}
    told = changes(judged, is_joined=most is not None)
    return {
        "old": old,
        "new": new,
        "verdict": VERDICTS[verdict],
        "severities": [severity for severity in SEVERITIES if severity in present],
        "groups": list(teller.groups(told[:most])),
        "is_cut": most is not None and len(told) > most,
    }


def changes(judged: Iterable[Judged], *, is_joined: bool = True) -> list[ToldChange]:
    """The findings that are told: those with the same words together, or only those that are also of one place, worst first."""
    found: dict[tuple[Severity, str, str, str], list[Judged]] = {}
    for each in judged:
        if each.severity == "editorial":
            continue
        place = "" if is_joined else each.new_at or each.old_at
        found.setdefault((each.severity, each.rule, each.message, place), []).append(each)
    told = [ToldChange(*key[:3], tuple(group)) for key, group in found.items()]
    return sorted(told, key=lambda change: SEVERITIES.index(change.severity))


@dataclass(frozen=True, slots=True)
class _Teller:
    """Puts changes into words and links for one page."""

    version: Version
    places: Places
    path: str
    rules: str

    def groups(self, changes: Sequence[ToldChange]) -> Iterator[tuple[Markdown, list[Markdown]]]:
        """The changes by method; first those that many methods share."""
        heads: dict[str, list[ToldChange]] = {}
        for change in changes:
            methods = change.methods
            heads.setdefault(methods[0] if len(methods) == 1 else "", []).append(change)
        shared = heads.pop("", [])
        if shared:
            yield Markdown("In several methods"), [self._told(change) for change in shared]
        for name in sorted(heads):
            yield self._method(name), [self._told(change) for change in heads[name]]

    def _told(self, change: ToldChange) -> Markdown:
        rule = Markdown(f"[{code(change.rule)}]({docs.relative(self.path, self.rules)}#{change.rule})")
        parts = [Markdown(f"**{change.severity}**, {rule}: {quoting(change.message)}")]
        methods = [name for name in change.methods if name]
        if len(methods) > 1:
            parts.append(Markdown(f"In {_some([self._method(name) for name in methods])}."))
        places = list(dict.fromkeys(each.location for each in change.judged if each.location))
        if len(methods) <= _EVERYWHERE and places:
            parts.append(Markdown(f"At {_some([code(place) for place in places])}."))
        types = list(dict.fromkeys(filter(None, map(self._type, change.judged))))
        if types:
            parts.append(Markdown(f"See {_some(types)}."))
        return joined(parts, " ")

    def _method(self, name: str) -> Markdown:
        return self._link(name, self.places.methods.get(name))

    def _type(self, judged: Judged) -> Markdown | None:
        """A link to the type in which a change stands, as far as there still is one."""
        types = self.places.types
        for at in (judged.new_at, judged.old_at):
            parts = place_parts(at)
            if len(parts) > 1 and parts[1] in types:
                return self._link(parts[1], types[parts[1]])
        return None

    def _link(self, name: str, page: str | None) -> Markdown:
        if page is None:
            return code(name)
        return Markdown(f"[{code(name)}]({docs.relative(self.path, self.version.path(self.places.address(page)))})")


def _some(items: Sequence[Markdown]) -> Markdown:
    """The first few, and whether there are more."""
    shown = joined(items[:FEW])
    return shown if len(items) <= FEW else Markdown(f"{shown} and others")
