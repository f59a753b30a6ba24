"""Histories as pages: tables of one shape, and no text of others that becomes markup."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser

import pytest

from acpgen.compat.compare import read_side
from acpgen.compat.history.timeline import Milestone, Timeline, make_timeline
from acpgen.compat.history_report import make_report
from acpgen.compat.sources import open_input
from acpgen.diagnostics import write_report
from compat.protocols import FORMATS, Schema, documents, go, protocol

HOSTILE = '<script>alert(1)</script>"&`|\u001b[2J\n\n# x'


def told(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    return protocol({"GoRequest": go({"id": {"type": "string"}, **properties}, ("id", *required))})


@cache
def made() -> Timeline:
    """A history with each kind of row, under names that nobody should trust."""
    schemas = (told({}), told({"a": {}}), told({HOSTILE: {"type": "string"}}, (HOSTILE,)), told({}))
    read = [
        Milestone(
            *(f"{number}{HOSTILE}", HOSTILE, "2026-01-01"),
            side=read_side(open_input(documents(schema, str(number))), unstable=False),
        )
        for number, schema in enumerate(schemas)
    ]
    bad = Milestone(f"bad{HOSTILE}", unread=(HOSTILE,))
    return make_timeline(HOSTILE, [*read[:2], bad, *read[2:]], notes=(HOSTILE,))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_and_no_text_of_others_becomes_markup(name: str) -> None:
    text = write_report(make_report(made()), name)
    assert "<script>alert" not in text or name not in ("markdown", "html", "junit")
    assert "\u001b" not in text
    assert "cannot be read" in text or name == "json"
    assert write_report(make_report(made()), name) == text


def test_the_table_of_steps_has_as_many_cells_in_each_row() -> None:
    section = write_report(make_report(made()), "markdown")
    tables = re.findall(r"(?:^\|.*\|$\n?)+", section, re.MULTILINE)
    assert len(tables) == 1
    for table in tables:
        assert len({line.count(" |") for line in table.splitlines() if "---" not in line}) == 1, table


def test_a_terminal_tells_files_of_a_long_folder_apart() -> None:
    names = [f"/home/somebody/schemas/published/plan-{number}.0.json" for number in range(3)]
    read = [
        Milestone(name, side=read_side(open_input(documents(told({"a": {"maxLength": number}}), name)), unstable=False))
        for number, name in enumerate(names)
    ]
    rows = write_report(make_report(make_timeline("plan", read)), "text").partition("Revision")[2].splitlines()
    assert [row.split()[0][-13:] for row in rows[1:4]] == [name[-13:] for name in names]


class Balance(HTMLParser):
    """Whether each element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_closes_what_it_opens() -> None:
    reader = Balance()
    reader.feed(write_report(make_report(made()), "html"))
    assert not reader.open
