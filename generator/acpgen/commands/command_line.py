"""How commands describe themselves, and how they refuse what they cannot parse.

The docstring of a command is its help: sentences, and sections whose entries are arguments, options and exit codes. The arguments are the
positional parameters, in their order; `--fail-on LEVEL: …` describes the parameter `fail_on`, and `--list: …` the parameter `list_`. An
option that several commands have is described in `shared_options`, with the section in which it stands.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill, wrap
from typing import Annotated, Any, Final, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from acpgen.commands import terminal
from acpgen.commands.shared_options import DESCRIPTIONS, set_display
from acpgen.errors import Faults

_CANNOT_PARSE: Final[Any] = typer.BadParameter.__mro__[2]
"""The base class of all that the parser refuses: its module depends on the version of Typer."""

_TERM: Final = 24
"""The width of a name, after which its description begins on the next line."""

_HEADING: Final = re.compile(r"([A-Z][\w ]*):")
_ENTRY: Final = re.compile(r" {4}(\S.*?): (.*)")
_ARGUMENTS, _OPTIONS, _GLOBAL, _ENVIRONMENT, _CODES = (
    "Arguments",
    "Options",
    "Global options",
    "Environment",
    "Exit codes",
)


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


@dataclass(frozen=True, slots=True)
class _Description:
    """What a docstring says: a summary, paragraphs, and sections, whose entries stand by their names."""

    summary: str
    paragraphs: Sequence[str]
    sections: Mapping[str, Mapping[str, str]]


def _read_docstring(text: str) -> _Description:
    paragraphs: list[str] = []
    sections: dict[str, dict[str, str]] = {}
    for block in filter(None, re.split(r"\n\s*\n", inspect.cleandoc(text))):
        first, *lines = block.split("\n")
        heading = _HEADING.fullmatch(first)
        if heading is None:
            paragraphs.append(" ".join(block.split()))
            continue
        entries = sections.setdefault(heading[1], {})
        for line in lines:
            if entry := _ENTRY.fullmatch(line):
                entries[entry[1]] = entry[2]
            else:
                entries[[*entries][-1]] += f" {line.strip()}"
    return _Description("".join(paragraphs[:1]), paragraphs[1:], sections)


@dataclass(frozen=True, slots=True)
class _Option:
    """An option as a docstring describes it: `-q, --quiet: …`, or `--fail-on LEVEL: …`."""

    spelling: str
    text: str
    heading: str

    @property
    def flags(self) -> list[str]:
        return [word.rstrip(",") for word in self.spelling.split() if word.startswith("-")]

    @property
    def name(self) -> str:
        return self.flags[-1].removeprefix("--").replace("-", "_")

    def declare(self) -> Any:
        metavar = self.spelling.rpartition(self.flags[-1])[2].strip() or None
        return typer.Option(*self.flags, metavar=metavar, help=self.text, rich_help_panel=self.heading)


def _read_options(sections: Mapping[str, Mapping[str, str]]) -> Mapping[str, _Option]:
    """The options by the names of their parameters."""
    headings = (heading for heading in sections if heading not in (_ARGUMENTS, _CODES))
    options = (_Option(*entry, heading) for heading in headings for entry in sections[heading].items())
    return {option.name: option for option in options}


def describe(function: Callable[..., None]) -> Callable[..., None]:
    """A command as Typer takes it: with its parameters as the docstring describes them, and with those that every command has."""
    signature = inspect.signature(function, eval_str=True)
    sections = _read_docstring(function.__doc__ or "").sections
    arguments, own = iter(sections.get(_ARGUMENTS, {}).items()), _read_options(sections)
    options = {**_SHARED_OPTIONS, **own}
    parameters: list[inspect.Parameter] = []
    for parameter in (*signature.parameters.values(), *_GLOBAL_PARAMETERS):
        info: Any = None
        if parameter.kind is parameter.KEYWORD_ONLY:
            info = options[parameter.name.rstrip("_")].declare()
        elif parameter.annotation is not typer.Context:
            metavar, text = next(arguments)
            info = typer.Argument(metavar=metavar, help=text, show_default=False)
        parameters.append(parameter if info is None else _describe_parameter(parameter, info))
    assert [*arguments] == [] and own.keys() <= {each.name.rstrip("_") for each in parameters}, function.__name__

    @functools.wraps(function)
    def run(*, quiet: bool, color: str, **values: Any) -> None:
        set_display(quiet=quiet, color=color)
        function(**values)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _describe_parameter(parameter: inspect.Parameter, info: Any) -> inspect.Parameter:
    """A parameter with its description, and with what it carries besides, such as a least value."""
    annotation = parameter.annotation
    kind, *more = get_args(annotation) if get_origin(annotation) is Annotated else [annotation]
    for each in more:
        vars(info).update(each)
    return parameter.replace(annotation=Annotated[kind, info])


_SHARED_OPTIONS: Final = _read_options(_read_docstring(DESCRIPTIONS).sections)
_GLOBAL_PARAMETERS: Final = (*inspect.signature(set_display, eval_str=True).parameters.values(),)


class Command(TyperCommand):
    """A command whose help has the form of this module."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_page(self, ctx, ()))


