# ruff: noqa: ARG002 - the names of the arguments are the interface of the SDK
"""A client of ACP v1 on the official Python SDK. Takes a folder and the agent's command."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, cast

import acp
from acp import schema


class TourClient:
    def __init__(self) -> None:
        self.heard = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.heard.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> Any:
        outcome = schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> Any:
        Path(path).write_text(content)
        return schema.WriteTextFileResponse()

    async def read_text_file(self, session_id: str, path: str, line: Any = None, limit: Any = None, **_: Any) -> Any:
        return schema.ReadTextFileResponse(content=Path(path).read_text())

    async def create_terminal(self, session_id: str, command: str, **_: Any) -> Any:
        return schema.CreateTerminalResponse(terminal_id="term-1")

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        return schema.WaitForTerminalExitResponse(exit_code=0)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        return schema.TerminalOutputResponse(output="tide\n", truncated=False)

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        return schema.ReleaseTerminalResponse()

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        return schema.AcceptElicitationResponse(action="accept", content={"harbour": "Vlissingen"})


async def main() -> int:
    folder, command, *arguments = sys.argv[1:]
    client = TourClient()
    spawned = acp.spawn_agent_process(
        cast("acp.Client", client), command, *arguments, env=dict(os.environ), use_unstable_protocol=True
    )
    async with spawned as (agent, process):
        ready = await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=schema.ClientCapabilities(
                fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True),
                terminal=True,
                elicitation=schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities()),
            ),
        )
        abilities: Any = ready.agent_capabilities
        offers = abilities.session_capabilities
        roots: Any = {"additional_directories": [f"{folder}/extra"]} if offers.additional_directories else {}
        opened = await agent.new_session(cwd=folder, mcp_servers=[], **roots)
        name = opened.session_id
        if opened.modes is not None:
            await agent.set_session_mode(session_id=name, mode_id=opened.modes.available_modes[-1].id)
        await agent.prompt(session_id=name, prompt=[acp.text_block("Look at the tide.")])
        client.heard.clear()
        waiting = asyncio.create_task(agent.prompt(session_id=name, prompt=[acp.text_block("wait")]))
        await client.heard.wait()
        await agent.cancel(session_id=name)
        assert (await waiting).stop_reason == "cancelled"
        if offers.list:
            await agent.list_sessions(cwd=folder)
        if abilities.load_session:
            await agent.load_session(cwd=folder, session_id=name, mcp_servers=[], **roots)
        if offers.resume:
            await agent.resume_session(session_id=name, cwd=folder, mcp_servers=[], **roots)
        if offers.close:
            await agent.close_session(session_id=name)
        await agent.close()
        assert process.stdin is not None
        process.stdin.close()
        return await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
