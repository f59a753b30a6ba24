"""All rules by id: importing the modules of rules enters them into the table."""

from . import (
    background,
    capabilities,
    contents,
    fields,
    files,
    frame,
    handshake,
    history,
    listing,
    mcp,
    questions,
    roots,
    sessions,
    turns,
)
from .rule import RULES, Rule

__all__ = [
    "RULES",
    "Rule",
    "background",
    "capabilities",
    "contents",
    "fields",
    "files",
    "frame",
    "handshake",
    "history",
    "listing",
    "mcp",
    "questions",
    "roots",
    "sessions",
    "turns",
]
