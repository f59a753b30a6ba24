"""All rules by id: importing the modules of rules registers them."""

from . import (
    capabilities,
    content,
    elicitation,
    fields,
    files,
    handshake,
    history,
    json_rpc,
    mcp,
    roots,
    sessions,
    turns,
)
from .rule import RULES

SUBJECTS = (
    capabilities,
    content,
    elicitation,
    fields,
    files,
    handshake,
    history,
    json_rpc,
    mcp,
    roots,
    sessions,
    turns,
)
"""The modules of rules, one per subject."""

__all__ = ["RULES", "SUBJECTS"]
