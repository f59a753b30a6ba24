"""What a program does wrong by itself is refused at once, in words that say what is wrong, and nothing is sent: both versions."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v2

from acp_session import Agent, Client, NotAdvertised, PeerError, Turn, connect_in_memory, serve_agent, spawn_agent
from acp_workspace.containment import guarantees
from jsonrpc_bindings.transport import pair

from .raw_agents import Script, connected
from .raw_client import FORMS
from .test_agent import Working, echo
from .test_client import play
from .test_turn import talk

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

both = pytest.mark.parametrize("version", [1, 2])

IMAGE = v2.ImageContent(data="aGk=", mime_type="image/png")
AUDIO = v2.AudioContent(data="aGk=", mime_type="audio/wav")
NOTE = v2.EmbeddedResource(resource=v2.TextResourceContents(uri="file:///n", text="n"))
SERVER = v2.McpServerHttp(name="tides", url="https://harbor.example/", headers=[])


def capability(version: int, part: str, name: str) -> str:
    """The path of a capability of an agent in a version."""
    return f"agentCapabilities.{part}Capabilities.{name}" if version == 1 else f"capabilities.session.{part}.{name}"


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
            with pytest.raises(NotAdvertised, match=f"session/prompt.*`{capability(version, 'prompt', name)}`"):
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
                with pytest.raises(NotAdvertised, match=f"`{capability(version, 'mcp', 'http')}`"):
                    await call
            assert [name for name, _ in script.requests] == ["initialize"]
            assert not agent.sessions
            stdio = v2.McpServerStdio(name="tides", command="/bin/tides")
            await agent.new_session(tmp_path, mcp_servers=[stdio])

    play(work)


@both
def test_mcp_servers_may_be_json_and_wrong_ones_are_named(version: int, tmp_path: Path) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=[tmp_path])) as (agent, _):
            wrong: list[tuple[Any, str]] = [
                ({"name": "tides", "command": "/bin/tides"}, r"has at 1 .* the field 'type' is required"),
                ({"type": "stdio", "name": "tides"}, "the field 'command' is required"),
                ("tides", "an object is expected, not 'tides'"),
            ]
            stdio = {"type": "stdio", "name": "tides", "command": "/bin/tides"}
            for server, sentence in wrong:
                with pytest.raises(ValueError, match=f"'mcp_servers' .*{sentence}"):
                    await agent.new_session(tmp_path, mcp_servers=[stdio, server])
            with pytest.raises(NotAdvertised, match=f"`{capability(version, 'mcp', 'http')}`"):
                await agent.new_session(
                    tmp_path, mcp_servers=[{"type": "http", "name": "t", "url": "https://t.example"}]
                )
            assert not script.asked("session/new")
            await agent.new_session(tmp_path, mcp_servers=[stdio])
            (sent,) = script.asked("session/new")
            assert sent.mcp_servers[0].command == "/bin/tides"

    play(work)


def test_servers_that_version_1_alone_has_need_its_capability_or_its_types(tmp_path: Path) -> None:
    script, own = Script(), {"type": "_own", "name": "tides"}
    sse = {"type": "sse", "name": "tides", "url": "https://t.example", "headers": []}

    async def work() -> None:
        async with connected(1, script, Client(allowed_roots=[tmp_path])) as (agent, _):
            with pytest.raises(NotAdvertised, match=r"`agentCapabilities\.mcpCapabilities\.sse`"):
                await agent.new_session(tmp_path, mcp_servers=[sse])
            with pytest.raises(ValueError, match="'_own' is not a known value"):  # the codec says so, and not the agent
                await agent.new_session(tmp_path, mcp_servers=[own])
            assert not script.asked("session/new")

    play(work)


def test_an_agent_of_v1_that_cannot_log_out_is_not_asked_to(tmp_path: Path) -> None:
    script = Script(can_load=False)

    async def work() -> None:
        async with connected(1, script, Client(allowed_roots=[tmp_path])) as (agent, _):
            await agent.authenticate("key")
            with pytest.raises(NotAdvertised, match=r"agentCapabilities\.auth\.logout"):
                await agent.logout()
            assert not script.asked("logout")

    play(work)


@both
def test_an_extension_is_named_with_an_underscore(version: int, tmp_path: Path) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=[tmp_path])) as (agent, _):
            for call in (agent.extension_request, agent.extension_notification):
                with pytest.raises(ValueError, match="begins with '_': write '_ping'"):
                    await call("ping")
            assert [name for name, _ in script.requests] == ["initialize"]

    play(work)


# --- options that are misspelt ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mcp_transports": ("htpp",)}, "'mcp_transports' cannot be 'htpp'; known are stdio, http"),
        ({"prompt_types": ("images",)}, "'prompt_types' cannot be 'images'; known are .*image"),
        ({"store": "folder"}, r"'store' must be a store, such as FileStore\('folder'\)"),
    ],
)
def test_an_agent_refuses_options_that_are_misspelt(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Working(echo, **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"unknown_subjects": "aks"}, "'unknown_subjects' cannot be 'aks'; known are decline, ask"),
        ({"elicitation": ("from",)}, "'elicitation' cannot be 'from'; known are form, url"),
    ],
)
def test_a_client_refuses_options_that_are_misspelt(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Client(**options)


class NoAgent(Agent):
    def __init__(self) -> None:
        """It forgets that of its base."""


class NoClient(Client):
    def __init__(self) -> None:
        """It forgets that of its base."""


def test_a_class_and_an_object_that_is_not_initialized_are_named() -> None:
    async def serve(agent: Any) -> None:
        await serve_agent(agent, pair()[0])

    async def connect(agent: Any, client: Any) -> None:
        async with connect_in_memory(agent, client):
            pass

    for call, sentence in (
        (serve(NoAgent), r"'agent' takes an object, not the class: write NoAgent\(\)"),
        (serve(NoAgent()), r"'agent' was not initialized: call super\(\).__init__\(\) in NoAgent.__init__"),
        (serve(3), "'agent' must be an object of a class of Agent, not 3"),
        (connect(Agent, Client()), "'agent' takes an object"),
        (connect(Agent(), Client), "'client' takes an object"),
        (connect(Agent(), NoClient()), "'client' was not initialized"),
    ):
        with pytest.raises(ValueError, match=sentence):
            play(lambda: call)  # noqa: B023 - run at once


def test_a_method_that_is_not_a_coroutine_is_named() -> None:
    class Plain(Agent):
        def on_prompt(self, turn: Turn) -> str:  # type: ignore[override]
            return turn.text

    class Yielding(Client):
        async def on_update(self, session: Any, update: Any) -> Any:
            yield session, update

    async def work() -> None:
        with pytest.raises(ValueError, match=r"Plain.on_prompt' must be a coroutine: write 'async def on_prompt'"):
            await serve_agent(Plain(), pair()[0])
        with pytest.raises(ValueError, match=r"Yielding.on_update' must be a coroutine: .*, without 'yield'"):
            async with connect_in_memory(Agent(), Yielding()):
                pass

    play(work)


def test_a_hook_that_is_misspelt_is_named() -> None:
    class Misspelt(Agent):
        async def on_promt(self, turn: Turn) -> None:
            pass

    class Window:
        async def on_updated(self) -> None:
            pass

    class Deaf(Window, Client):
        async def on_permision(self) -> None:
            pass

    class Fine(Window, Client):
        async def on_tide(self) -> None:
            pass

    async def connect(agent: Agent, client: Client) -> None:
        async with connect_in_memory(agent, client):
            pass

    for agent, client, sentence in (
        (Misspelt(), Fine(), "Agent never calls 'on_promt' of Misspelt: write 'on_prompt'"),
        (Agent(), Deaf(), "Client never calls 'on_permision' of Deaf: write 'on_permission'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            play(partial(connect, agent, client))
    play(lambda: connect(Agent(), Fine()))


def test_a_command_is_a_list_with_a_program() -> None:
    async def spawn(command: Any) -> None:
        async with spawn_agent(command, Client()):
            pass

    with pytest.raises(ValueError, match="'command' must name a program"):
        play(lambda: spawn([]))
    with pytest.raises(ValueError, match=r"'command' takes several values: write \['python a.py'\]"):
        play(lambda: spawn("python a.py"))


# --- in a session ----------------------------------------------------------------------------------------------------


@both
def test_a_text_is_no_list_of_directories_or_places(version: int, tmp_path: Path) -> None:
    async def directories() -> None:
        async with connected(version, Script(), Client(allowed_roots=[tmp_path])) as (agent, _):
            with pytest.raises(ValueError, match="'additional_directories' takes several values"):
                await agent.new_session(tmp_path, additional_directories="/x")
            with pytest.raises(ValueError, match="'additional_directories' takes several values"):
                await agent.list_sessions(additional_directories="/x")

    async def places(turn: Turn) -> None:
        with pytest.raises(ValueError, match="'locations' takes several values"):
            turn.tool_call("Look", locations="note.txt")
        with pytest.raises(ValueError, match="'entries' takes several values"):
            await turn.update_plan("Look")

    play(directories)
    talk(tmp_path, version, places)


@both
def test_kinds_and_states_of_tool_calls_are_those_of_the_protocol_or_begin_with_an_underscore(
    version: int, tmp_path: Path
) -> None:
    async def work(turn: Turn) -> None:
        with pytest.raises(ValueError, match="'kind' cannot be 'nonsense'; known are read, edit"):
            turn.tool_call("Look", kind="nonsense")
        async with turn.tool_call("Look", kind="_gaze") as call:
            with pytest.raises(ValueError, match="'status' cannot be 'ended'; known are pending"):
                await call.update(status="ended")

    talk(tmp_path, version, work)


@both
def test_a_form_requires_only_fields_that_it_has(version: int, tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        fields = {"a": v2.StringPropertySchema()}
        with pytest.raises(ValueError, match="'required' names fields that the form does not have: b"):
            await turn.ask("Name it", fields, required=["a", "b"])

    assert not talk(tmp_path, version, work, capabilities=FORMS).asked


@both
@pytest.mark.parametrize(("reason", "ends"), [("end-turn", None), ("error", None), (5, None), (None, "end_turn")])
def test_a_turn_ends_with_a_reason_of_the_protocol(
    version: int, reason: Any, ends: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Ending(Agent):
        async def on_prompt(self, turn: Turn) -> str | None:  # noqa: ARG002
            return reason  # type: ignore[no-any-return]

    async def work() -> None:
        async with connect_in_memory(Ending(), Client(allowed_roots=[tmp_path]), versions=(version,)) as agent:
            session = await agent.new_session(tmp_path)
            if ends is not None:
                assert (await session.prompt("Hello")).stop_reason == ends
                return
            with pytest.raises(PeerError, match="internal error"):
                await session.prompt("Hello")

    with caplog.at_level(logging.ERROR, "acp_session"):
        play(work)
    assert (f"'on_prompt' returned {reason!r}, which is none of end_turn, " in caplog.text) == (ends is None)


@both
@pytest.mark.parametrize(
    ("prompt", "wrong"), [(5, "/prompt/0: an object is expected"), ([{"type": "text"}], "/prompt/0: the field 'text'")]
)
def test_a_prompt_that_is_no_content_is_refused_before_it_is_sent(
    version: int, prompt: Any, wrong: str, tmp_path: Path
) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=[tmp_path])) as (agent, _):
            session = await agent.new_session(tmp_path)
            with pytest.raises(ValueError, match=wrong):
                await session.prompt(prompt)
            assert (await session.prompt([{"type": "text", "text": "tide"}])).stop_reason == "end_turn"  # type: ignore[list-item]
        assert len(script.asked("session/prompt")) == 1

    play(work)


@both
def test_only_options_and_values_that_the_session_has_are_set(version: int, tmp_path: Path) -> None:
    script = Script()

    async def work() -> None:
        async with connected(version, script, Client(allowed_roots=[tmp_path])) as (agent, _):
            session = await agent.new_session(tmp_path)
            for name, value in (("zz", "x"), ("fast", "true"), ("mode", "zz"), ("mode", True)):
                with pytest.raises(ValueError, match=name):
                    await session.set_config_option(name, value)
            assert [name for name, _ in script.requests] == ["initialize", "session/new"]
            await session.set_config_option("fast", True)

    play(work)


@both
def test_a_text_that_is_not_unicode_is_refused(version: int, tmp_path: Path) -> None:
    script = Script()

    async def prompt() -> None:
        async with connected(version, script, Client(allowed_roots=[tmp_path])) as (agent, _):
            session = await agent.new_session(tmp_path)
            with pytest.raises(ValueError, match="surrogates not allowed"):
                await session.prompt("\ud800")
            assert not script.asked("session/prompt")

    async def send(turn: Turn) -> None:
        with pytest.raises(ValueError, match="surrogates not allowed"):
            await turn.send_message("\ud800")

    play(prompt)
    talk(tmp_path, version, send)
