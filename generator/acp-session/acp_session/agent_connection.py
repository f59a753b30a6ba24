"""The agent as its client has it: what it is, and the sessions that it opens."""

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
from .errors import InvalidMessage

MAX_PAGES: Final = 1000
"""Pages of `session/list` that are asked for."""


class AgentConnection:
    """A connection to an agent that is initialized. `version` is the version of the protocol on the wire, 1 or 2; all else is in the terms
    of v2, whichever is spoken.

    Paths are text or `Path`. A relative `cwd` counts from the directory of this process, relative additional directories from `cwd`.
    Calls raise `PeerError` where the agent answers with an error, `NotAdvertised` before anything is sent where the agent does not offer
    something, `InvalidMessage`, `ConnectionClosed`, and `ValueError` for what is wrong by itself, such as a directory that is not allowed.
    """

    def __init__(self, core: ClientCore) -> None:
        self._core = core
        self.version = core.version

    def __repr__(self) -> str:
        return f"<AgentConnection to {self.info.name!r}, version {self.version}>"

    @property
    def info(self) -> v2.Implementation:
        """The name and version of the agent's program."""
        return self._core.answer.info

    @property
    def capabilities(self) -> v2.AgentCapabilities:
        """What the agent offers; `capabilities.session.additional_directories` says whether sessions can have several roots."""
        return self._core.answer.capabilities

    @property
    def can_load_session(self) -> bool:
        """Whether the agent can replay the conversation of a session."""
        return self._core.can_load

    @property
    def auth_methods(self) -> Sequence[v2.AuthMethod]:
        """How the user can log in."""
        found = self._core.answer.auth_methods
        return tuple(found) if isinstance(found, list) else ()

    @property
    def sessions(self) -> Mapping[str, ClientSession]:
        """The sessions that are open, by their ids."""
        return MappingProxyType(self._core.sessions)

    async def new_session(
        self,
        cwd: Folder,
        *,
        additional_directories: Sequence[Folder] = (),
        mcp_servers: McpServers = (),
    ) -> ClientSession:
        """Open a session that may use these directories, and no others. The agent connects to the MCP servers; a `dict` is one as
        JSON of v2 has it.
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
        """Open a session that the agent has stored; its conversation is replayed. The directories given are all that the session
        has from now on. Where the agent refuses, a session that is open stays as it was.
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
        """As `load_session`, without a replay; what is known of the session stays."""
        return await self._core.resume_session(session_id, cwd, additional_directories, mcp_servers, is_load=False)

    async def fork_session(
        self,
        session_id: str,
        cwd: Folder,
        *,
        additional_directories: Sequence[Folder] = (),
        mcp_servers: McpServers = (),
    ) -> ClientSession:
        """Open a new session with the context of another, which stays as it is. Directories are not inherited; the transcript begins as
        that of the other session, where that is open.
        """
        return await self._core.create_session(cwd, additional_directories, mcp_servers, source_id=session_id)

    async def list_sessions(
        self, *, cwd: Folder | None = None, additional_directories: Sequence[Folder] | None = None
    ) -> list[v2.SessionInfo]:
        """All sessions that the agent knows, with their directories, or those with these directories."""
        refuse_text(additional_directories=additional_directories)
        fields: dict[str, Any] = {"cwd": None if cwd is None else str(Path.cwd() / cwd)}
        if additional_directories is not None:
            offered = self._core.session_capabilities.additional_directories
            self._core.require("session/list", offered, "capabilities.session.additionalDirectories")
            base = Path.cwd() / (cwd or "")
            fields["additional_directories"] = [str(base / path) for path in additional_directories]
        found: list[v2.SessionInfo] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            request = v2.ListSessionsRequest(cursor=cursor, **fields)
            page: v2.ListSessionsResponse = await self._core.request("session/list", request)
            found += page.sessions
            cursor = page.next_cursor
            if cursor is None:
                return found
            if cursor in seen:
                break
            seen.add(cursor)
        raise InvalidMessage("session/list", "/nextCursor", f"the pages do not end: {len(seen)} were read")

    async def delete_session(self, session_id: str) -> None:
        """Have a stored session removed. An open one ends with it, even where the agent refuses."""
        await self._core.delete_session(session_id)

    async def authenticate(self, method_id: str) -> None:
        """Log the user in, by one of `auth_methods`. Raises `NotAdvertised` where there are none, `ValueError` for another."""
        known = [method.method_id for method in self.auth_methods]
        self._core.require("auth/login", bool(known), "authMethods")
        if method_id not in known:
            raise ValueError(f"the agent has no method of authentication {method_id!r}; it has {', '.join(known)}")
        await self._core.request("auth/login", v2.LoginAuthRequest(method_id=method_id))

    async def logout(self) -> None:
        """Log the user out. Raises `NotAdvertised` where the agent has no login, or one of v1 cannot forget it."""
        self._core.require("auth/logout", bool(self.auth_methods), "authMethods")
        self._core.require("logout", self._core.can_logout, "agentCapabilities.auth.logout")
        await self._core.request("auth/logout", v2.LogoutAuthRequest())

    async def extension_request(self, method: str, params: Any = None) -> Any:
        """Send a request that the schema does not have. Raises `ValueError` for a name that does not begin with `_`."""
        _require_extension(method)
        return await self._core.request(method, params)

    async def extension_notification(self, method: str, params: Any = None) -> None:
        """Send a notification that the schema does not have. Raises `ValueError` as `extension_request`."""
        _require_extension(method)
        await self._core.calls.notify(method, params)

    async def wait_closed(self) -> None:
        """Wait until the agent has ended, or the connection was closed."""
        await self._core.connection.ended()

    async def close(self) -> None:
        """End the connection and all sessions; an agent that was started is ended too. The end of the `async with` block does it."""
        await self._core.connection.close()


def _require_extension(method: str) -> None:
    if not method.startswith("_"):
        raise ValueError(
            f"the name of an extension begins with '_': write '_{method}', or call the method of the protocol"
        )
