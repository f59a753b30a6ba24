"""The command `errors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from acpgen.commands.output import print_report
from acpgen.commands.shared_options import restrict_to
from acpgen.errors import FaultKind, Faults, suggest_name

if TYPE_CHECKING:
    from collections.abc import Mapping


def errors(
    error: list[str] | None = None, *, format_: Annotated[str, restrict_to("format", "text", "json")] = "text"
) -> None:
    """List every error of the input: what is wrong, and what to do.

    Words in capitals stand for what an error names.

    Arguments:
        ERROR: Only these errors.

    Report options:
        --format FORMAT: text or json.

    Exit codes:
        0: Success.
        2: There is no such error or format.
    """
    import json

    from acpgen.diagnostics.columns import wrap
    from acpgen.input.faults import UNKNOWN_NAME

    kinds = find_fault_kinds()
    unknown = [name for name in error or () if name not in kinds]
    if unknown:
        raise Faults(UNKNOWN_NAME("ERROR", kind="error", name=name, hint=suggest_name(name, kinds)) for name in unknown)
    rows = {name: kinds[name].make_example() for name in error or kinds}
    if format_ == "json":
        entries_json = [{"id": name, "error": message, "hint": hint} for name, (message, hint) in rows.items()]
        print_report(json.dumps({"errors": entries_json}, indent=2, ensure_ascii=False) + "\n")
        return
    entries = ("\n".join((name, *wrap(f"{message} {hint}", "    "))) for name, (message, hint) in rows.items())
    print_report("\n\n".join(entries) + "\n")


def find_fault_kinds() -> Mapping[str, FaultKind]:
    """Every kind of fault by its id, from the `faults` module of each package."""
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
