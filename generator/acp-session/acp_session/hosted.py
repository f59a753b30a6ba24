"""A client on the connection of the bindings whose sessions, files and terminals a `ClientHost` owns.

client = HostedClient(granted=["/srv/app"], permission=ask_the_user)
async with peers.spawn_agent(["my-agent"], client):
await client.host.initialize()
session = await client.host.new("/srv/app")
"""

from __future__ import annotations

from typing import Any

from acp_bindings import ErrorResponse, Refused, Request
from acp_bindings.runtime.peers import Side
from acp_bindings.v1 import peers

from .client_host import ClientHost
from .errors import METHOD_NOT_FOUND


class Serving(Side):
    """Answers what the host answers, and else what the coroutine of the method does."""

    host: Any

    async def serve(self, method: str, params: Any) -> Any:
        """The host's answer, or that of the method's own coroutine where the host has none."""
        answer = await self.host.answer(Request(0, method, params))
        if not isinstance(answer, ErrorResponse):
            return answer.result
        if answer.error.code == METHOD_NOT_FOUND:
            return await super().serve(method, params)
        raise Refused(answer.error.code, answer.error.message, answer.error.data)

    async def heed(self, method: str, params: Any) -> None:
        """Give a notification to the host, then to the method's own coroutine."""
        self.host.notice(params)
        await super().heed(method, params)

    async def _call(self, method: str, params: Any) -> Any:
        return await self.connection.request(method, params)

    async def _tell(self, method: str, params: Any) -> None:
        await self.connection.notify(method, params)


class HostedClient(Serving, peers.Client):
    """Answers what the host answers; subclass it for the rest, and to see updates. The arguments are those of `ClientHost` by name."""

    def __init__(self, **options: Any) -> None:
        self.host: ClientHost = ClientHost(self._call, self._tell, **options)
