"""A client of either version that knows nothing of the package: JSON over a transport, with files and commands in version 1."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Unpack

from acp_session.agent import Agent
from acp_session.serving import serve_agent
from jsonrpc_bindings.peers import Options
from jsonrpc_bindings.transport import Transport, pair

Answer = Callable[[dict[str, Any]], Any]

ALL: dict[str, Any] = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
FORMS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}


class Refused(Exception):
    """An error that the agent answered."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")


def place(refused: Refused) -> str:
    """Where the params of a request are wrong, by the only problem that its error names."""
    (problem,) = refused.data["problems"]
    return str(problem["pointer"])


class RawClient:
    """The client at one end of a transport. `answers` has what it answers, by method."""

    def __init__(self, version: int, link: Transport, answers: dict[str, Answer] | None = None) -> None:
        self.version = version
        self.link = link
        self.notes: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.answers: dict[str, Answer] = {"session/request_permission": choose("allow"), **(answers or {})}
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: dict[Any, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self.reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while (line := await self.link.receive()) is not None:
            message = json.loads(line)
            if "method" not in message:
                waiting = self._waiting.pop(message["id"])
                if waiting.done():
                    continue
                if "error" in message:
                    waiting.set_exception(Refused(message["error"]))
                else:
                    waiting.set_result(message["result"])
            elif "id" in message:
                self.asked.append(message)
                task = asyncio.create_task(self._answer(message))
                self._open[message["id"]] = task
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                self.notes.append(message)
                if message["method"] == "$/cancel_request" and message["params"]["requestId"] in self._open:
                    self._open[message["params"]["requestId"]].cancel()
            self._changed.set()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the agent has ended"))
                waiting.exception()
        self._changed.set()

    async def _answer(self, message: dict[str, Any]) -> None:
        body: dict[str, Any]
        try:
            found = self.answers[message["method"]](message["params"])
            body = {"result": await found if isinstance(found, Awaitable) else found}
        except asyncio.CancelledError:
            body = {"error": {"code": -32800, "message": "cancelled"}}
        except Refused as error:
            body = {"error": {"code": error.code, "message": error.message}}
        except KeyError:
            body = {"error": {"code": -32601, "message": "not served"}}
        self.send({"id": message["id"], **body})

    def send(self, message: dict[str, Any]) -> None:
        self.link.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def begin(self, method: str, **params: Any) -> asyncio.Future[Any]:
        number = next(self._numbers)
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        self.send({"id": number, "method": method, "params": params})
        return waiting

    async def request(self, method: str, **params: Any) -> Any:
        return await self.begin(method, **params)

    async def until(self, is_true: Callable[[], Any]) -> Any:
        """What becomes true with some message."""
        while not (found := is_true()):
            assert not self.reading.done(), self.notes
            self._changed.clear()
            await self._changed.wait()
        return found

    # --- the same in both versions

    async def initialize(self, capabilities: dict[str, Any] | None = None) -> Any:
        me = {"name": "raw", "version": "1"}
        if self.version == 1:
            given = {"clientCapabilities": {**(capabilities or {})}, "clientInfo": me}
        else:
            given = {"capabilities": {**(capabilities or {})}, "info": me}
        return await self.request("initialize", protocolVersion=self.version, **given)

    async def new(self, folder: Path | str, **more: Any) -> str:
        return str((await self.request("session/new", cwd=str(folder), mcpServers=[], **more))["sessionId"])

    async def load(self, id_: str, folder: Path | str, **more: Any) -> Any:
        return await self.request("session/load", sessionId=id_, cwd=str(folder), mcpServers=[], **more)

    async def prompt(self, id_: str, text: str = "Go", *, content: Any = None) -> str:
        """Prompt, and say why the turn ended; raises `Refused` where it ended in an error."""
        content = content or [{"type": "text", "text": text}]
        begun = len(self.notes)
        result = await self.request("session/prompt", sessionId=id_, prompt=content)
        if self.version == 1:
            return str(result["stopReason"])
        said = result["messageId"]

        def ending() -> Any:
            own = False
            for one in self.updates(id_, begun):
                own = own or one.get("messageId") == said
                if own and one.get("state") == "idle":
                    return one
            return None

        end = await self.until(ending)
        if end["stopReason"] == "error":
            raise Refused(end["error"])
        return str(end["stopReason"])

    def cancel(self, id_: str) -> None:
        self.send({"method": "session/cancel", "params": {"sessionId": id_}})

    def updates(self, id_: str | None = None, begin: int = 0) -> list[dict[str, Any]]:
        return [
            note["params"]["update"]
            for note in self.notes[begin:]
            if note["method"] == "session/update" and id_ in (None, note["params"]["sessionId"])
        ]

    def text(self, id_: str | None = None, kind: str = "agent_message_chunk") -> str:
        return "".join(one["content"]["text"] for one in self.updates(id_) if one["sessionUpdate"] == kind)

    def calls(self, id_: str | None = None) -> dict[str, dict[str, Any]]:
        """The tool calls, each as it stands in the end."""
        found: dict[str, dict[str, Any]] = {}
        for one in self.updates(id_):
            if "toolCallId" in one:
                found.setdefault(one["toolCallId"], {}).update(one)
        return found

    def statuses(self) -> list[str]:
        return [one["status"] for one in self.calls().values()]


def choose(option: str | None) -> Answer:
    """Answers every permission request so."""
    outcome = {"outcome": "cancelled"} if option is None else {"outcome": "selected", "optionId": option}
    return lambda params: {"outcome": outcome}


def reply(*results: Any) -> Answer:
    """Answers with these, one after the other, and with the last one from then on."""
    left = list(results)
    return lambda params: left.pop(0) if len(left) > 1 else left[0]


def machine() -> dict[str, Answer]:
    """Files and commands of a client of version 1, without any policy."""
    ended: dict[str, subprocess.CompletedProcess[str]] = {}

    def read(params: dict[str, Any]) -> Any:
        path = Path(params["path"])
        if not path.exists():
            raise Refused({"code": -32002, "message": "there is no such file"})
        lines = path.read_text().splitlines(keepends=True)
        begin = params.get("line", 1) - 1
        return {"content": "".join(lines[begin : begin + params.get("limit", len(lines))])}

    def write(params: dict[str, Any]) -> Any:
        Path(params["path"]).write_text(params["content"])
        return {}

    def create(params: dict[str, Any]) -> Any:
        environment = {one["name"]: one["value"] for one in params.get("env", [])}
        command = [params["command"], *params.get("args", [])]
        id_ = f"t{len(ended)}"
        ended[id_] = subprocess.run(
            command, env={"PATH": "/usr/bin:/bin", **environment}, cwd=params["cwd"], capture_output=True, text=True
        )
        return {"terminalId": id_}

    def output(params: dict[str, Any]) -> Any:
        done = ended[params["terminalId"]]
        return {"output": done.stdout, "truncated": False, "exitStatus": {"exitCode": done.returncode}}

    return {
        "fs/read_text_file": read,
        "fs/write_text_file": write,
        "terminal/create": create,
        "terminal/wait_for_exit": lambda params: {"exitCode": ended[params["terminalId"]].returncode},
        "terminal/output": output,
        "terminal/kill": lambda params: {},
        "terminal/release": lambda params: {},
    }


@asynccontextmanager
async def talking(
    agent: Agent,
    version: int,
    *,
    capabilities: dict[str, Any] | None = None,
    answers: dict[str, Answer] | None = None,
    is_machine: bool = True,
    versions: Collection[int] = (1, 2),
    user: str | None = None,
    **options: Unpack[Options],
) -> AsyncGenerator[RawClient]:
    """A client in memory whose agent this is, once both have said hello."""
    near, far = pair()
    serving = asyncio.create_task(serve_agent(agent, near, versions=versions, user=user, **options))
    offers = {**(ALL if version == 1 and is_machine else {}), **(capabilities or {})}
    client = RawClient(version, far, {**(machine() if version == 1 and is_machine else {}), **(answers or {})})
    try:
        async with asyncio.timeout(20):
            await client.initialize(offers)
            yield client
    finally:
        await far.close()
        await asyncio.wait_for(serving, 10)
        client.reading.cancel()
