"""All rules by id."""

from importlib import import_module
from typing import Final

from .rule import RULES

SUBJECTS: Final = (
    *("capabilities", "content", "elicitation", "fields", "files", "handshake"),
    *("history", "json_rpc", "mcp", "roots", "sessions", "turns"),
)
"""The modules of rules, one per subject; importing one registers its rules."""

for subject in SUBJECTS:
    import_module(f".{subject}", __package__)

__all__ = ["RULES"]
