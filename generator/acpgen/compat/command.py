"""The implementation of `acpgen diff`: its options, the comparison with waivers applied, and the report as text."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from acpgen.compat.check_report import check_report
from acpgen.compat.compare import read_inputs
from acpgen.compat.findings import BUDGET, Mode, Report
from acpgen.compat.policy import apply, find_position, read_project_policy, require_roles
from acpgen.compat.project_releases import list_versions, release_files, with_releases
from acpgen.compat.report_cache import Comparer
from acpgen.compat.sources import Input, find_at_merge_base, find_files, is_new, open_input
from acpgen.compat.waivers import find_waiver_file, parse_waivers, waive, with_waivers
from acpgen.config import Config, find_config, find_profile
from acpgen.diagnostics.outputs import Destination, require_apart
from acpgen.errors import Faults, suggest_values
from acpgen.files.cache import NO_CACHE, Cache
from acpgen.input.faults import UNKNOWN_NAME
from acpgen.input.load import NO_REFERENCES, References, decode, display_path, read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acpgen.compat.findings import Waiver
    from acpgen.compat.repair.repair import RepairResult
    from acpgen.diagnostics.model import DiagnosticReport


Repairing: TypeAlias = Literal["no", "tell", "dry", "fix"]
"""What to do about repairs: nothing, list them with the findings, show the edits of the files, or make these edits."""


class Options(Struct, frozen=True):
    """How to compare, what to write, and which findings make the command fail."""

    mode: Mode
    outputs: tuple[Destination, ...]
    fail_on: str
    fail_on_bindings: str
    report_url: str = ""


@dataclass(frozen=True, slots=True)
class DiffResult:
    """The result of a comparison: the report with waivers applied, and the files of waivers to write with it, by path.

    `repaired` is the result of the repairs, `targets` are the files that `--fix` writes, with their texts.
    """

    report: DiagnosticReport
    files: Mapping[Path | None, str]
    repaired: RepairResult | None = None
    targets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


def run_diff(
    old: str,
    new: str,
    diff_options: Options,
    waivers: Path | None,
    *,
    unstable: bool,
    merge_base: bool = False,
    allow_new: bool = False,
    new_waivers: Sequence[Waiver] = (),
    references: References = NO_REFERENCES,
    methods: str | None = None,
    budget: int | None = None,
    repairing: Repairing = "no",
    cache: Cache = NO_CACHE,
) -> DiffResult | None:
    """Compare two revisions and apply the project's policy and the waivers.

    The waivers are those of the file (by default the standard one) and `new_waivers`. With `merge_base`, OLD is read at the merge base
    of its revision and NEW's, or `HEAD`. `None` if `allow_new` and OLD's revision does not contain it. `budget` is the number of proof
    steps, by default `BUDGET`. With `repairing`, findings contain their repairs, or the report is on the schema after the repairs.
    Earlier comparisons are read from the `cache`, except for the many edits that repairs try. Raises `Faults`.
    """
    file = waivers or find_waiver_file()
    is_there = file.exists() or (waivers is not None and not new_waivers)
    at = display_path(file)
    text = decode(read_bytes(file), at) if is_there else ""
    profile = None if methods is None else find_profile(methods)
    before, base = find_at_merge_base(old, new) if merge_base else (old, None)
    if allow_new and is_new(before, new):
        return None
    project = find_config(Path.cwd())
    promised = read_project_policy(project)
    releases = None
    if project is not None and promised.since is not None:
        releases = release_files(project, new, promised.since, display_path(project.file))
    versions = () if project is None else list_versions(project, new)
    earlier, later = read_inputs(
        before, new, mode=diff_options.mode, unstable=unstable, references=references, methods=profile
    )
    # A name without a colon is no revision: its files are read as they are here.
    local_files = (path for name in (old, new) if ":" in name for path in find_files(name))
    read = (*earlier.places, *later.places, *local_files)
    settings = None if project is None else project.file
    require_apart((output.file for output in diff_options.outputs), (*read, *(releases or ()), file, methods, settings))

    @functools.cache
    def release(path: Path) -> Input:
        checked = diff_options.mode == "protocol"
        return open_input(path, checked=checked, unstable=unstable, references=references, methods=profile)

    comparing = Comparer(diff_options.mode, unstable, budget or BUDGET, formats=promised.formats, cache=cache)
    today = date.today()

    def compare_with(after: Input) -> Report:
        """The report of OLD, and of the releases that the project promises compatibility with, against NEW as it is or as edited."""
        compare_pair = comparing if after is later else comparing.compare
        pair_report = replace(
            compare_pair(earlier, after), merge_base=base, docs=promised.docs, whole=diff_options.report_url
        )
        if releases is not None:
            pair_report = with_releases(pair_report, releases, lambda path: compare_pair(release(path), after))
        return apply(pair_report, promised, today, find_position(project))

    report = compare_with(later)
    if project is not None:
        require_roles(promised, [report], project)
    whole = with_waivers(text, at, report, new_waivers, today, versions) if new_waivers else text
    all_waivers = parse_waivers(whole, at)
    final_report, repaired, targets = waive(report, all_waivers, today, versions), None, dict[str, str]()
    if repairing != "no":
        from acpgen.compat.repair.repair import repair

        repaired = repair(final_report, earlier, later, compare_with, unstable=unstable)
        final_report = repaired.report
        writable = repaired.find_targets() if repairing != "tell" else targets
        if repairing == "fix":
            final_report = waive(compare_with(repaired.edited), all_waivers, today, versions)
            targets.update(writable)
    return DiffResult(
        check_report(final_report, diff_options.fail_on, diff_options.fail_on_bindings),
        {} if whole == text else {file: whole},
        repaired,
        targets,
    )


def list_rules(rules: Sequence[str], output_format: str, project: Config | None) -> str:
    """The catalogue of rules in an output format, with the project's policy; single rules are shown with their examples.

    Raises `Faults`.
    """
    from acpgen.compat.catalogue import as_json, as_markdown, as_text, describe_policy, list_rules, write_page

    entries_by_id = {entry.id: entry for entry in list_rules()}
    unknown = [rule for rule in rules if rule not in entries_by_id]
    if unknown:
        raise Faults(
            UNKNOWN_NAME(at="RULE", kind="rule", name=rule, hint=suggest_values(rule, entries_by_id))
            for rule in unknown
        )
    promised, entries = read_project_policy(project), [entries_by_id[rule] for rule in rules] or None
    if output_format == "json":
        return as_json(promised, entries)
    if entries is not None:
        return "\n".join(write_page(entry, linked=False, here=describe_policy(entry, promised)) for entry in entries)
    return as_markdown(promised) if output_format == "markdown" else as_text(policy=promised)
