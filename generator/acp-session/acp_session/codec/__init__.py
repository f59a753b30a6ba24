"""The codec between the versions of the protocol: the core speaks v2, and a v1 peer is served by conversion.

`AgentAsV1` serves a v2 agent to a v1 client; `AgentAsV2` serves a v1 agent to a v2 client. Whatever the other version cannot express is
a `Loss`: it is counted in `losses` and passed to `on_loss`.
"""
