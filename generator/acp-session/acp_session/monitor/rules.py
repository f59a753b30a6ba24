"""All rules by id: importing the modules of rules enters them into the table."""

from . import capabilities, fields, files, frame, handshake, history, mcp, roots, sessions, turns
from .rule import RULES, Rule

__all__ = [
    "RULES",
    "Rule",
    "capabilities",
    "fields",
    "files",
    "frame",
    "handshake",
    "history",
    "mcp",
    "roots",
    "sessions",
    "turns",
]
