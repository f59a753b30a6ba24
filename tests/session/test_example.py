"""The example client serves real files to an agent, and only the right ones."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_session import connect_agent
from acp_workspace.containment import guarantees
from acp_workspace.filesystem import FilePolicy
from examples.files import FilesClient
from jsonrpc_bindings.transport import Memory, pair
from workspace.conftest import PATHS

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")


class Agent:
    """The agent's end of a connection, by plain JSON: it answers the handshake and asks whatever a test wants."""

    def __init__(self, end: Memory, *, advertised: bool) -> None:
        self.end = end
        self.advertised = advertised
        self.seen: list[dict[str, Any]] = []
        self.eager: Callable[[], None] = lambda: None
        self.waiting: dict[Any, asyncio.Future[dict[str, Any]]] = {}

    def send(self, message: dict[str, Any]) -> None:
        self.end.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def run(self) -> None:
        while line := await self.end.receive():
            message = json.loads(line)
            self.seen.append(message)
            session: dict[str, Any] = {"additionalDirectories": {}} if self.advertised else {}
            match message:
                case {"method": "initialize", "id": number}:
                    result: Any = {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": session}}
                    self.send({"id": number, "result": result})
                case {"method": "session/new", "id": number}:
                    self.send({"id": number, "result": {"sessionId": "s"}})
                    self.eager()
                case {"id": number}:
                    self.waiting.pop(number).set_result(message)
                case _:
                    pass

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = f"agent-{len(self.seen)}-{len(self.waiting)}-{method}-{params.get('path')}"
        self.waiting[number] = asyncio.get_running_loop().create_future()
        self.send({"id": number, "method": method, "params": {"sessionId": "s", **params}})
        return await self.waiting[number]

    async def read(self, path: str | Path, **params: Any) -> Any:
        answer = await self.ask("fs/read_text_file", path=str(path), **params)
        return answer["result"]["content"] if "result" in answer else answer["error"]["code"]

    async def write(self, path: str | Path, content: str) -> Any:
        answer = await self.ask("fs/write_text_file", path=str(path), content=content)
        return answer.get("result", answer.get("error", {}).get("code"))


def converse(
    base: Path,
    talk: Callable[[Agent, FilesClient], Awaitable[None]],
    *,
    advertised: bool = True,
    policy: FilePolicy = FilePolicy(),  # noqa: B008 - frozen
    begin: Callable[[Agent], None] = lambda agent: None,
) -> FilesClient:
    """Connect the example client and an agent, start a session on `app` and `lib`, and let the agent talk."""
    for name in ("app", "lib", "outside"):
        (base / name).mkdir(exist_ok=True)

    async def connected() -> FilesClient:
        near, far = pair()
        client = FilesClient([f"{base}/app", f"{base}/lib"], policy)
        agent = Agent(far, advertised=advertised)
        begin(agent)
        running = asyncio.create_task(agent.run())
        async with connect_agent(near, client, versions=(1,)) as found:
            more = [f"{base}/lib"] if advertised else []
            await found.new_session(f"{base}/app", additional_directories=more)
            await talk(agent, client)
        await running
        return client

    return asyncio.run(asyncio.wait_for(connected(), 60))


def test_the_documents_own_tests_pass_over_the_wire(tmp_path: Path) -> None:
    async def talk(agent: Agent, client: FilesClient) -> None:
        assert await agent.write(tmp_path / "app" / "test.txt", "Hello, world!") == {}
        assert await agent.read(tmp_path / "app" / "test.txt") == "Hello, world!"
        assert await agent.read("/etc/passwd") == -32001
        assert await agent.read(tmp_path / "app" / "missing.txt") == -32002

    client = converse(tmp_path, talk)
    assert [event.phase for event in client.events] == [
        "started",
        "done",
        "started",
        "done",
        *["started", "failed"] * 2,
    ]


def test_the_client_advertises_and_sends_what_is_true(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    async def talk(agent: Agent, client: FilesClient) -> None:
        seen.extend(agent.seen)

    converse(tmp_path, talk, policy=FilePolicy(write=False))
    hello, new = (message["params"] for message in seen)
    assert hello["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": False}
    assert (new["cwd"], new["additionalDirectories"]) == (f"{tmp_path}/app", [f"{tmp_path}/lib"])
    seen.clear()
    converse(tmp_path, talk, advertised=False)
    assert "additionalDirectories" not in seen[1]["params"]


def test_attacks_over_the_wire_get_nothing(tmp_path: Path) -> None:
    async def talk(agent: Agent, client: FilesClient) -> None:
        app, outside = tmp_path / "app", tmp_path / "outside"
        (outside / "a.txt").write_text("OUTSIDE")
        (app / "b.bin").write_bytes(b"\0")
        (app / ".env").write_text("SECRET")
        (app / "link").symlink_to(outside)
        (app / "file").symlink_to(outside / "a.txt")
        (app / "loop").symlink_to("loop")
        os.link(outside / "a.txt", app / "hard.txt")
        os.mkfifo(app / "pipe")
        for path in ("link/a.txt", "file", "../outside/a.txt", "loop", "hard.txt", ".env", "link/../outside/a.txt"):
            assert await agent.read(f"{app}/{path}") == -32001, path
        for path in ("link/a.txt", "link/new.txt", "file", "../outside/a.txt", ".env", ".git/hooks/pre-commit"):
            assert await agent.write(f"{app}/{path}", "x") == -32001, path
        assert await agent.read(app / "pipe") == await agent.read(app / "b.bin") == -32603
        for path in ("relative.txt", "", "C:\\a.txt"):
            assert await agent.read(path) == -32602, path
        assert await agent.ask("fs/read_text_file", uri=f"file://{app}/a.txt") != {}
        assert (await agent.ask("fs/read_text_file", path=str(app), sessionId="t"))["error"]["code"] == -32602
        assert (await agent.ask("terminal/create", command="sh"))["error"]["code"] == -32601
        options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
        permission = await agent.ask("session/request_permission", toolCall={"toolCallId": "c"}, options=options)
        assert permission["result"] == {"outcome": {"outcome": "cancelled"}}
        assert sorted(path.name for path in outside.iterdir()) == ["a.txt"]
        assert (outside / "a.txt").read_text() == "OUTSIDE"

    converse(tmp_path, talk)


def test_a_request_that_comes_with_the_session_is_served(tmp_path: Path, make: Callable[..., Path]) -> None:
    make("app/a.txt", "a")
    early: list[asyncio.Future[dict[str, Any]]] = []

    async def talk(agent: Agent, client: FilesClient) -> None:
        assert (await early[0])["result"] == {"content": "a"}

    def begin(agent: Agent) -> None:
        def ask() -> None:
            agent.waiting["early"] = asyncio.get_running_loop().create_future()
            early.append(agent.waiting["early"])
            params = {"sessionId": "s", "path": f"{tmp_path}/app/a.txt"}
            agent.send({"id": "early", "method": "fs/read_text_file", "params": params})

        agent.eager = ask

    converse(tmp_path, talk, begin=begin)


def test_the_client_does_not_wait_for_an_agent_that_has_ended(tmp_path: Path, make: Callable[..., Path]) -> None:
    agent = make("agent.py", "import sys; sys.stdin.readline()")
    (tmp_path / "app").mkdir()
    program = Path(__file__).parents[1] / "examples" / "files.py"
    done = subprocess.run(
        [sys.executable, str(program), f"{tmp_path}/app", "--", sys.executable, str(agent)],
        input="",
        text=True,
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
    )
    assert done.returncode == 1
    assert "the agent has ended" in done.stderr


def test_hundreds_of_requests_at_once_are_all_answered(tmp_path: Path) -> None:
    async def talk(agent: Agent, client: FilesClient) -> None:
        paths = [tmp_path / "lib" / f"{number}.txt" for number in range(200)]
        written = await asyncio.gather(*(agent.write(path, path.name * 100) for path in paths))
        assert written == [{}] * 200
        found = await asyncio.gather(*(agent.read(path) for path in paths))
        assert found == [path.name * 100 for path in paths]

    converse(tmp_path, talk, policy=FilePolicy(durable=False))


def test_the_example_runs_as_a_program(tmp_path: Path, make: Callable[..., Path]) -> None:
    agent = make(
        "agent.py",
        """
import json, sys
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def receive(): return json.loads(sys.stdin.readline())
send(id=receive()["id"], result={"protocolVersion": 1})
new = receive(); send(id=new["id"], result={"sessionId": "s"})
prompt = receive()
path, text = new["params"]["cwd"] + "/note.txt", prompt["params"]["prompt"][0]["text"]
send(id="w", method="fs/write_text_file", params={"sessionId": "s", "path": path, "content": text})
assert receive()["result"] == {}
send(id=prompt["id"], result={"stopReason": "end_turn"})
""",
    )
    (tmp_path / "app").mkdir()
    program = Path(__file__).parents[1] / "examples" / "files.py"
    subprocess.run(
        [sys.executable, str(program), f"{tmp_path}/app", "--", sys.executable, str(agent)],
        input="Remember the tide.",
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
    )
    assert (tmp_path / "app" / "note.txt").read_text() == "Remember the tide."
