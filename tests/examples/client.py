"""A client for the terminal: python client.py DIRECTORY AGENT COMMAND. Type what you want; an empty line ends it."""

import asyncio
import sys
from pathlib import Path

from acp_bindings import Unknown, v2

from acp_session import Client, ClientSession, Error, PeerError, PermissionRequest, spawn_agent
from acp_workspace.text import terminal_text


class Terminal(Client):
    async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:
        match update:
            case v2.AgentMessageChunk(content=v2.TextContent(text=text)):
                show(text)
            case v2.AgentThoughtChunk(content=v2.TextContent(text=text)):
                show(f"  ({text})")
            case v2.ToolCallUpdate(title=str(title)):
                show(f"  [{title}]")
            case v2.ToolCallUpdate(tool_call_id=call, status=str(status)):
                show(f"  [{session.transcript.tool_calls[call].title}: {status}]")
            case v2.PlanUpdate():
                show("\n".join(f"  - {step.content}" for step in session.transcript.plan))
            case Unknown() as update:
                show(f"  [something new: {update.tag}]")
            case _:
                pass

    async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
        options = (f"{number}: {option.name}" for number, option in enumerate(request.options, 1))
        show(" ".join((f"  {request.title}", *options)))
        return request.option_by_number(await line("  number, or nothing: "))


def show(text: str) -> None:
    print(terminal_text(text))  # an agent's escape sequences are shown, and not obeyed


async def line(question: str) -> str:
    print(question, end="", flush=True)
    return str(await asyncio.to_thread(sys.stdin.readline)).strip()


async def main(directory: str, *command: str) -> None:
    async with spawn_agent(command, Terminal(allowed_roots=[directory])) as agent:
        session = await agent.new_session(directory)
        while prompt := await line("> "):
            try:
                show(f"  {(await session.prompt(prompt)).stop_reason}")
            except PeerError as error:
                show(str(error))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} DIRECTORY AGENT COMMAND")
    try:
        asyncio.run(main(str(Path(sys.argv[1]).resolve(strict=True)), *sys.argv[2:]))
    except Error as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
