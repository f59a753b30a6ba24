"""A client and the program that it starts: agents on both official SDKs, agents that die in each state, and many requests at once."""

# ruff: noqa: ARG002 - overrides

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v2

import evidence
from acp_monitor import Monitor
from acp_session import (
    Agent,
    Client,
    ClientSession,
    ConnectionClosed,
    Error,
    PeerError,
    PermissionRequest,
    PromptResult,
    Turn,
    UnsupportedVersion,
    connect_in_memory,
    spawn_agent,
)
from acp_workspace.containment import guarantees
from interop.pairs import Program, python_sdk, typescript_sdk
from javascript import Unreachable
from workspace.conftest import PATHS, descriptors

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

OPTION = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}


class Yes(Client):
    async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
        return "yes"


# --- agents on the official SDKs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sdk", "version"),
    [(python_sdk, 1), (typescript_sdk, 1), (typescript_sdk, 2)],
    ids=["Python SDK v1", "TypeScript SDK v1", "TypeScript SDK v2"],
)
def test_the_same_client_drives_agents_on_both_official_sdks(
    tmp_path: Path, sdk: Callable[[], Program], version: int
) -> None:
    call = {"toolCallId": "c", "title": "Look", "kind": "read", "status": "pending"}
    announced = {"sessionUpdate": "tool_call" if version == 1 else "tool_call_update", **call}
    about: dict[str, Any] = {"toolCall": {"toolCallId": "c"}}
    if version == 2:
        about = {"title": "Look", "subject": {"type": "tool_call", **about}}
    asked = {"method": "session/request_permission", "params": {**about, "options": [OPTION]}}
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps([{"name": "hello", "updates": [announced], "requests": [asked]}]), "utf-8")
    try:
        program = sdk()
    except Unreachable as reason:
        evidence.lack(str(reason))
        raise
    breaches: list[object] = []

    async def work() -> None:
        monitor = Monitor()
        connecting = spawn_agent(
            program.command("agent", version, scenario),
            Yes(allowed_roots=[tmp_path]),
            env={**os.environ, **dict(program.variables)},
            monitor=monitor,
            on_event=breaches.append,
        )
        async with asyncio.timeout(60), connecting as agent:
            assert agent.version == version
            session = await agent.new_session(tmp_path)
            assert await session.prompt("hello") == PromptResult("end_turn")
            (found,) = session.transcript.tool_calls.values()
            assert (found.id, found.title) == ("c", "Look")
            echo = json.loads(session.transcript.agent_messages[-1].text)
            assert echo["answers"][0]["outcome"] == {"outcome": "selected", "optionId": "yes"}

    asyncio.run(work())


# --- agents that die -------------------------------------------------------------------------------------------------

DYING = """
import os, signal, sys, asyncio
from acp_session import Agent, run_agent

STATE, HOW = sys.argv[1:]

def die():
    print("the first line", file=sys.stderr)
    print("out of tide", file=sys.stderr, flush=True)
    if HOW == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(3)

class Dying(Agent):
    async def on_new_session(self, session):
        if STATE == "opening":
            die()

    async def on_prompt(self, turn):
        if STATE == "idle":
            asyncio.get_running_loop().call_later(0.05, die)
            return "end_turn"
        if STATE == "asking":
            asyncio.get_running_loop().call_later(0.05, die)
            async with turn.tool_call("Go on?") as call:
                await call.request_permission()
        die()

if STATE == "starting":
    die()
run_agent(Dying())
"""


class Silent(Client):
    async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
        await asyncio.sleep(60)
        return None


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("state", "how"),
    [("starting", "exit"), ("opening", "exit"), ("working", "signal"), ("asking", "exit"), ("idle", "exit")],
)
def test_an_agent_that_dies_says_how_in_each_state(tmp_path: Path, version: int, state: str, how: str) -> None:
    async def work() -> None:
        connecting = spawn_agent(
            [sys.executable, "-c", DYING, state, how],
            Silent(allowed_roots=[tmp_path]),
            versions=(version,),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
            stderr=subprocess.DEVNULL,
        )

        async def converse() -> None:
            async with asyncio.timeout(60), connecting as agent:
                session = await agent.new_session(tmp_path)
                await session.prompt("Hello")
                await agent.wait_closed()
                await session.prompt("Are you there?")

        with pytest.raises(ConnectionClosed, match="the agent has ended") as ended:
            await converse()
        found = ended.value
        assert isinstance(found, Error)
        assert (found.exit_code, found.signal) == ((None, signal.SIGKILL.name) if how == "signal" else (3, None))
        assert found.stderr.splitlines() == ["the first line", "out of tide"]

    asyncio.run(work())


