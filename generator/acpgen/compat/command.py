"""What stands behind `acpgen diff`: its options, the comparison with waivers applied, and the report as text."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast, get_args

from acpgen.compat.check_report import check_report
from acpgen.compat.compare import read_inputs
from acpgen.compat.findings import BUDGET, FailOn, Mode, Report, SourcePosition, fails
from acpgen.compat.policy_settings import policy, require_roles
from acpgen.compat.project_policy import NONE, Policy, apply
from acpgen.compat.project_releases import release_files, versions_of, with_releases
from acpgen.compat.report_cache import Comparer
from acpgen.compat.sources import Input, at_merge_base, files_here, is_new, open_input
from acpgen.compat.waivers import parse_waivers, standard_file, waive, with_waivers
from acpgen.config import Config, around, find_profile
from acpgen.diagnostics.outputs import Destination, parse_destinations, render_reports, require_apart
from acpgen.errors import Fault, Faults, allowed_values, shown
from acpgen.files.cache import NO_CACHE, Cache
from acpgen.input.faults import BAD_SETTING, UNKNOWN_NAME
from acpgen.input.load import NO_REFERENCES, References, decode, place, read_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from acpgen.compat.catalogue import CatalogueEntry
    from acpgen.compat.findings import Waiver
    from acpgen.compat.repair.repair import RepairResult


Repairing: TypeAlias = Literal["no", "tell", "dry", "fix"]
"""What is wanted: nothing, the repairs beside the findings, what they would change in the files, or these files changed."""

_URL: Final = re.compile(r"https?://[^\s<>()\[\]]+")


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare, how to write, and what to stop at."""

    mode: Mode
    outputs: tuple[Destination, ...]
    fail_on: str
    fail_on_bindings: str
    report_url: str = ""


def unknown_words(*words: tuple[str, str, str, Collection[str]]) -> list[Fault]:
    """A fault for each word that is not known: words are given with the option, what kind they are of, and all that are known."""
    return [
        UNKNOWN_NAME(at=option, kind=kind, name=value, hint=allowed_values(value, known))
        for option, kind, value, known in words
        if value not in known
    ]


def options(
    mode: str,
    output_format: str | None,
    fail_on: str,
    fail_on_bindings: str,
    given: Sequence[str] = (),
    report_url: str = "",
) -> Options:
    """The options as given on the command line; `given` are the values of `--output`. Raises `Faults` for words that are not known."""
    faults = unknown_words(
        ("--mode", "mode", mode, get_args(Mode)),
        ("--fail-on", "level", fail_on, get_args(FailOn)),
        ("--fail-on-bindings", "level", fail_on_bindings, ("never", "breaking", "additive")),
    )
    if report_url and not _URL.fullmatch(report_url):
        expected, hint = "an address that begins with https://", "Write it as a browser shows it, without spaces."
        faults.append(BAD_SETTING(at="--report-url", key=shown(report_url), expected=expected, hint=hint))
    wanted: tuple[Destination, ...] = ()
    try:
        wanted = parse_destinations(given, output_format)
    except Faults as caught:
        faults.extend(caught.faults)
    if faults:
        raise Faults(faults)
    return Options(cast("Mode", mode), wanted, fail_on, fail_on_bindings, report_url)


@dataclass(frozen=True, slots=True)
class DiffResult:
    """A comparison: the report with waivers applied, and files that are written with it, by path.

    `fixed` is what `--fix` comes to, `targets` are the files that it writes, with their texts.
    """

    report: Report
    files: Mapping[Path | None, str]
    fixed: RepairResult | None = None
    targets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


