"""A client for the terminal: python -m examples.client DIRECTORY AGENT COMMAND. Type what you want; an empty line ends it."""

import asyncio
import sys

from acp_bindings import PeerError, Unknown, v1
from acp_bindings.v1 import peers

from acp_session.hosted import HostedClient
from acp_session.permission import Prompt
from acp_workspace.text import terminal_text


class Terminal(HostedClient):
    async def session_update(self, params: v1.SessionNotification, /) -> None:
        match params.update:
            case v1.AgentMessageChunk(content=v1.TextContent(text=text)):
                show(text)
            case v1.AgentThoughtChunk(content=v1.TextContent(text=text)):
                show(f"  ({text})")
            case v1.ToolCall(title=title):
                show(f"  [{title}]")
            case v1.ToolCallUpdate(tool_call_id=call, status=str(status)):
                show(f"  [{call}: {status}]")
            case v1.Plan(entries=entries):
                show("\n".join(f"  - {entry.content}" for entry in entries))
            case Unknown() as update:
                show(f"  [something new: {update.tag}]")
            case _:
                pass


def show(text: str) -> None:
    print(terminal_text(text))  # an agent's escape sequences are shown, and not obeyed


async def permission(prompt: Prompt) -> str | None:
    show(" ".join((f"  {prompt.title}", *(f"{n}: {option.name}" for n, option in enumerate(prompt.options, 1)))))
    return prompt.numbered(await line("  number, or nothing: "))


async def line(question: str) -> str:
    print(question, end="", flush=True)
    return str(await asyncio.to_thread(sys.stdin.readline)).strip()


async def main(directory: str, *command: str) -> None:
    client = Terminal(granted=[directory], permission=permission)
    async with peers.spawn_agent(command, client):
        await client.host.initialize()
        session = await client.host.new(directory)
        while wish := await line("> "):
            try:
                show(f"  {(await client.host.prompt(session.id, wish)).stop_reason}")
            except PeerError as failed:
                show(str(failed))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
