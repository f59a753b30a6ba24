"""The table of requirements, `schema/requirements.json`, is true: what it names exists, does what it says, and is shown by a test.

Requirements of the schema are tried in `test_requirements_schema.py`, those of running programs in `session/test_requirements.py`,
those of the monitor here: the conversations of `monitor/cases.py` break each.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import evidence
from acpgen import borrowed, judge, lint
from acpgen.pointers import resolve
from acpgen.publish import table
from acpgen.publish.table import Requirement
from acpgen.schema.load import read
from monitor.cases import CASES, MCP_CASES
from validators import judges

ROOT: Final = Path(__file__).parents[1]
DOCUMENT: Final = "seeds/requirements.md"
needs_document = pytest.mark.evidence(DOCUMENT)
FILE: Final = ROOT / "schema" / "requirements.json"
TABLE: Final = table.parse(json.loads(FILE.read_text("utf-8")), "schema/requirements.json")
BY_NUMBER: Final = {rule.number: rule for rule in TABLE.rules}

LETTERS: Final = {
    "S": {"schema"},
    "V": {"validator", "monitor", "functions", "bindings"},
    "R": {"functions"},
    "L": {"lint", "documentation"},
}
"""What may stand behind a requirement that the document gives to the schema, a validator, a running program, or lint and documents."""

HOMES: Final = {
    "lint": "tests/test_requirements.py::test_lint_finds_what_breaks_the_requirement",
    "schema": "tests/test_requirements_schema.py::test_the_schema_holds_the_requirement",
    "monitor": "tests/test_requirements.py::test_the_monitor_names_the_requirement",
    "functions": "tests/session/test_requirements.py::test_the_requirement_is_kept",
}
"""The test that tries every requirement enforced in this way, number by number."""


@cache
def rules() -> Any:
    return borrowed.monitor.RULES


def of(way: str) -> list[int]:
    return [rule.number for rule in TABLE.rules if getattr(rule, way)]


@cache
def document() -> dict[int, tuple[str, str, set[str]]]:
    """Level, peer and letters of each requirement in the shared document."""
    rows = re.findall(
        r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|.*\| ([SVRL/]+) \|$",
        evidence.path(DOCUMENT).read_text("utf-8"),
        re.MULTILINE,
    )
    return {int(number): (level, who, set(letters.split("/"))) for number, level, who, letters in rows}


# --- the rules -------------------------------------------------------------------------------------------------------


def test_every_number_is_there_once() -> None:
    assert [rule.number for rule in TABLE.rules] == list(range(1, 114))


@needs_document
def test_levels_and_peers_are_those_of_the_document() -> None:
    plain = {"spec": "fact", "required": "fact", "must (prose)": "guidance"}
    assert set(document()) == set(BY_NUMBER)
    for number, (level, who, _) in document().items():
        rule = BY_NUMBER[number]
        assert rule.level == plain.get(level, level), number
        assert rule.who == who.removeprefix("MCP "), number


@needs_document
def test_every_letter_of_the_document_has_a_way_of_enforcement() -> None:
    for number, (_, _, letters) in document().items():
        for letter in letters:
            assert LETTERS[letter] & set(BY_NUMBER[number].ways), (number, letter)


def sentences(rule: Requirement) -> Iterator[str]:
    yield rule.says
    if rule.documentation is not None:
        yield rule.documentation


def test_every_rule_says_what_it_demands_in_a_sentence_of_its_own() -> None:
    said = [rule.says for rule in TABLE.rules]
    assert len(set(said)) == len(said)
    for rule in TABLE.rules:
        for text in sentences(rule):
            assert re.match(r"[A-Z`]", text), text
            assert text.endswith("."), text
            assert text.count("`") % 2 == 0, text
            assert len(text) < 240, text


@needs_document
def test_no_rule_is_said_in_the_words_of_the_document() -> None:
    def runs(text: str, length: int = 7) -> set[tuple[str, ...]]:
        words = re.findall(r"[a-z0-9_/$]+", text.lower())
        return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}

    theirs = {run for path in evidence.path(DOCUMENT).parent.iterdir() for run in runs(path.read_text("utf-8"))}
    for rule in TABLE.rules:
        for text in sentences(rule):
            assert not runs(text) & theirs, rule.number


# --- what it names ---------------------------------------------------------------------------------------------------


def places() -> Iterator[tuple[int, table.SchemaPlaces, str]]:
    for rule in TABLE.rules:
        for place in rule.schema:
            for where in place.at:
                yield rule.number, place, where


def test_every_place_of_a_schema_is_there_and_is_as_the_table_says() -> None:
    for number, place, where in places():
        protocol, _, pointer = where.partition("#")
        found: Any = resolve(judges.subject(protocol).bundle.schema, pointer)
        assert isinstance(found, dict | list), (number, where)
        assert all(name in found for name in place.has), (number, where)
        assert not any(name in found for name in place.lacks), (number, where)


def test_what_a_schema_lacks_is_something_that_could_be_there() -> None:
    """What the table says is missing is a keyword or a name that stands somewhere else, so that a slip of the pen shows."""
    gone = {f"Session{name}Capabilities" for name in ("Load", "List", "Resume", "Close")} | {
        "load",
        "list",
        "resume",
        "close",
    }
    texts = " ".join(path.read_text("utf-8") for path in (ROOT / "schema").glob("[am]*/*/*.json"))
    for number, place, _ in places():
        for name in place.lacks:
            assert name in gone or f'"{name}"' in texts, (number, name)


def test_the_rules_of_the_monitor_and_the_table_name_one_another() -> None:
    claimed = {(name, rule.number) for rule in TABLE.rules for name in rule.monitor}
    assert claimed == {(name, number) for name, rule in rules().items() for number in rule.requirements}


def test_every_rule_of_lint_is_there() -> None:
    assert {name for rule in TABLE.rules for name in rule.lint} <= set(map(lint.rule_id, lint.RULES))


@pytest.mark.parametrize("name", sorted({name for rule in TABLE.rules for name in (*rule.functions, *rule.bindings)}))
def test_every_function_is_there_and_has_a_docstring(name: str) -> None:
    module, _, attribute = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    assert inspect.getdoc(found)


# --- the tests -------------------------------------------------------------------------------------------------------


def test_every_test_that_the_table_names_is_collected() -> None:
    named = {name for rule in TABLE.rules for name in rule.tests}
    files = sorted({name.partition("::")[0] for name in named})
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-p", "no:cacheprovider", *files]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr
    collected = {line for line in ran.stdout.splitlines() if "::" in line}
    collected |= {name.partition("[")[0] for name in collected}
    assert sorted(named - collected) == []


def test_every_requirement_is_tried_where_the_way_of_its_enforcement_is() -> None:
    for rule in TABLE.rules:
        for way, home in HOMES.items():
            assert (f"{home}[req-{rule.number:03}]" in rule.tests) == (way in rule.ways), (rule.number, way)
        assert rule.tests or rule.ways == ("documentation",)


@pytest.mark.parametrize("number", of("monitor"), ids="req-{:03}".format)
def test_the_monitor_names_the_requirement(number: int) -> None:
    """For each rule of the monitor that stands behind it, a conversation that breaks it is reported with its number."""
    shown: set[str] = set()
    for protocols, cases in ((judge.ACP, CASES), (("mcp/2025-06-18",), MCP_CASES)):
        for case in cases:
            if number in case.requirements:
                monitor = judge.monitor(judges.subject(name).strict for name in protocols)
                found = [breach for who, said in case.said for breach in monitor.observe(who, line(said))]
                shown |= {breach.rule for breach in (*found, *monitor.finish()) if number in breach.requirements}
    assert shown >= set(BY_NUMBER[number].monitor)


@pytest.mark.parametrize("number", of("lint"), ids="req-{:03}".format)
def test_lint_finds_what_breaks_the_requirement(number: int) -> None:
    """Every keyword that the schema must lack, put where it must not be, is found by each rule of lint that stands behind it."""
    rule = BY_NUMBER[number]
    wanted = [(where, keyword) for place in rule.schema for where in place.at for keyword in place.lacks]
    assert wanted
    for protocol in {where.partition("#")[0] for where, _ in wanted}:
        source = read(ROOT / "schema" / protocol, name=protocol)
        files = {path: json.loads(content) for path, content in source.files}
        put: set[str] = set()
        for where, keyword in wanted:
            name, _, field = where.removeprefix(f"{protocol}#/$defs/").partition("/properties/")
            for value in files.values():
                if where.startswith(f"{protocol}#") and name in value["$defs"]:
                    value["$defs"][name]["properties"][field][keyword] = True
                    put.add(f"#/$defs/{name}/properties/{field}/{keyword}")
        changed = tuple((path, json.dumps(value).encode()) for path, value in files.items())
        found = lint.lint(replace(source, files=changed))
        for name in rule.lint:
            assert {finding.pointer for finding in found if finding.rule == name} == put


def line(message: Any) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode()


# --- what none of these tries ----------------------------------------------------------------------------------------


def test_an_unknown_subject_survives_being_forwarded() -> None:
    """Requirement 95."""
    from acp_bindings import v2

    subject = {"type": "network", "host": "tides.example.org", "ports": [443, None], "_meta": {"a": 1}}
    params = {
        "sessionId": "s",
        "title": "May I?",
        "subject": subject,
        "options": [{"optionId": "a", "name": "A", "kind": "b"}],
    }
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params}).encode()
    message = v2.decode(text, sender="agent")
    assert not isinstance(message, list)
    assert isinstance(getattr(message, "params").subject, v2.UnknownRequestPermissionSubject)  # noqa: B009
    assert json.loads(v2.encode(message)) == json.loads(text)
