"""A client of v2 on the connection of the bindings whose sessions a `ClientHost` owns.

client = HostedClient(granted=["/srv/app"], permission=ask_the_user)
async with peers.spawn_agent(["my-agent"], client):
await client.host.initialize(me)
session = await client.host.new("/srv/app")
end = await client.host.turn(session.id, [v2.TextContentBlock(text="Hello")])
"""

from __future__ import annotations

from typing import Any

from acp_bindings.v2 import peers

from acp_session.hosted import Serving

from .client_host import ClientHost


class HostedClient(Serving, peers.Client):
    """Answers what the host answers; subclass it for the rest, and to see updates. The arguments are those of `ClientHost` by name."""

    def __init__(self, **options: Any) -> None:
        self.host: ClientHost = ClientHost(self._call, self._tell, **options)
