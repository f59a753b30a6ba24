"""The agent of the examples on the official Python SDK."""

import asyncio

import acp
from acp.schema import InitializeResponse, NewSessionResponse, PermissionOption, PromptResponse, ToolCallUpdate

OPTIONS = [
    PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
    PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
]


class Agent(acp.Agent):
    def on_connect(self, conn):
        self.client = conn
        self.folders = {}
        self.turns = {}

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
        return InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

    async def new_session(self, cwd, **_):
        session = f"session-{len(self.folders) + 1}"
        self.folders[session] = cwd
        return NewSessionResponse(session_id=session)

    async def cancel(self, session_id, **_):
        if session_id in self.turns:
            self.turns[session_id].cancel()

    async def prompt(self, session_id, prompt, **_):
        self.turns[session_id] = asyncio.create_task(self.turn(session_id))
        try:
            return PromptResponse(stop_reason=await self.turns[session_id])
        except asyncio.CancelledError:
            return PromptResponse(stop_reason="cancelled")
        finally:
            del self.turns[session_id]

    async def turn(self, session):
        async def update(update):
            await self.client.session_update(session_id=session, update=update)

        await update(acp.update_agent_message_text("I write a note."))
        await update(acp.start_tool_call("call_1", "Write note.txt", kind="edit", status="pending"))
        about = ToolCallUpdate(tool_call_id="call_1", title="Write note.txt", kind="edit", status="pending")
        answer = await self.client.request_permission(session_id=session, tool_call=about, options=OPTIONS)
        if answer.outcome.outcome != "selected" or answer.outcome.option_id != "allow":
            await update(acp.update_tool_call("call_1", status="failed"))
            await update(acp.update_agent_message_text("I may not write it."))
            return "end_turn"
        await update(acp.update_tool_call("call_1", status="in_progress"))
        note = f"{self.folders[session]}/note.txt"
        await self.client.write_text_file(session_id=session, path=note, content="tide\n")
        await update(acp.update_tool_call("call_1", status="completed"))
        await update(acp.start_tool_call("call_2", "wc -c note.txt", kind="execute", status="pending"))
        terminal = await self.client.create_terminal(
            session_id=session, command="wc", args=["-c", "note.txt"], cwd=self.folders[session]
        )
        at = {"session_id": session, "terminal_id": terminal.terminal_id}
        try:
            content = [acp.tool_terminal_ref(terminal.terminal_id)]
            await update(acp.update_tool_call("call_2", status="in_progress", content=content))
            await self.client.wait_for_terminal_exit(**at)
            told = await self.client.terminal_output(**at)
        finally:
            await self.client.release_terminal(**at)
        await update(acp.update_tool_call("call_2", status="completed"))
        await update(acp.update_agent_message_text(f"Byte count: {told.output.strip()}"))
        return "end_turn"


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Agent()))
