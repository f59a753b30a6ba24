"""The options that several commands have, and what parameters of commands carry besides their description."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from acpgen.errors import Faults, allowed_values

if TYPE_CHECKING:
    from acpgen.files.cache import Cache
    from acpgen.input.load import References

Extra: TypeAlias = Mapping[str, Any]
"""What Typer is told of a parameter beside its description: `field: Annotated[str, extra]`."""


def completed(names: Callable[[str], list[str]]) -> Extra:
    """What completes a value in a shell."""
    return {"autocompletion": names}


def at_least(least: float) -> Extra:
    """The least value of a number."""
    return {"min": least}


def one_of(kind: str, *values: str) -> Extra:
    """The values that an option may have; others are faults that list them."""

    def require(param: typer.CallbackParam, value: str) -> str:
        from acpgen.input.faults import UNKNOWN_NAME

        if value not in values:
            hint = allowed_values(value, values)
            raise Faults([UNKNOWN_NAME(str(param.opts[0]), kind=kind, name=value, hint=hint)])
        return value

    return {"callback": require, "autocompletion": lambda incomplete: _beginning(incomplete, values)}


def _beginning(text: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith(text)]


def protocol_names(incomplete: str) -> list[str]:
    """What completes the name of a protocol."""
    from acpgen.config import protocols

    return _beginning(incomplete, [*protocols.names()])


def profile_names(incomplete: str) -> list[str]:
    """What completes the name of a profile that comes with acpgen."""
    from acpgen.methods.profile import names

    return _beginning(incomplete, names())


def target_names(incomplete: str) -> list[str]:
    """What completes the name of a target that is installed."""
    from acpgen.targets.installed import TARGETS

    return _beginning(incomplete, [*TARGETS])


PROTOCOL: Final = completed(protocol_names)
TARGET: Final = completed(target_names)

_REPORT: Final = "Report options"
_SCHEMAS: Final = "Schema options"


Ref: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--ref",
        metavar="URL=FILE",
        help="Read this file, or take this draft (draft-07), where a $ref or $schema has this address, absolute or as written. "
        "May be repeated.",
        rich_help_panel=_SCHEMAS,
    ),
]

Methods: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The profile that says where the schemas define their methods: a TOML or JSON file, or the name of a profile of acpgen.",
        autocompletion=profile_names,
        rich_help_panel=_SCHEMAS,
    ),
]

Protocols: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--protocol",
        metavar="NAME",
        help="Judge by this protocol, such as acp/v2, or by this schema file, whatever initialize says. Default: the version of ACP that "
        "initialize negotiates.",
        autocompletion=protocol_names,
        rich_help_panel=_SCHEMAS,
    ),
]

Unstable: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--unstable",
        help="Also compare what is marked x-unstable and, in a folder, its schema.unstable.json.",
        rich_help_panel=_SCHEMAS,
    ),
]

Budget: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="STEPS",
        min=1,
        help="The number of steps that the proofs of a comparison may take together; what is left then is undecided. Default: 1000000, for "
        "each comparison of history 3000000.",
        rich_help_panel="Options",
    ),
]

Waivers: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The file of accepted findings. Default: compat-waivers.toml next to pyproject.toml.",
        rich_help_panel="Waiver options",
    ),
]

Format: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="text (default), json, markdown, html, github, gitlab, sarif, junit or badge.",
        rich_help_panel=_REPORT,
    ),
]

Output: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="[FORMAT=]FILE",
        help="Write the report to this file; - is standard output. May be repeated.",
        rich_help_panel=_REPORT,
    ),
]

NoCache: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Neither use nor keep the results of earlier runs, which lie in $XDG_CACHE_HOME/acpgen, or in ~/.cache/acpgen.",
    ),
]

Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print reports and errors alone: no progress and no summary.")
]

Color: TypeAlias = Annotated[
    str,
    typer.Option(
        "--color",
        metavar="WHEN",
        help="auto (on a terminal, unless NO_COLOR is set), always or never.",
        **one_of("choice", "auto", "always", "never"),
    ),
]


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
