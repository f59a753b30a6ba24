"""All rules by id: importing the modules of rules enters them into the table."""

from . import capabilities, contents, files, frame, handshake, listing, mcp, questions, roots, sessions
from .rule import RULES, Rule

__all__ = ["RULES", "Rule", "capabilities", "contents", "files", "frame", "handshake", "listing", "mcp", "questions", "roots", "sessions"]
