"""The command `generate`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.shared_options import (
    PROTOCOL,
    TARGET,
    Methods,
    choose_cache,
    find_current_folder,
    read_references,
)
from acpgen.errors import Faults

if TYPE_CHECKING:
    from acpgen.commands.build import Outcome
    from acpgen.commands.project import Work


def generate(
    protocol: Annotated[list[str] | None, PROTOCOL] = None,
    *,
    target: Annotated[list[str] | None, TARGET] = None,
    check: bool = False,
    watch: bool = False,
    strict_coverage: bool = False,
    no_cache: bool = False,
    schema: Annotated[Path | None, PROTOCOL] = None,
    package: str = "",
    out: Path | None = None,
    names: Path | None = None,
    keep_unknown: bool = False,
    option: list[str] | None = None,
    ref: list[str] | None = None,
    methods: Methods = None,
) -> None:
    """Generate the outputs of a project, or of one schema.

    Without --schema, [tool.acpgen] of pyproject.toml lists the outputs. The command ends with a summary: the methods that a profile found
    and not the schema's x-method, what has no type, and the patterns that no validator enforces (UNENFORCED in the generated package).

    Arguments:
        PROTOCOL: Only outputs that contain one of these, such as acp/v1. Default: all outputs.

    Options:
        --target NAME: Only these targets: bundle, docs, ir, python, typescript, vectors, or what `acpgen targets` lists. May be repeated.
        --check: Write nothing; if an output would change, print it and exit with 1.
        --watch: Run again when a file changes, until Ctrl-C.
        --strict-coverage: Exit with 1 if no validator enforces a pattern of the schema.

    Options of one schema:
        --schema FILE: Generate from this file or folder, or from a protocol that comes with acpgen, such as acp/v1, instead of the
            project's.
        --package NAME: The package of the bindings, such as acme.v1.
        --out DIR: The folder to write.
        --names FILE: A JSON or TOML file that maps places, such as A.field, to class names.
        --keep-unknown: Receivers keep unknown tags of closed unions, and unknown values of closed enumerations.
        --option NAME=VALUE: With one --target: an option of that target; `acpgen targets NAME` lists them. May be repeated.

    Exit codes:
        0: Success.
        1: --check found a difference, or --strict-coverage such a pattern.
        2: The input cannot be used.
    """
    from acpgen.commands import project

    target_list = split_targets(target)
    if watch and (check or strict_coverage):
        raise typer.BadParameter(f"{'--check' if check else '--strict-coverage'} and --watch exclude each other.")
    if schema is None:
        _require_schema_for(
            {
                "--package": package,
                "--out": out,
                "--names": names,
                "--keep-unknown": keep_unknown,
                "--methods": methods,
                "--option": option,
            }
        )
    elif protocol:
        raise typer.BadParameter("PROTOCOL and --schema exclude each other.")
    cache = choose_cache(no_cache)

    def plan_work() -> Work:
        from acpgen import config

        if schema is None:
            return project.plan_outputs(
                config.find(find_current_folder()), protocol or (), target_list, read_references(ref), cache=cache
            )
        options = _read_options(option or (), target_list)
        source, folder = _require_places(schema, package, target_list or ["python"], out)
        return project.plan_single(
            source,
            package,
            target_list or ["python"],
            folder,
            names,
            keep_unknown=keep_unknown,
            references=read_references(ref),
            methods=None if methods is None else config.find_profile(methods),
            cache=cache,
            options=options,
            protocol=None if source == schema else schema.as_posix(),
        )

    find_current_folder()
    if watch:
        files = [path for path in (schema, names, methods) if path is not None]
        _watch(plan_work, lambda: _list_watched(files, ref, is_project=schema is None))
        return
    outcome = run_outputs(plan_work(), check=check)
    if (check and outcome.is_drift) or (strict_coverage and not outcome.is_covered):
        raise typer.Exit(1)


def split_targets(values: Sequence[str] | None) -> list[str]:
    """The targets that `--target` names, each once: one in each value, or several with commas between them."""
    return list(dict.fromkeys(name for value in values or () for name in value.split(",") if name))


def _list_watched(files: Sequence[str | Path], ref: Sequence[str] | None, *, is_project: bool) -> list[Path]:
    """The files and folders that are watched: those that are named, those of the project, and those of acpgen. Raises `Faults`."""
    from acpgen import config, embedded, resources
    from acpgen.input.keywords import DRAFTS

    paths = [Path(file) for file in files if os.path.exists(file)]
    if is_project:
        project = config.find(find_current_folder())
        paths = [project.file, project.schema_folder, *project.profile_files]
    paths += [Path(file) for file in read_references(ref).values() if os.fspath(file) not in DRAFTS]
    return [*paths, resources.locate_templates(), embedded.locate_monitor()]


def run_outputs(work: Work, *, check: bool = False) -> Outcome:
    """Generate the outputs, or with `check` compare them, and print the outcome."""
    from acpgen import config
    from acpgen.commands import build, outcome_text

    with terminal.show_progress() as progress:
        outcome = build.run(work, check=check, progress=progress)
    position_count = config.count_positions(work.names)
    if position_count:
        entries = "1 entry names" if position_count == 1 else f"{position_count} entries name"
        terminal.say(f"{work.names_at}: {entries} by position. Check them again when the schema has changed.")
    if not check:
        outcome_text.show_outcome(outcome)
    elif outcome.is_drift:
        outcome_text.show_difference(outcome)
    else:
        terminal.say("Every output is up to date.")
    outcome_text.show_remarks(outcome)
    return outcome


def _watch(work: Callable[[], Work], inputs: Callable[[], list[Path]]) -> None:
    """Generate the outputs now and after every change. Faults are printed and the watch continues, except for faults of the first
    reading.
    """
    from acpgen.files.watch import watch_changes
    from acpgen.input.step_budget import join_steps

    work()
    with contextlib.suppress(KeyboardInterrupt):
        for _ in watch_changes(inputs):
            try:
                with join_steps():
                    run_outputs(work())
            except Faults as faults:
                terminal.show_faults(faults)
            terminal.say("Watching for changes. Press Ctrl-C to stop.")


def _read_options(arguments: Sequence[str], targets: Sequence[str]) -> Mapping[str, object]:
    """The options of a target, by name."""
    if arguments and len(targets) > 1:
        raise typer.BadParameter("--option needs exactly one target: name it with --target.")
    options: dict[str, object] = {name: value for name, _, value in (argument.partition("=") for argument in arguments)}
    if len(options) < len(arguments) or not all("=" in argument for argument in arguments):
        raise typer.BadParameter("--option must be NAME=VALUE, each name once.")
    return options


def _require_places(schema: Path, package: str, targets: Sequence[str], out: Path | None) -> tuple[Path, Path]:
    """The locations of the schema and of the output folder. Raises `Faults`."""
    from acpgen import config
    from acpgen.config import protocols

    if out is None:
        raise typer.BadParameter("--schema needs --out DIR: a new folder, or one that acpgen wrote.")
    if package and not config.is_package(package):
        raise typer.BadParameter("--package must be a name that can be imported, such as acme.v1.")
    if "python" in targets and not package:
        raise typer.BadParameter("the target python needs --package NAME, such as acme.v1.")
    source = protocols.locate(schema)
    if os.path.isdir(source) and Path(os.path.realpath(out)).is_relative_to(os.path.realpath(source)):
        raise typer.BadParameter("--out must not be inside the schema folder.")
    return source, out


def _require_schema_for(options: Mapping[str, object]) -> None:
    for option, value in options.items():
        if value:
            raise typer.BadParameter(f"{option} needs --schema FILE.")
