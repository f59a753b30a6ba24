"""The help of a command, laid out in 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill, wrap
from typing import Any, Final

from acpgen.commands import terminal
from acpgen.commands.docstrings import ARGUMENTS, CODES, read_docstring

_OPTIONS: Final = "Options"
_GLOBAL: Final = "Global options"
_ENVIRONMENT: Final = "Environment"

_TERM: Final = 24
"""The maximum width of a name; the description of a longer one begins on the next line."""


def write_page(command: Any, ctx: Any, commands: Sequence[tuple[str, str]]) -> str:
    """The help page of a command: summary, usage, description, arguments and options, exit codes."""
    described = read_docstring(command.help or "")
    params = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    arguments = [param for param in params if param.param_type_name == "argument"]
    usage = " ".join((ctx.command_path, "[OPTIONS]", *map(_write_usage, arguments), *(["COMMAND"] if commands else [])))
    sections: dict[str, list[tuple[str, str]]] = {"Commands": [*commands]}
    sections |= {heading: [] for heading in (*described.sections, _OPTIONS) if heading not in (CODES, _ENVIRONMENT)}
    for param in params:
        if param.param_type_name == "argument":
            sections[ARGUMENTS].append((_write_metavar(param), _describe_param(param, ctx)))
        else:
            heading = getattr(param, "rich_help_panel", None) or (_OPTIONS if commands else _GLOBAL)
            sections.setdefault(heading, []).append((param.get_help_record(ctx)[0], _describe_param(param, ctx)))
    sections[_GLOBAL] = sections.pop(_GLOBAL, [])
    for title in (_ENVIRONMENT, CODES):
        sections[title] = [*described.sections.get(title, {}).items()]
    parts = [wrap(described.summary, terminal.WIDEST), [f"{_style_heading('Usage:')} {_style_name(usage)}"]]
    parts += [wrap(paragraph, terminal.WIDEST, break_on_hyphens=False) for paragraph in described.paragraphs]
    parts += [[_style_heading(f"{title}:"), *_write_table(rows)] for title, rows in sections.items() if rows]
    if commands:
        program, *path = ctx.command_path.split()
        parts.append([f"{_style_name(' '.join((program, 'help', *path, 'COMMAND')))} describes a command."])
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _write_usage(argument: Any) -> str:
    name = _write_metavar(argument) + ("..." if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _write_metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _describe_param(param: Any, ctx: Any) -> str:
    """The help of an argument or option, with its default and its minimum as sentences."""
    text, _, extra = str(param.get_help_record(ctx)[1]).replace("[required]", "").strip().partition("  [")
    parts = [part.replace("x>=", "at least ") for part in extra.rstrip("]").split("; ") if part]
    return " ".join([text, *(f"{part[:1].upper()}{part[1:]}." for part in parts)])


def _write_table(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a table: names on the left, descriptions on the right, or below a long name."""
    rows = list(rows)
    width = min(max(len(name) for name, _ in rows), _TERM)
    indent = " " * (width + 4)
    for name, description in rows:
        lines = fill(
            description, terminal.WIDEST, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
        )
        if len(name) > width:
            yield f"  {_style_name(name)}"
            yield lines
        else:
            yield f"  {_style_name(name)}{' ' * (width - len(name))}{lines[width + 2 :]}"


def _style_heading(text: str) -> str:
    return f"\x1b[1;32m{text}\x1b[0m" if terminal.is_coloured() else text


def _style_name(text: str) -> str:
    return f"\x1b[1;36m{text}\x1b[0m" if terminal.is_coloured() else text