def test_standard_error_goes_where_it_is_sent(tmp_path: Path) -> None:
    async def work() -> None:
        with (tmp_path / "log").open("wb") as log:
            connecting = spawn_agent([sys.executable, "-c", "import sys; sys.exit('no wind')"], Client(), stderr=log)
            with pytest.raises(ConnectionClosed, match="before it answered") as ended:
                async with connecting:
                    pass
        assert (ended.value.exit_code, ended.value.stderr) == (1, "no wind\n")

    asyncio.run(work())
    assert (tmp_path / "log").read_text() == "no wind\n"


def test_a_command_that_cannot_be_started_and_versions_that_are_none_are_errors_of_the_caller() -> None:
    async def work(*command: str, versions: Any = (1, 2)) -> None:
        async with spawn_agent(command, Client(), versions=versions):
            pass

    with pytest.raises(OSError, match="missing"):
        asyncio.run(work("/missing/agent"))
    for versions in ((), (3,), (1, 4)):
        with pytest.raises(ValueError, match="'versions' must name 1, 2 or both"):
            asyncio.run(work("true", versions=versions))


def test_a_connection_that_does_not_come_about_leaves_nothing_open(tmp_path: Path) -> None:
    before = descriptors()

    async def work(client: Client) -> None:
        async with spawn_agent([sys.executable, "-c", "input()"], client, stderr=subprocess.DEVNULL):
            pass

    with pytest.raises(ConnectionClosed):
        asyncio.run(work(Client(allowed_roots=[tmp_path])))
    with pytest.raises(ValueError, match="not an existing directory"):
        asyncio.run(work(Client(allowed_roots=[tmp_path, tmp_path / "missing"])))
    assert descriptors() == before


# --- versions --------------------------------------------------------------------------------------------------------


class Echo(Agent):
    async def on_prompt(self, turn: Turn) -> str:
        await turn.send_message(turn.text)
        return "end_turn"


@pytest.mark.parametrize("versions", [(1,), (2,), (1, 2)])
def test_the_newest_version_of_both_is_spoken(tmp_path: Path, versions: tuple[int, ...]) -> None:
    async def work() -> None:
        async with connect_in_memory(Echo(), Client(allowed_roots=[tmp_path]), versions=versions) as agent:
            assert agent.version == max(versions)
            session = await agent.new_session(tmp_path)
            await session.prompt("tide")
            assert [one.text for one in session.transcript.agent_messages] == ["tide"]

    asyncio.run(work())


