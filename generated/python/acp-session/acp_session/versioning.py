"""A hook for version control: what was written is staged.

Source: the file-system page, section "Version Control Integration", without its shell string: a file name can be no command.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import Final

_SETTINGS: Final = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "safe.bareRepository=explicit"),  # a repository that an agent laid out in a folder is none
)


@dataclass(frozen=True, slots=True)
class GitStage:
    """Stages files with git; give it to `FileSystem(stage=...)`.

    `git` is the program, `timeout` in seconds ends it. Where there is no git, no repository, or git refuses, nothing happens: staging is
    a courtesy, and the write has succeeded. Commands that a repository's settings name as filters do run, as they would in a terminal;
    that is why `FilePolicy` does not let agents write below `.git`. Use git 2.38 or newer, which can be told not to take a folder that an
    agent has laid out like a repository for one.
    """

    git: str = "git"
    timeout: float = 30.0

    def arguments(self, path: str) -> tuple[str, ...]:
        """The argument vector for one absolute path.

        >>> GitStage().arguments("/work/a; rm -rf b")[-4:]
        ('/work', 'add', '--', 'a; rm -rf b')
        """
        folder, name = os.path.split(path)
        return (self.git, "--literal-pathspecs", *_SETTINGS, "-C", folder or "/", "add", "--", name)

    async def __call__(self, path: str) -> bool:
        """Stage one file; whether git said that it did."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment["GIT_TERMINAL_PROMPT"] = "0"
        nothing = asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                *self.arguments(path), stdin=nothing, stdout=nothing, stderr=nothing, env=environment
            )
        except OSError:
            return False
        try:
            return await asyncio.wait_for(process.wait(), self.timeout) == 0
        except TimeoutError:
            return False
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
