"""The command `history`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from acpgen.commands import terminal
from acpgen.commands.command_line import Command
from acpgen.commands.output import finish, report_destinations
from acpgen.commands.shared_options import (
    PROTOCOL,
    Budget,
    Level,
    Methods,
    read_references,
    set_minimum,
)


class WithPath(Command):
    """A command that takes a path after `--`. Options may follow the path."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and store the path in the context: `None` without `--`, empty if nothing follows it."""
        at = args.index("--") if "--" in args else None
        ctx.meta["path"] = None if at is None else "".join(args[at + 1 : at + 2])
        return super().parse_args(ctx, args if at is None else [*args[:at], *args[at + 2 :]])


def history(
    ctx: typer.Context,
    revision: Annotated[list[str] | None, PROTOCOL] = None,
    *,
    since: str | None = None,
    limit: Annotated[int, set_minimum(1)] = 50,
    budget: Budget = None,
    unstable: bool = False,
    methods: Methods = None,
    ref: list[str] | None = None,
    fail_on: Level = "risky",
    waivers: Path | None = None,
    format_: str | None = None,
    output: list[str] | None = None,
) -> None:
    """Compare many revisions of a schema, step by step.

    The report says what each step broke, which version it needed, and since when each thing is broken.

    `acpgen history main -- acp/v1` follows first parents, and the schema where it was moved.

    Arguments:
        REVISION: A branch, tag, commit or range A..B of git, then -- and a protocol, file or folder: compares the commits that changed it.
            A protocol: compares its releases in schema/releases, or its commits. Several files: compares these, oldest first.

    Options:
        --since DATE: Only commits since this date, in any form that git knows: 2026-01-31, '3 months ago'.
        --limit N: Compare the newest N revisions; the report says how many were left out.

    Exit code options:
        --fail-on LEVEL: Exit with 1 at steps of this level or worse: breaking, risky, additive or never. Steps that are undecided, not
            compared or unreadable count at every level except never.

    Exit codes:
        0: No step counts under --fail-on.
        1: One does.
        2: The input cannot be used.
    """
    from acpgen.compat.history.history_command import compare_history as compare_revisions
    from acpgen.compat.history.revision_sources import HistoryOptions
    from acpgen.compat.history_report import make_report

    names, path = tuple(revision or ()), ctx.meta["path"]
    if path == "":
        raise typer.BadParameter("after --, name a protocol, file or folder.")
    if path is None and not names:
        raise typer.BadParameter("name a protocol, files, or a revision with -- and a path.")
    destinations = report_destinations(output, format_)
    options = HistoryOptions(
        given=names,
        path=path,
        destinations=destinations,
        since=since,
        limit=limit,
        waivers=waivers,
        unstable=unstable,
        methods=methods,
        budget=budget,
        references=read_references(ref),
    )
    with terminal.show_progress() as progress:
        progress(0, 0, "compare revisions")
        timeline = compare_revisions(options)
    finish(make_report(timeline, fail_on), destinations)
