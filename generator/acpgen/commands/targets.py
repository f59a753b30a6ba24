"""The command `targets`."""

from __future__ import annotations

from typing import Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.shared_options import TARGET


def targets(name: Annotated[str | None, TARGET] = None, *, ir_schema: bool = False) -> None:
    """List the installed targets.

    Targets come with acpgen, from other packages, and as programs named acpgen-target-NAME. The list says why a target cannot be used.

    Arguments:
        NAME: List only this target, with its options.

    Options:
        --ir-schema: Print the JSON Schema of the input of a target that is a program.

    Exit codes:
        0: All can be used.
        1: One cannot.
        2: There is no target of that name.
    """
    import json

    from acpgen.meaning import interchange
    from acpgen.targets.installed import TARGETS, hidden
    from acpgen.targets.pipeline import require_targets

    if ir_schema:
        terminal.put(json.dumps(interchange.schema(), indent=2, ensure_ascii=False))
        return
    require_targets([] if name is None else [name], TARGETS, at="NAME")
    unusable = [each for each in TARGETS if name in (None, each) and not terminal.show_target(each, TARGETS)]
    for faults in hidden(name):
        terminal.show_faults(faults)
        unusable.append("")
    if unusable:
        raise typer.Exit(1)
