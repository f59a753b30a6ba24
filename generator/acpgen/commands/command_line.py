"""How commands describe themselves, and how they refuse what they cannot parse."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import fill, wrap
from typing import Any, Final, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from acpgen.commands import terminal
from acpgen.errors import Faults

_CANNOT_PARSE: Final[Any] = typer.BadParameter.__mro__[2]
"""The base class of all that the parser refuses: its module depends on the version of Typer."""

_TERM: Final = 24
"""The width of a name, after which its description begins on the next line."""


class _Coercion:
    """Takes texts, paths and defaults as they are, and leaves the rest to Typer, which imports pydantic to look at any value."""

    def __init__(self, annotation: Any) -> None:
        named = get_args(annotation)[0] if get_origin(annotation) is list else annotation
        self.kind: Final[type[Any]] = named if isinstance(named, type) else type(None)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        is_list = param.multiple or param.nargs == -1
        values = [value] if not is_list else [] if value is None else value
        if self.kind is Path:
            values = [Path(one) if isinstance(one, str) else one for one in values]
        if all(one is None or isinstance(one, self.kind) for one in values):
            return values if is_list else values[0]
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _plain(parameters: list[Any]) -> list[Any]:
    """The parameters of a command, which take what needs no conversion as it is."""
    for parameter in parameters:
        if getattr(parameter, "_runtime_param", _Coercion) is None:
            parameter._runtime_param = _Coercion(parameter.type_descriptor.annotation)
    return parameters


class Command(TyperCommand):
    """A command whose help has the form of this module, and which ends with 2 on faults of its input."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Faults as faults:
            terminal.show_faults(faults)
            raise typer.Exit(2) from None

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_page(self, ctx, ()))


class Group(TyperGroup):
    """A command with others below it. It ends the process, and shows what it cannot parse as `terminal.show_error` does."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        commands = ((name, self.commands[name]) for name in self.list_commands(ctx))
        formatter.write(_page(self, ctx, [(name, command.get_short_help_str(200)) for name, command in commands]))

    def main(self, *arguments: Any, standalone_mode: bool = True, **options: Any) -> Any:
        try:
            code = super().main(*arguments, **{**options, "standalone_mode": False})
        except _CANNOT_PARSE as error:
            if not standalone_mode:
                raise
            if type(error).__name__ == "NoArgsIsHelpError":
                print(error.format_message(), file=sys.stderr)
            else:
                terminal.show_error(*_refusal(error))
            sys.exit(2)
        if standalone_mode:
            sys.exit(code or 0)
        return code


_NUMBERS: Final = {"int_parsing": "a whole number", "int_from_float": "a whole number", "float_parsing": "a number"}
"""What is expected, by the kinds of errors of numbers."""


def _no_number(error: Any) -> str:
    """The sentence on a value that is not the number which an option takes; empty for other errors."""
    refused: list[Any] = getattr(error.__cause__, "errors", list)()
    kind = _NUMBERS.get(refused[0]["type"]) if refused else None
    return "" if kind is None else f"{error.param.opts[0]}: {refused[0]['input']!r} is not {kind}."


def _refusal(error: Any) -> tuple[str, str]:
    """What the parser refuses, and what to do."""
    message_text = _no_number(error) or re.sub(r"^Invalid value: ", "", error.format_message())
    message, _, near = message_text.partition(" Did you mean ")
    options = getattr(error, "possibilities", None)
    if options:
        message, near = message.partition(" (")[0], f"{' or '.join(sorted(options))}?"
    hint = f"Did you mean {near} " if near else ""
    command = error.ctx.command_path if error.ctx is not None else "acpgen"
    return re.sub(r"^[A-Z](?=[a-z ])", lambda first: first[0].lower(), message), f"{hint}See: {command} --help"


def _page(command: Any, ctx: Any, commands: Sequence[tuple[str, str]]) -> str:
    """What a command does, how it is called, its arguments and options, and its exit codes."""
    summary_text, codes = _exit_codes(command.help or "")
    summary, *paragraphs = [" ".join(part.split()) for part in summary_text.split("\n\n") if part.strip()] or [""]
    shown = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    arguments = [param for param in shown if param.param_type_name == "argument"]
    options = [param for param in shown if param.param_type_name == "option"]
    usage = " ".join((ctx.command_path, "[OPTIONS]", *map(_usage, arguments), *(["COMMAND"] if commands else [])))
    parts = [[*wrap(summary, terminal.WIDEST)], [f"{_bold('Usage:')} {_name(usage)}"]]
    parts += [wrap(paragraph, terminal.WIDEST, break_on_hyphens=False) for paragraph in paragraphs]
    for title, rows in (
        ("Commands", commands),
        ("Arguments", [(_metavar(param), _help(param, ctx)) for param in arguments]),
        ("Options", [(param.get_help_record(ctx)[0], _help(param, ctx)) for param in options]),
        ("Exit codes", codes),
    ):
        if rows:
            parts.append([_bold(f"{title}:"), *_table(rows)])
    if commands:
        program, *path = ctx.command_path.split()
        parts.append([f"{_name(' '.join((program, 'help', *path, 'COMMAND')))} describes a command."])
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _exit_codes(text: str) -> tuple[str, Sequence[tuple[str, str]]]:
    """A docstring without its exit codes, and these as rows."""
    before, mark, codes = re.sub(r"Exit\s+codes:\s", "Exit codes: ", text).partition("Exit codes: ")
    rows = [row.partition(" ") for row in re.split(r"[,;] (?=\d )", " ".join(codes.split()).rstrip("."))]
    return before, [(code, f"{what[:1].upper()}{what[1:]}.") for code, _, what in rows] if mark else ()


def _usage(argument: Any) -> str:
    name = _metavar(argument) + ("..." if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _help(param: Any, ctx: Any) -> str:
    """What an argument or option means, with its default and its least value as sentences."""
    text, _, extra = str(param.get_help_record(ctx)[1]).replace("[required]", "").strip().partition("  [")
    parts = [part.replace("x>=", "at least ") for part in extra.rstrip("]").split("; ") if part]
    return " ".join([text, *(f"{part[:1].upper()}{part[1:]}." for part in parts)])


def _table(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names to the left, descriptions to the right, or below a long name."""
    rows = list(rows)
    width = min(max(len(name) for name, _ in rows), _TERM)
    indent = " " * (width + 4)
    for name, description in rows:
        lines = fill(
            description, terminal.WIDEST, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
        if len(name) > width:
            yield f"  {_name(name)}"
            yield lines
        else:
            yield f"  {_name(name)}{' ' * (width - len(name))}{lines[width + 2 :]}"


def _bold(text: str) -> str:
    return f"\x1b[1;32m{text}\x1b[0m" if terminal.is_coloured() else text


def _name(text: str) -> str:
    return f"\x1b[1;36m{text}\x1b[0m" if terminal.is_coloured() else text
