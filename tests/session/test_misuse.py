"""What a program does wrong by itself is refused at once, in words that say what is wrong, and nothing is sent: both versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v2

from acp_session import Client, NotAdvertised
from acp_workspace.containment import guarantees

from .raw_agents import Script, connected
from .test_client import play

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

both = pytest.mark.parametrize("version", [1, 2])

IMAGE = v2.ImageContent(data="aGk=", mime_type="image/png")
AUDIO = v2.AudioContent(data="aGk=", mime_type="audio/wav")
NOTE = v2.EmbeddedResource(resource=v2.TextResourceContents(uri="file:///n", text="n"))
SERVER = v2.McpServerHttp(name="tides", url="https://harbor.example/", headers=[])


# --- what the agent does not advertise -------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("content", "name"),
    [(IMAGE, "image"), (AUDIO, "audio"), (NOTE, "embeddedContext")],
    ids=["image", "audio", "resource"],
)
def test_content_that_the_agent_does_not_take_is_not_sent(
    version: int, content: v2.ContentBlock, name: str, tmp_path: Path
) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=[tmp_path])) as (agent, _):
            session = await agent.new_session(tmp_path)
            with pytest.raises(NotAdvertised, match=rf"session/prompt.*capabilities\.session\.prompt\.{name}"):
                await session.prompt(["Look: ", content])
            await session.prompt(["Look: ", v2.ResourceLink(name="n", uri="file:///n")])
            assert len(script.asked("session/prompt")) == 1

    play(work)


@both
def test_mcp_servers_that_the_agent_cannot_reach_are_not_sent(version: int, tmp_path: Path) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=[tmp_path])) as (agent, _):
            calls: list[Any] = [
                agent.new_session(tmp_path, mcp_servers=[SERVER]),
                agent.load_session("s1", tmp_path, mcp_servers=[SERVER]),
                agent.resume_session("s1", tmp_path, mcp_servers=[SERVER]),
                agent.fork_session("s1", tmp_path, mcp_servers=[SERVER]),
            ]
            for call in calls:
                with pytest.raises(NotAdvertised, match=r"capabilities\.session\.mcp\.http"):
                    await call
            assert [name for name, _ in script.requests] == ["initialize"]
            assert not agent.sessions
            stdio = v2.McpServerStdio(name="tides", command="/bin/tides")
            await agent.new_session(tmp_path, mcp_servers=[stdio])

    play(work)
