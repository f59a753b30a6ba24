"""The commands `docs build` and `docs serve`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from acpgen import config, terminal
from acpgen.cli.output import faults_end_with_2
from acpgen.cli.shared_options import NoCache, current_folder, kept_results
from acpgen.schema.load import place


def build(
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder, or one that acpgen wrote.")] = Path("site"),
    url: Annotated[str, typer.Option(metavar="URL", help="Where the site will stand, for canonical addresses.")] = "",
    source: Annotated[
        str, typer.Option(metavar="URL", help="What stands before the path of a file in links that edit it.")
    ] = "",
    no_cache: NoCache = False,
) -> None:
    """Build the site of the project's protocols. Needs the extra docs.

    Exit codes: 0 the site was built, 2 an example is not valid, the site generator is missing or gave up, or the input cannot be used.
    """
    from acpgen import site

    with faults_end_with_2():
        found = config.find(current_folder())
        found = replace(found, site=config.published(found.site, url=url, source=source))
        change = site.build(found, Path(os.path.abspath(out)), kept_results(no_cache))
    terminal.say(f"{place(out)}: {len(change.written)} files written, {len(change.unchanged)} unchanged.")


def serve(
    port: Annotated[
        int, typer.Option(metavar="N", help="On this port of the loopback interface; 0: any that is free.")
    ] = 8000,
) -> None:
    """Show the site on http://127.0.0.1, and again what each change concerns, until Ctrl-C. Needs the extra docs.

    A page in the browser loads again when it differs. After a change of a schema, changelogs, migration guides, the single-file pages and
    versions that extend the one that changed follow some seconds later.
    """
    from acpgen import site

    with faults_end_with_2():
        current_folder()
        site.serve(lambda: config.find(current_folder()), port, terminal.say, terminal.show_faults)