def run_diff(
    old: str,
    new: str,
    chosen: Options,
    waivers: Path | None,
    *,
    unstable: bool,
    merge_base: bool = False,
    allow_new: bool = False,
    taken: Sequence[Waiver] = (),
    references: References = NO_REFERENCES,
    methods: str | None = None,
    budget: int | None = None,
    repairing: Repairing = "no",
    cache: Cache = NO_CACHE,
) -> DiffResult | None:
    """The report as the project's policy judges it, with the waivers of the file given or of the standard one, and those `taken` now.

    With `merge_base`, OLD is read where its revision and NEW, or `HEAD`, part. `None` where `allow_new` and OLD's revision does not have
    it. `budget` are the steps of the proofs, `BUDGET` if left out. With `repairing`, findings tell their repairs, or the report is of what
    these leave. What was compared before is in the `cache`, but for the many edits that repairs try. Raises `Faults`.
    """
    file = waivers or standard_file()
    is_there = file.exists() or (waivers is not None and not taken)
    at = place(file)
    text = decode(read_bytes(file), at) if is_there else ""
    profile = None if methods is None else find_profile(methods)
    before, base = at_merge_base(old, new) if merge_base else (old, None)
    if allow_new and is_new(before, new):
        return None
    project = around(Path.cwd())
    promised = of_project(project)
    releases = None
    if project is not None and promised.since is not None:
        releases = release_files(project, new, promised.since, place(project.file))
    versions = () if project is None else versions_of(project, new)
    earlier, later = read_inputs(
        before, new, mode=chosen.mode, unstable=unstable, references=references, methods=profile
    )
    read = (*earlier.places, *later.places, *files_here(old), *files_here(new))
    settings = None if project is None else project.file
    require_apart((each.file for each in chosen.outputs), (*read, *(releases or ()), file, methods, settings))

    @functools.cache
    def release(path: Path) -> Input:
        checked = chosen.mode == "protocol"
        return open_input(path, checked=checked, unstable=unstable, references=references, methods=profile)

    comparing = Comparer(chosen.mode, unstable, budget or BUDGET, formats=promised.formats, cache=cache)
    today = date.today()

    def compare_with(after: Input) -> Report:
        """The report of OLD, and of the releases that the project promises to live with, and of NEW as it is or is edited."""
        asked = comparing if after is later else comparing.compare
        found = replace(asked(earlier, after), merge_base=base, docs=promised.docs, whole=chosen.report_url)
        if releases is not None:
            found = with_releases(found, releases, lambda path: asked(release(path), after))
        return apply(found, promised, today, policy_position(project))

    report = compare_with(later)
    if project is not None:
        require_roles(promised, [report], project)
    whole = with_waivers(text, at, report, taken, today, versions) if taken else text
    files: dict[Path | None, str] = {} if whole == text else {file: whole}
    accepted = parse_waivers(whole, at)
    found = waive(report, accepted, today, versions)
    if repairing == "no":
        return DiffResult(found, files)
    from acpgen.compat.repair.repair import repair

    repaired = repair(found, earlier, later, compare_with, unstable=unstable)
    if repairing == "tell":
        return DiffResult(repaired.report, files)
    targets = repaired.find_targets()
    if repairing == "dry":
        return DiffResult(repaired.report, files, repaired)
    return DiffResult(waive(compare_with(repaired.edited), accepted, today, versions), files, repaired, targets)


def policy_position(project: Config | None) -> SourcePosition:
    """Where the policy of a project stands: at its first table."""
    if project is None:
        return SourcePosition("pyproject.toml", "", 1, 1)
    at = place(project.file)
    lines = decode(read_bytes(project.file), at).splitlines() if project.compat else []
    found = (number for number, line in enumerate(lines, 1) if re.match(r"\s*\[+\s*tool\.acpgen\.compat\b", line))
    return SourcePosition(at, "", next(found, 1), 1)


def of_project(project: Config | None) -> Policy:
    """The policy of a project. Raises `Faults`."""
    if project is None:
        return NONE
    rules: Sequence[CatalogueEntry] = ()
    if "severity" in project.compat:  # nothing else names rules, and to load them takes 0.06 s
        from acpgen.compat.catalogue import catalogue

        rules = catalogue()
    notes = [entry.id for entry in rules if entry.severities == ("note",)]
    return policy(project.compat, place(project.file), [entry.id for entry in rules], notes)


def render(compared: DiffResult, chosen: Options, *, coloured: bool = False) -> Mapping[Path | None, str]:
    """What is to be written, by file: reports, and what was decided; `None` is standard output, `coloured` if that shows text."""
    report = check_report(compared.report, chosen.fail_on, chosen.fail_on_bindings)
    return {**render_reports(report, chosen.outputs, coloured=coloured), **compared.files}


def stops(report: Report, chosen: Options) -> bool:
    """Whether the command exits with 1."""
    return fails(report, chosen.fail_on, chosen.fail_on_bindings)


def list_rules(rules: Sequence[str], output_format: str, project: Config | None) -> str:
    """The catalogue of rules in a format, as the policy of a project has it; of single rules with their examples. Raises `Faults`."""
    from acpgen.compat.catalogue import as_json, as_markdown, as_text, catalogue, page, policy_lines

    known = {entry.id: entry for entry in catalogue()}
    formats = ("--format", "format", output_format, ("text", "json", "markdown"))
    faults = unknown_words(*(("RULE", "rule", rule, known) for rule in rules), formats)
    if faults:
        raise Faults(faults)
    promised, entries = of_project(project), [known[rule] for rule in rules] or None
    if output_format == "json":
        return as_json(promised, entries)
    if entries is not None:
        return "\n".join(page(entry, linked=False, here=policy_lines(entry, promised)) for entry in entries)
    return as_markdown(promised) if output_format == "markdown" else as_text(policy=promised)
