"""The migration guide between the canonical versions."""

from __future__ import annotations

import json
import re

import pytest
from markdown_it import MarkdownIt

from acpgen.bundle import bundle
from acpgen.compat.catalogue import catalogue
from acpgen.compat.guide import INSTEAD, guide
from acpgen.compat.protocol.check import check
from acpgen.compat.protocol.messages import Route, message_schema
from acpgen.compat.protocol.revision import Revised
from acpgen.load import load
from acpgen.lower import lower
from compat.protocols import CANONICAL, validates


@pytest.fixture(scope="module")
def sides() -> tuple[Revised, Revised]:
    made: list[Revised] = []
    for path, name in zip(CANONICAL, ("acp/v1", "acp/v2"), strict=False):
        bundled = bundle(load(path, name=name))
        made.append(Revised(lower(bundled), bundled))
    return made[0], made[1]


@pytest.fixture(scope="module")
def text(sides: tuple[Revised, Revised]) -> str:
    return guide(*sides)


def test_the_guide_names_every_method_of_both_versions_once(text: str, sides: tuple[Revised, Revised]) -> None:
    headings = re.findall(r"^### `(.+)`$", text, flags=re.MULTILINE)
    assert sorted(headings) == sorted({method.name for side in sides for method in side.methods})


def test_the_guide_tells_everything_that_a_reader_must_act_on(text: str, sides: tuple[Revised, Revised]) -> None:
    found = [each for each in check(*sides).judged if each.severity in ("breaking", "risky", "undecided")]
    assert len(found) > 50
    for each in found:
        assert f"`{each.location}`" in text, each


def test_every_rule_that_can_ask_something_of_a_reader_says_what() -> None:
    silent = {"inclusion-undecided", "definition-renamed", "text-reworded", "schema-restructured", "format-changed"}
    silent |= {"default-grown", "null-meaning-declared", "null-result-allowed"}
    silent |= {entry.id for entry in catalogue() if entry.id.startswith(("language-", "waiver-"))}
    assert set(INSTEAD) == {entry.id for entry in catalogue()} - silent


def test_the_messages_in_the_guide_are_valid_in_their_version(text: str, sides: tuple[Revised, Revised]) -> None:
    shown = re.findall(
        r"^A smallest message in `([^`\n]+)`:\n\n```json\n(.+?)\n```$", text, flags=re.MULTILINE | re.DOTALL
    )
    assert len(shown) > 20
    for version, block in shown:
        side = next(side for side in sides if side.protocol.name == version)
        value = json.loads(block)
        method = next(method for method in side.methods if method.name == value["method"])
        assert validates(message_schema(side, Route("params", method), method.params), value)


def test_the_guide_is_plain_markdown(text: str) -> None:
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert set(re.findall(r"<(?!/)([a-z0-9]+)", page)) <= {
        *("h1", "h2", "h3", "p", "code", "pre", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"),
    }
    assert text == text.rstrip() + "\n"


def test_two_runs_give_the_same_guide(text: str, sides: tuple[Revised, Revised]) -> None:
    assert guide(*sides) == text
