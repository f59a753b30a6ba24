"""The command `adopt`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from acpgen.commands import terminal
from acpgen.commands.output import deliver, print_report, require_places
from acpgen.commands.shared_options import PROTOCOL, find_current_folder
from acpgen.errors import Faults, suggest_name


def adopt(
    file: Path,
    *,
    into: Annotated[str | None, PROTOCOL] = None,
    dry_run: bool = False,
    report: str | None = None,
    start: bool = False,
    keep_as: str | None = None,
) -> None:
    """Merge a newer upstream schema into the project.

    Local descriptions and deliberate differences are kept. Where both sides changed the same thing, ours stays and
    the conflict is reported once; later reports list it among the differences.

    Arguments:
        FILE: A schema that upstream published.

    Options:
        --into PROTOCOL: The protocol to merge it into, such as acp/v1. Default: the most similar protocol.
        --dry-run: Write no schema; exit with 1 if one would change.
        --report FILE: Write a report for reviewers, in Markdown; with - instead of what is printed.
        --start: Only record that the schema files already follow this revision.
        --keep-as VERSION: Also keep it, without its prose, as a release for the changelog of the docs.

    Exit codes:
        0: Success.
        1: Conflicts are left, or --dry-run found changes.
        2: The input cannot be used.
    """
    from acpgen import adopt as adopting
    from acpgen import config
    from acpgen.diagnostics.outputs import STANDARD, require_apart
    from acpgen.input.faults import UNKNOWN_NAME
    from acpgen.input.load import display_path

    if start and (into is None or dry_run or report is not None):
        raise typer.BadParameter("--start needs --into PROTOCOL, and excludes --dry-run and --report.")
    if keep_as is not None and dry_run:
        raise typer.BadParameter("--keep-as and --dry-run exclude each other.")
    report_file = None if report is None or report == STANDARD else Path(report)
    require_places([report_file])
    project = config.find(find_current_folder())
    schema = project.schema_folder
    require_apart([report_file], [file, project.file, *schema.rglob("*")], at="--report")
    if keep_as is not None and into is not None and adopting.is_family(schema, into, project.protocols):
        adopting.save(
            adopting.find_folder(schema, into), adopting.keep_release(file, adopting.find_folder(schema, into), keep_as)
        )
        terminal.say(f"{display_path(file)} is kept as release {keep_as} of {into}.")
        return
    if into is None:
        into = adopting.find_nearest(
            file, adopting.find_followers(schema), adopting.find_overlays(schema), project.protocols
        )
    elif into not in (*project.protocols, *adopting.find_followers(schema)):
        hint = suggest_name(into, project.protocols) or "Add an output with it to [tool.acpgen.outputs]."
        raise Faults([UNKNOWN_NAME(at=display_path(project.file), kind="protocol", name=into, hint=hint)])
    releases = adopting.find_folder(schema, into)
    release: Mapping[str, str] = {}
    if keep_as is not None:
        release = {
            str(releases.absolute() / path): text
            for path, text in adopting.keep_release(file, releases, keep_as).items()
        }
    if start:
        adopting.save(schema / into, {**adopting.start_following(file, schema / into, into), **release})
        terminal.say(f"{into} follows {display_path(file)} from now on.")
        return
    adoption = adopting.adopt(file, schema / into, into, adopting.find_overlays(schema))
    outcome = adopting.make_report(adoption, into)
    if report_file is not None:
        deliver({report_file: adopting.write_markdown(outcome)})
    if not dry_run:
        adopting.save(schema / into, {**adoption.written, **release}, adoption.removed)
    lines = "".join(f"{line}\n" for line in adopting.write_lines(outcome))
    print_report(adopting.write_markdown(outcome) if report == STANDARD else lines)
    if not adoption.is_none:
        terminal.say("Nothing was written." if dry_run else "Written. Now run: acpgen lint, then acpgen generate")
    if adoption.conflicts or adoption.overlay_faults or (dry_run and not adoption.is_none):
        raise typer.Exit(1)
