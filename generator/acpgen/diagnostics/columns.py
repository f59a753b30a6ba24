"""Lines for a terminal of 80 columns: colours, and text that fits. Control characters in text from schemas are made visible."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from acpgen.errors import make_visible

WIDTH: Final = 80
COLOURS: Final = {
    "bad": "1;31",
    "unknown": "1;35",
    "warning": "1;33",
    "good": "32",
    "quiet": "2",
    "heading": "1",
}
"""The terminal's colour code of each kind of text."""


def strip_colours(text: str) -> str:
    """A text without colour codes."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def wrap(line: str, indent: str = "", colour: str = "", below: str = "") -> Iterator[str]:
    """Wrap a text to the width, the first line after `indent`, the others after `below` or the same number of spaces."""
    below = below or " " * len(indent)
    for number, part in enumerate(fold(make_visible(line), WIDTH - len(below))):
        whole = f"{below if number else indent}{part}"
        yield f"\x1b[{colour}m{whole}\x1b[0m" if colour else whole


def paint(line: str, kind: str) -> str:
    """A text in the colour of its tone, or as a heading."""
    return f"\x1b[{COLOURS[kind]}m{make_visible(line)}\x1b[0m"


def cut(line: str, width: int) -> str:
    """The beginning of a text, with an ellipsis if it was cut."""
    printable = make_visible(line)
    return printable if count_columns(printable) <= width else f"{_split(printable, width - 1)[0]}…"


def cut_left(line: str, width: int) -> str:
    """The end of a text, with an ellipsis if it was cut."""
    printable = make_visible(line)
    return printable if count_columns(printable) <= width else f"…{_split(printable[::-1], width - 1)[0][::-1]}"


# Columns of a terminal: some characters take two, some none.


def count_columns(line: str) -> int:
    """The number of terminal columns of a line; some characters take two, some none."""
    from rich.cells import cell_len

    return len(line) if line.isascii() else cell_len(line)


def _split(line: str, width: int) -> list[str]:
    """A text in pieces that fit into the width."""
    from rich.cells import chop_cells

    return chop_cells(line, width) if count_columns(line) > width else [line]


def fold(line: str, width: int) -> Iterator[str]:
    """Yield the words of a text in lines that fit into the width; a word that is too long is broken."""
    room = ""
    for word in line.split():
        whole = f"{room} {word}" if room else word
        if count_columns(whole) <= width:
            room = whole
            continue
        if room:
            yield room
        *full, room = _split(word, width)
        yield from full
    if room:
        yield room
