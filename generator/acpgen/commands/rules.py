"""The command `rules`."""

from __future__ import annotations

from typing import Annotated

from acpgen.commands import terminal
from acpgen.commands.output import print_report
from acpgen.commands.shared_options import current_folder, one_of


def rules(
    rule: list[str] | None = None,
    *,
    format_: Annotated[str, one_of("format", "text", "json", "markdown")] = "text",
) -> None:
    """List every compatibility rule with its severities.

    The list also shows the severities that the policy of this project sets.

    Arguments:
        RULE: Only these rules, each with a bad and a good example.

    Report options:
        --format FORMAT: text, json or markdown.

    Exit codes:
        0: Success.
        2: There is no such rule or format, or [tool.acpgen.compat] is wrong.
    """
    from acpgen import config
    from acpgen.compat import command

    listing = command.list_rules(rule or (), format_, config.around(current_folder()))
    print_report(terminal.markdown(listing) if rule and format_ == "text" else listing)
