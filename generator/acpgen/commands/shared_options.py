"""Options that several commands have, and extra settings of command parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from acpgen.commands import terminal
from acpgen.errors import Faults, suggest_values

if TYPE_CHECKING:
    from acpgen.files.cache import Cache
    from acpgen.input.load import References

Extra: TypeAlias = Mapping[str, Any]
"""Settings of a Typer parameter beside its description: `field: Annotated[str, extra]`."""


def complete_with(names: Callable[[str], list[str]]) -> Extra:
    """The setting that completes a value in a shell."""
    return {"autocompletion": names}


def set_minimum(minimum: float) -> Extra:
    """The setting for the minimum of a number."""
    return {"min": minimum}


def restrict_to(kind: str, *values: str) -> Extra:
    """The setting that restricts an option to these values; another value raises `Faults` that list them."""

    def require(param: typer.CallbackParam, value: str) -> str:
        from acpgen.input.faults import UNKNOWN_NAME

        if value not in values:
            hint = suggest_values(value, values)
            raise Faults([UNKNOWN_NAME(str(param.opts[0]), kind=kind, name=value, hint=hint)])
        return value

    def complete(incomplete: str) -> list[str]:
        return _select_beginning(incomplete, values)

    return {"callback": require, "autocompletion": complete}


def _select_beginning(text: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith(text)]


def complete_protocol(incomplete: str) -> list[str]:
    """The names of protocols that complete a text."""
    from acpgen.config import protocols

    return _select_beginning(incomplete, [*protocols.list_names()])


def complete_profile(incomplete: str) -> list[str]:
    """The names of built-in profiles that complete a text."""
    from acpgen.methods.profile import list_names

    return _select_beginning(incomplete, list_names())


def complete_target(incomplete: str) -> list[str]:
    """The names of installed targets that complete a text."""
    from acpgen.targets.installed import TARGETS

    return _select_beginning(incomplete, [*TARGETS])


DESCRIPTIONS: Final = """
    Options:
        --budget STEPS: The number of steps that the proofs of a comparison may take together; what is left then is undecided.
            Default: 1000000, for each comparison of history 3000000.

    Schema options:
        --protocol NAME: Judge by this protocol, such as acp/v2, or by this schema file, whatever initialize says. Default: the version of
            ACP that initialize negotiates.
        --unstable: Also compare what is marked x-unstable and, in a folder, its schema.unstable.json.
        --methods FILE: The profile that says where the schemas define their methods: a TOML or JSON file, or the name of a profile of
            acpgen.
        --ref URL=FILE: Read this file, or take this draft (draft-07), where a $ref or $schema has this address, absolute or as written.
            May be repeated.

    Waiver options:
        --waivers FILE: The file of accepted findings. Default: compat-waivers.toml next to pyproject.toml.

    Report options:
        --format FORMAT: text (default), json, markdown, html, github, gitlab, sarif, junit or badge.
        --output [FORMAT=]FILE: Write the report to this file; - is standard output. May be repeated.

    Global options:
        --no-cache: Neither use nor keep the results of earlier runs, which lie in $XDG_CACHE_HOME/acpgen, or in ~/.cache/acpgen.
        -q, --quiet: Print reports and errors alone: no progress and no summary.
        --color WHEN: auto (on a terminal, unless NO_COLOR is set), always or never.
"""
"""The descriptions of shared options, which command docstrings omit."""

PROTOCOL: Final = complete_with(complete_protocol)
TARGET: Final = complete_with(complete_target)

Budget: TypeAlias = Annotated[int | None, set_minimum(1)]
Level: TypeAlias = Annotated[str, restrict_to("level", "breaking", "risky", "additive", "never")]
Methods: TypeAlias = Annotated[str | None, complete_with(complete_profile)]
Protocols: TypeAlias = Annotated[list[str] | None, PROTOCOL]


def set_display(
    *, quiet: bool = False, color: Annotated[str, restrict_to("choice", "auto", "always", "never")] = "auto"
) -> None:
    """Apply the options that every command has."""
    terminal.configure(is_quiet=quiet, color=color)


def read_references(pairs: Sequence[str] | None) -> References:
    """The files or drafts by URI: those of the project, if there is one, and those of the command line. Raises `Faults`."""
    from acpgen import config

    return config.read_references(pairs or (), find_current_folder())


def find_current_folder() -> Path:
    """The current folder. Raises `Faults` if it was removed."""
    from acpgen.input.faults import NOT_FOUND

    try:
        return Path.cwd()
    except FileNotFoundError:
        raise Faults([NOT_FOUND(at="the current folder")]) from None


def choose_cache(no_cache: bool) -> Cache:
    """The user's cache, or `NO_CACHE`."""
    from acpgen.files.cache import NO_CACHE, find_user_cache

    return NO_CACHE if no_cache else find_user_cache()
