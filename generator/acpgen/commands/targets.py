"""The command `targets`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.shared_options import TARGET
from acpgen.errors import Faults, make_printable

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        terminal.put(json.dumps(interchange.make_schema(), indent=2, ensure_ascii=False))
        return
    require_targets([] if name is None else [name], TARGETS, at="NAME")
    unusable = [each for each in TARGETS if name in (None, each) and not _show_target(each, TARGETS)]
    for faults in find_hidden_targets(name):
        terminal.show_faults(faults)
        unusable.append("")
    if unusable:
        raise typer.Exit(1)


def _show_target(name: str, targets: Mapping[str, Target]) -> bool:
    """Print a target and its options; return false, and print the faults, if it cannot be used."""
    try:
        target = targets[name]
    except Faults as faults:
        terminal.show_faults(faults)
        return False
    place = "" if target.origin == "acpgen" else f" ({target.origin} {target.at})"
    _put_item(f"{name}{place}: {target.about or 'says nothing of itself.'}", "")
    for option in target.options:
        default = ",".join(option.default) if isinstance(option.default, tuple) else option.default
        default_text = str(default).lower() if isinstance(default, bool) else repr(default)
        _put_item(
            f"{option.name}: {option.about.rstrip('.')}. Value: {option.expected}. Default: {default_text}.", "  "
        )
    return True


def _put_item(text: str, indent: str) -> None:
    """Print a wrapped list item on standard output."""
    from textwrap import wrap

    for line in wrap(
        make_printable(text),
        terminal.WIDEST,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    ):
        terminal.put(line)
