"""A small agent on standard input and output: it thinks, asks before it deletes, and stops when it is told to.

python -m examples.agent
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import assert_never

from acp_bindings import Unknown, v1

from examples.connection import Connection, standard_streams


class Agent:
    """Sessions and the prompt turns in them."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.sessions: dict[str, asyncio.Event] = {}
        self.numbers = count(1)

    async def answer(self, params: v1.AnyRequestParams) -> v1.AnyResult | None:
        """Serve the three requests that every agent serves."""
        match params:
            case v1.InitializeRequest(protocol_version=version):
                return v1.InitializeResponse(
                    protocol_version=min(version, 1),
                    agent_info=v1.Implementation(name="example-agent", version="1.0"),
                )
            case v1.NewSessionRequest():
                session = f"session-{next(self.numbers)}"
                self.sessions[session] = asyncio.Event()
                return v1.NewSessionResponse(session_id=session)
            case v1.PromptRequest(session_id=session, prompt=prompt):
                return v1.PromptResponse(stop_reason=await self.turn(session, prompt))
            case _:
                return None

    async def notice(self, params: v1.AnyNotificationParams) -> None:
        """Cancel a turn; nothing else is of interest."""
        match params:
            case v1.CancelNotification(session_id=session):
                self.sessions[session].set()
            case _:
                pass

    async def turn(self, session: str, prompt: list[v1.ContentBlock]) -> v1.StopReason:
        """One prompt turn."""
        cancelled = self.sessions[session] = asyncio.Event()
        wanted = " ".join(read(block) for block in prompt)
        self.update(session, v1.AgentThoughtChunk(content=v1.TextContent(text=f"They want: {wanted}")))
        if wanted == "wait":
            await cancelled.wait()
            return "cancelled"
        if wanted.startswith("delete ") and not await self.may_delete(session, wanted.removeprefix("delete ")):
            return "cancelled"
        self.update(session, v1.AgentMessageChunk(content=v1.TextContent(text="Done.")))
        return "end_turn"

    async def may_delete(self, session: str, path: str) -> bool:
        """Ask. An outcome that is not an allowing choice is a no."""
        call = v1.ToolCall(tool_call_id="call-1", title=f"Delete {path}", kind="delete", status="pending")
        self.update(session, call)
        answer = await self.connection.request(
            "session/request_permission",
            v1.RequestPermissionRequest(
                session_id=session,
                tool_call=v1.ToolCallUpdate(tool_call_id="call-1"),
                options=[
                    v1.PermissionOption(option_id="yes", name="Delete it", kind="allow_once"),
                    v1.PermissionOption(option_id="no", name="Keep it", kind="reject_once"),
                ],
            ),
        )
        match answer:
            case v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id="yes")):
                self.update(session, v1.SessionToolCallUpdate(tool_call_id="call-1", status="completed"))
                return True
            case _:
                self.update(session, v1.SessionToolCallUpdate(tool_call_id="call-1", status="failed"))
                return False

    def update(self, session: str, update: v1.SessionUpdate) -> None:
        """Tell the client what happens."""
        self.connection.notify("session/update", v1.SessionNotification(session_id=session, update=update))


def read(block: v1.ContentBlock) -> str:
    """A block of a prompt in words. Every kind is named: a type checker says so if one is forgotten."""
    match block:
        case v1.TextContent(text=text):
            return text
        case v1.ResourceLink(uri=uri) | v1.EmbeddedResource(resource=v1.TextResourceContents(uri=uri)):
            return f"<{uri}>"
        case v1.ImageContent() | v1.AudioContent() | v1.EmbeddedResource():
            return f"<{block.type}>"
        case Unknown():
            return f"<unknown {block.tag}>"
        case _:
            assert_never(block)


async def main() -> None:
    """Serve one client until it ends."""
    connection = Connection(*await standard_streams(), other="client")
    await connection.run(Agent(connection))


if __name__ == "__main__":
    asyncio.run(main())
