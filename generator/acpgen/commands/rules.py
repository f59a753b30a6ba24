"""The command `rules`."""

from __future__ import annotations

from typing import Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.output import print_report
from acpgen.commands.shared_options import (
    current_folder,
)


def rules(
    chosen: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RULE", help="Only these rules, each with a bad and a good example.", show_default=False
        ),
    ] = None,
    output_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text (default), json or markdown.", show_default=False)
    ] = "text",
) -> None:
    """List every compatibility rule with its severities.

    The list also shows the severities that the policy of this project sets.

    Exit codes: 0 success, 2 there is no such rule or format, or [tool.acpgen.compat] is wrong.
    """
    from acpgen import config
    from acpgen.compat import command

    listing = command.list_rules(chosen or (), output_format, config.around(current_folder()))
    print_report(terminal.markdown(listing) if chosen and output_format == "text" else listing)
