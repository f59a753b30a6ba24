"""The releases of a protocol: those that a project keeps, reports that include them, and the order of their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from acpgen import config
from acpgen.compat.findings import Report, find_worst, order
from acpgen.config.docs_inputs import INDEX, RELEASES, parse_index
from acpgen.errors import Faults, suggest_name
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.input.load import display_path, read_bytes

_VERSION: Final = re.compile(
    r"v?(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
)
"""A version: `1.2.0`, `v1.2.0-alpha.3`."""

_DOTTED: Final = re.compile(r"v?([0-9]{1,18}(?:\.[0-9]{1,18})*)(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
"""A version with any number of parts: `1.7`, `1.7.0-rc.1`."""

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NAME: Final = re.compile(r"v?[0-9][0-9A-Za-z_.+-]*")


def list_versions(project: config.Config, new: str) -> tuple[str, ...]:
    """The kept releases of NEW's protocol, oldest first; none if it is no protocol of the project. Raises `Faults`."""
    folder = _find_folder(project, new)
    return () if folder is None else parse_index(read_bytes(folder / INDEX), display_path(folder / INDEX)).versions


def _find_folder(project: config.Config, new: str) -> Path | None:
    """The folder of the releases of NEW's protocol; NEW is its name or path, optionally at a revision."""
    name = new.rpartition(":")[2]
    schemas = project.schema_folder.resolve()
    names = [name] if config.is_protocol(name) else []
    path = Path(name).resolve()
    names += [path.relative_to(schemas).as_posix()] if path.is_relative_to(schemas) else []
    folders = (schemas / RELEASES / name for name in names)
    return next((folder for folder in folders if (folder / INDEX).is_file()), None)


def release_files(project: config.Config, new: str, since: str, at: str) -> tuple[Path, ...]:
    """The files of the releases of NEW's protocol, oldest first, from `since` on (all, if empty); none if it is no protocol.

    Raises `Faults` if `since` is not a release; `at` is the file of this setting.
    """
    folder = _find_folder(project, new)
    if folder is None:
        return ()
    versions = list_versions(project, new)
    if since and since not in versions:
        where = f"{at}: tool.acpgen.compat.transitive"
        raise Faults([UNKNOWN_NAME(at=where, kind="release", name=since, hint=suggest_name(since, versions))])
    return tuple(folder / f"{version}.json" for version in versions[versions.index(since) if since else 0 :])


def with_releases(report: Report, releases: Sequence[Path], compare: Callable[[Path], Report]) -> Report:
    """Add the findings that harm peers of earlier releases but not those of OLD, newest release first.

    `compare` returns the report on a release and NEW. Raises `Faults`.
    """
    all_findings = list(report.findings)
    for release in reversed(releases):
        known_fingerprints = {finding.fingerprint for finding in all_findings}
        harmful = (
            finding for finding in compare(release).findings if finding.severity in ("breaking", "undecided", "risky")
        )
        all_findings += (finding for finding in harmful if finding.fingerprint not in known_fingerprints)
    findings = tuple(sorted(all_findings, key=order))
    names = tuple(display_path(release) for release in releases)
    return replace(
        report, findings=findings, verdict=find_worst(tuple(finding.severity for finding in findings)), earlier=names
    )


# --- names: Semantic Versioning 2.0.0, and dates ---------------------------------------------------------------------


def parse_version(name: str) -> tuple[int, int, int, str] | None:
    """The three numbers of a version and its pre-release suffix; `None` for any other name."""
    match = _VERSION.fullmatch(name)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]), match[4] or "")


def is_date(name: str) -> bool:
    """Whether a name has the form of a date: `2026-07-28`."""
    return _DATE.fullmatch(name) is not None


def is_release(name: str) -> bool:
    """Whether a name may be that of a future release: it begins with a number and is no date."""
    return _NAME.fullmatch(name) is not None and not is_date(name)


def is_out(release: str, releases: Sequence[str]) -> bool:
    """Whether a release, or a later one, is among the kept releases.

    `v1.7` and `1.7.0` are the same release; pre-releases of one release have no order, and only equal names are the same.
    """
    wanted = _rank(release)
    ranks = [] if wanted is None else [rank for rank in map(_rank, releases) if rank is not None]
    return release in releases or any(wanted < rank or (wanted == rank and rank[1]) for rank in ranks if wanted)


def _rank(name: str) -> tuple[tuple[int, ...], bool] | None:
    """The sort key of a version, without trailing zeros; pre-releases come before the release. `None` for any other name."""
    match = _DOTTED.fullmatch(name)
    if match is None:
        return None
    parts = [int(part) for part in match[1].split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts), not match[2]
