"""Both sides of v2 on the connection of the bindings, with their sessions owned by a host.

    class MyAgent(HostedAgent):
        async def turn(self, turn: Turn) -> str:
            await turn.say("Hello", "message-1")
            return "end_turn"


What a host holds, such as open roots and turns, ends with the connection.
"""

from __future__ import annotations

from typing import Any

from acp_bindings import v2
from acp_bindings.v2 import peers

from acp_session.hosted import Connected

from .agent_host import AgentHost, Turn


class HostedAgent(Connected, peers.Agent):
    """An agent whose sessions an `AgentHost` owns: override `turn`, and what else is wanted. `info` is what the client is told about the
    agent; the other arguments are those of `AgentHost` by name.
    """

    def __init__(self, info: v2.Implementation, **options: Any) -> None:
        self.info = info
        options.setdefault("offers", self.capabilities)
        self.host: AgentHost = AgentHost(self._tell, call=self._call, **options)

    async def turn(self, turn: Turn) -> str:
        """Do the work of a turn, and say why it ended. It is cancelled with the turn."""
        raise NotImplementedError("override 'turn'")

    def capabilities(self) -> v2.AgentCapabilities:
        """What is advertised: what the host can do. Override it to add more, such as `prompt` and `mcp` of the session's; the host refuses
        content and MCP servers that are not advertised.
        """
        return self.host.capabilities()

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:  # noqa: ARG002
        """Answer with version 2: `acp_session.negotiation` sees to clients that speak another."""
        return v2.InitializeResponse(protocol_version=2, info=self.info, capabilities=self.capabilities())

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        """See `AgentHost.new`."""
        return await self.host.new(params)

    async def session_load(self, params: v2.LoadSessionRequest, /) -> v2.LoadSessionResponse:
        """See `AgentHost.load`."""
        return await self.host.load(params)

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        """See `AgentHost.resume`."""
        return await self.host.resume(params)

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        """See `AgentHost.fork`."""
        return await self.host.fork(params)

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        """See `AgentHost.list_sessions`."""
        return await self.host.list_sessions(params)

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        """See `AgentHost.close`."""
        return await self.host.close(params)

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        """See `AgentHost.delete`."""
        return await self.host.delete(params)

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        """See `AgentHost.prompt`; `turn` does the work."""
        return await self.host.prompt(params, self.turn)

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        """See `AgentHost.cancel`."""
        self.host.cancel(params)
