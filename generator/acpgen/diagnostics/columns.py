"""Lines of a terminal of 80 columns: colours, and text that fits. Text of schemas is shown, never obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from acpgen.errors import visible

WIDTH: Final = 80
COLOURS: Final = {
    "bad": "1;31",
    "unknown": "1;35",
    "warning": "1;33",
    "good": "32",
    "quiet": "2",
    "heading": "1",
}
"""How a terminal is told to show a kind of text."""


def strip_colours(text: str) -> str:
    """A text without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def wrap(line: str, indent: str = "", colour: str = "", below: str = "") -> Iterator[str]:
    """A text on lines that fit, the first after `indent`, the others after `below` or as much room."""
    below = below or " " * len(indent)
    for number, part in enumerate(fold(visible(line), WIDTH - len(below))):
        whole = f"{below if number else indent}{part}"
        yield f"\x1b[{colour}m{whole}\x1b[0m" if colour else whole


def paint(line: str, kind: str) -> str:
    """A text in the colour of its tone, or as a heading."""
    return f"\x1b[{COLOURS[kind]}m{visible(line)}\x1b[0m"


def cut(line: str, width: int) -> str:
    """The beginning of a text, with an ellipsis where there is more."""
    shown = visible(line)
    return shown if count_columns(shown) <= width else f"{_parts(shown, width - 1)[0]}…"


def cut_left(line: str, width: int) -> str:
    """The end of a text, with an ellipsis where there is more."""
    shown = visible(line)
    return shown if count_columns(shown) <= width else f"…{_parts(shown[::-1], width - 1)[0][::-1]}"


# Columns of a terminal: some characters take two, some none.


def count_columns(line: str) -> int:
    """The columns that a line takes."""
    from rich.cells import cell_len

    return len(line) if line.isascii() else cell_len(line)


def _parts(line: str, width: int) -> list[str]:
    """A text in pieces that fit."""
    from rich.cells import chop_cells

    return chop_cells(line, width) if count_columns(line) > width else [line]


def fold(line: str, width: int) -> Iterator[str]:
    """The words of a line on lines that fit; a word that is too long is broken."""
    room = ""
    for word in line.split():
        whole = f"{room} {word}" if room else word
        if count_columns(whole) <= width:
            room = whole
            continue
        if room:
            yield room
        *full, room = _parts(word, width)
        yield from full
    if room:
        yield room
