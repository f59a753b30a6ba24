"""The table of requirements is true: what it names exists, and each requirement that a validator or the monitor can check has a test.

`requirements.json` holds for each number what of the strict validators and the monitor enforces it, or that only documentation
can; the lines that a running program keeps stand in `session/requirements.json`, those of the schema in
`test_requirements_schema.py`.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen import borrowed
from monitor.cases import CASES, MCP_CASES
from validators.judges import subject

HERE: Final = Path(__file__).parent
DOCUMENT: Final = HERE.parents[1] / "shared" / "seeds" / "requirements.md"
TABLE: Final[dict[str, dict[str, Any]]] = json.loads((HERE / "requirements.json").read_text("utf-8"))

OF_A_VALIDATOR: Final = frozenset(
    {
        *(1, 2, 7, 8, 13, 14, 16, 17, 27, 40, 41, 42, 44, 51, 52, 63, 65, 67, 70, 71),
        *(73, 77, 79, 81, 88, 91, 92, 95, 104, 105, 109, 110, 111),
    }
)
"""The requirements that a validator can check, alone or together with the schema or a running program."""

KINDS: Final = {"monitor", "validator", "bindings", "documentation"}


@cache
def rules() -> Any:
    return borrowed.session("monitor").RULES


def rows(kind: str) -> list[tuple[int, str]]:
    return [(int(number), entry) for number, row in TABLE.items() for entry in row.get(kind, ())]


def test_the_numbers_are_those_of_the_document_in_order() -> None:
    numbers = [int(number) for number in TABLE]
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= set(range(1, 114))
    assert numbers
    if not DOCUMENT.exists():
        pytest.skip("../shared/seeds is not here")
    lines = re.findall(r"^\| (\d+) \|.*\| ([SVRL/]+) \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert {int(number) for number, by in lines if "V" in by} == OF_A_VALIDATOR


def test_every_requirement_of_a_validator_has_a_line_with_a_test() -> None:
    for number in sorted(OF_A_VALIDATOR):
        row = TABLE[str(number)]
        assert any(row.get(kind) for kind in ("monitor", "validator", "bindings")), number
        assert row["tests"], number


def test_a_line_says_nothing_but_how_and_where_it_is_shown() -> None:
    for number, row in TABLE.items():
        assert set(row) <= {*KINDS, "tests"}, number
        assert set(row) & KINDS, number
        assert row.get("documentation") is None or set(row) == {"documentation"}, number


def test_the_rules_of_the_monitor_and_the_table_name_one_another() -> None:
    by_rule: dict[str, set[int]] = {}
    for number, name in rows("monitor"):
        by_rule.setdefault(name, set()).add(number)
    assert by_rule == {name: set(rule.requirements) for name, rule in rules().items() if rule.requirements}


@pytest.mark.parametrize(
    "number", sorted({number for number, _ in rows("monitor")}), ids=lambda number: f"req-{number:03}"
)
def test_the_monitor_names_the_requirement_when_it_is_broken(number: int) -> None:
    """The conversations that show it are run in `monitor/test_rules.py`."""
    assert any(number in case.requirements for case in (*CASES, *MCP_CASES))


def test_every_test_that_the_table_names_is_there() -> None:
    for row in TABLE.values():
        for name in row.get("tests", ()):
            path, _, function = name.partition("::")
            tree = ast.parse((HERE.parent / path).read_text("utf-8"))
            assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, name


def test_all_tables_together_hold_every_requirement() -> None:
    session = HERE / "session" / "requirements.json"
    if not session.exists():
        pytest.skip("tests/session/requirements.json is not here")
    of_a_program = {int(number) for number in json.loads(session.read_text("utf-8"))}
    spec = importlib.util.spec_from_file_location("requirements_of_the_schema", HERE / "test_requirements_schema.py")
    assert spec is not None
    source = ast.parse((HERE / "test_requirements_schema.py").read_text("utf-8"))
    assigned = next(
        node for node in source.body if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "OF_THE_SCHEMA"
    )
    of_the_schema = {
        node.value for node in ast.walk(assigned) if isinstance(node, ast.Constant) and isinstance(node.value, int)
    }
    assert {int(number) for number in TABLE} | of_a_program | of_the_schema == set(range(1, 114))


# --- what neither a message alone nor a conversation shows ------------------------------------------------------------


@pytest.mark.parametrize(("number", "field"), [(91, "description"), (92, "subject")], ids=["req-091", "req-092"])
def test_null_and_omission_mean_the_same(number: int, field: str) -> None:
    judged = subject("acp/v2")
    request = {"sessionId": "s", "title": "May I?", "options": [{"optionId": "a", "name": "A", "kind": "allow_once"}]}
    assert not judged.strict.validate_as("RequestPermissionRequest", request)
    assert not judged.strict.validate_as("RequestPermissionRequest", {**request, field: None})
    properties = judged.bundle.definitions["RequestPermissionRequest"]["properties"]
    assert properties[field]["x-null"] == "omitted"


def test_an_unknown_subject_survives_being_forwarded() -> None:
    """Requirement 95."""
    from acp_bindings import v2

    subject_ = {"type": "network", "host": "tides.example.org", "ports": [443, None], "_meta": {"a": 1}}
    params = {
        "sessionId": "s",
        "title": "May I?",
        "subject": subject_,
        "options": [{"optionId": "a", "name": "A", "kind": "b"}],
    }
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params}).encode()
    message = v2.decode(line, sender="agent")
    assert json.loads(v2.encode(message)) == json.loads(line)