LATER = """
import json, sys
message = json.loads(sys.stdin.readline())
answer = {"protocolVersion": 3, "info": {"name": "later", "version": "1"}, "capabilities": {}}
print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
sys.stdin.read()
"""
REFUSING = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    error = {"code": -32000, "message": f"not {message['params']['protocolVersion']}"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
"""


def test_an_agent_of_no_version_that_is_spoken_is_an_error() -> None:
    async def work(program: str) -> None:
        async with asyncio.timeout(30), spawn_agent([sys.executable, "-c", program], Client()):
            pass

    with pytest.raises(UnsupportedVersion, match="version 3 of the protocol, not 1 or 2"):
        asyncio.run(work(LATER))
    with pytest.raises(PeerError, match="not 1") as refused:
        asyncio.run(work(REFUSING))
    assert (refused.value.method, refused.value.code) == ("initialize", -32000)


# --- many at once ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("versions", [(1,), (2,)])
def test_a_thousand_requests_at_once_are_answered_each_by_its_own(tmp_path: Path, versions: tuple[int, ...]) -> None:
    async def work() -> None:
        client = Client(allowed_roots=[tmp_path])
        async with asyncio.timeout(120), connect_in_memory(Echo(), client, versions=versions) as agent:
            opening = [agent.new_session(tmp_path) for _ in range(20)]
            listing = [agent.list_sessions(cwd="/nowhere") for _ in range(980)]
            sessions, infos = await asyncio.gather(asyncio.gather(*opening), asyncio.gather(*listing))
            assert (len({session.id for session in sessions}), infos) == (20, [[]] * 980)
            await asyncio.gather(*(session.prompt(str(number)) for number, session in enumerate(sessions)))
            said = [session.transcript.agent_messages[-1].text for session in sessions]
            assert said == [str(number) for number in range(20)]

    asyncio.run(work())


def test_a_prompt_may_be_cancelled_at_each_await(tmp_path: Path) -> None:
    """Whatever a prompt waits for when its caller is cancelled, the session goes on."""

    async def work(versions: tuple[int, ...]) -> None:
        async with connect_in_memory(Echo(), Yes(allowed_roots=[tmp_path]), versions=versions) as agent:
            session = await agent.new_session(tmp_path)
            for steps in range(40):
                prompt = asyncio.ensure_future(session.prompt("first"))
                for _ in range(steps):
                    await asyncio.sleep(0)
                prompt.cancel()
                await asyncio.wait([prompt])
            assert await session.prompt("next") == PromptResult("end_turn")
            assert session.transcript.agent_messages[-1].text == "next"

    async def both() -> None:
        async with asyncio.timeout(60):
            await work((1,))
            await work((2,))

    asyncio.run(both())


def test_updates_are_types_of_v2(tmp_path: Path) -> None:
    seen: list[str] = []

    class Watching(Client):
        async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:
            seen.append(type(update).__name__)

    async def work() -> None:
        for versions in ((1,), (2,)):
            client = Watching(allowed_roots=[tmp_path])
            async with connect_in_memory(Echo(), client, versions=versions) as agent:
                await (await agent.new_session(tmp_path)).prompt("tide")

    asyncio.run(work())
    expected = ["UserMessage", "RunningStateUpdate", "AgentMessageChunk", "EndTurnStopReason"]
    assert [one for one in seen if one in expected] == expected * 2


CLOSING = """
import json, os, sys, time
print("about to close", file=sys.stderr, flush=True)
message = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": 1}}), flush=True)
sys.stdin.readline()
os.close(1)
sys.stdin.readline()
"""


def test_an_agent_that_closes_its_output_and_lives_on_says_so_with_its_standard_error(tmp_path: Path) -> None:
    async def work() -> None:
        connecting = spawn_agent(
            [sys.executable, "-c", CLOSING], Client(allowed_roots=[tmp_path]), stderr=subprocess.DEVNULL
        )
        async with asyncio.timeout(30), connecting as agent:
            with pytest.raises(ConnectionClosed, match="it has closed its standard output") as ended:
                await agent.new_session(tmp_path)
        assert ended.value.stderr == "about to close\n"

    asyncio.run(work())


DEAF = """
import asyncio, sys
from acp_session import Agent, run_agent

class Deaf(Agent):
    async def on_prompt(self, turn):
        await turn.send_message("working")
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                pass

run_agent(Deaf(), grace=0.1)
print("ended", file=sys.stderr)
"""


def test_an_agent_whose_work_ignores_each_cancellation_ends_with_its_input(tmp_path: Path) -> None:
    call = {"cwd": str(tmp_path), "mcpServers": []}
    with subprocess.Popen(
        [sys.executable, "-c", DEAF],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
    ) as program:

        def ask(id_: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
            assert program.stdin is not None
            assert program.stdout is not None
            print(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}), file=program.stdin)
            program.stdin.flush()
            answer: dict[str, Any] = json.loads(program.stdout.readline())
            return answer

        try:
            ask(0, "initialize", {"protocolVersion": 1})
            session_id = ask(1, "session/new", call)["result"]["sessionId"]
            prompt = {"sessionId": session_id, "prompt": [{"type": "text", "text": "Work."}]}
            assert ask(2, "session/prompt", prompt)["method"] == "session/update"
            _, errors = program.communicate(timeout=20)
        finally:
            program.kill()
        assert program.returncode == 0
        assert "ended\n" in errors
