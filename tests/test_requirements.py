"""The table of requirements, `schema/requirements.json`, is true: what it names exists, does what it says, and is shown by a test.

Requirements of the schema are tried in `test_requirements_schema.py`, those of running programs in `workspace/test_requirements.py` and
`session/test_requirements.py`, those of the monitor here: the conversations of `monitor/cases.py` break each.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any, Final

import pytest

import evidence
import requirements_file
from acpgen import embedded, lint
from acpgen.input.load import read
from acpgen.input.walk import is_object
from acpgen.messages import validators
from acpgen.pointers import resolve
from acpgen.probe import registry
from acpgen.publish import requirement_table
from acpgen.publish.requirement_table import Requirement
from monitor.cases import CASES, MCP_CASES
from monitor.scripts import Said, client, result
from requirements_file import FILE, ROOT, label
from validators import judges

DOCUMENT: Final = "seeds/requirements.md"
needs_document = pytest.mark.evidence(DOCUMENT)
KEPT: Final = judges.NAMES
TABLE: Final = requirement_table.parse_table(json.loads(FILE.read_text("utf-8")), "schema/requirements.json")
BY_ID: Final = {rule.id: rule for rule in TABLE.rules}

LETTERS: Final = {
    "S": {"schema"},
    "V": {"validator", "monitor", "functions", "bindings"},
    "R": {"functions"},
    "L": {"lint", "documentation"},
}
"""What may stand behind a requirement that the document gives to the schema, a validator, a running program, or lint and documents."""


@cache
def rules() -> Any:
    return embedded.monitor.RULES


def of(way: str) -> list[int | str]:
    return [rule.id for rule in TABLE.rules if getattr(rule, way)]


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
    assert [rule.id for rule in TABLE.rules if isinstance(rule.id, int)] == list(range(1, 114))


def test_the_file_is_in_order() -> None:
    """Its layout, the tests that every row names, and the list from which the monitor tells what stands behind a breach."""
    for path, text in requirements_file.wanted(json.loads(FILE.read_text("utf-8"))).items():
        assert path.read_text("utf-8") == text, "run python tests/requirements_file.py"


def test_every_document_has_the_rules_of_its_sections_together() -> None:
    sections = [(rule.document, rule.section) for rule in TABLE.rules if isinstance(rule.id, str)]
    assert len(list(groupby(sections))) == len(set(sections))
    for rule in TABLE.rules:
        assert set(rule.methods) <= {
            method.name
            for protocol in rule.protocols
            if protocol in KEPT
            for method in judges.subject(protocol).protocol.methods
        }, rule.id


@needs_document
def test_levels_and_peers_are_those_of_the_document() -> None:
    plain = {"spec": "fact", "required": "fact", "must (prose)": "guidance"}
    assert set(document()) == {each for each in BY_ID if isinstance(each, int)}
    for number, (level, who, _) in document().items():
        rule = BY_ID[number]
        assert rule.level == plain.get(level, level), number
        assert rule.who == who.removeprefix("MCP "), number


@needs_document
def test_every_letter_of_the_document_has_a_way_of_enforcement() -> None:
    for number, (_, _, letters) in document().items():
        for letter in letters:
            assert LETTERS[letter] & (
                {*BY_ID[number].checkers} | ({"documentation"} if BY_ID[number].documentation else set())
            ), (number, letter)


def test_the_readme_does_not_promise_more_requirements_than_programs_enforce() -> None:
    promised = re.search(r"of \[over (\d+) enforced requirements\]", (ROOT / "README.md").read_text("utf-8"))
    assert promised is not None
    assert int(promised[1]) < sum(bool(rule.checkers) for rule in TABLE.rules)


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
            assert not runs(text) & theirs, rule.id


# --- what it names ---------------------------------------------------------------------------------------------------


def places() -> Iterator[tuple[int | str, requirement_table.SchemaPlaces, str]]:
    for rule in TABLE.rules:
        for place in rule.schema:
            for where in place.at:
                yield rule.id, place, where


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
    named = {(entry.partition(":")[0], rule.id) for rule in TABLE.rules for entry in rule.monitor}
    assert named == {(name, found) for name, rule in rules().items() for found in rule.requirements}


def test_every_rule_of_lint_is_there() -> None:
    assert {name for rule in TABLE.rules for name in rule.lint} <= set(map(lint.name_rule, lint.RULES))


@pytest.mark.parametrize("name", sorted({name for rule in TABLE.rules for name in (*rule.functions, *rule.bindings)}))
def test_every_function_is_there_and_has_a_docstring(name: str) -> None:
    module, _, attribute = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    assert inspect.getdoc(found)


# --- the tests -------------------------------------------------------------------------------------------------------


def test_every_test_that_the_table_names_is_a_function_of_its_file() -> None:
    for file, names in groupby(
        sorted({name.partition("[")[0] for rule in TABLE.rules for name in rule.tests}), file_of
    ):
        tree = ast.parse((ROOT / file).read_text("utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {name.partition("::")[2] for name in names} <= functions, file


def file_of(name: str) -> str:
    return name.partition("::")[0]


@pytest.mark.exhaustive
def test_every_test_that_the_table_names_is_collected() -> None:
    named = {name for rule in TABLE.rules for name in rule.tests}
    files = sorted({name.partition("::")[0] for name in named})
    options = ["--collect-only", "--quiet", "-p", "no:cacheprovider", "-m", ""]  # both tiers
    command = [sys.executable, "-m", "pytest", *options, *files]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr
    collected = {line for line in ran.stdout.splitlines() if "::" in line}
    collected |= {name.partition("[")[0] for name in collected}
    assert sorted(named - collected) == []


def test_every_requirement_is_tried_where_the_way_of_its_enforcement_is() -> None:
    for rule in TABLE.rules:
        for way in requirements_file.HOMES:
            assert (requirements_file.home(way, rule.id, rule.functions) in rule.tests) == (way in rule.checkers), (
                rule.id,
                way,
            )
        assert rule.tests or not rule.checkers


@pytest.mark.parametrize("identifier", of("monitor"), ids=label)
def test_the_monitor_names_the_requirement(identifier: int | str) -> None:
    """For each rule of the monitor that stands behind it, a conversation that breaks it is reported with its number or id."""
    for rule, _, word in (entry.partition(":") for entry in BY_ID[identifier].monitor):
        methods = {method for found, method, named in breaches() if found == rule and identifier in named}
        assert methods, rule
        assert word in methods or "/" not in word, (rule, word)


@cache
def breaches() -> tuple[tuple[str, str, tuple[int | str, ...]], ...]:
    """What the monitor finds in the cases, and in valid messages to peers that advertise nothing: rule, method and requirements."""
    found: list[tuple[str, str, tuple[int | str, ...]]] = []
    for protocols, conversations in (
        (validators.ACP, [case.said for case in CASES]),
        (("mcp/2025-06-18",), [case.said for case in MCP_CASES]),
        (validators.ACP, uninvited()),
    ):
        for conversation in conversations:
            monitor = validators.make_monitor(judges.subject(name).strict for name in protocols)
            said = [breach for who, message in conversation for breach in monitor.observe(who, line(message))]
            found += [(each.rule, each.method, each.requirements) for each in (*said, *monitor.finish())]
    return tuple(found)


def uninvited() -> Iterator[Sequence[Said]]:
    """Each message that the vectors call valid, sent to a peer of ACP that advertised nothing; one of each method as the first."""
    told = {"name": "tour", "version": "1"}
    for protocol, asked, answer in (
        ("acp/v1", {"protocolVersion": 1}, {"protocolVersion": 1}),
        ("acp/v2", {"protocolVersion": 2, "info": told}, {"protocolVersion": 2, "info": told}),
    ):
        handshake = [client("initialize", asked, id_="init"), result("agent", "init", answer)]
        for file in sorted((ROOT / "generated" / "vectors" / protocol / "methods").glob("*.jsonl")):
            rows = [row for row in map(json.loads, file.read_text("utf-8").splitlines()) if row["valid"]]
            rows = [
                row for row in rows if is_object(row.get("message")) and row["label"].startswith(("valid", "variant"))
            ]
            calls = [(row["sender"], row["message"]) for row in rows if "method" in row["message"]]
            before = [] if file.stem == "initialize" else handshake
            yield from ([*before, call] for call in calls)
            yield from ([call] for call in calls[:1])
            for row in rows if "id" in calls[0][1] else ():
                if "result" in row["message"]:
                    yield [*before, calls[0], (row["sender"], {**row["message"], "id": calls[0][1]["id"]})]


@pytest.mark.parametrize("identifier", of("probe"), ids=label)
def test_the_probe_has_the_case(identifier: int | str) -> None:
    known = registry.load()
    for name in BY_ID[identifier].probe:
        assert name in known, f"{identifier} names {name!r}: acpgen probe --list"


@pytest.mark.parametrize("identifier", of("lint"), ids=label)
def test_lint_finds_what_breaks_the_requirement(identifier: int | str) -> None:
    """Every keyword that the schema must lack, put where it must not be, is found by each rule of lint that stands behind it."""
    rule = BY_ID[identifier]
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


UNKNOWN: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "UnknownAuthMethod": ("AuthMethod", {"type": "_x", "methodId": "a", "name": "A", "n": [1, None]}),
    "UnknownToolCallContent": ("ToolCallContent", {"type": "_x", "n": 1}),
    "UnknownSessionConfigOption": ("SessionConfigOption", {"type": "later", "configId": "c", "name": "C", "n": "red"}),
    "UnknownAvailableCommandInput": ("AvailableCommandInput", {"type": "_x", "n": 1}),
    "UnknownSessionUpdate": ("SessionUpdate", {"sessionUpdate": "_x", "n": {"a": None}}),
    "UnknownContentBlock": ("ContentBlock", {"type": "video", "data": "x"}),
    "UnknownReplayFrom": ("ReplayFrom", {"type": "_turn", "n": 3}),
    "UnknownCreateElicitationRequest": (
        "CreateElicitationRequest",
        {"mode": "_poll", "sessionId": "s", "message": "Which?", "n": 1},
    ),
    "UnknownCreateElicitationResponse": ("CreateElicitationResponse", {"action": "_later", "n": 1}),
    "UnknownElicitationPropertySchema": ("ElicitationPropertySchema", {"type": "_colour", "n": 1}),
}
"""A union of version 2, and a value of it that this version does not know, by what keeps it."""


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_unknown_is_kept_as_it_came(name: str) -> None:
    from acp_bindings import v2

    union, body = UNKNOWN[name]
    value: Any = v2.decode_as(getattr(v2, union), body)
    assert isinstance(value, getattr(v2, name))
    assert json.loads(v2.encode(value)) == body


def test_what_is_unknown_of_an_elicitation_survives() -> None:
    """An unknown mode and an unknown action are kept as they came, and are none of those that are known."""
    from acp_bindings import v1

    asked = {"sessionId": "s", "mode": "_map", "message": "Where?", "tiles": [1, None]}
    answered = {"action": "_later", "hours": 2, "_meta": None}
    request = v1.decode_as(v1.CreateElicitationRequest, asked)
    response = v1.decode_as(v1.CreateElicitationResponse, answered)
    assert isinstance(request, v1.SessionUnknownCreateElicitationRequest)
    assert isinstance(response, v1.UnknownCreateElicitationResponse)
    assert json.loads(v1.encode(request)) == asked
    assert json.loads(v1.encode(response)) == answered
