# ruff: noqa: ARG002 - the names of the arguments are the interface of the SDK
"""An agent of ACP v1 on the official Python SDK, doing what a user of the SDK would do."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import acp
from acp import schema


class TourAgent:
    def __init__(self) -> None:
        self.sessions: dict[str, schema.SessionInfo] = {}
        self.stops: dict[str, asyncio.Event] = {}
        self.client: Any = None
        self.offers: Any = None

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: Any = None, client_info: Any = None, **_: Any
    ) -> Any:
        self.offers = client_capabilities
        return schema.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                    additional_directories=schema.SessionAdditionalDirectoriesCapabilities(),
                ),
            ),
        )

    async def new_session(self, cwd: str, additional_directories: Any = None, mcp_servers: Any = None, **_: Any) -> Any:
        name = f"tour-{len(self.sessions)}"
        self.keep(name, cwd, additional_directories)
        return schema.NewSessionResponse(session_id=name, modes=self.modes())

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, additional_directories: Any = None, **_: Any
    ) -> Any:
        self.keep(session_id, cwd, additional_directories)
        await self.client.session_update(session_id=session_id, update=acp.update_user_message_text("as before"))
        return schema.LoadSessionResponse(modes=self.modes())

    async def resume_session(
        self, session_id: str, cwd: str, additional_directories: Any = None, mcp_servers: Any = None, **_: Any
    ) -> Any:
        self.keep(session_id, cwd, additional_directories)
        return schema.ResumeSessionResponse(modes=self.modes())

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **more: Any) -> Any:
        wanted = more.get("additional_directories", more.get("additionalDirectories"))
        found = [info for info in self.sessions.values() if cwd in (None, info.cwd)]
        return schema.ListSessionsResponse(
            sessions=[info for info in found if wanted is None or info.additional_directories == wanted]
        )

    async def close_session(self, session_id: str, **_: Any) -> Any:
        return schema.CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> Any:
        return schema.SetSessionModeResponse()

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.stops[session_id].set()

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> Any:
        stop = self.stops[session_id] = asyncio.Event()
        if getattr(prompt[0], "text", "") == "wait":
            await self.client.session_update(session_id=session_id, update=acp.update_agent_thought_text("waiting"))
            await stop.wait()
            return schema.PromptResponse(stop_reason="cancelled")
        start = acp.start_tool_call("t1", "Look", kind="read", status="pending")
        await self.client.session_update(session_id=session_id, update=start)
        options = [schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        call = schema.ToolCallUpdate(tool_call_id="t1")
        await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
        path = f"{self.sessions[session_id].cwd}/note.txt"
        if self.offers.fs and self.offers.fs.write_text_file:
            await self.client.write_text_file(session_id=session_id, path=path, content="tide\n")
            await self.client.read_text_file(session_id=session_id, path=path)
        if self.offers.terminal:
            terminal = await self.client.create_terminal(session_id=session_id, command="echo", args=["tide"])
            name = terminal.terminal_id
            await self.client.wait_for_terminal_exit(session_id=session_id, terminal_id=name)
            await self.client.terminal_output(session_id=session_id, terminal_id=name)
            await self.client.release_terminal(session_id=session_id, terminal_id=name)
        if self.offers.elicitation and self.offers.elicitation.form:
            form = schema.ElicitationSchema(
                properties={"harbour": schema.ElicitationStringPropertySchema(type="string")}
            )
            mode = schema.ElicitationFormSessionMode(session_id=session_id, requested_schema=form)
            await self.client.create_elicitation(message="Which harbour?", mode=mode)
        done = acp.update_tool_call("t1", status="completed")
        await self.client.session_update(session_id=session_id, update=done)
        await self.client.session_update(session_id=session_id, update=acp.update_agent_message_text("done"))
        return schema.PromptResponse(stop_reason="end_turn")

    def keep(self, name: str, cwd: str, roots: list[str] | None) -> None:
        self.sessions[name] = schema.SessionInfo(session_id=name, cwd=cwd, additional_directories=roots or [])

    def modes(self) -> Any:
        modes = [schema.SessionMode(id="ask", name="Ask"), schema.SessionMode(id="act", name="Act")]
        return schema.SessionModeState(current_mode_id="ask", available_modes=modes)


if __name__ == "__main__":
    asyncio.run(acp.run_agent(cast("acp.Agent", TourAgent()), use_unstable_protocol=True))