class Group(TyperGroup):
    """A command with others below it. It ends the process: with 2 on faults of the input, and on what it cannot parse."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        commands = ((name, self.commands[name]) for name in self.list_commands(ctx))
        formatter.write(_page(self, ctx, [(name, command.get_short_help_str(200)) for name, command in commands]))

    def main(self, *arguments: Any, standalone_mode: bool = True, **options: Any) -> Any:
        try:
            code = super().main(*arguments, **{**options, "standalone_mode": False})
        except Faults as faults:
            terminal.show_faults(faults)
            sys.exit(2)
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
        message, near = message.partition(" (")[0], f"{options[0]}?"
    hint = f"Did you mean {near} " if near else ""
    command = error.ctx.command_path if error.ctx is not None else "acpgen"
    return re.sub(r"^[A-Z](?=[a-z ])", lambda first: first[0].lower(), message), f"{hint}See: {command} --help"


def _page(command: Any, ctx: Any, commands: Sequence[tuple[str, str]]) -> str:
    """What a command does, how it is called, its arguments and options, and its exit codes."""
    described = _read_docstring(command.help or "")
    shown = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    arguments = [param for param in shown if param.param_type_name == "argument"]
    usage = " ".join((ctx.command_path, "[OPTIONS]", *map(_usage, arguments), *(["COMMAND"] if commands else [])))
    sections: dict[str, list[tuple[str, str]]] = {"Commands": [*commands]}
    sections |= {heading: [] for heading in (*described.sections, _OPTIONS) if heading not in (_CODES, _ENVIRONMENT)}
    for param in shown:
        if param.param_type_name == "argument":
            sections[_ARGUMENTS].append((_metavar(param), _help(param, ctx)))
        else:
            heading = getattr(param, "rich_help_panel", None) or (_OPTIONS if commands else _GLOBAL)
            sections.setdefault(heading, []).append((param.get_help_record(ctx)[0], _help(param, ctx)))
    sections[_GLOBAL] = sections.pop(_GLOBAL, [])
    for title in (_ENVIRONMENT, _CODES):
        sections[title] = [*described.sections.get(title, {}).items()]
    parts = [wrap(described.summary, terminal.WIDEST), [f"{_bold('Usage:')} {_name(usage)}"]]
    parts += [wrap(paragraph, terminal.WIDEST, break_on_hyphens=False) for paragraph in described.paragraphs]
    parts += [[_bold(f"{title}:"), *_table(rows)] for title, rows in sections.items() if rows]
    if commands:
        program, *path = ctx.command_path.split()
        parts.append([f"{_name(' '.join((program, 'help', *path, 'COMMAND')))} describes a command."])
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


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
