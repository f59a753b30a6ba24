"""What a client writes all day, checked strictly by mypy and pyright: comparing a tag, `match` and `isinstance` tell variants apart."""

from collections.abc import Callable
from typing import Any, TypeVar, assert_never

from acp_bindings import Method, Unknown, v1, v2
from acp_bindings.v1 import peers

P = TypeVar("P")
R = TypeVar("R")


def headline(update: v1.SessionUpdate) -> str:
    """By comparing tags. What this version does not know has no known tag, so `tag` is all that is left at the end."""
    if update.session_update == "tool_call":
        return update.title
    if update.session_update == "agent_message_chunk" or update.session_update == "agent_thought_chunk":
        return words(update.content)
    if update.session_update == "plan":
        return f"{len(update.entries)} steps"
    if update.session_update == "current_mode_update":
        return update.current_mode_id
    if isinstance(update, Unknown):
        return f"new: {update.tag}"
    return update.session_update


def words(block: v1.ContentBlock) -> str:
    """By `match`, complete: a checker says so where a variant is forgotten."""
    match block:
        case v1.TextContent(text=text):
            return text
        case v1.ResourceLink(uri=uri) | v1.EmbeddedResource(resource=v1.TextResourceContents(uri=uri)):
            return uri
        case v1.ImageContent() | v1.AudioContent() | v1.EmbeddedResource():
            return block.type
        case Unknown():
            return block.tag
        case _:
            assert_never(block)


def paths(content: list[v1.ToolCallContent]) -> list[str]:
    """In a comprehension."""
    return [item.path for item in content if item.type == "diff"]


def is_allowed(answer: v1.RequestPermissionResponse) -> bool:
    """On a field of a field."""
    return answer.outcome.outcome == "selected" and answer.outcome.option_id == "yes"


def transport(server: v1.McpServer) -> str:
    """By `isinstance`."""
    if isinstance(server, v1.McpServerHttp | v1.McpServerSse):
        return server.url
    if isinstance(server, v1.McpServerStdio):
        return server.command
    return server.tag


def ending(update: v2.SessionUpdate) -> str:
    """A state in an update: one tag after the other, down to why it ended."""
    if update.session_update == "state_update" and update.state == "idle":
        if update.stop_reason == "error":
            return update.error.message if update.error else "failed"
        if update.stop_reason == "end_turn":
            return "done"
    return ""


def background(update: v2.SessionUpdate) -> int:
    """A field that all variants of one state have."""
    if update.session_update == "state_update" and update.state == "idle":
        return len(update.background or [])
    return 0


def called(update: v2.SessionUpdate) -> str | None:
    """Tags in `match`."""
    match update:
        case v2.ToolCallUpdate(tool_call_id=call) | v2.ToolCallContentChunk(tool_call_id=call):
            return call
        case _:
            return None


def told() -> list[v2.SessionUpdate]:
    """A variant is the thing: it is built with its own fields, and its tags are there."""
    return [
        v2.UsageUpdate(used=1, size=2),
        v2.EndTurnStopReason(),
        v2.SessionToolCallUpdate(tool_call_id="1", title="Read"),
        v2.UnknownSessionUpdate(session_update="_acme.tide", extra={"metres": 2.5}),
    ]


async def turn(agent: peers.RemoteAgent, session: str) -> str:
    """Calls know their result."""
    blocks: list[v1.ContentBlock] = [v1.TextContent(text="Hello")]
    answer = await agent.session_prompt(v1.PromptRequest(session_id=session, prompt=blocks))
    if answer.stop_reason == "cancelled":
        return "stopped"
    return v1.METHODS["session/prompt"].name


def ask(method: Method[P, R], params: P, send: Callable[[bytes], Any]) -> R:
    """A row of the method table knows both of its types, so that a transport of one's own does too."""
    result = send(v1.encode(params))
    if method.result is None:
        raise ValueError(f"{method.name} has no result")
    return v1.decode_as(method.result, result)


def stopped(send: Callable[[bytes], Any]) -> v1.StopReason:
    request = v1.PromptRequest(session_id="s", prompt=[])
    return ask(v1.METHODS["session/prompt"], request, send).stop_reason


def answered(send: Callable[[bytes], Any], request: v1.CreateElicitationRequest) -> str:
    """The payload of this method is a union."""
    answer = ask(v1.METHODS["elicitation/create"], request, send)
    if answer.action == "accept":
        return str(answer.content)
    return answer.action
