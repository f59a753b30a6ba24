"""Text in XML 1.0: escaped, and what the format cannot hold written as escapes."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr


def attribute(value: str) -> str:
    """A value with its quotes."""
    return quoteattr(_allowed(value))


def content(value: str) -> str:
    """What stands between tags."""
    return escape(_allowed(value))


def _allowed(value: str) -> str:
    """Characters that XML 1.0 cannot hold are written as escapes."""
    return "".join(
        character
        if character in "\t\n\r"
        or " " <= character <= "\ud7ff"
        or "\ue000" <= character <= "\ufffd"
        or character >= "\U00010000"
        else repr(character)[1:-1]
        for character in value
    )
