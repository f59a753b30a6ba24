"""The command `errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.output import print_report
from acpgen.errors import FaultKind, Faults, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping


def errors(
    chosen: Annotated[
        list[str] | None, typer.Argument(metavar="ERROR", help="Only these errors.", show_default=False)
    ] = None,
    output_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text (default) or json.", show_default=False)
    ] = "text",
) -> None:
    """List every error of the input: what is wrong, and what to do.

    Words in capitals stand for what an error names.

    Exit codes: 0 success, 2 there is no such error or format.
    """
    import json
    from textwrap import fill

    from acpgen.input.faults import UNKNOWN_NAME

    kinds = fault_kinds()
    wrong = [("error", name, [*kinds]) for name in chosen or () if name not in kinds]
    wrong += [("format", output_format, ["text", "json"])] * (output_format not in ("text", "json"))
    if wrong:
        raise Faults(
            UNKNOWN_NAME("ID", kind=kind, name=name, hint=did_you_mean(name, names)) for kind, name, names in wrong
        )
    rows = {name: kinds[name].example() for name in chosen or kinds}
    if output_format == "json":
        listed = [{"id": name, "error": error, "hint": hint} for name, (error, hint) in rows.items()]
        print_report(json.dumps({"errors": listed}, indent=2, ensure_ascii=False) + "\n")
        return
    indent = " " * 4
    entries = (
        f"{name}\n{fill(f'{error} {hint}', terminal.WIDEST, initial_indent=indent, subsequent_indent=indent)}\n"
        for name, (error, hint) in rows.items()
    )
    print_report("\n".join(entries))


def fault_kinds() -> Mapping[str, FaultKind]:
    """Every kind of fault by its id: those of the module `faults` of each room."""
    from importlib import import_module
    from pathlib import Path

    import acpgen

    rooms = sorted(path.parent.name for path in Path(acpgen.__file__).parent.glob("*/faults.py"))
    kinds = (
        kind
        for room in rooms
        for kind in vars(import_module(f"acpgen.{room}.faults")).values()
        if isinstance(kind, FaultKind)
    )
    return dict(sorted((kind.id, kind) for kind in kinds))
