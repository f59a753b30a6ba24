"""The client of the examples on the official Python SDK: DIRECTORY AGENT COMMAND. It keeps paths in the directory, as far as text goes."""

import asyncio
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import acp
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    AllowedOutcome,
    ClientCapabilities,
    CreateTerminalResponse,
    DeniedOutcome,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TerminalExitStatus,
    TerminalOutputResponse,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    WaitForTerminalExitResponse,
)


class Terminal(acp.Client):
    def __init__(self, directory):
        self.directory = Path(directory).resolve()
        self.processes = {}
        self.outputs = {}
        self.titles = {}

    def on_connect(self, conn):
        pass

    def allowed(self, path):
        found = Path(path).resolve()
        if not found.is_relative_to(self.directory):
            raise acp.RequestError(-32001, "access is refused", {"path": path})
        return found

    async def session_update(self, session_id, update, **_):
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                print(text)
            case AgentThoughtChunk(content=TextContentBlock(text=text)):
                print(f"  ({text})")
            case ToolCallStart(tool_call_id=call, title=title):
                self.titles[call] = title
                print(f"  [{title}]")
            case ToolCallProgress(tool_call_id=call, status=str(status)):
                print(f"  [{self.titles.get(call)}: {status}]")
            case AgentPlanUpdate(entries=entries):
                print(*(f"  - {entry.content}" for entry in entries), sep="\n")

    async def request_permission(self, session_id, tool_call, options, **_):
        print(f"  {tool_call.title}", *(f"{number}: {option.name}" for number, option in enumerate(options, 1)))
        by_number = {str(number): option.option_id for number, option in enumerate(options, 1)}
        chosen = by_number.get(await line("  number, or nothing: "))
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def read_text_file(self, path, session_id, limit=None, line=None, **_):
        lines = self.allowed(path).read_text("utf-8").splitlines(keepends=True)
        first = (line or 1) - 1
        return ReadTextFileResponse(content="".join(lines[first : None if limit is None else first + limit]))

    async def write_text_file(self, content, path, session_id, **_):
        self.allowed(path).write_text(content, "utf-8")

    async def create_terminal(self, command, session_id, args=None, cwd=None, env=None, output_byte_limit=None, **_):
        folder = self.allowed(cwd or self.directory)
        process = await asyncio.create_subprocess_exec(command, *(args or []), cwd=folder, stdout=PIPE, stderr=STDOUT)
        terminal = f"terminal-{len(self.processes) + 1}"
        self.processes[terminal] = process
        self.outputs[terminal] = asyncio.create_task(process.stdout.read())
        return CreateTerminalResponse(terminal_id=terminal)

    async def terminal_output(self, session_id, terminal_id, **_):
        output, code = self.outputs[terminal_id], self.processes[terminal_id].returncode
        return TerminalOutputResponse(
            output=output.result().decode("utf-8", "replace") if output.done() else "",
            truncated=False,
            exit_status=None if code is None else TerminalExitStatus(exit_code=code),
        )

    async def wait_for_terminal_exit(self, session_id, terminal_id, **_):
        await self.outputs[terminal_id]
        return WaitForTerminalExitResponse(exit_code=await self.processes[terminal_id].wait())

    async def kill_terminal(self, session_id, terminal_id, **_):
        if self.processes[terminal_id].returncode is None:
            self.processes[terminal_id].kill()

    async def release_terminal(self, session_id, terminal_id, **_):
        await self.kill_terminal(session_id, terminal_id)


async def line(question):
    print(question, end="", flush=True)
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


async def main(directory, *command):
    client = Terminal(directory)
    offered = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True)
    async with acp.spawn_agent_process(client, *command) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=offered)
        session = await agent.new_session(cwd=directory, mcp_servers=[])
        while wish := await line("> "):
            try:
                answer = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(wish)])
                print(f"  {answer.stop_reason}")
            except acp.RequestError as failed:
                print(failed)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
