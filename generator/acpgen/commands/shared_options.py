"""The options that several commands have, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from acpgen.diagnostics import FORMATS
from acpgen.errors import Faults

if TYPE_CHECKING:
    from acpgen.files.cache import Cache
    from acpgen.input.load import References


def protocol_names(incomplete: str) -> list[str]:
    """What completes the name of a protocol."""
    from acpgen.config import protocols

    return [name for name in protocols.names() if name.startswith(incomplete)]


def profile_names(incomplete: str) -> list[str]:
    """What completes the name of a profile that comes with acpgen."""
    from acpgen.methods.profile import names

    return [name for name in names() if name.startswith(incomplete)]


Ref: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--ref",
        metavar="URL=FILE",
        help="Read this file, or take this draft (draft-07), where a $ref or $schema has this address, absolute or as written. "
        "May be repeated.",
    ),
]
"""The option `--ref` of every command that reads schemas."""


Methods: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The profile that says where the schemas define their methods: a TOML or JSON file, or the name of a profile of acpgen.",
        autocompletion=profile_names,
    ),
]
"""The option `--methods` of every command that looks for methods in schemas."""


Protocols: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--protocol",
        metavar="NAME",
        help="Judge by this protocol, such as acp/v2, or by this schema file, whatever initialize says. Default: the version of ACP that "
        "initialize negotiates.",
        autocompletion=protocol_names,
    ),
]
"""The option `--protocol` of every command that judges messages."""


Budget: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="STEPS",
        min=1,
        help="The number of steps that the proofs of a comparison may take together; what is left then is undecided. Default: 1000000, for "
        "each comparison of history 3000000.",
    ),
]
"""The option `--budget` of every command that compares schemas."""


Waivers: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="The file of accepted findings. Default: compat-waivers.toml next to pyproject.toml."
    ),
]
"""The option `--waivers` of every command that compares schemas."""


Unstable: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--unstable", help="Also compare what is marked x-unstable and, in a folder, its schema.unstable.json."
    ),
]
"""The option `--unstable` of every command that compares schemas."""


Format: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"{', '.join(FORMATS).replace('text', 'text (default)', 1)}.",
        show_default=False,
    ),
]
"""The option `--format` of every command that reports what it found."""


Output: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="[FORMAT=]FILE",
        help="Write the report to this file; - is standard output. May be repeated.",
    ),
]
"""The option `--output` of every command that reports what it found."""


NoCache: TypeAlias = Annotated[
    bool,
    typer.Option("--no-cache", help="Neither use nor keep the results of earlier runs."),
]
"""The option `--no-cache` of every command that keeps results."""


def target_names(incomplete: str) -> list[str]:
    """What completes the name of a target that is installed."""
    from acpgen.targets.installed import TARGETS

    return [name for name in TARGETS if name.startswith(incomplete)]


def references_of(pairs: Sequence[str] | None) -> References:
    """What addresses mean: to the project, if there is one, and as given. Raises `Faults`."""
    from acpgen import config

    return config.references(pairs or (), current_folder())


def current_folder() -> Path:
    """The current folder. Raises `Faults` where it has been removed."""
    from acpgen.input.faults import NOT_FOUND

    try:
        return Path.cwd()
    except FileNotFoundError:
        raise Faults([NOT_FOUND(at="the current folder")]) from None


def cache_of(no_cache: bool) -> Cache:
    """Where results of earlier runs lie: in the cache of the user, or nowhere."""
    from acpgen.files.cache import NO_CACHE, user_cache

    return NO_CACHE if no_cache else user_cache()
