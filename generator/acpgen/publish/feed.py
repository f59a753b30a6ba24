"""The changelogs as one feed (Atom, RFC 4287): an entry for each release that is kept and whose date is known, newest first."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

from acpgen.compat.findings import worst
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.report.markdown import VERDICTS
from acpgen.errors import Faults, visible
from acpgen.publish import changelog
from acpgen.publish.history import History
from acpgen.publish.versions import Version

PAGE: Final = "feed.xml"

_ATOM: Final = "http://www.w3.org/2005/Atom"
_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_AUTHOR: Final = "acpgen, the compatibility check"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A release: its date (`YYYY-MM-DD`), and the place of what changed, relative to the site."""

    date: str
    protocol: str
    title: str
    link: str
    lines: tuple[str, ...]


def feed(
    title: str,
    versions: Sequence[Version],
    past: Mapping[str, History],
    dates: Mapping[str, Mapping[str, str]],
    url: str,
) -> str | None:
    """The feed of a site that stands at `url` (empty if that is not known: links are then relative to the feed).

    `dates` has those of the releases of each protocol. `None` where no release of a changelog has a date.
    """
    entries = [
        entry
        for version in versions
        if version.protocol.name in past
        for entry in _entries(version, past[version.protocol.name], dates.get(version.protocol.name, {}))
    ]
    if not entries:
        return None
    entries.sort(key=lambda entry: entry.date, reverse=True)
    root = ET.Element("feed", {"xmlns": _ATOM, **({_BASE: url} if url else {})})
    _texts(
        root, {"title": f"{visible(title)}: changelog", "id": _identity(url or title), "updated": _at(entries[0].date)}
    )
    ET.SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": PAGE})
    ET.SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": "index.html"})
    _texts(ET.SubElement(root, "author"), {"name": _AUTHOR})
    for entry in entries:
        node = ET.SubElement(root, "entry")
        _texts(node, {"title": entry.title, "id": _identity(entry.title), "updated": _at(entry.date)})
        ET.SubElement(node, "link", {"rel": "alternate", "type": "text/html", "href": entry.link})
        ET.SubElement(node, "category", {"term": entry.protocol})
        ET.SubElement(node, "content", {"type": "text"}).text = "\n".join(entry.lines)
    ET.indent(root, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _entries(version: Version, history: History, dates: Mapping[str, str]) -> Iterator[_Entry]:
    page = posixpath.splitext(version.path(changelog.PAGE))[0] + ".html"
    for (old, new), found in zip(pairwise(history.releases), history.comparisons.steps, strict=True):
        if new.version in dates and not isinstance(found, Faults):
            yield _Entry(
                dates[new.version],
                version.protocol.name,
                f"{version.protocol.name}: {new.title}, after {old.title}",
                f"{page}#{_anchor(f'{new.title}, after {old.title}')}",
                (VERDICTS[worst(tuple(each.severity for each in found.judged))], *_lines(found.judged)),
            )


def _lines(judged: Iterable[Judged]) -> list[str]:
    """One line for each change that the changelog tells."""
    changes = changelog.changes(judged)
    return [f"- {each.severity}: {visible(each.message)}" for each in changes[: changelog.MANY]]


def _texts(node: ET.Element, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        ET.SubElement(node, name).text = text


def _at(date: str) -> str:
    """The beginning of a day: the time is not known."""
    return f"{date}T00:00:00Z"


def _identity(name: str) -> str:
    """An address for a name that stays, wherever the site stands."""
    return uuid5(NAMESPACE_URL, f"acpgen:{name}").urn


def _anchor(heading: str) -> str:
    """The anchor that the site generator gives to a heading."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())
