"""The client that an author writes: what the user sees, and what the user lets an agent do."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from acp_bindings import v1, v2

from acp_workspace.filesystem import FileEvent, FilePolicy
from acp_workspace.terminals import TerminalEvent, TerminalPolicy
from jsonrpc_bindings.peers import Folder, unserved

from .arguments import refuse_text, refuse_unknown

if TYPE_CHECKING:
    from acp_workspace.approval import ApprovalRequest
    from acp_workspace.backend import FileBackend

    from .client_session import ClientSession
    from .permission import PermissionRequest

ElicitationMode: TypeAlias = Literal["form", "url"]
"""How a question for input is shown."""

FORM: Final[frozenset[ElicitationMode]] = frozenset({"form"})


class Client:
    """A client of agents that speak v1 or v2. Override what you need: it is advertised, and wins over what is built in. One object may
    serve many connections.

    `allowed_roots`: the directories that the user lets agents use, each with all that lies in it. `info`: what the agent is told about
    the client. `files` and `terminals`: the policies for an agent of v1 that asks its client for them; `None` offers none. `backend` keeps
    the files elsewhere than on this machine's disk. An agent of v2 uses files and commands by itself: none of these three has an effect on
    it, nor `approve`, nor the hooks for files and terminals. `elicitation`: the modes that `on_elicitation` can show. `unknown_subjects`:
    whether a request for permission about something that this version does not know is declined, or given to `on_permission`.
    `capabilities`: what to advertise besides what is worked out.
    """

    def __init__(
        self,
        *,
        allowed_roots: Iterable[Folder] = (),
        info: v2.Implementation | None = None,
        files: FilePolicy | None = FilePolicy(),  # noqa: B008 - frozen
        terminals: TerminalPolicy | None = TerminalPolicy(),  # noqa: B008 - frozen
        backend: FileBackend | None = None,
        elicitation: Collection[ElicitationMode] = FORM,
        unknown_subjects: Literal["decline", "ask"] = "decline",
        capabilities: v2.ClientCapabilities | None = None,
    ) -> None:
        refuse_text(allowed_roots=allowed_roots, elicitation=elicitation)
        refuse_unknown(("decline", "ask"), unknown_subjects=unknown_subjects)
        refuse_unknown(("form", "url"), elicitation=elicitation)
        self.allowed_roots = tuple(os.path.abspath(os.fspath(path)) for path in allowed_roots)
        self.info = info or v2.Implementation(name="acp-session", version="0")
        self.files = files
        self.terminals = terminals
        self.backend = backend
        self.elicitation = frozenset(elicitation)
        self.unknown_subjects: Literal["decline", "ask"] = unknown_subjects
        self.capabilities = capabilities or v2.ClientCapabilities()

    @classmethod
    def overrides(cls, name: str) -> bool:
        """Whether a subclass has a method of its own by this name."""
        return getattr(cls, name) is not getattr(Client, name)

    async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:
        """Show an update of a session; its transcript has taken it in already. One of an unknown kind is an `Unknown`."""

    async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:  # noqa: ARG002
        """Ask the user what the agent may do: the id of the option that was chosen, `None` where nobody chose. It is cancelled with the
        turn. Without an override nothing is allowed.
        """
        return None

    async def approve(self, request: ApprovalRequest) -> bool:  # noqa: ARG002
        """Ask the user before a file is written or a command is run here for an agent of v1; only `True` is consent. Without an override,
        what lies in the roots of the session is allowed. An agent of v2 writes and runs by itself, and nobody is asked here.
        """
        return True

    async def on_elicitation(
        self,
        session: ClientSession | None,  # noqa: ARG002
        request: v2.CreateElicitationRequest,  # noqa: ARG002
    ) -> v2.CreateElicitationResponse:
        """Ask the user for input. `session` is `None` where the question belongs to a request. It is cancelled with what it belongs to."""
        raise unserved("elicitation/create")

    async def on_elicitation_complete(self, elicitation_id: str) -> None:
        """Take note that the user has finished on the web page of a question."""

    async def on_file_event(self, event: FileEvent) -> None:
        """Take note of a step of a request for a file of an agent of v1, refusals included."""

    async def on_terminal_event(self, event: TerminalEvent) -> None:
        """Take note of a step of a request for a terminal of an agent of v1, refusals included."""

    async def unsaved_text(self, path: str) -> str | None:  # noqa: ARG002
        """The unsaved text of a file that is open in the editor, for an agent of v1 that reads it; `None` where it has none."""
        return None

    async def on_file_change(self, path: str) -> None:
        """Take note that a file was written for an agent of v1, to load it anew."""

    async def read_text_file(self, session: ClientSession, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        """Read a file for the agent, in the roots of the session. An override wins; `super()` reads the file."""
        return await session.files.read_text_file(request)

    async def write_text_file(
        self, session: ClientSession, request: v1.WriteTextFileRequest
    ) -> v1.WriteTextFileResponse:
        """Write a file for the agent, in the roots of the session."""
        return await session.files.write_text_file(request)

    async def create_terminal(
        self, session: ClientSession, request: v1.CreateTerminalRequest
    ) -> v1.CreateTerminalResponse:
        """Start a command for the agent, in a directory in the roots of the session."""
        return await session.terminals.create(request)

    async def terminal_output(
        self, session: ClientSession, request: v1.TerminalOutputRequest
    ) -> v1.TerminalOutputResponse:
        """The output of a command so far."""
        return await session.terminals.output(request)

    async def wait_for_terminal_exit(
        self, session: ClientSession, request: v1.WaitForTerminalExitRequest
    ) -> v1.WaitForTerminalExitResponse:
        """Wait until a command has ended."""
        return await session.terminals.wait_for_exit(request)

    async def kill_terminal(self, session: ClientSession, request: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        """End a command; its terminal stays."""
        return await session.terminals.kill(request)

    async def release_terminal(
        self, session: ClientSession, request: v1.ReleaseTerminalRequest
    ) -> v1.ReleaseTerminalResponse:
        """End a command, and let its terminal go."""
        return await session.terminals.release(request)

    async def on_extension_request(self, method: str, params: Any) -> Any:  # noqa: ARG002
        """Answer a request that the schema does not have; its name begins with `_`, and params and result are plain JSON."""
        raise unserved(method)

    async def on_extension_notification(self, method: str, params: Any) -> None:
        """Take note of a notification that the schema does not have; its name begins with `_`."""
