"""What the README and the docs say of acpgen beside others is what is measured here."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from acp_bindings import DecodeError, v1, v2
from datamodel_code_generator import InputFileType, generate
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import Formatter
from pydantic import ValidationError

import evidence
from bindings.subjects import Subjects
from conformance.implementations import PYTHON_SDK, TYPESCRIPT_SDK, typescript_sdk
from conformance.report import Column, agree, columns, share
from conformance.vectors import protocol
from javascript import Unreachable, packages

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = ROOT / "schema" / "pages"
PYTHON, TYPESCRIPT, PLAIN = "Python SDK 0.12.1", "TypeScript SDK 2.4.0", "datamodel-code-generator 0.89.0"

Table = dict[str, dict[str, str]]
"""By row and column."""


def tables(path: Path) -> dict[str, Table]:
    """The tables of a page, by what stands in their first cell."""
    found: dict[str, Table] = {}
    heads: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            heads = []
        elif not heads:
            heads = cells
            found[cells[0]] = {}
        elif not set(line) <= set("|- "):
            assert len(cells) == len(heads), line
            found[heads[0]][cells[0]] = dict(zip(heads[1:], cells[1:], strict=True))
    return found


@pytest.fixture(scope="module")
def told() -> Table:
    return tables(PAGES / "comparison.md")["Bindings"]


def numbered(names: Iterable[str]) -> list[str]:
    return [name for name in names if re.search(r"\d$", name)]


def classes(module: ModuleType) -> list[str]:
    return [
        name for name, found in vars(module).items() if inspect.isclass(found) and found.__module__ == module.__name__
    ]


@cache
def plain(major: str, folder: Path) -> ModuleType:
    """What datamodel-code-generator makes of upstream's schema with its defaults."""
    name = f"plain_{major}"
    generate(
        (ROOT / "schema" / "acp" / major / ".upstream.json").read_text("utf-8"),
        input_file_type=InputFileType.JsonSchema,
        output=folder / f"{name}.py",
        output_model_type=DataModelType.PydanticV2BaseModel,
        formatters=[Formatter.BUILTIN],
    )
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plain")


def test_the_versions_are_those_that_are_run(told: Table) -> None:
    (_, *others) = next(iter(told.values()))
    assert others == [
        f"Python SDK {PYTHON_SDK[1]}",
        f"TypeScript SDK {TYPESCRIPT_SDK[1]}",
        f"datamodel-code-generator {version('datamodel-code-generator')}",
    ]


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
def test_the_numbers_in_names_of_classes(told: Table, made: Path) -> None:
    row = told["Classes with a number for a name, v1 / v2"]
    assert row["acpgen 0.1"] == " / ".join(str(len(numbered(classes(module)))) for module in (v1.models, v2.models))
    sources = [Path(str(plain(major, made).__file__)).read_text("utf-8") for major in ("v1", "v2")]
    counts = [
        (len(numbered(names)), len(names))
        for names in (re.findall(r"^class (\w+)", source, re.MULTILINE) for source in sources)
    ]
    assert row[PLAIN] == " / ".join(f"{some} of {all_}" for some, all_ in counts)
    sdk: Any = importlib.import_module("acp.schema")
    assert row[PYTHON] == f"{len(numbered(classes(sdk)))} / no v2"
    try:
        folder = packages(**{"@agentclientprotocol/sdk": "2.4.0", "zod": "4.6.7"})
    except Unreachable as reason:
        evidence.lack(str(reason))
    dist = folder / "node_modules" / "@agentclientprotocol" / "sdk" / "dist"
    types = [
        re.findall(r"^export type (\w+)", (dist / major / "schema" / "types.gen.d.ts").read_text("utf-8"), re.MULTILINE)
        for major in ("v1", "v2")
    ]
    assert min(map(len, types)) > 150
    assert row[TYPESCRIPT] == " / ".join(str(len(numbered(names))) for names in types)


@pytest.fixture(scope="module")
def run(subjects: Subjects) -> tuple[Column, ...]:
    return columns(subjects)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("row", "label"),
    [
        ("Unknown variants survive, v1 / v2", "unknown-variant"),
        ("Unknown fields survive, v1 / v2", "unknown-field"),
        ("Null survives, v1 / v2", "null"),
    ],
)
def test_what_comes_through_is_what_the_vectors_say(told: Table, run: tuple[Column, ...], row: str, label: str) -> None:
    heads = {
        "acp-bindings (ours)": "acpgen 0.1",
        "agent-client-protocol 0.12.1": PYTHON,
        "@agentclientprotocol/sdk 2.4.0": TYPESCRIPT,
    }
    cells: dict[str, list[str]] = {}
    for column in run:
        if column.outcome is None:
            evidence.lack(column.reason)
        _, kept, offered = column.outcome.counts[label]
        cells.setdefault(heads[column.name], []).append(share(kept, offered))
    cells[PYTHON].append("no v2")
    for head, cell in cells.items():
        assert agree(told[row][head], " / ".join(cell)), (head, told[row][head], cell)


@pytest.mark.filterwarnings("ignore")
def test_what_plain_generated_models_do(told: Table, made: Path) -> None:
    unknown = {"sessionId": "s", "update": {"sessionUpdate": "tide", "metres": 2.5}}
    bad = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": 7}}
    one, two = plain("v1", made), plain("v2", made)
    with pytest.raises(ValidationError):
        one.SessionNotification.model_validate(unknown)
    kept = two.UpdateSessionNotification.model_validate(unknown)
    assert kept.model_dump(mode="json", by_alias=True, exclude_unset=True) == unknown
    assert told["Unknown variants survive, v1 / v2"][PLAIN] == "refused / kept"
    for module in (one, two):
        asked = module.NewSessionRequest.model_validate(
            {"cwd": "/a", "mcpServers": [], "tide": 1, "additionalDirectories": None}
        )
        written = asked.model_dump(mode="json", by_alias=True, exclude_unset=True)
        assert written == {"cwd": "/a", "mcpServers": [], "additionalDirectories": None}
    assert told["Unknown fields survive, v1 / v2"][PLAIN] == "dropped / dropped"
    assert told["Null survives, v1 / v2"][PLAIN] == "also where the schema refuses it"
    assert two.UpdateSessionNotification.model_validate(bad)
    assert told["A known variant with a bad body, v2"][PLAIN] == "accepted as unknown"


def test_a_known_variant_with_a_bad_body_is_one_error_at_its_place(told: Table) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": 7}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    (problem,) = v2.validate(message, sender="agent")
    assert problem.pointer == "/params/update/content"
    with pytest.raises(DecodeError, match=r"^/update/content: "):
        v2.decode_as(v2.UpdateSessionNotification, message["params"])
    assert told["A known variant with a bad body, v2"]["acpgen 0.1"] == "refused, one error at its place"


def test_the_typescript_sdk_refuses_known_variants_with_a_bad_body(told: Table) -> None:
    updates = [row for row in protocol("acp/v2").vectors if row.typed == "SessionUpdate" and "invalid body" in row.id]
    assert len(updates) > 15
    try:
        verdicts = typescript_sdk(2, updates, {})
    except Unreachable as reason:
        evidence.lack(str(reason))
    assert not [row.id for row in updates if verdicts[row.id].accepted]
    assert told["A known variant with a bad body, v2"][TYPESCRIPT] == "refused"
