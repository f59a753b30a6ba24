"""What the core and the codec call each other by, in the terms of v2: an object of this process, or a peer at the far end."""

from __future__ import annotations

from typing import TypeAlias

from acp_bindings.v2 import peers

AgentInterface: TypeAlias = "peers.Agent | peers.RemoteAgent"
"""An agent, as its client calls it. Errors are `RequestError` or `PeerError`, `NotAdvertised`, `ConnectionClosed`."""
ClientInterface: TypeAlias = "peers.Client | peers.RemoteClient"
"""A client, as its agent calls it. Errors as of `AgentInterface`."""
