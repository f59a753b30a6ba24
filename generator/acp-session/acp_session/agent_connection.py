"""An agent as its client sees it: its capabilities, and the sessions that it opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from acp_bindings import v2

from jsonrpc_bindings.peers import Folder

from .arguments import refuse_text
from .client_core import ClientCore, McpServers
from .client_session import ClientSession
from .errors import InvalidMessage, NotAdvertised

MAX_PAGES: Final = 1000
"""The maximum number of pages of `session/list` that are requested."""


class AgentConnection:
    """An initialized connection to an agent.

    `version` is the protocol version on the wire, 1 or 2; everything else has the types of v2, whichever is spoken.

    Paths are `str` or `Path`. A relative `cwd` is resolved against the directory of this process, relative additional directories
    against `cwd`. Calls raise `PeerError` if the agent responds with an error, `NotAdvertised` before anything is sent if the agent does
    not advertise something, `InvalidMessage`, `ConnectionClosed`, and `ValueError` for invalid arguments, such as a directory that is
    not allowed.
    """

    def __init__(self, core: ClientCore) -> None:
        self._core = core
        self.version = core.version

    def __repr__(self) -> str:
        return f"<AgentConnection to {self.info.name!r}, version {self.version}>"

    @property
    def info(self) -> v2.Implementation:
        """The name and version of the agent."""
        return self._core.answer.info

    @property
    def capabilities(self) -> v2.AgentCapabilities:
        """The capabilities of the agent; `capabilities.session.additional_directories` says whether sessions can have several roots."""
        return self._core.answer.capabilities

    @property
    def can_load_session(self) -> bool:
        """Whether the agent can replay the conversation of a session."""
        return self._core.has_v1_capability("loadSession")

    @property
    def auth_methods(self) -> Sequence[v2.AuthMethod]:
        """The methods by which the user can log in."""
        methods = self._core.answer.auth_methods
        return tuple(methods) if isinstance(methods, list) else ()

    @property
    def sessions(self) -> Mapping[str, ClientSession]:
        """The open sessions, by id."""
        return MappingProxyType(self._core.sessions)

    async def new_session(
        self, cwd: Folder, *, additional_directories: Sequence[Folder] = (), mcp_servers: McpServers = ()
    ) -> ClientSession:
        """Open a session that may use these directories and no others.

        The agent connects to the MCP servers; a `dict` is a server as v2 JSON.
        """
        return await self._core.create_session(cwd, additional_directories, mcp_servers)

    async def load_session(
        self,
        session_id: str,
        cwd: Folder,
        *,
        additional_directories: Sequence[Folder] = (),
        mcp_servers: McpServers = (),
    ) -> ClientSession:
        """Open a session that the agent has stored, and have its conversation replayed.

        The directories passed here replace those that the session had. If the agent refuses, a session that is open stays as it was.
        Until this returns, the modes, options and commands of the session are those that updates have reported: the response has them.
        """
        return await self._core.resume_session(session_id, cwd, additional_directories, mcp_servers, is_load=True)

    async def resume_session(
        self,
        session_id: str,
        cwd: Folder,
        *,
        additional_directories: Sequence[Folder] = (),
        mcp_servers: McpServers = (),
    ) -> ClientSession:
        """Open a stored session like `load_session`, but without a replay; its transcript here is kept."""
        return await self._core.resume_session(session_id, cwd, additional_directories, mcp_servers, is_load=False)

    async def fork_session(
        self,
        session_id: str,
        cwd: Folder,
        *,
        additional_directories: Sequence[Folder] = (),
        mcp_servers: McpServers = (),
    ) -> ClientSession:
        """Open a new session with the context of another, which stays as it is.

        Directories are not inherited. The transcript begins as a copy of that of the other session, if that is open.
        """
        return await self._core.create_session(cwd, additional_directories, mcp_servers, source_id=session_id)

    async def list_sessions(
        self, *, cwd: Folder | None = None, additional_directories: Sequence[Folder] | None = None
    ) -> list[v2.SessionInfo]:
        """List all sessions of the agent with their directories, or only those with these directories."""
        refuse_text(additional_directories=additional_directories)
        fields: dict[str, Any] = {"cwd": None if cwd is None else str(Path.cwd() / cwd)}
        if additional_directories is not None:
            self._core.require("session/list", "additionalDirectories")
            base = Path.cwd() / (cwd or "")
            fields["additional_directories"] = [str(base / path) for path in additional_directories]
        sessions: list[v2.SessionInfo] = []
        cursor: str | None = None
        visited_cursors: set[str] = set()
        for _ in range(MAX_PAGES):
            request = v2.ListSessionsRequest(cursor=cursor, **fields)
            page: v2.ListSessionsResponse = await self._core.request("session/list", request)
            sessions += page.sessions
            cursor = page.next_cursor
            if cursor is None:
                return sessions
            if cursor in visited_cursors:
                break
            visited_cursors.add(cursor)
        raise InvalidMessage("session/list", "/nextCursor", f"the pages do not end: {len(visited_cursors)} were read")

    async def delete_session(self, session_id: str) -> None:
        """Delete a stored session. If it is open, it ends, even if the agent refuses."""
        await self._core.delete_session(session_id)

    async def authenticate(self, method_id: str) -> None:
        """Log the user in by one of `auth_methods`. Raises `NotAdvertised` if there are none, `ValueError` for any other method."""
        method_ids = [method.method_id for method in self.auth_methods]
        self._require_login("auth/login")
        if method_id not in method_ids:
            raise ValueError(f"the agent has no method of authentication {method_id!r}; it has {', '.join(method_ids)}")
        await self._core.request("auth/login", v2.LoginAuthRequest(method_id=method_id))

    async def logout(self) -> None:
        """Log the user out. Raises `NotAdvertised` if the agent has no login, or is a v1 agent that cannot log out."""
        self._require_login("auth/logout")
        await self._core.request("auth/logout", v2.LogoutAuthRequest())

    def _require_login(self, method: str) -> None:
        if not self.auth_methods:
            raise NotAdvertised(method, "agent:authMethods")

    async def extension_request(self, method: str, params: Any = None) -> Any:
        """Send an extension request. Raises `ValueError` for a method that does not begin with `_`."""
        _require_extension(method)
        return await self._core.request(method, params)

    async def extension_notification(self, method: str, params: Any = None) -> None:
        """Send an extension notification. Raises `ValueError` for a method that does not begin with `_`."""
        _require_extension(method)
        await self._core.calls.notify(method, params)

    async def wait_closed(self) -> None:
        """Wait until the agent has ended or the connection is closed."""
        await self._core.connection.ended()

    async def close(self) -> None:
        """Close the connection and all sessions, and end an agent that was spawned. The end of the `async with` block does it too."""
        await self._core.connection.close()


def _require_extension(method: str) -> None:
    if not method.startswith("_"):
        raise ValueError(
            f"the name of an extension begins with '_': write '_{method}', or call the method of the protocol"
        )
