"""How commands are registered with Typer, and how parse errors are reported.

The docstring of a command is its help: sentences, and sections whose entries are arguments, options and exit codes. The arguments are
the positional parameters, in their order; `--fail-on LEVEL: …` describes the parameter `fail_on`, and `--list: …` the parameter `list_`.
An option that several commands have is described in `shared_options`, with the section in which it stands.
"""

from __future__ import annotations

import errno
import functools
import inspect
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from acpgen.commands import terminal
from acpgen.commands.docstrings import ARGUMENTS, read_docstring, read_options
from acpgen.commands.help_page import write_page
from acpgen.commands.shared_options import DESCRIPTIONS, set_display
from acpgen.errors import Faults

_CANNOT_PARSE: Final[Any] = typer.BadParameter.__mro__[2]
"""The base class of all parse errors; the module that defines it depends on the version of Typer."""


class _Coercion:
    """Passes strings, paths and defaults through unchanged; leaves other values to Typer, which imports pydantic to convert any value.

    A path is never `-`: a parameter for which that is a standard stream is a string.
    """

    def __init__(self, annotation: Any) -> None:
        item_type = get_args(annotation)[0] if get_origin(annotation) is list else annotation
        self.kind: Final[type[Any]] = item_type if isinstance(item_type, type) else type(None)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        is_list = param.multiple or param.nargs == -1
        values = [value] if not is_list else [] if value is None else value
        if self.kind is Path:
            if "-" in values:
                raise typer.BadParameter("- does not stand for a standard stream here; ./- is a file of that name.")
            values = [Path(value) if isinstance(value, str) else value for value in values]
        if all(value is None or isinstance(value, self.kind) for value in values):
            return values if is_list else values[0]
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _pass_through(parameters: list[Any]) -> list[Any]:
    """The parameters of a command, changed so that values which need no conversion are passed through."""
    for parameter in parameters:
        if getattr(parameter, "_runtime_param", _Coercion) is None:
            parameter._runtime_param = _Coercion(parameter.type_descriptor.annotation)
    return parameters


def describe(function: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command for Typer: add the descriptions of its docstring to its parameters, and the global parameters."""
    signature = inspect.signature(function, eval_str=True)
    sections = read_docstring(function.__doc__ or "").sections
    arguments, command_options = iter(sections.get(ARGUMENTS, {}).items()), read_options(sections)
    options = {**_SHARED_OPTIONS, **command_options}
    parameters: list[inspect.Parameter] = []
    for parameter in (*signature.parameters.values(), *_GLOBAL_PARAMETERS):
        info: Any = None
        if parameter.kind is parameter.KEYWORD_ONLY:
            name = parameter.name.rstrip("_")
            assert name in options, f"{function.__name__}: the docstring does not describe the option '{name}'"
            info = options[name].declare()
        elif parameter.annotation is not typer.Context:
            metavar, text = next(arguments)
            info = typer.Argument(metavar=metavar, help=text, show_default=False)
        parameters.append(parameter if info is None else _describe_parameter(parameter, info))
    assert [*arguments] == [] and command_options.keys() <= {parameter.name.rstrip("_") for parameter in parameters}, (
        function.__name__
    )

    @functools.wraps(function)
    def run(*, quiet: bool, color: str, **values: Any) -> None:
        set_display(quiet=quiet, color=color)
        function(**values)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _describe_parameter(parameter: inspect.Parameter, info: Any) -> inspect.Parameter:
    """A parameter with its description, and with its extra settings, such as a minimum."""
    annotation = parameter.annotation
    kind, *metadata = get_args(annotation) if get_origin(annotation) is Annotated else [annotation]
    for key, value in (item for settings in metadata for item in settings.items()):
        setattr(info, key, value)
    return parameter.replace(annotation=Annotated[kind, info])


_SHARED_OPTIONS: Final = read_options(read_docstring(DESCRIPTIONS).sections)
_GLOBAL_PARAMETERS: Final = (*inspect.signature(set_display, eval_str=True).parameters.values(),)


class Command(TyperCommand):
    """A command whose help has the layout of `help_page`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. An error that does not know its command, such as an option without its value, is that of this one."""
        try:
            return super().parse_args(ctx, args)
        except _CANNOT_PARSE as error:
            error.ctx = error.ctx or ctx
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        return _pass_through(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(write_page(self, ctx, ()))


class Group(TyperGroup):
    """A command group. It exits with 2 on faults of the input, on files that the system refuses, and on parse errors."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _pass_through(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        commands = ((name, self.commands[name]) for name in self.list_commands(ctx))
        formatter.write(write_page(self, ctx, [(name, command.get_short_help_str(200)) for name, command in commands]))

    def main(self, *arguments: Any, standalone_mode: bool = True, **options: Any) -> Any:
        try:
            code = super().main(*arguments, **{**options, "standalone_mode": False})
        except Faults as faults:
            terminal.show_faults(faults)
            sys.exit(2)
        except OSError as error:
            if error.filename is None and error.errno != errno.ENOSPC:
                raise
            terminal.show_faults(_describe_no_access(error))
            sys.exit(2)
        except _CANNOT_PARSE as error:
            if not standalone_mode:
                raise
            if type(error).__name__ == "NoArgsIsHelpError":
                print(error.format_message(), file=sys.stderr)
            else:
                terminal.show_error(*_describe_refusal(error))
            sys.exit(2)
        if standalone_mode:
            sys.exit(code or 0)
        return code


def _describe_no_access(error: OSError) -> Faults:
    from acpgen.commands.faults import NO_ACCESS
    from acpgen.input.load import display_path

    at = "standard output" if error.filename is None else display_path(Path(os.fsdecode(error.filename)))
    return Faults([NO_ACCESS(at=at, reason=str(error.strerror))])


_NUMBERS: Final = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "{ge:g} or more",
}
"""What is expected instead, by the type of a number error."""


def _describe_bad_number(error: Any) -> str:
    """The message for a value that is not the number an option requires; empty for other errors."""
    details: list[Any] = getattr(error.__cause__, "errors", list)()
    kind = _NUMBERS.get(details[0]["type"]) if details else None
    if kind is None:
        return ""
    return f"{error.param.opts[0]}: {details[0]['input']!r} is not {kind.format(**details[0].get('ctx', {}))}."


def _describe_refusal(error: Any) -> tuple[str, str]:
    """The message and the hint of a parse error."""
    message_text = _describe_bad_number(error) or re.sub(r"^Invalid value: ", "", error.format_message())
    message, _, near = message_text.partition(" Did you mean ")
    options = getattr(error, "possibilities", None)
    if options:
        message, near = message.partition(" (")[0], f"{options[0]}?"
    hint = f"Did you mean {near} " if near else ""
    command = error.ctx.command_path if error.ctx is not None else "acpgen"
    return re.sub(r"^[A-Z](?=[a-z ])", lambda first: first[0].lower(), message), f"{hint}See: {command} --help"
