"""The entry point of the command `acpgen`: it registers the commands and handles unexpected errors."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Callable
from typing import Annotated

import typer
from typer.main import get_command

from acpgen import __version__
from acpgen.commands import docs, terminal
from acpgen.commands.adopt import adopt
from acpgen.commands.command_line import Command, Group, describe
from acpgen.commands.diff import diff
from acpgen.commands.errors import errors
from acpgen.commands.generate import generate
from acpgen.commands.history import WithPath, history
from acpgen.commands.init import init
from acpgen.commands.lint import lint
from acpgen.commands.probe import probe
from acpgen.commands.rules import rules
from acpgen.commands.tap import tap
from acpgen.commands.targets import targets
from acpgen.commands.validate import validate
from schema_inclusion.imports import without_formats

app = typer.Typer(
    name="acpgen",
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line."""
    from acpgen.input.step_budget import join_steps

    if None in (sys.stdin, sys.stdout, sys.stderr):
        from acpgen.embedded import stdio

        stdio.open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    without_formats()
    gc.set_threshold(200_000)  # nearly all that a command makes lives until it ends
    atexit.register(gc.freeze)  # and goes with the process: a last collection takes a twentieth of a second
    try:
        with join_steps():
            app(prog_name="acpgen")
    except MemoryError:
        terminal.show_out_of_memory()
        sys.exit(2)
    except Exception as error:  # noqa: BLE001 - 1 would say that something was found
        terminal.show_defect(error)
        sys.exit(2)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"acpgen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", help="Print the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Generate bindings, bundled schemas and docs from JSON Schemas of a JSON-RPC protocol; check its changes and messages.

    Environment:
        NO_COLOR: Print without colours.
        XDG_CACHE_HOME: The folder in which the folder acpgen keeps results of earlier runs. Default: ~/.cache.
        ACPGEN_TARGET_SECONDS: The seconds that a target of another package may take for one protocol. Default: 120.
    """


def _help(command: list[str] | None = None) -> None:
    """Describe a command, as its --help does.

    Arguments:
        COMMAND: A command. Default: the list of all commands.

    Exit codes:
        0: Success.
        2: There is no such command.
    """
    described = get_command(app)
    for index, name in enumerate(command or ()):
        inner = getattr(described, "commands", None)
        if inner is None:
            after = " ".join(("acpgen", *(command or ())[:index]))
            raise typer.BadParameter(f"{after!r} has no command {name!r} below it.")
        if name not in inner:
            break  # the parser refuses it, with what is nearest
        described = inner[name]
    app([*(command or ()), "--help"], prog_name="acpgen")


def _add(
    group: typer.Typer, function: Callable[..., None], name: str | None = None, cls: type[Command] = Command
) -> None:
    group.command(name, cls=cls)(describe(function))


def _add_runner(function: Callable[..., None]) -> None:
    """Register a command whose arguments are the command line of another program."""
    app.command(cls=Command, context_settings={"allow_interspersed_args": False})(describe(function))


docs_app = typer.Typer(
    name="docs", cls=Group, no_args_is_help=True, rich_markup_mode=None, help="The documentation as a site."
)
_add(docs_app, docs.build)
_add(docs_app, docs.serve)
_add(app, generate)
_add(app, init)
_add(app, lint)
_add(app, diff)
_add(app, history, cls=WithPath)
_add(app, rules)
_add(app, errors)
_add(app, adopt)
_add(app, validate)
_add_runner(tap)
_add_runner(probe)
app.add_typer(docs_app)
_add(app, targets)
_add(app, _help, "help")
