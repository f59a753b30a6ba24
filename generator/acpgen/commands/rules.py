"""The command `rules`."""

from __future__ import annotations

import re
from typing import Annotated

from acpgen.commands import terminal
from acpgen.commands.output import print_report
from acpgen.commands.shared_options import find_current_folder, restrict_to


def rules(
    rule: list[str] | None = None,
    *,
    format_: Annotated[str, restrict_to("format", "text", "json", "markdown")] = "text",
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

    listing = command.list_rules(rule or (), format_, config.find_config(find_current_folder()))
    print_report(_as_text(listing) if rule and format_ == "text" else listing)


def _as_text(text: str) -> str:
    """Convert Markdown written by acpgen to text for a terminal: headings, wrapped paragraphs, and indented code."""
    from acpgen.diagnostics.columns import wrap

    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        if line.startswith("```"):
            fence = "" if fence else line[3:] or "text"
        elif fence:
            lines.append(f"    {terminal.style_diff_line(line) if fence == 'diff' else line}")
        elif line.startswith("#"):
            lines.append(terminal.style(line.lstrip("# "), 1))
        else:
            text = "\n".join(wrap(line))
            lines.append(re.sub(r"(?s)\*\*(.+?)\*\*", lambda match: terminal.style(match[1], 1), text))
    return "\n".join(lines) + "\n"
