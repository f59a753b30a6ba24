"""The base class for authors of clients: what the user sees, and what the user lets an agent do."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from acp_bindings import v1, v2

from acp_workspace.filesystem import FilePolicy, ServiceEvent
from acp_workspace.terminals import TerminalPolicy
from jsonrpc_bindings.peers import Folder, refuse_unserved

from .arguments import refuse_text, refuse_unknown

if TYPE_CHECKING:
    from acp_workspace.approval import ApprovalRequest
    from acp_workspace.backend import FileBackend

    from .client_session import ClientSession
    from .permission import PermissionRequest

ElicitationMode: TypeAlias = Literal["form", "url"]
"""How an elicitation is shown."""

FORM: Final[frozenset[ElicitationMode]] = frozenset({"form"})


class Client:
    """A client of agents that speak v1 or v2.

    Override what you need: overrides are advertised, and replace what is built in. One object may serve many connections.

    `allowed_roots`: the directories that the user lets agents use, with everything inside them. `info`: name and version of the client.
    `files` and `terminals`: the policies for v1 agents, which ask their client for files and terminals; `None` does not advertise them.
    `backend` stores the files elsewhere than on this machine's disk. A v2 agent uses files and commands by itself: none of these three
    affects it, nor do `approve` and the hooks for files and terminals. `elicitation`: the modes that `on_elicitation` can show.
    `unknown_subjects`: whether a permission request with a subject that this version does not know is declined, or passed to
    `on_permission`. `capabilities`: further capabilities to advertise.
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
        """Whether a subclass overrides this method."""
        return getattr(cls, name) is not getattr(Client, name)

    async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:
        """Show an update of a session; its transcript already includes it. An update of an unknown kind is an `Unknown`."""

    async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:  # noqa: ARG002
        """Ask the user what the agent may do, and return the id of the chosen option; `None` if nothing was chosen.

        It is cancelled with the turn. Without an override nothing is allowed.
        """
        return None

    async def approve(self, request: ApprovalRequest) -> bool:  # noqa: ARG002
        """Ask the user before a file is written or a command is run here for a v1 agent; only `True` is consent.

        Without an override, everything in the roots of the session is allowed. A v2 agent writes and runs by itself, and this is not
        called.
        """
        return True

    async def on_elicitation(
        self,
        session: ClientSession | None,  # noqa: ARG002
        request: v2.CreateElicitationRequest,  # noqa: ARG002
    ) -> v2.CreateElicitationResponse:
        """Ask the user for input.

        `session` is `None` if the elicitation belongs to a request. It is cancelled with the session's work or that request.
        """
        raise refuse_unserved("elicitation/create")

    async def on_elicitation_complete(self, elicitation_id: str) -> None:
        """Called when the user has finished on the web page of an elicitation."""

    async def on_service_event(self, event: ServiceEvent) -> None:
        """Called for each step of a v1 agent's request for a file or a terminal, refusals included."""

    async def unsaved_text(self, path: str) -> str | None:  # noqa: ARG002
        """The unsaved text of a file that is open in the editor, for a v1 agent that reads the file; `None` if there is none."""
        return None

    async def on_file_change(self, path: str) -> None:
        """Called when a file was written for a v1 agent, so that the editor can reload it."""

    async def read_text_file(self, session: ClientSession, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        """Read a file in the roots of the session for the agent. In an override, `super()` reads the file."""
        return await session.files.read_text_file(request)

    async def write_text_file(
        self, session: ClientSession, request: v1.WriteTextFileRequest
    ) -> v1.WriteTextFileResponse:
        """Write a file in the roots of the session for the agent."""
        return await session.files.write_text_file(request)

    async def create_terminal(
        self, session: ClientSession, request: v1.CreateTerminalRequest
    ) -> v1.CreateTerminalResponse:
        """Start a command for the agent; its working directory is in the roots of the session."""
        return await session.terminals.create(request)

    async def terminal_output(
        self, session: ClientSession, request: v1.TerminalOutputRequest
    ) -> v1.TerminalOutputResponse:
        """Return the output of a command so far."""
        return await session.terminals.output(request)

    async def wait_for_terminal_exit(
        self, session: ClientSession, request: v1.WaitForTerminalExitRequest
    ) -> v1.WaitForTerminalExitResponse:
        """Wait until a command has ended."""
        return await session.terminals.wait_for_exit(request)

    async def kill_terminal(self, session: ClientSession, request: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        """Kill a command; its terminal stays valid."""
        return await session.terminals.kill(request)

    async def release_terminal(
        self, session: ClientSession, request: v1.ReleaseTerminalRequest
    ) -> v1.ReleaseTerminalResponse:
        """Kill a command, and release its terminal."""
        return await session.terminals.release(request)

    async def on_extension_request(self, method: str, params: Any) -> Any:  # noqa: ARG002
        """Return the result of an extension request. Its method begins with `_`; params and result are plain JSON."""
        raise refuse_unserved(method)

    async def on_extension_notification(self, method: str, params: Any) -> None:
        """Handle an extension notification. Its method begins with `_`."""
