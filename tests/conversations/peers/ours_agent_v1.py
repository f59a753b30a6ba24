"""An agent of ACP v1 on the bindings: every method, every update, every question to the client that it advertised."""

from __future__ import annotations

import asyncio
from typing import Any

from acp_bindings import v1

from conversations.peers.wire import Handler, Peer, RequestError, on_stdio


class Agent:
    """Sessions live in memory; a prompt runs the whole tour, or waits to be cancelled if its text is `wait`."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.client = v1.ClientCapabilities()
        self.sessions: dict[str, v1.SessionInfo] = {}
        self.stops: dict[str, asyncio.Event] = {}

    async def handle(self, method: str, params: Any) -> Any:
        match params:
            case v1.InitializeRequest():
                self.client = params.client_capabilities
                return self.initialized()
            case v1.NewSessionRequest():
                name = f"tour-{len(self.sessions)}"
                self.keep(name, params)
                return v1.NewSessionResponse(session_id=name, modes=self.modes())
            case v1.LoadSessionRequest():
                self.keep(params.session_id, params)
                text = v1.TextContent(text="as before")
                await self.update(params.session_id, v1.UserMessageChunk(content=text))
                return v1.LoadSessionResponse(modes=self.modes())
            case v1.ResumeSessionRequest():
                self.keep(params.session_id, params)
                return v1.ResumeSessionResponse(modes=self.modes())
            case v1.ListSessionsRequest():
                return v1.ListSessionsResponse(sessions=self.listed(params))
            case v1.CloseSessionRequest():
                return v1.CloseSessionResponse()
            case v1.SetSessionModeRequest():
                await self.update(params.session_id, v1.CurrentModeUpdate(current_mode_id=params.mode_id))
                return v1.SetSessionModeResponse()
            case v1.PromptRequest():
                return await self.prompt(params)
            case v1.CancelNotification():
                self.stops[params.session_id].set()
                return None
            case _:
                raise RequestError(-32601, f"{method} is not supported")

    def initialized(self) -> v1.InitializeResponse:
        return v1.InitializeResponse(
            protocol_version=1,
            agent_info=v1.Implementation(name="tour", version="1"),
            agent_capabilities=v1.AgentCapabilities(
                load_session=True,
                session_capabilities=v1.SessionCapabilities(
                    list_=v1.SessionListCapabilities(),
                    resume=v1.SessionResumeCapabilities(),
                    close=v1.SessionCloseCapabilities(),
                    additional_directories=v1.SessionAdditionalDirectoriesCapabilities(),
                ),
            ),
        )

    def modes(self) -> v1.SessionModeState:
        modes = [v1.SessionMode(id="ask", name="Ask"), v1.SessionMode(id="act", name="Act")]
        return v1.SessionModeState(current_mode_id="ask", available_modes=modes)

    def keep(self, name: str, params: v1.NewSessionRequest | v1.LoadSessionRequest | v1.ResumeSessionRequest) -> None:
        roots = params.additional_directories
        self.sessions[name] = v1.SessionInfo(
            session_id=name, cwd=params.cwd, additional_directories=roots if isinstance(roots, list) else []
        )

    def listed(self, params: v1.ListSessionsRequest) -> list[v1.SessionInfo]:
        roots = params.additional_directories
        return [
            info
            for info in self.sessions.values()
            if params.cwd is None or info.cwd == params.cwd
            if not isinstance(roots, list) or info.additional_directories == roots
        ]

    async def update(self, session: str, update: Any) -> None:
        await self.peer.notify("session/update", v1.SessionNotification(session_id=session, update=update))

    async def prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        session, first = params.session_id, params.prompt[0]
        stop = self.stops[session] = asyncio.Event()
        if isinstance(first, v1.TextContent) and first.text == "wait":
            await self.update(session, v1.AgentThoughtChunk(content=v1.TextContent(text="waiting")))
            await stop.wait()
            return v1.PromptResponse(stop_reason="cancelled")
        await self.update(session, v1.ToolCall(tool_call_id="t1", title="Look", kind="read", status="pending"))
        allowed = await self.ask(session)
        if allowed:
            await self.files(session)
            await self.terminal(session)
            await self.question(session)
        status: Any = "completed" if allowed else "failed"
        await self.update(session, v1.SessionToolCallUpdate(tool_call_id="t1", status=status))
        await self.update(session, v1.AgentMessageChunk(content=v1.TextContent(text="done")))
        return v1.PromptResponse(stop_reason="end_turn")

    async def ask(self, session: str) -> bool:
        options = [
            v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
            v1.PermissionOption(option_id="no", name="No", kind="reject_once"),
        ]
        request = v1.RequestPermissionRequest(
            session_id=session, tool_call=v1.ToolCallUpdate(tool_call_id="t1"), options=options
        )
        answer = await self.peer.request("session/request_permission", request)
        match answer.outcome:
            case v1.SelectedPermissionOutcome(option_id="yes"):
                return True
            case _:
                return False

    async def files(self, session: str) -> None:
        path = f"{self.sessions[session].cwd}/note.txt"
        if self.client.fs.write_text_file:
            write = v1.WriteTextFileRequest(session_id=session, path=path, content="tide\n")
            await self.peer.request("fs/write_text_file", write)
        if self.client.fs.read_text_file:
            read = await self.peer.request("fs/read_text_file", v1.ReadTextFileRequest(session_id=session, path=path))
            assert read.content == "tide\n", read

    async def terminal(self, session: str) -> None:
        if not self.client.terminal:
            return
        create = v1.CreateTerminalRequest(session_id=session, command="echo", args=["tide"])
        name = (await self.peer.request("terminal/create", create)).terminal_id
        await self.peer.request(
            "terminal/wait_for_exit", v1.WaitForTerminalExitRequest(session_id=session, terminal_id=name)
        )
        await self.peer.request("terminal/output", v1.TerminalOutputRequest(session_id=session, terminal_id=name))
        await self.peer.request("terminal/release", v1.ReleaseTerminalRequest(session_id=session, terminal_id=name))

    async def question(self, session: str) -> None:
        if self.client.elicitation is None or self.client.elicitation.form is None:
            return
        form = {
            "sessionId": session,
            "mode": "form",
            "message": "Which harbour?",
            "requestedSchema": {"type": "object", "properties": {"harbour": {"type": "string"}}},
        }
        await self.peer.request("elicitation/create", v1.decode_as(v1.CreateElicitationRequest, form))


def made(peer: Peer) -> Handler:
    return Agent(peer).handle


if __name__ == "__main__":
    asyncio.run(on_stdio(v1, "agent", made))
