"""An agent and a client on our own bindings, for the matrix of SDKs.

python ours.py agent VERSION SCENARIO
python ours.py client VERSION SCENARIO NAME,NAME… -- AGENT…
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, Final

from acp_bindings import MISSING, DecodeError, ErrorResponse, Notification, Request, Response

LIMIT: Final = 64 << 20
"""Bytes of a line that is read."""

ANSWER: Final = 20.0
NOT_SENT: Final = "cannot send: "

version = int(sys.argv[2])
v: Final[Any] = import_module(f"acp_bindings.v{version}")
scenario: Final = {row["name"]: row for row in json.loads(Path(sys.argv[3]).read_text("utf-8"))}


def plain(value: Any) -> Any:
    """A value of the bindings as JSON."""
    return json.loads(v.encode(value))


class Failed(Exception):
    """An error in answer to a request."""

    def __init__(self, error: Any) -> None:
        super().__init__(f"{error.code} {error.message}")
        self.code = error.code


class Peer:
    """One side of a connection: requests wait for their answers, what comes in goes to `handle` and `notice`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, other: str) -> None:
        self.reader, self.writer, self.other = reader, writer, other
        self.methods: dict[Any, str] = {}
        self.waiting: dict[Any, asyncio.Future[Any]] = {}
        self.tasks: set[asyncio.Task[Any]] = set()
        self.numbers = count(1)

    def made(self, method: str, params: Any, to: str) -> Any:
        """Params as the class of their method; those of an extension as they are."""
        type_ = next((one.params for one in v.METHODS.values() if one.name == method and one.side == to), None)
        return params if type_ is None else v.decode_as(type_, params, lenient=False)

    async def request(self, method: str, params: Any) -> Any:
        number = next(self.numbers)
        self.methods[number] = method
        self.waiting[number] = asyncio.get_running_loop().create_future()
        self.send(Request(number, method, params))
        return await asyncio.wait_for(self.waiting[number], ANSWER)

    def send(self, message: Any) -> None:
        self.writer.write(v.encode(message) + b"\n")

    async def run(self) -> None:
        while line := await self.reader.readline():
            try:
                message = v.decode(line, sender=self.other, pending=self.methods)
            except DecodeError as error:
                print(f"not understood: {error}", file=sys.stderr)
                if error.id is not None and error.method is not None:
                    self.send(ErrorResponse(error.id, v.Error(code=error.code, message=str(error))))
                elif error.id in self.waiting:
                    self.waiting.pop(error.id).set_exception(ValueError(str(error)))
                continue
            if isinstance(message, Request):
                task = asyncio.create_task(self.answer(message))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)
                await asyncio.sleep(0)
            elif isinstance(message, Notification):
                self.notice(message.method, message.params)
            elif isinstance(message, Response):
                self.waiting.pop(message.id).set_result(message.result)
            elif message.id in self.waiting:
                self.waiting.pop(message.id).set_exception(Failed(message.error))
        for waiting in self.waiting.values():
            waiting.set_exception(ConnectionError("the connection ended"))

    async def answer(self, request: Any) -> None:
        try:
            result = await self.handle(request.method, request.params)
        except Exception as error:
            self.send(ErrorResponse(request.id, v.Error(code=-32603, message=f"{type(error).__name__}: {error}")))
        else:
            if result is None:
                self.send(ErrorResponse(request.id, v.Error(code=-32601, message="there is no such method")))
            else:
                self.send(Response(request.id, result, request.method))

    async def handle(self, method: str, params: Any) -> Any:
        raise NotImplementedError

    def notice(self, method: str, params: Any) -> None:
        raise NotImplementedError


