"""The command `targets`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.output import print_report
from acpgen.commands.shared_options import TARGET
from acpgen.errors import Faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpgen.targets.interface import Target


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
    from acpgen.targets.installed import TARGETS, find_hidden_targets
    from acpgen.targets.pipeline import require_targets

    if ir_schema:
        print_report(json.dumps(interchange.make_schema(), indent=2, ensure_ascii=False) + "\n")
        return
    require_targets([] if name is None else [name], TARGETS, at="NAME")
    lines: list[str] = []
    is_usable = True
    for target_name in TARGETS if name is None else [name]:
        try:
            lines += _describe_target(target_name, TARGETS[target_name])
        except Faults as caught:
            terminal.show_faults(caught)
            is_usable = False
    for faults in find_hidden_targets(name):
        terminal.show_faults(faults)
        is_usable = False
    print_report("".join(f"{line}\n" for line in lines))
    if not is_usable:
        raise typer.Exit(1)


def _describe_target(name: str, target: Target) -> Iterator[str]:
    """Yield the lines on a target and its options."""
    from acpgen.diagnostics.columns import wrap

    place = "" if target.origin == "acpgen" else f" ({target.origin} {target.at})"
    yield from wrap(f"{name}{place}: {target.about or 'says nothing of itself.'}", below="    ")
    for option in target.options:
        default = ",".join(option.default) if isinstance(option.default, tuple) else option.default
        default_text = str(default).lower() if isinstance(default, bool) else repr(default)
        about = f"{option.name}: {option.about.rstrip('.')}. Value: {option.expected}. Default: {default_text}."
        yield from wrap(about, "  ", below="      ")
