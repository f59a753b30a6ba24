"""An agent that streams, asks permission, edits a file in its roots and runs a terminal: python -m examples.agent."""

import asyncio

from acp_bindings import v1
from acp_bindings.v1 import peers

from acp_session.agent_host import AgentHost, Turn


class Agent(peers.Agent):
    def __init__(self) -> None:
        self.host = AgentHost(lambda method, params: self.connection.notify(method, params))

    async def initialize(self, _: v1.InitializeRequest, /) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=self.host.capabilities())

    async def session_new(self, params: v1.NewSessionRequest, /) -> v1.NewSessionResponse:
        return await self.host.new(params)

    async def session_cancel(self, params: v1.CancelNotification, /) -> None:
        self.host.cancel(params)

    async def session_prompt(self, params: v1.PromptRequest, /) -> v1.PromptResponse:
        return await self.host.prompt(params, self.turn)

    async def turn(self, turn: Turn) -> v1.StopReason:
        session, note = turn.session.id, f"{turn.session.scope.cwd}/note.txt"
        await turn.say("I write a note.")
        await turn.session.update(v1.ToolCallSessionUpdate(tool_call_id="1", title="Write note.txt", kind="edit"))
        options = [v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        call = v1.ToolCallUpdate(tool_call_id="1")
        ask = v1.RequestPermissionRequest(session_id=session, tool_call=call, options=options)
        if (await self.client.session_request_permission(ask)).outcome.outcome != "selected":
            return "refusal"
        await self.client.fs_write_text_file(v1.WriteTextFileRequest(session_id=session, path=note, content="tide\n"))
        count = v1.CreateTerminalRequest(session_id=session, command="wc", args=["-c", "note.txt"])
        terminal = (await self.client.terminal_create(count)).terminal_id
        await self.client.terminal_wait_for_exit(
            v1.WaitForTerminalExitRequest(session_id=session, terminal_id=terminal)
        )
        told = await self.client.terminal_output(v1.TerminalOutputRequest(session_id=session, terminal_id=terminal))
        await self.client.terminal_release(v1.ReleaseTerminalRequest(session_id=session, terminal_id=terminal))
        await turn.say(f"It has so many bytes: {told.output.strip()}")
        return "end_turn"


if __name__ == "__main__":
    asyncio.run(peers.run_agent(Agent()))
