"""Both sides of v1 on the connection of the bindings, with their sessions owned by a host.

    class MyAgent(HostedAgent):
        async def turn(self, turn: Turn) -> v1.StopReason:
            await turn.say("Hello")
            return "end_turn"

    asyncio.run(peers.run_agent(MyAgent()))


What a host holds, such as open roots, turns and running commands, ends with the connection.
"""

from __future__ import annotations

from typing import Any

from acp_bindings import v1
from acp_bindings.v1 import peers

from jsonrpc_bindings.peers import Side
from jsonrpc_bindings.pending import Sent

from .agent_host import AgentHost
from .turn_v1 import Turn


class Connected(Side):
    """A side whose sessions a host owns: how the host sends, and when it ends."""

    host: Any

    async def disconnected(self) -> None:
        """End all sessions, their turns, and what runs for them."""
        await self.host.aclose()

    async def _call(self, method: str, params: Any) -> Any:
        return await self.connection.request(method, params)

    def _waits(self, id_: object) -> Sent | None:
        return self.connection.sent(id_)

    async def _tell(self, method: str, params: Any) -> None:
        await self.connection.notify(method, params)


class HostedAgent(Connected, peers.Agent):
    """An agent whose sessions an `AgentHost` owns: override `turn`, and what else is wanted. `info` is what the client is told about the
    agent; the other arguments are those of `AgentHost` by name.
    """

    def __init__(self, info: v1.Implementation | None = None, **options: Any) -> None:
        self.info = info
        self.host: AgentHost = AgentHost(self._tell, call=self._call, **options)

    async def turn(self, turn: Turn) -> v1.StopReason:
        """Do the work of a turn, and say why it ended. It is cancelled with the turn."""
        raise NotImplementedError("override 'turn'")

    def capabilities(self) -> v1.AgentCapabilities:
        """What is advertised: what the host can do, and `logout` where it is overridden. Override it to add more, such as
        `prompt_capabilities`.
        """
        found = self.host.capabilities()
        if type(self).logout is HostedAgent.logout:
            return found
        found.auth = v1.AgentAuthCapabilities(logout=v1.LogoutCapabilities())
        return found

    async def initialize(self, params: v1.InitializeRequest, /) -> v1.InitializeResponse:  # noqa: ARG002
        """Answer with version 1, whatever version is asked for: a client that does not have it ends the connection."""
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=self.capabilities(), agent_info=self.info)

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        """See `AgentHost.new`."""
        return await self.host.new(params)

    async def session_load(self, params: v1.LoadSessionRequest, /) -> v1.LoadSessionResponse:
        """See `AgentHost.load`."""
        return await self.host.load(params)

    async def session_resume(self, params: v1.ResumeSessionRequest, /) -> v1.ResumeSessionResponse:
        """See `AgentHost.resume`."""
        return await self.host.resume(params)

    async def session_fork(self, params: v1.ForkSessionRequest, /) -> v1.ForkSessionResponse:
        """See `AgentHost.fork`."""
        return await self.host.fork(params)

    async def session_list(self, params: v1.ListSessionsRequest, /) -> v1.ListSessionsResponse:
        """See `AgentHost.list_sessions`."""
        return await self.host.list_sessions(params)

    async def session_close(self, params: v1.CloseSessionRequest, /) -> v1.CloseSessionResponse:
        """See `AgentHost.close`."""
        return await self.host.close(params)

    async def session_delete(self, params: v1.DeleteSessionRequest, /) -> v1.DeleteSessionResponse:
        """See `AgentHost.delete`."""
        return await self.host.delete(params)

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        """See `AgentHost.prompt`; `turn` does the work."""
        return await self.host.prompt(params, self.turn)

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        """See `AgentHost.cancel`."""
        self.host.cancel(params)
