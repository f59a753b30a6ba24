"""The implementation of `acpgen history`."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

from acpgen.compat import waivers
from acpgen.compat.compare import compare_sides
from acpgen.compat.findings import BUDGET, Report
from acpgen.compat.history.revision_sources import HistoryOptions, Revisions, from_git, from_paths, from_releases
from acpgen.compat.history.timeline import Timeline, make_timeline
from acpgen.compat.policy import apply, find_position, read_project_policy, require_roles
from acpgen.compat.project_releases import list_versions
from acpgen.config import find_config, find_profile
from acpgen.diagnostics.outputs import require_apart
from acpgen.errors import Fault, Faults
from acpgen.input.faults import BAD_SETTING, NOT_FOUND
from acpgen.input.git_revisions import is_revision


def compare_history(options: HistoryOptions) -> Timeline:
    """The history with the project's policy and waivers applied. Raises `Faults`."""
    _require_words(options)
    revisions = _find_revisions(options)
    file = options.waivers or waivers.find_waiver_file()
    waiver_list = waivers.read(file) if options.waivers is not None or file.exists() else ()
    project = find_config(Path.cwd())
    settings = None if project is None else project.file
    written_to = [destination.file for destination in options.destinations]
    require_apart(written_to, (*revisions.files, *options.references.values(), file, options.methods, settings))
    versions = () if project is None else list_versions(project, options.path or options.given[-1])
    policy, position, today = read_project_policy(project), find_position(project), date.today()

    def waive(report: Report) -> Report:
        """Apply the policy and the waivers to the report of a step, keeping only its own notes."""
        waived_report = waivers.waive(apply(report, policy, today, position), waiver_list, today, versions)
        return replace(waived_report, notes=report.notes)

    compare = partial(compare_sides, budget=options.budget or BUDGET, formats=policy.formats)
    result = make_timeline(revisions.about, revisions.milestones, notes=revisions.notes, waive=waive, compare=compare)
    if project is not None:
        require_roles(policy, [step.report for step in result.steps if step.report is not None], project)
    return result


def _require_words(options: HistoryOptions) -> None:
    faults: list[Fault] = []
    if options.path is not None and len(options.given) > 1:
        expected, hint = "one branch, tag, commit or range A..B", "Leave this one out, or write a range A..B."
        faults.append(BAD_SETTING(at=options.given[1], key="what stands before '--'", expected=expected, hint=hint))
    if options.path is None and len(options.given) > 1 and options.since is not None:
        expected, hint = "commits, since files have no dates", "Name a revision, '--' and a path, or leave it out."
        faults.append(BAD_SETTING(at="--since", key="what is compared", expected=expected, hint=hint))
    if faults:
        raise Faults(faults)


def _find_revisions(options: HistoryOptions) -> Revisions:
    methods = None if options.methods is None else replace(find_profile(options.methods), how="evident")
    if options.path is not None:
        return from_git(next(iter(options.given), "HEAD"), options.path, options, methods)
    if len(options.given) > 1:
        return from_paths(options.given, options, methods)
    name = next(iter(options.given))
    releases = from_releases(name, options, methods) if options.since is None else None
    try:
        return releases or from_git("HEAD", name, options, methods)
    except Faults as caught:
        if any(fault.kind != NOT_FOUND for fault in caught.faults) or not is_revision(name):
            raise
    expected, hint = "followed by what is compared", f"Write: acpgen history {name} -- and a protocol, file or folder."
    raise Faults([BAD_SETTING(at=name, key="a revision", expected=expected, hint=hint)])
