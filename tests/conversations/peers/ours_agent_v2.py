"""An agent of ACP v2 on the bindings: the eight baseline methods, permission with a subject, elicitation, states."""

from __future__ import annotations

import asyncio
from typing import Any

from acp_bindings import v2

from conversations.peers.wire import Handler, Peer, RequestError, on_stdio


class Agent:
    """Sessions live in memory; a prompt runs the whole tour, or waits to be cancelled if its text is `wait`."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.client = v2.ClientCapabilities()
        self.sessions: dict[str, v2.SessionInfo] = {}
        self.stops: dict[str, asyncio.Event] = {}
        self.work: set[asyncio.Task[None]] = set()

    async def handle(self, method: str, params: Any) -> Any:
        match params:
            case v2.InitializeRequest():
                self.client = params.capabilities
                session = v2.SessionCapabilities(additional_directories=v2.SessionAdditionalDirectoriesCapabilities())
                return v2.InitializeResponse(
                    protocol_version=2,
                    info=v2.Implementation(name="tour", version="1"),
                    capabilities=v2.AgentCapabilities(session=session),
                )
            case v2.NewSessionRequest():
                name = f"tour-{len(self.sessions)}"
                self.keep(name, params)
                return v2.NewSessionResponse(session_id=name)
            case v2.LoadSessionRequest():
                self.keep(params.session_id, params)
                said = v2.UserMessage(message_id="m0", content=[v2.TextContent(text="as before")])
                await self.update(params.session_id, said)
                await self.update(params.session_id, v2.EndTurnStopReason())
                return v2.LoadSessionResponse()
            case v2.ResumeSessionRequest():
                self.keep(params.session_id, params)
                await self.update(params.session_id, v2.EndTurnStopReason())
                return v2.ResumeSessionResponse()
            case v2.ListSessionsRequest():
                return v2.ListSessionsResponse(sessions=self.listed(params))
            case v2.CloseSessionRequest():
                return v2.CloseSessionResponse()
            case v2.PromptRequest():
                message = f"m{len(self.stops) + 1}"
                task = asyncio.create_task(self.turn(params, message))
                self.work.add(task)
                task.add_done_callback(self.work.discard)
                return v2.PromptResponse(message_id=message)
            case v2.CancelSessionNotification():
                self.stops[params.session_id].set()
                return None
            case _:
                raise RequestError(-32601, f"{method} is not supported")

    def keep(self, name: str, params: v2.NewSessionRequest | v2.LoadSessionRequest | v2.ResumeSessionRequest) -> None:
        roots = params.additional_directories
        self.sessions[name] = v2.SessionInfo(
            session_id=name, cwd=params.cwd, additional_directories=roots if isinstance(roots, list) else []
        )

    def listed(self, params: v2.ListSessionsRequest) -> list[v2.SessionInfo]:
        roots = params.additional_directories
        return [
            info
            for info in self.sessions.values()
            if params.cwd is None or info.cwd == params.cwd
            if not isinstance(roots, list) or info.additional_directories == roots
        ]

    async def update(self, session: str, update: Any) -> None:
        await self.peer.notify("session/update", v2.UpdateSessionNotification(session_id=session, update=update))

    async def turn(self, params: v2.PromptRequest, message: str) -> None:
        session, first = params.session_id, params.prompt[0]
        stop = self.stops[session] = asyncio.Event()
        await self.update(session, v2.UserMessage(message_id=message, content=params.prompt))
        await self.update(session, v2.RunningStateUpdate())
        if isinstance(first, v2.TextContent) and first.text == "wait":
            await stop.wait()
            await self.update(session, v2.CancelledStopReason())
            return
        call = v2.ToolCallUpdate(tool_call_id="t1", title="Look", kind="read", status="pending")
        answer = await self.peer.request(
            "session/request_permission",
            v2.RequestPermissionRequest(
                session_id=session,
                title="Look at the tide?",
                subject=v2.ToolCallPermissionSubject(tool_call=call),
                options=[v2.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
            ),
        )
        allowed = isinstance(answer.outcome, v2.SelectedPermissionOutcome)
        if allowed and self.client.elicitation is not None and self.client.elicitation.form is not None:
            form = {
                "sessionId": session,
                "mode": "form",
                "message": "Which harbour?",
                "requestedSchema": {"type": "object", "properties": {"harbour": {"type": "string"}}},
            }
            await self.peer.request("elicitation/create", v2.decode_as(v2.CreateElicitationRequest, form))
        status: Any = "completed" if allowed else "failed"
        await self.update(session, v2.SessionToolCallUpdate(tool_call_id="t1", status=status))
        await self.update(session, v2.AgentMessageChunk(message_id="a1", content=v2.TextContent(text="done")))
        await self.update(session, v2.EndTurnStopReason())


def made(peer: Peer) -> Handler:
    return Agent(peer).handle


if __name__ == "__main__":
    asyncio.run(on_stdio(v2, "agent", made))
