"""The releases of a protocol: those that a project keeps, a report that counts them too, and how their names are put in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from acpgen import config
from acpgen.compat.findings import Report, order, worst
from acpgen.config.docs_inputs import INDEX, RELEASES, index
from acpgen.errors import Faults, did_you_mean
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.input.load import place, read_bytes

_VERSION: Final = re.compile(
    r"v?(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
)
"""`1.2.0`, `v1.2.0-alpha.3`."""

_DOTTED: Final = re.compile(r"v?([0-9]{1,18}(?:\.[0-9]{1,18})*)(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
"""`1.7`, `1.7.0-rc.1`."""

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NAME: Final = re.compile(r"v?[0-9][0-9A-Za-z_.+-]*")


def versions_of(project: config.Config, new: str) -> tuple[str, ...]:
    """The releases of NEW's protocol that are kept, oldest first; none if it is no protocol of the project. Raises `Faults`."""
    folder = _folder(project, new)
    return () if folder is None else index(read_bytes(folder / INDEX), place(folder / INDEX)).versions


def _folder(project: config.Config, new: str) -> Path | None:
    """Where the releases of NEW's protocol are kept: NEW is its name, or its path, at a revision or not."""
    name = new.rpartition(":")[2]
    schemas = (project.root / project.schema).resolve()
    named = [name] if config.is_protocol(name) else []
    path = Path(name).resolve()
    named += [path.relative_to(schemas).as_posix()] if path.is_relative_to(schemas) else []
    folders = (schemas / RELEASES / each for each in named)
    return next((folder for folder in folders if (folder / INDEX).is_file()), None)


def release_files(project: config.Config, new: str, since: str, at: str) -> tuple[Path, ...]:
    """The files of the releases of NEW's protocol, oldest first, from `since` on (all, if empty); none if it is no protocol.

    Raises `Faults`: `since` names no release; `at` is the file that says so.
    """
    folder = _folder(project, new)
    if folder is None:
        return ()
    versions = versions_of(project, new)
    if since and since not in versions:
        where = f"{at}: tool.acpgen.compat.transitive"
        raise Faults([UNKNOWN_NAME(at=where, kind="release", name=since, hint=did_you_mean(since, versions))])
    return tuple(folder / f"{version}.json" for version in versions[versions.index(since) if since else 0 :])


def with_releases(report: Report, releases: Sequence[Path], compared: Callable[[Path], Report]) -> Report:
    """The report with what harms peers of earlier releases and not those of OLD, newest release first.

    `compared` makes the report of a release and NEW. Raises `Faults`.
    """
    found = list(report.findings)
    for release in reversed(releases):
        known = {each.fingerprint for each in found}
        harmful = (each for each in compared(release).findings if each.severity in ("breaking", "undecided", "risky"))
        found += (each for each in harmful if each.fingerprint not in known)
    findings = tuple(sorted(found, key=order))
    names = tuple(place(release) for release in releases)
    return replace(report, findings=findings, verdict=worst(tuple(each.severity for each in findings)), earlier=names)


# --- names: Semantic Versioning 2.0.0, and dates ---------------------------------------------------------------------


def numbers(name: str) -> tuple[int, int, int, str] | None:
    """The three numbers of a version, and what makes it one before the release itself; `None` for any other name."""
    found = _VERSION.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]), found[4] or "")


def is_date(name: str) -> bool:
    """Whether a name has the form of a date: `2026-07-28`."""
    return _DATE.fullmatch(name) is not None


def is_release(name: str) -> bool:
    """Whether a name can be that of a release that is still to come: it begins with a number, and is no date."""
    return _NAME.fullmatch(name) is not None and not is_date(name)


def is_out(release: str, kept: Sequence[str]) -> bool:
    """Whether a release, or a later one, is among those that are kept."""
    return any(_is_same(each, release) or _is_later(each, release) for each in kept)


def _is_same(one: str, other: str) -> bool:
    """Whether two names are of one release: `v1.7` and `1.7.0` are. Of two before a release, only equal ones."""
    rank = _rank(one)
    return one == other or (rank is not None and rank[1] and rank == _rank(other))


def _is_later(one: str, other: str) -> bool:
    """Whether one version surely comes after another. Of two before the same release, that is not told."""
    first, second = _rank(one), _rank(other)
    return first is not None and second is not None and first > second


def _rank(name: str) -> tuple[tuple[int, ...], bool] | None:
    """What puts a version in order; zeros at its end say nothing. A version before a release comes before it."""
    found = _DOTTED.fullmatch(name)
    if found is None:
        return None
    parts = [int(part) for part in found[1].split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts), not found[2]
