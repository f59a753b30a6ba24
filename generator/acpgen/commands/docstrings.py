"""The parts of a command's docstring: sentences, and sections whose entries are arguments, options and exit codes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import typer

ARGUMENTS: Final = "Arguments"
CODES: Final = "Exit codes"

_HEADING: Final = re.compile(r"([A-Z][\w ]*):")
_ENTRY: Final = re.compile(r" {4}(\S.*?): (.*)")


@dataclass(frozen=True, slots=True)
class Description:
    """A parsed docstring: a summary, paragraphs, and the entries of each section by name."""

    summary: str
    paragraphs: Sequence[str]
    sections: Mapping[str, Mapping[str, str]]


def read_docstring(text: str) -> Description:
    """Parse a docstring."""
    paragraphs: list[str] = []
    sections: dict[str, dict[str, str]] = {}
    for block in filter(None, re.split(r"\n\s*\n", inspect.cleandoc(text))):
        first, *lines = block.split("\n")
        heading = _HEADING.fullmatch(first)
        if heading is None:
            paragraphs.append(" ".join(block.split()))
            continue
        entries = sections.setdefault(heading[1], {})
        for line in lines:
            if entry := _ENTRY.fullmatch(line):
                entries[entry[1]] = entry[2]
            else:
                entries[[*entries][-1]] += f" {line.strip()}"
    return Description("".join(paragraphs[:1]), paragraphs[1:], sections)


@dataclass(frozen=True, slots=True)
class OptionText:
    """An option as a docstring describes it: `-q, --quiet: …`, or `--fail-on LEVEL: …`."""

    spelling: str
    text: str
    heading: str

    @property
    def flags(self) -> list[str]:
        """Its spellings on the command line: `-q`, `--quiet`."""
        return [word.rstrip(",") for word in self.spelling.split() if word.startswith("-")]

    @property
    def name(self) -> str:
        """The name of its parameter."""
        return self.flags[-1].removeprefix("--").replace("-", "_")

    def declare(self) -> Any:
        """The option as Typer declares it."""
        metavar = self.spelling.rpartition(self.flags[-1])[2].strip() or None
        return typer.Option(*self.flags, metavar=metavar, help=self.text, rich_help_panel=self.heading)


def read_options(sections: Mapping[str, Mapping[str, str]]) -> Mapping[str, OptionText]:
    """The options by the names of their parameters."""
    headings = (heading for heading in sections if heading not in (ARGUMENTS, CODES))
    options = (OptionText(*entry, heading) for heading in headings for entry in sections[heading].items())
    return {option.name: option for option in options}
