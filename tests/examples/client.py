"""A small client: it starts an agent, sends prompts, prints what comes back, and answers when it is asked.

python -m examples.client AGENT COMMAND…
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence

from acp_bindings import Unknown, v1

from examples.connection import Connection


class Client:
    """What a person sees (`show`) and decides (`allow`)."""

    def __init__(self, connection: Connection, show: Callable[[str], object], allow: Callable[[str], bool]) -> None:
        self.connection = connection
        self.show = show
        self.allow = allow
        self.titles: dict[str, str] = {}

    async def answer(self, params: v1.AnyRequestParams) -> v1.AnyResult | None:
        """Answer a request for permission; nothing else is offered."""
        match params:
            case v1.RequestPermissionRequest(tool_call=call, options=options):
                wanted = "allow_once" if self.allow(self.titles.get(call.tool_call_id, "?")) else "reject_once"
                for option in options:
                    if option.kind == wanted:
                        outcome = v1.SelectedPermissionOutcome(option_id=option.option_id)
                        return v1.RequestPermissionResponse(outcome=outcome)
                return v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())
            case _:
                return None

    async def notice(self, params: v1.AnyNotificationParams) -> None:
        """Show updates. What this version does not know is shown as what it is."""
        match params:
            case v1.SessionNotification(update=v1.AgentMessageChunk(content=v1.TextContent(text=text))):
                self.show(f"says: {text}")
            case v1.SessionNotification(update=v1.AgentThoughtChunk(content=v1.TextContent(text=text))):
                self.show(f"thinks: {text}")
            case v1.SessionNotification(update=v1.ToolCall(tool_call_id=call, title=title)):
                self.titles[call] = title
                self.show(f"calls: {title}")
            case v1.SessionNotification(update=v1.SessionToolCallUpdate(tool_call_id=call, status=str(status))):
                self.show(f"{status}: {self.titles.get(call, call)}")
            case v1.SessionNotification(update=Unknown() as update):
                self.show(f"sends something new: {update.tag}")
            case _:
                pass

    async def open(self, cwd: str) -> str:
        """Shake hands and open a session."""
        await self.connection.request(
            "initialize",
            v1.InitializeRequest(
                protocol_version=1, client_info=v1.Implementation(name="example-client", version="1.0")
            ),
        )
        answer = await self.connection.request("session/new", v1.NewSessionRequest(cwd=cwd, mcp_servers=[]))
        assert isinstance(answer, v1.NewSessionResponse)  # it is the result of the method that was asked for
        return answer.session_id

    async def prompt(self, session: str, *blocks: v1.ContentBlock) -> v1.StopReason:
        """One prompt turn; why it ended."""
        answer = await self.connection.request(
            "session/prompt", v1.PromptRequest(session_id=session, prompt=list(blocks))
        )
        assert isinstance(answer, v1.PromptResponse)
        return answer.stop_reason

    def cancel(self, session: str) -> None:
        """Ask the agent to stop the turn."""
        self.connection.notify("session/cancel", v1.CancelNotification(session_id=session))


async def main(command: Sequence[str]) -> None:
    """A conversation of four turns."""
    agent = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert agent.stdout is not None
    assert agent.stdin is not None
    connection = Connection(agent.stdout, agent.stdin, other="agent")
    client = Client(connection, show=print, allow=lambda title: "/tmp/" in title)
    running = asyncio.create_task(connection.run(client))
    session = await client.open("/srv")
    link = v1.ResourceLink(name="notes", uri="file:///srv/notes.md")
    print("ended:", await client.prompt(session, v1.TextContent(text="read"), link))
    for wish in ("delete /tmp/old", "delete /etc/passwd"):
        print("ended:", await client.prompt(session, v1.TextContent(text=wish)))
    waiting = asyncio.create_task(client.prompt(session, v1.TextContent(text="wait")))
    await asyncio.sleep(0)
    client.cancel(session)
    print("ended:", await waiting)
    agent.stdin.close()
    await agent.wait()
    await running


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
