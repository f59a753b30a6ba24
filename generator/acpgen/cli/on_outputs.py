"""The commands `generate`, `init` and `targets`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acpgen import resources, terminal
from acpgen.built_in import BUILT_IN
from acpgen.cli.output import faults_end_with_2
from acpgen.cli.shared_options import (
    NoCache,
    Ref,
    cache_of,
    current_folder,
    profile_names,
    protocol_names,
    references_of,
    target_names,
)

if TYPE_CHECKING:
    from acpgen.files.cache import Cache
    from acpgen.input.load import References
    from acpgen.project import Outcome, Work


def targets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="List only this target, with its options.",
            autocompletion=target_names,
            show_default=False,
        ),
    ] = None,
    ir_schema: Annotated[
        bool, typer.Option("--ir-schema", help="Print the JSON Schema of the input of a target that is a program.")
    ] = False,
) -> None:
    """List the installed targets.

    Targets come with acpgen, from other packages, and as programs named acpgen-target-NAME. The list says why a target cannot be used.

    Exit codes: 0 all can be used, 1 one cannot, 2 there is no target of that name.
    """
    import json

    from acpgen import interchange
    from acpgen.pipeline import require_targets
    from acpgen.targets import TARGETS, hidden

    if ir_schema:
        terminal.put(json.dumps(interchange.schema(), indent=2, ensure_ascii=False))
        return
    with faults_end_with_2():
        require_targets([] if name is None else [name], TARGETS, at="acpgen targets")
        unusable = [each for each in TARGETS if name in (None, each) and not terminal.show_target(each, TARGETS)]
        for faults in hidden(name):
            terminal.show_faults(faults)
            unusable.append("")
    if unusable:
        raise typer.Exit(1)


def generate(
    only: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROTOCOL",
            help="Only outputs that contain one of these, such as acp/v1. Default: all outputs.",
            autocompletion=protocol_names,
            show_default=False,
        ),
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="NAME",
            help=f"Only these targets: {', '.join(BUILT_IN)}, or what `acpgen targets` lists. May be repeated.",
            autocompletion=target_names,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="With --schema and one --target: an option of that target; `acpgen targets NAME` lists them. May be repeated.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; if an output would change, print it and exit with 1.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Run again when a file changes, until Ctrl-C.")] = False,
    schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Generate from this file or folder, or from a protocol that comes with acpgen, such as acp/v1, instead of the project's.",
            autocompletion=protocol_names,
        ),
    ] = None,
    package: Annotated[
        str, typer.Option(metavar="NAME", help="With --schema: the package of the bindings, such as acme.v1.")
    ] = "",
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="With --schema: the folder to write.")] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --schema: a JSON or TOML file that maps places, such as A.field, to class names.",
        ),
    ] = None,
    keep_unknown: Annotated[
        bool, typer.Option("--keep-unknown", help="With --schema: closed unions keep unknown tags when receiving, and closed enumerations unknown values.")
    ] = False,
    ref: Ref = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --schema: the profile that says where the schema defines its methods: a TOML or JSON file, or the name of a "
            "profile of acpgen.",
            autocompletion=profile_names,
        ),
    ] = None,
    strict_coverage: Annotated[
        bool, typer.Option("--strict-coverage", help="Exit with 1 if no validator enforces a pattern of the schema.")
    ] = False,
    no_cache: NoCache = False,
) -> None:
    """Generate the outputs of a project, or of one schema.

    Without --schema, [tool.acpgen] of pyproject.toml lists the outputs. The command ends with a summary: the methods that a profile found
    and not the schema's x-method, what has no type, and the patterns that no validator enforces (UNENFORCED in the generated package).
    Exit codes: 0 success, 1 --check found a difference or --strict-coverage such a pattern, 2 the input cannot be used.
    """
    from acpgen import config
    from acpgen.errors import Faults
    from acpgen.input.keywords import DRAFTS

    chosen = [name for value in targets or () for name in value.split(",") if name]
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
    elif only:
        raise typer.BadParameter("PROTOCOL and --schema exclude each other.")

    from acpgen import project

    cache = cache_of(no_cache)

    def work() -> Work:
        if schema is None:
            found = config.find(current_folder())
            return project.configured(found, only or (), chosen, references_of(ref), cache=cache)
        return _for_schema(
            schema,
            package,
            chosen or ["python"],
            out,
            names,
            keep_unknown,
            references_of(ref),
            methods,
            cache,
            option or (),
        )

    def inputs() -> list[Path]:
        files = [path for path in (schema, names) if path is not None]
        if methods is not None and Path(methods).exists():
            files.append(Path(methods))
        if schema is None:
            with contextlib.suppress(Faults):
                found = config.find(current_folder())
                profiles = [found.root / one for one in found.methods.values() if (found.root / one).is_file()]
                files = [found.file, found.root / found.schema, *profiles]
        with contextlib.suppress(Faults):
            files += [Path(file) for file in references_of(ref).values() if os.fspath(file) not in DRAFTS]
        return [*files, resources.templates(), resources.monitor()]

    with faults_end_with_2():
        current_folder()
        if not watch:
            outcome = _run(work(), check=check)
            if (check and outcome.is_drift) or (strict_coverage and not outcome.is_covered):
                raise typer.Exit(1)
            return
        _watch(work, inputs)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the project: a new or an empty folder.")],
    schemas: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROTOCOL=PATH",
            help="A version of the protocol and its schema: a file, a folder, or the name of a protocol that comes with acpgen. "
            "acme/v1=schema.json. Default: a small example protocol.",
            show_default=False,
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The profile, a file or a name, that says where the schemas define their methods.",
            autocompletion=profile_names,
        ),
    ] = None,
    ref: Ref = None,
) -> None:
    """Make a project from a schema.

    It writes the files, the configuration, CI, pre-commit hooks, and all outputs.

    Lint rules that the schema breaks become warnings in that project. The files of --methods and --ref are copied into the project. Exit
    codes: 0 success, 2 the input cannot be used, and nothing was written.
    """
    from acpgen import config, project, protocols, starting
    from acpgen.errors import Faults, visible
    from acpgen.files import create_folder
    from acpgen.input.load import place

    given: dict[str, Path] = {}
    for argument in schemas or ():
        protocol, separator, path = argument.partition("=")
        if not separator or not path or not config.is_protocol(protocol) or protocol in given:
            raise typer.BadParameter(
                f"{visible(argument)!r} must be PROTOCOL=PATH, such as acme/v1=schema.json, each protocol once."
            )
        given[protocol] = Path(path)
    with faults_end_with_2():
        named = {protocol: protocols.locate(path) for protocol, path in given.items()}
        begun = starting.start(folder, named, config.references(ref or ()), methods)
        try:
            with create_folder(folder, begun.files):
                _run(project.configured(config.find(folder.resolve()), (), ()))
        except Faults as caught:
            raise Faults(begun.as_given(fault, place(folder)) for fault in caught.faults) from None
    if begun.levels:
        terminal.say(
            f"{', '.join(begun.levels)}: the schema breaks these lint rules. They are warnings in {place(folder / 'pyproject.toml')}."
        )
    if "example-refused" in begun.levels:
        terminal.say("The docs leave out the examples that the schema refuses. Their first page lists them.")
    top = starting.repository_around(folder)
    if top is not None:
        here, above = (place(each) or each.resolve().name for each in (folder, top))
        terminal.say(
            f"{here} lies within the git repository {above}, which runs neither its workflow nor its hooks. Move .github/workflows and "
            f".pre-commit-config.yaml to {above}, let their commands run in {here}, and begin the paths in 'files:' with that folder."
        )
    terminal.say(f"Read {place(folder / 'README.md')} for the next steps.")


def _run(work: Work, *, check: bool = False) -> Outcome:
    """Make the outputs, or with `check` look at them, and say what came of it."""
    from acpgen import config, project

    with terminal.progress() as progress:
        outcome = project.run(work, check=check, progress=progress)
    counted = config.by_position(work.names)
    if counted:
        entries = "1 entry names" if counted == 1 else f"{counted} entries name"
        terminal.say(f"{work.names_at}: {entries} by position. Check them again when the schema has changed.")
    if not check:
        terminal.show_outcome(outcome)
    elif outcome.is_drift:
        terminal.show_difference(outcome)
    else:
        terminal.say("Every output is up to date.")
    terminal.show_notes(outcome)
    terminal.show_methods(outcome)
    terminal.show_gaps(outcome)
    return outcome


def _watch(work: Callable[[], Work], inputs: Callable[[], list[Path]]) -> None:
    """Make the outputs now and after every change; faults are shown and waited out, but for those of the first look."""
    from acpgen.errors import Faults
    from acpgen.input.step_budget import account
    from acpgen.watch import rounds

    work()
    with contextlib.suppress(KeyboardInterrupt):
        for _ in rounds(inputs):
            try:
                with account():
                    _run(work())
            except Faults as faults:
                terminal.show_faults(faults)
            terminal.say("Watching for changes. Press Ctrl-C to stop.")


def _for_schema(
    schema: Path,
    package: str,
    targets: Sequence[str],
    out: Path | None,
    names: Path | None,
    keep_unknown: bool,
    references: References,
    methods: str | None,
    cache: Cache,
    option: Sequence[str],
) -> Work:
    from acpgen import config, project, protocols

    if option and len(targets) > 1:
        raise typer.BadParameter("--option needs exactly one target: name it with --target.")
    options: dict[str, object] = {name: value for name, _, value in (each.partition("=") for each in option)}
    if len(options) < len(option) or not all("=" in each for each in option):
        raise typer.BadParameter("--option must be NAME=VALUE, each name once.")

    if out is None:
        raise typer.BadParameter("--schema needs --out DIR: a new folder, or one that acpgen wrote.")
    if package and not config.is_package(package):
        raise typer.BadParameter("--package must be a name that can be imported, such as acme.v1.")
    if "python" in targets and not package:
        raise typer.BadParameter("the target python needs --package NAME, such as acme.v1.")
    place = protocols.locate(schema)
    if os.path.isdir(place) and Path(os.path.realpath(out)).is_relative_to(os.path.realpath(place)):
        raise typer.BadParameter("--out must not be inside the schema folder.")
    profile = None if methods is None else config.find_profile(methods)
    return project.single(
        place,
        package,
        targets,
        out,
        names,
        keep_unknown=keep_unknown,
        references=references,
        methods=profile,
        cache=cache,
        options=options,
        protocol=None if place == schema else schema.as_posix(),
    )


def _require_schema_for(options: Mapping[str, object]) -> None:
    for option, value in options.items():
        if value:
            raise typer.BadParameter(f"{option} needs --schema FILE.")
