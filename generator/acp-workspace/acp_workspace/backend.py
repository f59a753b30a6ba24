"""Backends that store files: the disk of this machine, memory, or another machine. `FileSystem` serves sessions from one of them.

A backend decides what a path means and whether it is in the roots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .containment import Place, Root
from .errors import make_failure, make_not_found, make_refusal
from .policy import FilePolicy
from .scope import Scope
from .text import NotText, decode_text, select_lines
from .workspace import Roots


@dataclass(frozen=True, slots=True)
class Access:
    """One access of a session.

    `roots`: its roots. `check`: called last before a file changes; raises if the session has other roots now. `done`: called with the
    real path after the change. Both may be called from any thread.
    """

    roots: Roots
    check: Callable[[], None] = lambda: None
    done: Callable[[str], None] = lambda real: None


class FileBackend(Protocol):
    """A store of files. Every method raises `RequestError` as `FileSystem` does, and opens nothing outside the roots of the access."""

    @property
    def is_usable(self) -> bool:
        """Whether files can be confined to the roots at all. If not, no capability is advertised."""
        ...

    async def locate(self, access: Access, path: str, *, writing: bool) -> str:
        """The canonical name of the file that a path leads to, which need not exist. Raises if it may not be read, or written."""
        ...

    async def read(self, access: Access, path: str, line: int | None, limit: int | None) -> str:
        """Read the text of a file, or `limit` lines from `line` on (the first is 1); all if both are `None`."""
        ...

    async def write(self, access: Access, path: str, content: str, *, approved: str | None = None) -> str:
        """Write the text of a file, and return its name as `locate` does; if `approved` is set, write only the file with that name."""
        ...

    async def clean(self, roots: Roots) -> tuple[str, ...]:
        """Remove the temporary files of a killed program, and return their paths."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


class MemoryBackend:
    """Files in memory, by path: for tests, for documents without a file, and as an example of a backend. There are no links."""

    is_usable = True

    def __init__(self, files: dict[str, str] | None = None, policy: FilePolicy | None = None) -> None:
        self.files = files if files is not None else {}
        self._policy = policy or FilePolicy()

    async def locate(self, access: Access, path: str, *, writing: bool) -> str:
        """The normalized path. Refused if it is outside the roots, contains `..`, or violates the policy."""
        scope = access.roots if isinstance(access.roots, Scope) else access.roots.scope
        locations = scope.locate(path)
        if not locations:
            raise make_refusal(path, "it is outside the workspace roots")
        root, parts = locations[0]
        place = Place(Root(root, root, (0, 0)), parts, path.replace("\\", "/"))
        objection = self._policy.find_objection(place, writing=writing)
        if objection is not None:
            raise make_refusal(path, objection)
        if not parts:
            raise make_failure(path, "it is a directory")
        separator = "/" if scope.flavour == "posix" else "\\"
        return separator.join((root.rstrip(separator), *parts))

    async def read(self, access: Access, path: str, line: int | None, limit: int | None) -> str:
        """Read the text of a file, or lines of it. Raises `RequestError` -32002 if the file does not exist."""
        real = await self.locate(access, path, writing=False)
        access.check()
        content = self.files.get(real)
        if content is None:
            raise make_not_found(path)
        return cut(path, content, line, limit, self._policy)

    async def write(self, access: Access, path: str, content: str, *, approved: str | None = None) -> str:
        """Store a text."""
        real = await self.locate(access, path, writing=True)
        if approved is not None and real != approved:
            raise make_refusal(path, "the path now leads to a different file than the approved one")
        access.check()
        self.files[real] = content
        access.done(real)
        return real

    async def clean(self, roots: Roots) -> tuple[str, ...]:  # noqa: ARG002
        """Do nothing: there are no temporary files."""
        return ()

    def close(self) -> None:
        """Do nothing: no resources are held."""


def cut(path: str, content: str, line: int | None, limit: int | None, policy: FilePolicy) -> str:
    """The requested lines of a complete text. Raises `RequestError` if it is not text, or if the lines are too large."""
    try:
        decode_text(content.encode())
    except UnicodeEncodeError:
        raise make_failure(path, "the file cannot be read as text: it is not Unicode") from None
    except NotText as error:
        raise make_failure(path, f"the file cannot be read as text: {error}") from None
    selection = select_lines(content, line, limit)
    if len(selection.encode()) > policy.max_read:
        raise make_failure(
            path, f"the text is larger than {policy.max_read} bytes; ask for lines with 'line' and 'limit'"
        )
    return selection
