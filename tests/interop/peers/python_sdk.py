"""An agent and a client on the public API of the official Python SDK, for the matrix of SDKs.

python python_sdk.py agent VERSION SCENARIO
python python_sdk.py client VERSION SCENARIO NAME,NAME… -- AGENT…
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

acp: Final[Any] = import_module("acp")
schema: Final[Any] = import_module("acp.schema")

LIMIT: Final = 64 << 20
ANSWER: Final = 20.0
NOT_SENT: Final = "cannot send: "

scenario: Final = {row["name"]: row for row in json.loads(Path(sys.argv[3]).read_text("utf-8"))}

CALLS: Final = {
    "session/request_permission": (schema.RequestPermissionRequest, "request_permission"),
    "fs/read_text_file": (schema.ReadTextFileRequest, "read_text_file"),
    "fs/write_text_file": (schema.WriteTextFileRequest, "write_text_file"),
    "terminal/create": (schema.CreateTerminalRequest, "create_terminal"),
    "terminal/output": (schema.TerminalOutputRequest, "terminal_output"),
    "terminal/release": (schema.ReleaseTerminalRequest, "release_terminal"),
}


def plain(value: Any) -> Any:
    """What the SDK gave as JSON: the fields that came, under their names in the protocol."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return value


def made(type_: Any, value: Any) -> Any:
    """A value as a class of the SDK. Raises `ValueError` where it has no such class."""
    try:
        return type_.model_validate(value)
    except ValidationError as error:
        raise ValueError(NOT_SENT + "; ".join(_told(one) for one in error.errors()[:2])) from None


def _told(problem: Any) -> str:
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


def arguments(model: Any) -> dict[str, Any]:
    """The fields of params as arguments of the SDK's methods."""
    named = type(model).model_fields
    return {name: getattr(model, name) for name in named if name in model.model_fields_set and name != "field_meta"}


class Agent:
    connection: Any

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()

    def on_connect(self, connection: Any) -> None:
        self.connection = connection

    async def initialize(self, protocol_version: int, **_: Any) -> Any:
        info = schema.Implementation(name="matrix-agent", version="1.0")
        return schema.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION, agent_info=info)

    async def new_session(self, cwd: str, mcp_servers: Any = None, **_: Any) -> Any:
        meta = {"acpgen.dev/cwd": cwd, "acpgen.dev/servers": len(mcp_servers or [])}
        return schema.NewSessionResponse(session_id="session-1", field_meta=meta)

    async def prompt(self, session_id: str, prompt: Any, **meta: Any) -> Any:
        exchange = scenario[prompt[0].text]
        self.cancelled.clear()
        answers: list[Any] = []
        trouble = None
        try:
            await self.say(session_id, exchange, answers)
        except Exception as error:
            trouble = f"{error}"
        echo = {"prompt": plain(prompt), "meta": meta or None, "answers": answers, "trouble": trouble}
        await self.connection.session_update(session_id, acp.update_agent_message_text(json.dumps(echo)))
        if exchange.get("cancel"):
            await self.cancelled.wait()
        return schema.PromptResponse(stop_reason="cancelled" if exchange.get("cancel") else "end_turn")

    async def say(self, session: str, exchange: Any, answers: list[Any]) -> None:
        for update in exchange.get("updates", ()):
            given = made(schema.SessionNotification, {"sessionId": session, "update": update})
            await self.connection.session_update(session, given.update)
        for request in exchange.get("requests", ()):
            type_, method = CALLS[request["method"]]
            given = made(type_, {"sessionId": session, **request["params"]})
            answer = await getattr(self.connection, method)(**arguments(given))
            answers.append({} if answer is None else plain(answer))

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.cancelled.set()

    async def ext_method(self, method: str, params: Any) -> Any:
        if method == "acpgen.dev/echo":
            return params
        raise acp.RequestError.method_not_found(f"_{method}")


class Client:
    connection: Any
    exchange: Any

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[Any] = []

    def on_connect(self, connection: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(plain(update))
        if self.exchange.get("cancel") and update.session_update == "agent_message_chunk":
            await self.connection.cancel(session_id)

    def answer(self, method: str, type_: Any, params: dict[str, Any]) -> Any:
        given = {key: value for key, value in params.items() if value is not None}
        self.asked.append({"method": method, "params": plain(CALLS[method][0](**given))})
        (answer,) = (one["answer"] for one in self.exchange.get("requests", ()) if one["method"] == method)
        return made(type_, answer)

    async def request_permission(self, **params: Any) -> Any:
        return self.answer("session/request_permission", schema.RequestPermissionResponse, params)

    async def read_text_file(self, **params: Any) -> Any:
        return self.answer("fs/read_text_file", schema.ReadTextFileResponse, params)

    async def write_text_file(self, **params: Any) -> Any:
        return self.answer("fs/write_text_file", schema.WriteTextFileResponse, params)

    async def create_terminal(self, **params: Any) -> Any:
        return self.answer("terminal/create", schema.CreateTerminalResponse, params)

    async def terminal_output(self, **params: Any) -> Any:
        return self.answer("terminal/output", schema.TerminalOutputResponse, params)

    async def release_terminal(self, **params: Any) -> Any:
        return self.answer("terminal/release", schema.ReleaseTerminalResponse, params)

    async def ext_method(self, method: str, params: Any) -> Any:
        raise acp.RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: Any) -> None:
        pass

    async def run_one(self, name: str) -> Any:
        self.exchange, self.updates, self.asked = scenario[name], [], []
        answer: Any = None
        trouble: dict[str, Any] = {}
        try:
            answer = plain(await asyncio.wait_for(self.run(name, self.exchange), ANSWER))
        except acp.RequestError as error:
            trouble = {"error": f"{error.code} {error}", "code": error.code}
        except Exception as error:
            trouble = {"error": str(error) or type(error).__name__}
        return {"name": name, "answer": answer, "updates": self.updates, "asked": self.asked, **trouble}

    async def run(self, name: str, exchange: Any) -> Any:
        call = exchange.get("call")
        if call is None:
            blocks = [{"type": "text", "text": name}, *exchange.get("blocks", ())]
            given = made(schema.PromptRequest, {"sessionId": "session-1", "prompt": blocks})
            return await self.connection.prompt(session_id="session-1", prompt=given.prompt, **exchange.get("meta", {}))
        if call["method"] == "initialize":
            given = made(schema.InitializeRequest, call["params"])
            return await self.connection.initialize(**arguments(given))
        if call["method"] == "session/new":
            return await self.connection.new_session(**arguments(made(schema.NewSessionRequest, call["params"])))
        return await self.connection.ext_method(call["method"].removeprefix("_"), call["params"])


async def client(names: list[str], command: list[str]) -> None:
    child = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=LIMIT)
    peer = Client()
    peer.connection = acp.connect_to_agent(peer, child.stdin, child.stdout)
    for name in names:
        print(json.dumps(await peer.run_one(name)), flush=True)
    await peer.connection.close()
    assert child.stdin is not None
    child.stdin.close()
    await asyncio.wait_for(child.wait(), ANSWER)


if sys.argv[1] == "agent":
    asyncio.run(acp.run_agent(Agent()))
else:
    asyncio.run(client(sys.argv[4].split(","), sys.argv[6:]))
