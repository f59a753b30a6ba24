"""A server of our own: it asks for the roots through `RootsCache` and tells, for every path it is asked about, whether it lies in them.

The method `_contains` with `{"path": …}` is an extension; the result also says how often the client was asked.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp_bindings import ErrorResponse, Notification, Request, Response, roots

from acp_workspace.mcp_roots import LIST, LIST_CHANGED, RootsCache, RootsUnsupported


class Server:
    def __init__(self) -> None:
        self.cache: RootsCache | None = None
        self.asked = 0
        self.pending: dict[Any, asyncio.Future[Any]] = {}

    def send(self, message: Any) -> None:
        sys.stdout.buffer.write((message if isinstance(message, bytes) else roots.encode(message)) + b"\n")
        sys.stdout.buffer.flush()

    async def ask(self) -> roots.ListRootsResult:
        self.asked += 1
        number = f"roots-{self.asked}"
        self.pending[number] = asyncio.get_running_loop().create_future()
        self.send(Request(number, LIST, roots.ListRootsRequest(), form="absent"))
        return roots.decode_as(roots.ListRootsResult, await self.pending[number])

    async def handle(self, line: bytes) -> None:
        raw = json.loads(line)
        if raw.get("method") == "tools/call":
            await self.contains(raw["id"], raw["params"]["arguments"]["path"])
            return
        if raw.get("method") == "tools/list":
            tool = {"name": "contains", "inputSchema": {"type": "object"}}
            self.send(json.dumps({"jsonrpc": "2.0", "id": raw["id"], "result": {"tools": [tool]}}).encode())
            return
        if "method" not in raw and "result" in raw:
            self.pending.pop(raw["id"]).set_result(raw["result"])
            return
        message = roots.decode(line, sender="client")
        match message:
            case Request(method="initialize", params=roots.InitializeRequest() as params):
                self.cache = RootsCache(params.capabilities, self.ask)
                result: dict[str, Any] = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "ours", "version": "1"},
                }
                self.send(Response(message.id, result))
            case Notification(method=method) if method == LIST_CHANGED:
                assert self.cache is not None
                self.cache.changed()
            case ErrorResponse():
                self.pending.pop(message.id).set_exception(RuntimeError(message.error.message))
            case _:
                pass

    async def contains(self, number: Any, path: str) -> None:
        assert self.cache is not None
        try:
            found = await self.cache.current()
            told: Any = {"inside": found.contains(path), "unusable": found.unusable, "asked": self.asked}
        except RootsUnsupported as error:
            told = {"unsupported": str(error), "asked": self.asked}
        result = {"content": [{"type": "text", "text": json.dumps(told)}]}
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode())


async def main() -> None:
    server = Server()
    tasks = set[asyncio.Task[None]]()
    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        tasks.add(asyncio.create_task(server.handle(line)))
    await asyncio.gather(*tasks)


asyncio.run(main())
