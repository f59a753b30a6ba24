"""The commands `docs build` and `docs serve`."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from acpgen.commands import terminal
from acpgen.commands.shared_options import choose_cache, find_current_folder
from acpgen.errors import count_noun


def build(*, out: Path = Path("site"), url: str = "", source: str = "", no_cache: bool = False) -> None:
    """Build the site of the project's protocols. Needs the extra docs.

    Options:
        --out DIR: A new folder, or one that acpgen wrote.
        --url URL: The address at which the site will be published, for canonical links.
        --source URL: The prefix of a file's path in links to edit that file.

    Exit codes:
        0: The site was built.
        2: An example is not valid, the site generator is missing or failed, or the input cannot be used.
    """
    from acpgen import config
    from acpgen.input.load import display_path
    from acpgen.publish import site

    project = config.move_site(config.find(find_current_folder()), url=url, source=source)
    with terminal.show_progress() as progress:
        steps = partial(progress, 0, 0)
        change = site.build(project, Path(os.path.abspath(out)), choose_cache(no_cache), terminal.say, steps)
    terminal.say(
        f"{display_path(out)}: {count_noun(len(change.written), 'file')} written, {len(change.unchanged)} unchanged."
    )


def serve(*, port: int = 8000) -> None:
    """Serve the site, and update it after each change.

    The address is http://127.0.0.1, with the port. Ctrl-C ends the command. It needs the extra docs.

    The browser reloads a page that has changed. After a change of a schema, the changelogs, migration guides, single-file pages and
    the versions that extend the changed one follow some seconds later.

    Options:
        --port N: The port on the loopback interface; 0 takes any free port.

    Exit codes:
        0: Ctrl-C or a signal ended it.
        2: The site generator is missing or failed, the port is taken, or the input cannot be used.
    """
    from acpgen import config
    from acpgen.publish import site

    find_current_folder()
    site.serve(lambda: config.find(find_current_folder()), port, terminal.say, terminal.show_faults)
