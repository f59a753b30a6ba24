"""All rules by id: importing the modules of rules enters them into the table."""

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
"""The modules of rules, one for each subject."""

__all__ = ["RULES", "SUBJECTS"]
