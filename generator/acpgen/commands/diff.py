"""The command `diff`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.output import deliver, print_report, require_places
from acpgen.commands.shared_options import (
    Budget,
    Format,
    Methods,
    NoCache,
    Output,
    Ref,
    Unstable,
    Waivers,
    cache_of,
    protocol_names,
    references_of,
)


def diff(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD",
            help="A protocol of this project or of acpgen (acp/v1), a file or a folder, or either at a git revision (main:acp/v1).",
            autocompletion=protocol_names,
        ),
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="The other revision, in the same form.", autocompletion=protocol_names)
    ],
    mode: Annotated[
        str,
        typer.Option(
            metavar="MODE", help="protocol: which peers break when they communicate. language: schema inclusion only."
        ),
    ] = "protocol",
    output_format: Format = None,
    merge_base: Annotated[
        bool,
        typer.Option(
            "--merge-base",
            help="Read OLD at the merge base of its revision and that of NEW (or HEAD): compare only what this branch changes.",
        ),
    ] = False,
    allow_new: Annotated[
        bool,
        typer.Option(
            "--allow-new", help="Exit with 0 if OLD does not exist at its revision: there is nothing to compare with."
        ),
    ] = False,
    fail_on: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            help="Exit with 1 at findings of this level or worse: breaking, risky, additive or never. Undecided findings count at every "
            "level except never.",
        ),
    ] = "risky",
    fail_on_bindings: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            help="Exit with 1 at changes of generated code of this level or worse: breaking, additive or never.",
        ),
    ] = "never",
    waivers: Waivers = None,
    waive: Annotated[
        list[str] | None,
        typer.Option(
            "--waive",
            metavar="FINGERPRINT",
            help="Accept this finding: add it to the file of --waivers. May be repeated.",
        ),
    ] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="With --waive: the reason.")] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="DATE|RELEASE",
            help="With --waive: the last day of the waiver, or the future release that ends it, such as 1.7.0.",
        ),
    ] = None,
    unstable: Unstable = False,
    methods: Methods = None,
    budget: Budget = None,
    output: Output = None,
    report_url: Annotated[
        str,
        typer.Option(
            "--report-url", metavar="URL", help="The address of the full report; the Markdown report links to it."
        ),
    ] = "",
    ref: Ref = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Report the smallest edit of NEW that makes each finding additive, or why none does."
        ),
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Apply these edits to the files of NEW, and report the remaining findings.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="With --fix: write nothing, print the edits as a diff, and exit with 1 if there are any."
        ),
    ] = False,
    no_cache: NoCache = False,
) -> None:
    """Compare two revisions of a schema: who breaks, and where.

    A finding about accepted messages has a message that proves it.

    Exit codes: 0 nothing counts under --fail-on, 1 something does, 2 the input cannot be used.
    """
    from acpgen.compat import command
    from acpgen.compat.waivers import decision
    from acpgen.config import protocols
    from acpgen.files import save

    if dry_run and not fix:
        raise typer.BadParameter("--dry-run needs --fix.")
    if fix and not dry_run and protocols.is_canonical(new):
        raise typer.BadParameter("--fix edits files, and NEW is a protocol that comes with acpgen. Add --dry-run.")
    chosen = command.options(mode, output_format, fail_on, fail_on_bindings, output or (), report_url)
    require_places(each.file for each in chosen.outputs)
    compared = command.run_diff(
        old,
        new,
        chosen,
        waivers,
        unstable=unstable,
        merge_base=merge_base,
        allow_new=allow_new,
        taken=decision(waive or (), reason, until, date.today()),
        references=references_of(ref),
        methods=methods,
        budget=budget,
        repairing="dry" if dry_run else "fix" if fix else "tell" if repair else "no",
        cache=cache_of(no_cache),
    )
    if compared is None:
        terminal.say(f"{old} does not exist: {new} is new, and there is nothing to compare it with.")
        return
    if compared.fixed is not None and fix:
        save(Path(), compared.targets)
        for line in compared.fixed.tell(is_written=bool(compared.targets)):
            terminal.say(line)
    if compared.fixed is not None and dry_run:
        print_report(compared.fixed.difference)
        raise typer.Exit(1 if compared.fixed.difference or command.stops(compared.report, chosen) else 0)
    deliver(command.render(compared, chosen, coloured=terminal.is_coloured()))
    if command.stops(compared.report, chosen):
        raise typer.Exit(1)
