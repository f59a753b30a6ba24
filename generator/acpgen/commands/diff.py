"""The command `diff`."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from acpgen.commands import terminal
from acpgen.commands.output import deliver, print_report, report_destinations
from acpgen.commands.shared_options import (
    PROTOCOL,
    Budget,
    Level,
    Methods,
    choose_cache,
    read_references,
    restrict_to,
)

if TYPE_CHECKING:
    from acpgen.compat.findings import Mode


def diff(
    old: Annotated[str, PROTOCOL],
    new: Annotated[str, PROTOCOL],
    *,
    mode: Annotated[str, restrict_to("mode", "protocol", "language")] = "protocol",
    merge_base: bool = False,
    allow_new: bool = False,
    budget: Budget = None,
    no_cache: bool = False,
    unstable: bool = False,
    methods: Methods = None,
    ref: list[str] | None = None,
    fail_on: Level = "risky",
    fail_on_bindings: Annotated[str, restrict_to("level", "breaking", "additive", "never")] = "never",
    waivers: Path | None = None,
    waive: list[str] | None = None,
    reason: str | None = None,
    until: str | None = None,
    repair: bool = False,
    fix: bool = False,
    dry_run: bool = False,
    format_: str | None = None,
    output: list[str] | None = None,
    report_url: str = "",
) -> None:
    """Compare two revisions of a schema: who breaks, and where.

    A finding about accepted messages has a message that proves it.

    Arguments:
        OLD: A protocol of this project or of acpgen (acp/v1), a file or a folder, or either at a git revision (main:acp/v1).
        NEW: The other revision, in the same form.

    Options:
        --mode MODE: protocol: which peers break when they communicate. language: schema inclusion only.
        --merge-base: Read OLD at the merge base of its revision and that of NEW (or HEAD): compare only what this branch changes.
        --allow-new: Exit with 0 if OLD does not exist at its revision: there is nothing to compare with.

    Exit code options:
        --fail-on LEVEL: Exit with 1 at findings of this level or worse: breaking, risky, additive or never. Undecided findings count at
            every level except never.
        --fail-on-bindings LEVEL: Exit with 1 at changes of generated code of this level or worse: breaking, additive or never.

    Waiver options:
        --waive FINGERPRINT: Accept this finding: add it to the file of --waivers. May be repeated.
        --reason TEXT: With --waive: the reason.
        --until DATE|RELEASE: With --waive: the last day of the waiver, or the future release that ends it, such as 1.7.0.

    Repair options:
        --repair: Report the smallest edit of NEW that makes each finding additive, or why none does.
        --fix: Apply these edits to the files of NEW, and report the remaining findings.
        --dry-run: With --fix: write nothing, print the edits as a diff, and exit with 1 if there are any.

    Report options:
        --report-url URL: The address of the full report; the Markdown report links to it.

    Exit codes:
        0: Nothing counts under --fail-on.
        1: Something does.
        2: The input cannot be used.
    """
    from acpgen.compat import command
    from acpgen.compat.waivers import make_waivers
    from acpgen.config import protocols
    from acpgen.diagnostics.outputs import render_reports
    from acpgen.files import save

    if dry_run and not fix:
        raise typer.BadParameter("--dry-run needs --fix.")
    if fix and not dry_run and protocols.is_canonical(new):
        raise typer.BadParameter("--fix edits files, and NEW is a protocol that comes with acpgen. Add --dry-run.")
    if report_url and not re.fullmatch(r"https?://[^\s<>()\[\]]+", report_url):
        raise typer.BadParameter("--report-url must be an address that begins with https://, without spaces.")
    destinations = report_destinations(output, format_)
    diff_options = command.Options(cast("Mode", mode), destinations, fail_on, fail_on_bindings, report_url)
    with terminal.show_progress() as progress:
        progress(0, 0, f"compare {old} with {new}")
        comparison = command.run_diff(
            old,
            new,
            diff_options,
            waivers,
            unstable=unstable,
            merge_base=merge_base,
            allow_new=allow_new,
            new_waivers=make_waivers(waive or (), reason, until, date.today()),
            references=read_references(ref),
            methods=methods,
            budget=budget,
            repairing="dry" if dry_run else "fix" if fix else "tell" if repair else "no",
            cache=choose_cache(no_cache),
        )
    if comparison is None:
        terminal.say(f"{old} does not exist: {new} is new, and there is nothing to compare it with.")
        return
    report, repaired = comparison.report, comparison.repaired
    if repaired is not None and fix:
        save(Path(), comparison.targets)
        for line in repaired.tell(is_written=bool(comparison.targets)):
            terminal.say(line)
    if repaired is not None and dry_run:
        print_report(repaired.difference)
        raise typer.Exit(1 if repaired.difference else report.code)
    deliver({**render_reports(report, destinations, coloured=terminal.is_coloured()), **comparison.files})
    if report.code:
        raise typer.Exit(report.code)
