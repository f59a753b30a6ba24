"""What stands behind `acpgen history`: what was asked for, and the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import get_args

from acpgen.compat import waivers
from acpgen.compat.command import of_project, spot_of
from acpgen.compat.findings import BUDGET, FailOn, Report
from acpgen.compat.history.assembling import timeline
from acpgen.compat.history.gathering import MOST, Gathered, How, from_git, from_paths, from_releases
from acpgen.compat.history.timeline import Timeline
from acpgen.compat.promises import judged
from acpgen.compat.roles import require_roles
from acpgen.compat.transitive import versions_of
from acpgen.config import around, find_profile
from acpgen.diagnostics.outputs import Destination, require_apart
from acpgen.errors import BadSetting, Fault, Faults, UnknownName, did_you_mean
from acpgen.schema.load import NO_REFERENCES, References


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: `given` stands before `--` on the command line, `path` after it, `None` where there is no such mark.

    `destinations` says where the report goes, in which formats.
    """

    given: tuple[str, ...]
    path: str | None = None
    destinations: tuple[Destination, ...] = (Destination("text", None),)
    fail_on: str = "risky"
    since: str | None = None
    limit: int = MOST
    waivers: Path | None = None
    unstable: bool = False
    methods: str | None = None
    budget: int | None = None
    references: References = field(default_factory=lambda: NO_REFERENCES)


def asked_for(asked: Asked) -> Timeline:
    """The history that was asked for. Raises `Faults`."""
    _require_words(asked)
    profile = None if asked.methods is None else replace(find_profile(asked.methods), how="evident")
    found = _gathered(asked, How(asked.unstable, asked.references, profile))
    file = asked.waivers or waivers.standard_file()
    accepted = waivers.read(file) if asked.waivers is not None or file.exists() else ()
    project = around(Path.cwd())
    settings = None if project is None else project.file
    written_to = [each.file for each in asked.destinations]
    require_apart(written_to, (*found.files, *asked.references.values(), file, asked.methods, settings))
    versions = () if project is None else versions_of(project, asked.path or asked.given[-1])
    promised, spot, today = of_project(project), spot_of(project), date.today()

    def waived(report: Report) -> Report:
        """As the project's policy judges it, with the findings marked that are accepted; what other steps use is no note of this one."""
        marked = waivers.waive(judged(report, promised, today, spot), accepted, today, versions)
        return replace(marked, notes=report.notes)

    made = timeline(
        found.about,
        found.revisions,
        notes=found.notes,
        waived=waived,
        budget=asked.budget or BUDGET,
        formats=promised.formats,
    )
    if project is not None:
        require_roles(promised, [each.report for each in made.strides if each.report is not None], project)
    return made


def _require_words(asked: Asked) -> None:
    given: tuple[tuple[str, str, str, Sequence[str]], ...] = (("--fail-on", "level", asked.fail_on, get_args(FailOn)),)
    faults: list[Fault] = [
        UnknownName(at=option, kind=kind, name=value, hint=did_you_mean(value, known))
        for option, kind, value, known in given
        if value not in known
    ]
    if asked.limit < 1:
        faults.append(BadSetting(at="--limit", key="the number of revisions", expected="1 or more"))
    if asked.path is None and not asked.given:
        faults.append(BadSetting(at="history", key="what is asked for", expected="a protocol, files, or a path in git"))
    if asked.path is not None and len(asked.given) > 1:
        expected = "one branch, tag, commit or range A..B"
        faults.append(BadSetting(at=asked.given[1], key="what stands before '--'", expected=expected))
    if faults:
        raise Faults(faults)


def _gathered(asked: Asked, how: How) -> Gathered:
    if asked.path is not None:
        revision = asked.given[0] if asked.given else "HEAD"
        return from_git(revision, asked.path, how, since=asked.since, most=asked.limit)
    if len(asked.given) > 1:
        _require_git(asked)
        return from_paths(asked.given, how, asked.limit)
    name = next(iter(asked.given))
    kept = from_releases(name, how, asked.limit) if asked.since is None else None
    return kept or from_git("HEAD", name, how, since=asked.since, most=asked.limit)


def _require_git(asked: Asked) -> None:
    if asked.since is not None:
        raise Faults(
            [
                BadSetting(
                    at="--since",
                    key="what is compared",
                    expected="commits, which have dates: name a revision, '--' and a path",
                )
            ]
        )
