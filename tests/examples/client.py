"""A client for the terminal: python -m examples.client DIRECTORY AGENT COMMAND. Type what you want; an empty line ends it."""

import asyncio
import sys

from acp_bindings import Failed, Unknown, v1
from acp_bindings.v1 import peers

from acp_session.hosted import HostedClient
from acp_session.permission import Prompt


class Terminal(HostedClient):
    """Shows what the agent does, and asks before it may."""

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        match params.update:
            case v1.AgentMessageChunk(content=v1.TextContent(text=text)):
                print(text)
            case v1.AgentThoughtChunk(content=v1.TextContent(text=text)):
                print(f"  ({text})")
            case v1.ToolCall(title=title):
                print(f"  [{title}]")
            case v1.ToolCallUpdate(tool_call_id=call, status=str(status)):
                print(f"  [{call}: {status}]")
            case v1.Plan(entries=entries):
                print(*(f"  - {entry.content}" for entry in entries), sep="\n")
            case Unknown() as update:
                print(f"  [something new: {update.tag}]")
            case _:
                pass


async def permission(prompt: Prompt) -> str | None:
    print(f"  {prompt.title}", *(f"{number}: {option.name}" for number, option in enumerate(prompt.options, 1)))
    return prompt.numbered(await line("  number, or nothing: "))


async def line(question: str) -> str:
    print(question, end="", flush=True)
    typed: str = await asyncio.to_thread(sys.stdin.readline)
    return typed.strip()


async def main(directory: str, *command: str) -> None:
    client = Terminal(granted=[directory], permission=permission)
    async with peers.spawn_agent(command, client):
        await client.host.initialize()
        session = await client.host.new(directory)
        while wish := await line("> "):
            try:
                print(f"  {(await client.host.prompt(session.id, wish)).stop_reason}")
            except Failed as failed:
                print(failed)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
