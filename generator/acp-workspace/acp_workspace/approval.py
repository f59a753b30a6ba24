"""Approval: what an agent wants to do is shown to the user before it is done.

    async def approve(request: ApprovalRequest) -> bool:
        return await dialog(f"Let the agent run {request.command_line}?")

Sources: the file-system page, section "User Consent"; the terminals page.
"""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from .errors import make_refusal
from .hooks import await_result


@dataclass(frozen=True, slots=True)
class FileApprovalRequest:
    """A file that an agent wants to write: `path` as requested, `real` the real path, `content` the new text."""

    session_id: str
    path: str
    real: str
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CommandApprovalRequest:
    """A command that an agent wants to run in the directory `cwd`. `environment` has only the variables that the agent sets.

    >>> CommandApprovalRequest("s", "rm", ("-r", "a b"), "/srv").command_line
    "rm -r 'a b'"
    """

    session_id: str
    command: str
    arguments: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def command_line(self) -> str:
        """The command as a shell command line. Its text is the agent's: show it as plain text."""
        return shlex.join((self.command, *self.arguments))


ApprovalRequest: TypeAlias = "FileApprovalRequest | CommandApprovalRequest"
Approve: TypeAlias = "Callable[[ApprovalRequest], Awaitable[bool] | bool]"
"""Asks the user, or a policy. Only `True` is consent. A `RequestError` that it raises becomes the error response to the agent."""


async def require_approval(approve: Approve | None, request: ApprovalRequest, subject: str) -> None:
    """Return if the request is approved, or if `approve` is `None`. Raises `RequestError` -32001 otherwise."""
    if approve is None:
        return
    if await await_result(approve(request)) is not True:
        raise make_refusal(subject, "the user has not approved it")
