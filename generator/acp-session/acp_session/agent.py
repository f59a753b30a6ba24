"""The base class for authors of agents: one class serves version 1 and version 2 of the protocol."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from acp_bindings import RequestError, v2

from acp_workspace.policy import FilePolicy
from acp_workspace.workspace import RootPolicy
from jsonrpc_bindings.peers import refuse_unserved

from .arguments import refuse_text, refuse_unknown
from .session import ClientConnection, Session
from .store import MemoryStore, Store
from .turn import Turn

if TYPE_CHECKING:
    from .agent_core import AgentCore

AUTH_REQUIRED: Final = -32000
"""The error code that says that the user has to log in first."""

PROMPT_CAPABILITIES: Final = {"image": "image", "audio": "audio", "resource": "embeddedContext"}
"""The prompt capability that each optional content type requires."""


class AuthRequired(RequestError):
    """Raise this in `on_new_session` and similar hooks when the user has to log in first."""

    def __init__(self, message: str = "log in first") -> None:
        super().__init__(AUTH_REQUIRED, message)


class Agent:
    """An agent. Override `on_prompt`, and any other hooks that you need. One object may serve any number of connections.

    A `RequestError` or `NotAdvertised` that a hook raises becomes the error response; any other exception is logged with the session's
    id, and the response is an internal error. Hooks without a response, such as `on_cancel` and `on_close_session`, hold nothing up:
    after `grace` seconds they go on by themselves.

    `info`: name and version for clients. `auth_methods`: how users can log in; `on_authenticate` does it. `store` keeps the sessions.
    `allowed_roots`: the directories that sessions may use, or a policy for them; by default all. `additional_directories`: whether a
    session may have more than one root. `prompt_types`: the content types that a prompt may have besides text and links: `image`,
    `audio`, `resource`. `mcp_transports`: how the agent connects to `session.mcp_servers`, `stdio` and `http`; servers with other
    transports are refused. `files`: the policy for the files that the agent reads and writes for a client of v2, on its own machine; a
    client of v1 has its own.
    """

    def __init__(
        self,
        *,
        info: v2.Implementation | None = None,
        auth_methods: Sequence[v2.AuthMethod] = (),
        store: Store | None = None,
        allowed_roots: Iterable[str | os.PathLike[str]] | RootPolicy | None = None,
        additional_directories: bool = True,
        prompt_types: Collection[str] = (),
        mcp_transports: Collection[str] = ("stdio",),
        files: FilePolicy = FilePolicy(),  # noqa: B008 - frozen
    ) -> None:
        refuse_text(allowed_roots=allowed_roots, prompt_types=prompt_types, mcp_transports=mcp_transports)
        refuse_unknown(("text", "resource_link", *PROMPT_CAPABILITIES), prompt_types=prompt_types)
        refuse_unknown(("stdio", "http"), mcp_transports=mcp_transports)
        if store is not None and not hasattr(store, "save"):
            raise ValueError(f"'store' must be a store, such as FileStore({str(store)!r})")
        self.info: v2.Implementation = info or v2.Implementation(name=type(self).__name__.lower(), version="0")
        self.auth_methods: tuple[v2.AuthMethod, ...] = tuple(auth_methods)
        self.store: Store = MemoryStore() if store is None else store
        self.root_policy: RootPolicy = _make_policy(allowed_roots)
        self.additional_directories = additional_directories
        self.prompt_types = frozenset(prompt_types)
        self.mcp_transports = frozenset(mcp_transports)
        self.files = files
        self.owners: dict[str, AgentCore] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        if any(isinstance(method, v2.AuthMethodAgent) for method in auth_methods) and not self.overrides(
            "on_authenticate"
        ):
            raise ValueError("an agent with methods of authentication needs 'on_authenticate'")
        if auth_methods and not self.overrides("on_logout"):
            raise ValueError("an agent with methods of authentication needs 'on_logout'")

    def overrides(self, name: str) -> bool:
        """Whether a subclass overrides this method."""
        return getattr(type(self), name) is not getattr(Agent, name)

    def lock(self, session_id: str) -> asyncio.Lock:
        """The lock that serializes the requests that open or close this session."""
        return self._locks.setdefault(session_id, asyncio.Lock())

    def capabilities(self) -> v2.AgentCapabilities:
        """The capabilities that the agent advertises, as in version 2."""
        prompt: dict[str, Any] = {name: {} for type_, name in PROMPT_CAPABILITIES.items() if type_ in self.prompt_types}
        mcp: dict[str, Any] = {name: {} for name in self.mcp_transports}
        session: dict[str, Any] = {"prompt": prompt, "mcp": mcp, "delete": {}, "fork": {}}
        if self.additional_directories:
            session["additionalDirectories"] = {}
        return v2.decode_as(v2.AgentCapabilities, {"session": session})

    async def on_prompt(self, turn: Turn) -> str | None:
        """Do the work of a turn, and return its stop reason: `end_turn` (or `None`), `max_tokens`, `max_turn_requests` or `refusal`.

        When the turn is cancelled, so is this coroutine; if it continues all the same, the turn ends without it.
        """
        raise NotImplementedError("override 'on_prompt'")

    async def on_cancel(self, session: Session) -> None:
        """Called when the client cancels the work of a session. The turn is cancelled already."""

    async def on_cancel_tool_call(self, session: Session, tool_call_id: str) -> None:  # noqa: ARG002
        """Stop one tool call, as the user asks (version 2 only).

        The tool call must have advertised this by an update with `capabilities`; end it by an update with its `status`.
        """
        raise refuse_unserved("tool_call/cancel")

    async def on_new_session(self, session: Session) -> None:
        """Called when a session begins: offer modes, options and commands here. The client gets the response when this returns."""

    async def on_load_session(self, session: Session) -> None:
        """Called when a session is opened again and its history is going to be replayed to the client."""

    async def on_resume_session(self, session: Session) -> None:
        """Called when a session is opened again by a client that has its history."""

    async def on_fork_session(self, session: Session) -> None:
        """Called when a session begins that has the history of another, and a copy of its `data`."""

    async def on_close_session(self, session: Session) -> None:
        """Called when a session is closed: by the client, with its connection, or because another connection opens it.

        Its turn has ended.
        """

    async def on_delete_session(self, session: Session) -> None:
        """Called before a session is closed (if it is open) and deleted from the store. Raise `RequestError` to keep it.

        Nothing can be sent for a session that is not open.
        """

    async def on_set_mode(self, session: Session, mode_id: str) -> None:
        """Called when the user chooses one of the modes of `session.set_modes`. The session is in that mode once this returns."""

    async def on_set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:
        """Called when the user sets one of the options of `session.set_config_options`. It has the value once this returns."""

    async def on_authenticate(self, connection: ClientConnection, method_id: str) -> None:  # noqa: ARG002
        """Log the user in by one of `auth_methods`: set `connection.user`."""
        raise refuse_unserved("auth/login")

    async def on_logout(self, connection: ClientConnection) -> None:  # noqa: ARG002
        """Log the user out; once this returns, `connection.user` is `None`."""
        raise refuse_unserved("auth/logout")

    async def on_extension_request(self, connection: ClientConnection, method: str, params: Any) -> Any:  # noqa: ARG002
        """Return the result of an extension request. Its method begins with `_`; params and result are plain JSON."""
        raise refuse_unserved(method)

    async def on_extension_notification(self, connection: ClientConnection, method: str, params: Any) -> None:
        """Handle an extension notification. Its method begins with `_`."""


def _make_policy(allowed_roots: Iterable[str | os.PathLike[str]] | RootPolicy | None) -> RootPolicy:
    if allowed_roots is None:
        return lambda path: None
    if callable(allowed_roots):
        return allowed_roots
    folders = [os.path.realpath(root) for root in allowed_roots]

    def allow(path: str) -> str | None:
        real = os.path.realpath(path)
        is_allowed = any(os.path.commonpath([real, folder]) == folder for folder in folders)
        return None if is_allowed else "it is outside the directories that this agent may use"

    return allow
