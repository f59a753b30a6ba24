"""Both sides of v2 on the connection of the bindings, with their sessions owned by a host.

    class MyAgent(HostedAgent):
        async def turn(self, turn: Turn) -> str:
            await turn.say("Hello", "message-1")
            return "end_turn"

    client = HostedClient(granted=["/srv/app"], permission=ask_the_user)
    async with peers.join(MyAgent(me), client):
        await client.host.initialize(me)
        session = await client.host.new("/srv/app")
        end = await client.host.turn(session.id, "Hello")

What a host holds, such as open roots and turns, ends with the connection.
"""

from __future__ import annotations

from typing import Any

from acp_bindings import to_builtins, v2
from acp_bindings.v2 import peers

from acp_session.hosted import Answering, Connected

from .agent_host import AgentHost, Turn
from .client_host import ClientHost


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


class HostedClient(Answering, peers.Client):
    """A client whose sessions a `ClientHost` owns. Its methods answer what the host answers; override them to answer otherwise, and
    `session_update` to see updates. The arguments are those of `ClientHost` by name.
    """

    def __init__(self, **options: Any) -> None:
        options.setdefault("overrides", self._find_overrides(HostedClient))
        self.host: ClientHost = ClientHost(
            self._call, self._tell, waiting=self._waits, initialize_result=self._initialize_result, **options
        )

    def _initialize_result(self) -> v2.InitializeResponse | None:
        answer = self._agent_opening()
        return None if answer is None else v2.decode_as(v2.InitializeResponse, answer)

    def with_capabilities(self, request: v2.InitializeRequest) -> v2.InitializeRequest:
        """A request with the host's capabilities, unless it has some."""
        if "capabilities" in to_builtins(request):
            return request
        return request.__replace__(capabilities=self.host.capabilities())

    async def session_request_permission(self, params: v2.RequestPermissionRequest, /) -> v2.RequestPermissionResponse:
        """Ask `permission`."""
        answer: v2.RequestPermissionResponse = await self._answer("session/request_permission", params)
        return answer

    async def elicitation_create(self, params: v2.CreateElicitationRequest, /) -> v2.CreateElicitationResponse:
        """Ask `elicit`."""
        answer: v2.CreateElicitationResponse = await self._answer("elicitation/create", params)
        return answer
