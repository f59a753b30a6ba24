"""An agent and a client on the connection of our own bindings, for the matrix of SDKs.

python ours.py agent VERSION SCENARIO
python ours.py client VERSION SCENARIO NAME,NAME… -- AGENT…
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from acp_bindings import UNSET, DecodeError, PeerError

from jsonrpc_bindings.peers import Options, Side, refuse_unserved

ANSWER: Final = 20.0
NOT_SENT: Final = "cannot send: "

version = int(sys.argv[2])
v: Final[Any] = import_module(f"acp_bindings.v{version}")
peers: Final[Any] = import_module(f"acp_bindings.v{version}.peers")
scenario: Final = {row["name"]: row for row in json.loads(Path(sys.argv[3]).read_text("utf-8"))}
options: Final = Options(gates=False, timeout=ANSWER, grace=ANSWER)
"""The matrix asks for everything, advertised or not."""


def plain(value: Any) -> Any:
    """A value of the bindings as JSON."""
    return json.loads(v.encode(value))


def made(method: str, params: Any, to: str) -> Any:
    """Params as the class of their method; those of an extension as they are."""
    type_ = next((one.params for one in v.METHODS.values() if one.name == method and one.side == to), None)
    return params if type_ is None else v.decode_as(type_, params, lenient=False)


class Agent(Side):
    """The agent of either version, by the names of methods."""

    wire, side, peer_side = peers.WIRE, "agent", "client"
    cancelled: asyncio.Event
    work: asyncio.Task[str]

    async def serve(self, method: str, params: Any) -> Any:
        match method:
            case "initialize":
                info = {"name": "matrix-agent", "version": "1.0"}
                named: dict[str, Any] = (
                    {"agentInfo": info} if version == 1 else {"info": info, "capabilities": {"session": {}}}
                )
                return v.decode_as(v.InitializeResponse, {"protocolVersion": version, **named})
            case "session/new":
                servers: list[Any] = [] if params.mcp_servers is UNSET else params.mcp_servers
                meta = {"acpgen.dev/cwd": params.cwd, "acpgen.dev/servers": len(servers)}
                return v.decode_as(v.NewSessionResponse, {"sessionId": "session-1", "_meta": meta})
            case "session/prompt":
                return await self.turn(params)
            case "_acpgen.dev/echo":
                return params
            case _:
                raise refuse_unserved(method)

    async def handle_notification(self, method: str, params: Any) -> None:
        if method == "session/cancel":
            self.cancelled.set()

    async def turn(self, params: Any) -> Any:
        session, prompt = params.session_id, plain(params)
        exchange = scenario[params.prompt[0].text]
        self.cancelled = asyncio.Event()
        if version == 1:
            return v.PromptResponse(stop_reason=await self.done(session, prompt, exchange))
        message = {"sessionUpdate": "user_message", "messageId": "user", "content": prompt["prompt"]}
        await self.update(session, message)
        await self.update(session, {"sessionUpdate": "state_update", "state": "running"})
        self.work = asyncio.create_task(self.done(session, prompt, exchange))
        return v.PromptResponse(message_id="user")

    async def done(self, session: str, prompt: Any, exchange: Any) -> str:
        answers: list[Any] = []
        trouble = None
        try:
            for update in exchange.get("updates", ()):
                await self.update(session, update)
            for request in exchange.get("requests", ()):
                given = made(request["method"], {"sessionId": session, **request["params"]}, "client")
                answers.append(plain(await self.connection.request(request["method"], given)))
        except DecodeError as error:
            trouble = f"{NOT_SENT}{error}"
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
        echo = {"prompt": prompt["prompt"], "meta": prompt.get("_meta"), "answers": answers, "trouble": trouble}
        message = {"messageId": "echo"} if version == 2 else {}
        content = {"type": "text", "text": json.dumps(echo)}
        await self.update(session, {"sessionUpdate": "agent_message_chunk", **message, "content": content})
        if exchange.get("cancel"):
            await self.cancelled.wait()
        reason = "cancelled" if exchange.get("cancel") else "end_turn"
        if version == 2:
            await self.update(session, {"sessionUpdate": "state_update", "state": "idle", "stopReason": reason})
        return reason

    async def update(self, session: str, update: Any) -> None:
        given = made("session/update", {"sessionId": session, "update": update}, "client")
        await self.connection.notify("session/update", given)


class Client(Side):
    """The client of either version, by the names of methods."""

    wire, side, peer_side = peers.WIRE, "client", "agent"
    updates: list[Any]
    asked: list[Any]
    idle: asyncio.Future[Any]
    exchange: Any

    async def serve(self, method: str, params: Any) -> Any:
        self.asked.append({"method": method, "params": plain(params)})
        for request in self.exchange.get("requests", ()):
            if request["method"] == method:
                result = next(one.result for one in v.METHODS.values() if one.name == method and one.side == "client")
                return v.decode_as(result, request["answer"])
        raise refuse_unserved(method)

    async def handle_notification(self, method: str, params: Any) -> None:
        if method != "session/update":
            return
        update = plain(params)["update"]
        self.updates.append(update)
        if self.exchange.get("cancel") and update["sessionUpdate"] == "agent_message_chunk":
            cancel = made("session/cancel", {"sessionId": params.session_id}, "agent")
            await self.connection.notify("session/cancel", cancel)
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
                params = made(call["method"], call["params"], "agent")
                answer = plain(await self.connection.request(call["method"], params))
            else:
                answer = await self.prompt(name)
        except DecodeError as error:
            trouble = {"error": f"{NOT_SENT}{error}"}
        except PeerError as failed:
            trouble = {"error": f"{failed.code} {failed.message}", "code": failed.code}
        except Exception as error:
            trouble = {"error": f"{type(error).__name__}: {error}", "code": None}
        return {"name": name, "answer": answer, "updates": self.updates, "asked": self.asked, **trouble}

    async def prompt(self, name: str) -> Any:
        blocks = [{"type": "text", "text": name}, *self.exchange.get("blocks", ())]
        meta = {"_meta": self.exchange["meta"]} if "meta" in self.exchange else {}
        given = made("session/prompt", {"sessionId": "session-1", "prompt": blocks, **meta}, "agent")
        answer = plain(await self.connection.request("session/prompt", given))
        return answer if version == 1 else await asyncio.wait_for(self.idle, ANSWER)


async def client(names: list[str], command: list[str]) -> None:
    here = Client()
    async with peers.spawn_agent(command, here, **options):
        for name in names:
            print(json.dumps(await here.run_one(name)), flush=True)
            if here.connection.is_ended:
                break


if sys.argv[1] == "agent":
    asyncio.run(peers.run_agent(Agent(), **options))
else:
    asyncio.run(client(sys.argv[4].split(","), sys.argv[6:]))
