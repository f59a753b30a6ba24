"""Both sides of v1 on the connection of the bindings, with their sessions owned by a host.

    class MyAgent(HostedAgent):
        async def turn(self, turn: Turn) -> v1.StopReason:
            await turn.say("Hello")
            return "end_turn"

    asyncio.run(peers.run_agent(MyAgent()))

    client = HostedClient(granted=["/srv/app"], permission=ask_the_user)
    async with peers.spawn_agent(["my-agent"], client):
        await client.host.initialize()
        session = await client.host.new("/srv/app")
        await client.host.prompt(session.id, "Hello")

What a host holds, such as open roots, turns and running commands, ends with the connection.
"""

from __future__ import annotations

from typing import Any

from acp_bindings import ErrorResponse, Request, RequestError, Response, to_builtins, v1
from acp_bindings.v1 import peers

from jsonrpc_bindings.peers import Side
from jsonrpc_bindings.pending import Sent

from .agent_host import AgentHost
from .client_host import ClientHost
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


class Answering(Connected):
    """A client whose methods answer what its host answers. An override answers instead; `super()` still gives the host's answer."""

    async def _answer(self, method: str, params: Any) -> Any:
        answer: Response[Any] | ErrorResponse[Any] = await self.host.answer(Request(0, method, params))
        if isinstance(answer, ErrorResponse):
            raise RequestError(answer.error.code, answer.error.message, answer.error.data)
        return answer.result

    def _find_overrides(self, base: type[Side]) -> frozenset[str]:
        """The methods that a subclass of `base` answers itself."""
        names = self.requests.items()
        return frozenset(method for method, name in names if getattr(type(self), name) is not getattr(base, name))

    def _agent_opening(self) -> Any:
        """What the agent answered to `initialize`, as JSON; `None` before."""
        return None if self._connection is None else self._connection.gates.opening(self.other)

    async def heed(self, method: str, params: Any) -> None:
        """Give a notification to the host, then to the method's own coroutine."""
        self.host.notice(params)
        await super().heed(method, params)


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


class HostedClient(Answering, peers.Client):
    """A client whose sessions, files and terminals a `ClientHost` owns. Its methods answer what the host answers; override them to answer
    otherwise, and `session_update` to see updates. The arguments are those of `ClientHost` by name.
    """

    def __init__(self, **options: Any) -> None:
        options.setdefault("overrides", self._find_overrides(HostedClient))
        self.host: ClientHost = ClientHost(
            self._call, self._tell, waiting=self._waits, initialize_result=self._initialize_result, **options
        )

    def _initialize_result(self) -> v1.InitializeResponse | None:
        answer = self._agent_opening()
        return None if answer is None else v1.decode_as(v1.InitializeResponse, answer)

    def with_capabilities(self, request: v1.InitializeRequest) -> v1.InitializeRequest:
        """A request with the host's capabilities, unless it has some."""
        if "clientCapabilities" in to_builtins(request):
            return request
        return request.__replace__(client_capabilities=self.host.capabilities())

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        """Ask `permission`."""
        answer: v1.RequestPermissionResponse = await self._answer("session/request_permission", params)
        return answer

    async def elicitation_create(self, params: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        """Ask `elicit`."""
        answer: v1.CreateElicitationResponse = await self._answer("elicitation/create", params)
        return answer

    async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        """See `FileSystem`."""
        answer: v1.ReadTextFileResponse = await self._answer("fs/read_text_file", params)
        return answer

    async def fs_write_text_file(self, params: v1.WriteTextFileRequest, /) -> v1.WriteTextFileResponse:
        """See `FileSystem`."""
        answer: v1.WriteTextFileResponse = await self._answer("fs/write_text_file", params)
        return answer

    async def terminal_create(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
        """See `Terminals`."""
        answer: v1.CreateTerminalResponse = await self._answer("terminal/create", params)
        return answer

    async def terminal_output(self, params: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
        """See `Terminals`."""
        answer: v1.TerminalOutputResponse = await self._answer("terminal/output", params)
        return answer

    async def terminal_wait_for_exit(self, params: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
        """See `Terminals`."""
        answer: v1.WaitForTerminalExitResponse = await self._answer("terminal/wait_for_exit", params)
        return answer

    async def terminal_kill(self, params: v1.KillTerminalRequest, /) -> v1.KillTerminalResponse:
        """See `Terminals`."""
        answer: v1.KillTerminalResponse = await self._answer("terminal/kill", params)
        return answer

    async def terminal_release(self, params: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
        """See `Terminals`."""
        answer: v1.ReleaseTerminalResponse = await self._answer("terminal/release", params)
        return answer
