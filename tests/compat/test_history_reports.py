"""Histories as pages: well-formed pictures, tables of one shape, and no text of others that becomes markup."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from acpgen.compat.compare import side
from acpgen.compat.history.asked import FORMATS, written
from acpgen.compat.history.assembling import Read, timeline
from acpgen.compat.history.timeline import Milestone, Timeline
from acpgen.compat.report.history_markdown import history_section
from acpgen.compat.report.history_pictures import WIDTH, matrix_picture, steps_picture
from acpgen.compat.report.history_words import outcomes
from acpgen.compat.sources import opened
from compat.protocols import Schema, documents, go, protocol

HOSTILE = '<script>alert(1)</script>"&`|\u001b[2J\n\n# x'


def told(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    return protocol({"GoRequest": go({"id": {"type": "string"}, **properties}, ("id", *required))})


@cache
def made() -> Timeline:
    """A history with each kind of row, under names that nobody should trust."""
    schemas = (told({}), told({"a": {}}), told({HOSTILE: {"type": "string"}}, (HOSTILE,)), told({}))
    read = [
        Read(
            Milestone(f"{number}{HOSTILE}", HOSTILE, "2026-01-01"),
            side(opened(documents(schema, str(number))), unstable=False),
        )
        for number, schema in enumerate(schemas)
    ]
    bad = Read(Milestone(f"bad{HOSTILE}", unread=(HOSTILE,)), None)
    return timeline(HOSTILE, [*read[:2], bad, *read[2:]], notes=(HOSTILE,))


def pictures(text: str) -> list[ET.Element]:
    return [ET.fromstring(found) for found in re.findall(r"<svg.*?</svg>", text)]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_and_no_text_of_others_becomes_markup(name: str) -> None:
    text = written(made(), name, "risky")
    assert "<script" not in text or name in ("json", "text")
    assert "\u001b" not in text
    assert "cannot be read" in text or name == "json"
    assert written(made(), name, "risky") == text


def test_pictures_are_well_formed_fit_a_phone_and_say_in_words_what_they_show() -> None:
    for picture in (steps_picture("p", made()), matrix_picture("p", made().matrix)):
        assert "\n" not in picture
        (svg,) = pictures(picture)
        space = "{http://www.w3.org/2000/svg}"
        title, description = svg.find(f"{space}title"), svg.find(f"{space}desc")
        assert title is not None
        assert description is not None
        assert title.text
        assert description.text
        assert svg.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert float(svg.get("width", "0")) == WIDTH
        assert all(float(each.get("x", "0")) <= WIDTH for each in svg.iter(f"{space}text"))


def test_colours_are_never_alone() -> None:
    """Each outcome but the good one has its sign in the picture as often as in the matrix, and once in the legend."""
    matrix = made().matrix
    (svg,) = pictures(matrix_picture("p", matrix))
    shown = [each.text for each in svg.iter("{http://www.w3.org/2000/svg}text")]
    rows = range(len(matrix.rows))
    refused = sum(outcomes(matrix, row, column).count("no") for row in rows for column in rows)
    assert refused
    assert shown.count("✗") == refused + 1


def test_the_tables_of_a_page_have_as_many_cells_in_each_row() -> None:
    section = history_section("p", made(), "rules.md")
    tables = re.findall(r"(?:^\|.*\|$\n?)+", section, re.MULTILINE)
    assert len(tables) == 2
    for table in tables:
        assert len({line.count(" |") for line in table.splitlines() if "---" not in line}) == 1, table


class Balance(HTMLParser):
    """Whether each element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_closes_what_it_opens() -> None:
    reader = Balance()
    reader.feed(written(made(), "html", "risky"))
    assert not reader.open
