"""Version 1 of the protocol in the terms of v2: what the core speaks, and what a peer of v1 sends and understands.

`AgentAsV1` serves a client of v1 for an agent of v2; `AgentAsV2` is an agent of v2 whose work one of v1 does. What the other version has no
place for is a `Loss`: counted in `losses`, and passed to `on_loss`.
"""