class Agent(Peer):
    cancelled: asyncio.Event

    async def handle(self, method: str, params: Any) -> Any:
        if method == "initialize":
            info = {"name": "matrix-agent", "version": "1.0"}
            named = {"agentInfo": info} if version == 1 else {"info": info, "capabilities": {"session": {}}}
            return v.decode_as(v.InitializeResponse, {"protocolVersion": version, **named})
        if method == "session/new":
            servers = [] if params.mcp_servers is MISSING else params.mcp_servers
            meta = {"acpgen.dev/cwd": params.cwd, "acpgen.dev/servers": len(servers)}
            return v.decode_as(v.NewSessionResponse, {"sessionId": "session-1", "_meta": meta})
        if method == "session/prompt":
            return await self.turn(params)
        return params if method == "_acpgen.dev/echo" else None

    async def turn(self, params: Any) -> Any:
        session, prompt = params.session_id, plain(params)
        exchange = scenario[params.prompt[0].text]
        self.cancelled = asyncio.Event()
        if version == 2:
            self.update(session, {"sessionUpdate": "user_message", "messageId": "user", "content": prompt["prompt"]})
            self.update(session, {"sessionUpdate": "state_update", "state": "running"})
            self.tasks.add(asyncio.create_task(self.work(session, prompt, exchange)))
            return v.PromptResponse(message_id="user")
        return v.PromptResponse(stop_reason=await self.work(session, prompt, exchange))

    async def work(self, session: str, prompt: Any, exchange: Any) -> str:
        answers: list[Any] = []
        trouble = None
        try:
            for update in exchange.get("updates", ()):
                self.update(session, update)
            for request in exchange.get("requests", ()):
                given = self.made(request["method"], {"sessionId": session, **request["params"]}, "client")
                answers.append(plain(await self.request(request["method"], given)))
        except DecodeError as error:
            trouble = f"{NOT_SENT}{error}"
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
        echo = {"prompt": prompt["prompt"], "meta": prompt.get("_meta"), "answers": answers, "trouble": trouble}
        message = {"messageId": "echo"} if version == 2 else {}
        content = {"type": "text", "text": json.dumps(echo)}
        self.update(session, {"sessionUpdate": "agent_message_chunk", **message, "content": content})
        if exchange.get("cancel"):
            await self.cancelled.wait()
        reason = "cancelled" if exchange.get("cancel") else "end_turn"
        if version == 2:
            self.update(session, {"sessionUpdate": "state_update", "state": "idle", "stopReason": reason})
        return reason

    def update(self, session: str, update: Any) -> None:
        given = self.made("session/update", {"sessionId": session, "update": update}, "client")
        self.send(Notification("session/update", given))

    def notice(self, method: str, params: Any) -> None:
        if method == "session/cancel":
            self.cancelled.set()


class Client(Peer):
    updates: list[Any]
    asked: list[Any]
    idle: asyncio.Future[Any]
    exchange: Any

    async def handle(self, method: str, params: Any) -> Any:
        value = plain(params)
        self.asked.append({"method": method, "params": value})
        for request in self.exchange.get("requests", ()):
            if request["method"] == method:
                result = next(one.result for one in v.METHODS.values() if one.name == method and one.side == "client")
                return v.decode_as(result, request["answer"])
        return None

    def notice(self, method: str, params: Any) -> None:
        if method != "session/update":
            return
        update = plain(params)["update"]
        self.updates.append(update)
        if self.exchange.get("cancel") and update["sessionUpdate"] == "agent_message_chunk":
            given = self.made("session/cancel", {"sessionId": params.session_id}, "agent")
            self.send(Notification("session/cancel", given))
        if update["sessionUpdate"] == "state_update" and update["state"] == "idle":
            self.idle.set_result(update)

    async def run_one(self, name: str) -> Any:
        self.exchange, self.updates, self.asked = scenario[name], [], []
        self.idle = asyncio.get_running_loop().create_future()
        answer: Any = None
        trouble: dict[str, Any] = {}
        try:
            call = self.exchange.get("call")
            if call is not None:
                answer = await self.request(call["method"], self.made(call["method"], call["params"], "agent"))
                answer = plain(answer) if hasattr(answer, "model_fields_set") else answer
            else:
                answer = await self.prompt(name)
        except DecodeError as error:
            trouble = {"error": f"{NOT_SENT}{error}"}
        except Exception as error:
            trouble = {"error": f"{type(error).__name__}: {error}", "code": getattr(error, "code", None)}
        return {"name": name, "answer": answer, "updates": self.updates, "asked": self.asked, **trouble}

    async def prompt(self, name: str) -> Any:
        blocks = [{"type": "text", "text": name}, *self.exchange.get("blocks", ())]
        meta = {"_meta": self.exchange["meta"]} if "meta" in self.exchange else {}
        given = self.made("session/prompt", {"sessionId": "session-1", "prompt": blocks, **meta}, "agent")
        answer = plain(await self.request("session/prompt", given))
        return answer if version == 1 else await asyncio.wait_for(self.idle, ANSWER)


async def agent() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    await Agent(reader, asyncio.StreamWriter(transport, protocol, reader, loop), "client").run()


async def client(names: list[str], command: list[str]) -> None:
    child = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=LIMIT)
    assert child.stdin is not None
    assert child.stdout is not None
    peer = Client(child.stdout, child.stdin, "agent")
    running = asyncio.create_task(peer.run())
    for name in names:
        print(json.dumps(await peer.run_one(name)), flush=True)
        if running.done():
            break
    child.stdin.close()
    await asyncio.wait_for(child.wait(), ANSWER)
    await running


if sys.argv[1] == "agent":
    asyncio.run(agent())
else:
    asyncio.run(client(sys.argv[4].split(","), sys.argv[6:]))
