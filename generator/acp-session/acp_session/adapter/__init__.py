"""Peers of v1 and v2 that talk to one another: `as_v2` makes an agent of v1 one of v2, `as_v1` an agent of v2 one of v1.

An adapter stands between two connections: as the client of one version to the agent, as the agent of the other to the client. What the
other version has no place for is a `Loss`: counted in `losses`, and told to a function.
"""

from .as_v1 import AgentAsV1, as_v1
from .as_v2 import AgentAsV2, as_v2
from .local import Local
from .losses import CARRIER, Kind, Loss, Losses, Told

__all__ = ["CARRIER", "AgentAsV1", "AgentAsV2", "Kind", "Local", "Loss", "Losses", "Told", "as_v1", "as_v2"]
