"""The transitive promise: NEW beside every release of its protocol that the project keeps, and not beside OLD alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from acpgen import config
from acpgen.compat.findings import Finding, Report, order, worst
from acpgen.errors import Faults, UnknownName, did_you_mean
from acpgen.material import INDEX, RELEASES, index
from acpgen.schema.load import place, read_bytes


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


def kept(project: config.Config, new: str, since: str, at: str) -> tuple[Path, ...]:
    """The files of the releases of NEW's protocol, oldest first, from `since` on (all, if empty); none if it is no protocol.

    Raises `Faults`: `since` names no release; `at` is the file that says so.
    """
    folder = _folder(project, new)
    if folder is None:
        return ()
    versions = versions_of(project, new)
    if since and since not in versions:
        where = f"{at}: tool.acpgen.compat.transitive"
        raise Faults([UnknownName(at=where, kind="release", name=since, hint=did_you_mean(since, versions))])
    return tuple(folder / f"{version}.json" for version in versions[versions.index(since) if since else 0 :])


def with_releases(report: Report, releases: Sequence[Path], compared: Callable[[Path], Report]) -> Report:
    """The report with what harms peers of earlier releases and not those of OLD, newest release first.

    `compared` makes the report of a release and NEW. Raises `Faults`.
    """
    found = list(report.findings)
    for release in reversed(releases):
        known = {each.fingerprint for each in found}
        found += (each for each in _harmful(compared(release)) if each.fingerprint not in known)
    findings = tuple(sorted(found, key=order))
    names = tuple(place(release) for release in releases)
    if len(findings) == len(report.findings):
        return replace(report, earlier=names)
    return replace(report, findings=findings, verdict=worst(tuple(each.severity for each in findings)), earlier=names)


def _harmful(report: Report) -> Iterator[Finding]:
    """What is new or reworded since a release is of no interest here."""
    return (each for each in report.findings if each.severity in ("breaking", "undecided", "risky"))
