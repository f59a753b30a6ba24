"""The command `acpgen`: parse, call, print, exit."""

from __future__ import annotations

import atexit
import gc
import sys
from typing import Annotated

import typer
from typer.main import get_command

from acpgen import __version__
from acpgen.commands import docs, terminal
from acpgen.commands.adopt import adopt
from acpgen.commands.command_line import Command, Group
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
    from acpgen.input.step_budget import account

    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    without_formats()
    gc.set_threshold(200_000)  # nearly all that a command makes lives until it ends
    atexit.register(gc.freeze)  # and goes with the process: a last collection takes a twentieth of a second
    try:
        with account():
            app(prog_name="acpgen")
    except MemoryError:
        terminal.show_out_of_memory()
        sys.exit(2)
    except Exception as error:  # noqa: BLE001 - 1 would say that something was found
        terminal.show_defect(error)
        sys.exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"acpgen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", help="Print the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Generate bindings, bundled schemas and docs from JSON Schemas of a JSON-RPC protocol; check its changes and messages."""


def _help(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", help="A command. Default: the list of all commands.")
    ] = None,
) -> None:
    """Describe a command, as its --help does.

    Exit codes: 0 success, 2 there is no such command.
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


app.command(cls=Command)(generate)
app.command(cls=Command)(init)
app.command(cls=Command)(lint)
app.command(cls=Command)(diff)
app.command(cls=WithPath)(history)
app.command(cls=Command)(rules)
app.command(cls=Command)(errors)
app.command(cls=Command)(adopt)
app.command(cls=Command)(validate)
app.command(cls=Command, context_settings={"allow_interspersed_args": False})(tap)
app.command(cls=Command, context_settings={"allow_interspersed_args": False})(probe)

docs_app = typer.Typer(
    name="docs", cls=Group, no_args_is_help=True, rich_markup_mode=None, help="The documentation as a site."
)
docs_app.command("build", cls=Command)(docs.build)
docs_app.command("serve", cls=Command)(docs.serve)
app.add_typer(docs_app)
app.command(cls=Command)(targets)
app.command("help", cls=Command)(_help)
