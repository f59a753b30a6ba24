"""A hook for version control that stages written files.

Source: the file-system page, section "Version Control Integration", but without its shell string, so that a file name cannot be a
command.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import dataclass, field
from typing import Final

from jsonrpc_bindings import supervisor

_SETTINGS: Final = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "safe.bareRepository=explicit"),  # a repository that an agent laid out in a folder is none
)

_GRACE: Final = 2.0
"""The seconds that git has to clean up after a timeout."""


@dataclass(frozen=True, slots=True)
class GitStage:
    """Stages files with git; pass it to `FileSystem(on_change=...)`.

    `git` is the program, `timeout` in seconds ends it. One runs at a time, in one event loop, since each locks the index. If there is no
    git or no repository, or git refuses, nothing happens: staging is optional, and the write has succeeded. Filter commands of a
    repository's settings do run, as they would in a terminal; that is why `FilePolicy` does not let agents write below `.git`. Use git
    2.38 or newer, which can be told not to recognize a folder that an agent has laid out like a repository.
    """

    git: str = "git"
    timeout: float = 30.0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False, compare=False)

    def arguments(self, path: str) -> tuple[str, ...]:
        """The argument vector for one absolute path.

        >>> GitStage().arguments("/srv/a; rm -rf b")[-4:]
        ('/srv', 'add', '--', 'a; rm -rf b')
        """
        folder, name = os.path.split(path)
        return (self.git, "--literal-pathspecs", *_SETTINGS, "-C", folder or "/", "add", "--", name)

    async def __call__(self, path: str) -> bool:
        """Stage one file, following links; return whether git reported success."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment["GIT_TERMINAL_PROMPT"] = "0"
        nothing = subprocess.DEVNULL
        async with self._turn:
            try:
                program = supervisor.start(
                    self.arguments(os.path.realpath(path)),
                    stdin=nothing,
                    stdout=nothing,
                    stderr=nothing,
                    env=environment,
                )
            except OSError:
                return False
            try:
                await asyncio.to_thread(program.wait, self.timeout)
                return program.code == 0
            finally:  # asked first, since git removes its lock of the index then
                await asyncio.to_thread(program.end, _GRACE)
