"""The command `init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.generate import run_outputs, split_targets
from acpgen.commands.shared_options import TARGET, Methods
from acpgen.errors import Faults, make_visible


def init(
    folder: Path,
    schemas: list[str] | None = None,
    *,
    target: Annotated[list[str] | None, TARGET] = None,
    methods: Methods = None,
    ref: list[str] | None = None,
) -> None:
    """Make a project from a schema.

    It writes the files, the configuration, CI, pre-commit hooks, and all outputs.

    Lint rules that the schema breaks become warnings in that project. The files of --methods and --ref are copied into the project.

    Arguments:
        DIR: The folder of the project: a new or an empty folder.
        PROTOCOL=PATH: A version of the protocol and its schema, such as acme/v1=schema.json: a file, a folder, or the name of a protocol
            that comes with acpgen. Default: a small example protocol.

    Options:
        --target NAME: What the project generates, as `acpgen targets` lists it. May be repeated. Default: python, bundle and docs.

    Exit codes:
        0: Success.
        2: The input cannot be used, and nothing was written.
    """
    from acpgen import config
    from acpgen.commands import project, scaffold
    from acpgen.config import protocols
    from acpgen.files import create_folder
    from acpgen.input.load import display_path
    from acpgen.targets.installed import TARGETS
    from acpgen.targets.pipeline import require_targets

    targets = split_targets(target) or scaffold.TARGETS
    require_targets(targets, TARGETS, at="--target")
    paths: dict[str, Path] = {}
    for argument in schemas or ():
        protocol, separator, path = argument.partition("=")
        if not separator or not path or not config.is_protocol(protocol) or protocol in paths:
            raise typer.BadParameter(
                f"{make_visible(argument)!r} must be PROTOCOL=PATH, such as acme/v1=schema.json, each protocol once."
            )
        paths[protocol] = Path(path)
    schema_paths = {protocol: protocols.locate(path) for protocol, path in paths.items()}
    start = scaffold.start(folder, schema_paths, config.read_references(ref or ()), methods, targets)
    try:
        with create_folder(folder, start.files):
            run_outputs(project.plan_outputs(config.find(folder.resolve()), (), ()))
    except Faults as caught:
        raise Faults(start.locate_original(fault, display_path(folder)) for fault in caught.faults) from None
    if start.levels:
        file = display_path(folder / "pyproject.toml")
        terminal.say(f"{', '.join(start.levels)}: the schema breaks these lint rules. They are warnings in {file}.")
    if "example-refused" in start.levels:
        terminal.say("The docs leave out the examples that the schema refuses. Their first page lists them.")
    top = scaffold.find_repository(folder)
    if top is not None:
        name, top_name = (display_path(directory) or directory.resolve().name for directory in (folder, top))
        terminal.say(
            f"{name} lies within the git repository {top_name}, which runs neither its workflow nor its hooks. Move .github/workflows and "
            f".pre-commit-config.yaml to {top_name}, let their commands run in {name}, and begin the paths in 'files:' with that folder."
        )
    terminal.say(f"Read {display_path(folder / 'README.md')} for the next steps.")
