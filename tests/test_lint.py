"""Lint: every rule finds its damage in a copy of the canonical files, and none finds anything in the files themselves."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any, Final

import pytest

import tiers
from acpgen import resources
from acpgen.config.docs_inputs import select_schemas
from acpgen.diagnostics import write_report
from acpgen.errors import Faults
from acpgen.input.load import Source, read
from acpgen.lint import RULES, Finding, find_protocols, lint, lint_paths, name_rule
from acpgen.lint.lint_report import make_report
from acpgen.pointers import split_pointer

ROOT: Final = Path(__file__).parents[1]
SCHEMA: Final = ROOT / "schema"
PROTOCOLS: Final = ("acp/v1", "acp/v2", "acp/unstable/v1", "acp/unstable/v2", "mcp/2025-06-18")
REMOVED: Final = object()
OUTPUT: Final = '[tool.acpgen.outputs.out]\ntarget = "ir"\nprotocols = ["toy/v1"]\n'

DIRECTORIES = "/properties/additionalDirectories"
CAPABILITY = "agent:agentCapabilities.sessionCapabilities.additionalDirectories"


@dataclass(frozen=True)
class Case:
    """Damage done to one protocol (value by `file#/pointer`), and where the rule must find it."""

    rule: str
    damage: Mapping[str, Any]
    at: str
    protocol: str = "acp/v1"
    also: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        return f"{self.rule}-{self.at}"


CASES: Final = (
    Case("schema-malformed", {"plan.json#/$defs/PlanEntry/type": 5}, "plan.json#/$defs/PlanEntry/type"),
    Case("schema-malformed", {"paths.json#/$defs/AbsolutePath/pattern": "("}, "paths.json#/$defs/AbsolutePath/pattern"),
    Case(
        "schema-malformed",
        {"plan.json#/$defs/PlanEntry/properties/": {"type": 5, "description": "Nothing."}},
        "plan.json#/$defs/PlanEntry/properties//type",
    ),
    Case("schema-malformed", {"plan.json#/$schema": "https://example.org/other"}, "plan.json#/$schema"),
    Case("schema-malformed", {"plan.json#": []}, "plan.json#"),
    Case("keyword-unknown", {"plan.json#/$defs/Plan/x-nul": "omitted"}, "plan.json#/$defs/Plan/x-nul"),
    Case(
        "keyword-unknown",
        {"plan.json#/$defs/Plan/properties/entries/items/x-deserialize-all": True},
        "plan.json#/$defs/Plan/properties/entries/items/x-deserialize-all",
    ),
    Case(
        "keyword-misplaced",
        {"plan.json#/$defs/PlanEntry/properties/content/x-batch": "never"},
        "plan.json#/$defs/PlanEntry/properties/content/x-batch",
        also=frozenset({"keyword-wrong"}),
    ),
    Case("keyword-misplaced", {"plan.json#/x-name": "Plan"}, "plan.json#/x-name"),
    Case(
        "keyword-wrong",
        {"session.json#/$defs/SessionInfo/properties/title/x-null": "maybe"},
        "session.json#/$defs/SessionInfo/properties/title/x-null",
    ),
    Case(
        "keyword-wrong",
        {"session.json#/$defs/NewSessionRequest/x-side": REMOVED},
        "session.json#/$defs/NewSessionRequest",
        also=frozenset({"method-mismatched", "method-unlisted"}),
    ),
    Case("keyword-wrong", {"plan.json#/$defs/PlanEntry/x-unknown": "keep"}, "plan.json#/$defs/PlanEntry"),
    Case("keyword-wrong", {"paths.json#/$defs/AbsolutePath/pattern": "^"}, "paths.json#/$defs/AbsolutePath/pattern"),
    Case(
        "keyword-wrong",
        {"plan.json#/$defs/Plan/properties/entries/items": REMOVED}
        | {"plan.json#/$defs/Plan/properties/entries/x-deserialize-skip-invalid-items": True},
        "plan.json#/$defs/Plan/properties/entries",
        also=frozenset({"definition-unused"}),
    ),
    Case("description-missing", {"plan.json#/description": REMOVED}, "plan.json#"),
    Case("description-missing", {"plan.json#/$defs/Plan/description": ""}, "plan.json#/$defs/Plan"),
    Case(
        "description-missing",
        {"plan.json#/$defs/Plan/properties/entries/description": "  "},
        "plan.json#/$defs/Plan/properties/entries",
    ),
    Case(
        "description-missing",
        {"content.json#/$defs/ContentBlock/oneOf/2/description": REMOVED},
        "content.json#/$defs/ContentBlock/oneOf/2",
    ),
    Case(
        "description-missing",
        {"prompt.json#/$defs/StopReason/oneOf/1/description": REMOVED},
        "prompt.json#/$defs/StopReason/oneOf/1",
    ),
    Case(
        "example-refused",
        {"session.json#/$defs/NewSessionRequest/examples/0/cwd": "tidewatch"},
        "session.json#/$defs/NewSessionRequest/examples/0",
    ),
    Case(
        "example-refused",
        {"paths.json#/$defs/AbsolutePath/examples/1": "file:///c"},
        "paths.json#/$defs/AbsolutePath/examples/1",
    ),
    Case(
        "variant-example-missing",
        {"content.json#/$defs/ContentBlock/examples/0": REMOVED},
        "content.json#/$defs/ContentBlock/oneOf/0",
    ),
    Case(
        "variant-example-missing",
        {"mcp-servers.json#/$defs/McpServer/examples": REMOVED},
        "mcp-servers.json#/$defs/McpServer",
    ),
    Case(
        "variant-example-missing",
        {"jsonrpc.json#/$defs/RequestId/examples": [None, "text"]},
        "jsonrpc.json#/$defs/RequestId/anyOf/1",
    ),
    Case(
        "method-example-missing",
        {"session.json#/$defs/NewSessionResponse/examples": []},
        "session.json#/$defs/NewSessionResponse",
    ),
    Case(
        "reference-dangling",
        {"plan.json#/$defs/Plan/properties/entries/items/$ref": "#/$defs/Step"},
        "plan.json#/$defs/Plan/properties/entries/items/$ref",
        also=frozenset({"definition-unused"}),
    ),
    Case(
        "reference-dangling",
        {"plan.json#/$defs/Plan/properties/entries/items/$ref": "../v2/plan.json#/$defs/PlanEntry"},
        "plan.json#/$defs/Plan/properties/entries/items/$ref",
        also=frozenset({"definition-unused"}),
    ),
    Case(
        "reference-looping",
        {"plan.json#/$defs/A": {"description": "a", "$ref": "#/$defs/B"}}
        | {"plan.json#/$defs/B": {"description": "b", "$ref": "#/$defs/A"}},
        "plan.json#/$defs/B",
        also=frozenset({"definition-unused"}),
    ),
    Case(
        "reference-unmarked",
        {"initialize.json#/$defs/SessionCapabilities/properties/fork/x-unstable": REMOVED},
        "initialize.json#/$defs/SessionCapabilities/properties/fork/anyOf/0",
    ),
    Case(
        "definition-unused",
        {"plan.json#/$defs/Step": {"description": "A step.", "type": "object"}},
        "plan.json#/$defs/Step",
    ),
    Case(
        "name-colliding",
        {"plan.json#/$defs/ContentBlock": {"description": "Another.", "type": "object"}},
        "plan.json#/$defs/ContentBlock",
        also=frozenset({"definition-unused"}),
    ),
    Case(
        "name-colliding",
        {"plan.json#/$defs/plan_entry": {"description": "Another.", "type": "object"}},
        "plan.json#/$defs/plan_entry",
        also=frozenset({"definition-unused"}),
    ),
    Case(
        "name-colliding",
        {"tool-calls.json#/$defs/ToolCall/properties/tool_call_id": {"description": "Again.", "type": "string"}},
        "tool-calls.json#/$defs/ToolCall",
    ),
    Case(
        "bundle-refused",
        {"plan.json#/$defs/Group": {"Inner": {"type": "string"}, "number": 3}},
        "plan.json#/$defs/Group",
        also=frozenset({"definition-unused", "description-missing"}),
    ),
    Case(
        "keyword-meaningless",
        {"plan.json#/$defs/PlanEntry/properties/content/additionalItems": False},
        "plan.json#/$defs/PlanEntry/properties/content",
    ),
    Case(
        "reference-ambiguous",
        {
            "plan.json#/$defs/PlanEntry/$anchor": "here",
            "plan.json#/$defs/Plan/$anchor": "here",
            "plan.json#/$defs/PlanEntry/properties/content/$ref": "#here",
        },
        "plan.json#/$defs/PlanEntry/properties/content",
    ),
    Case(
        "union-half-marked",
        {"content.json#/$defs/ContentBlock/oneOf/2/required": []},
        "content.json#/$defs/ContentBlock/oneOf/2",
        also=frozenset({"default-overlapping"}),
    ),
    Case(
        "union-half-marked",
        {"content.json#/$defs/ContentBlock/oneOf/2/properties/type/const": "text"},
        "content.json#/$defs/ContentBlock/oneOf/2",
        also=frozenset({"example-refused", "variant-example-missing"}),
    ),
    Case(
        "union-half-marked",
        {"content.json#/$defs/ContentBlock/oneOf/2/properties/type": REMOVED}
        | {"content.json#/$defs/ContentBlock/oneOf/3/properties/type": REMOVED}
        | {"content.json#/$defs/ContentBlock/oneOf/4/properties/type": REMOVED},
        "content.json#/$defs/ContentBlock/oneOf/2",
        also=frozenset({"example-refused"}),
    ),
    Case(
        "union-half-marked",
        {f"content.json#/$defs/ContentBlock/oneOf/{index}/required": [] for index in (2, 3, 4)},
        "content.json#/$defs/ContentBlock/oneOf/4",
        also=frozenset({"example-refused"}),
    ),
    Case(
        "default-overlapping",
        {"mcp-servers.json#/$defs/McpServer/anyOf/2/not": REMOVED},
        "mcp-servers.json#/$defs/McpServer/anyOf/2",
    ),
    Case(
        "default-overlapping",
        {"content.json#/$defs/ContentBlock/anyOf/5/not/anyOf/3": REMOVED},
        "content.json#/$defs/ContentBlock/anyOf/5",
        protocol="acp/v2",
    ),
    Case(
        "null-meaning-missing",
        {"session.json#/$defs/SessionInfo/properties/title/x-null": REMOVED},
        "session.json#/$defs/SessionInfo/properties/title",
    ),
    Case(
        "null-meaning-missing",
        {"jsonrpc.json#/$defs/Error/properties/data/x-null": REMOVED},
        "jsonrpc.json#/$defs/Error/properties/data",
        protocol="mcp/2025-06-18",
    ),
    Case(
        "null-meaning-misplaced",
        {f"session.json#/$defs/NewSessionRequest{DIRECTORIES}/x-null": "omitted"},
        f"session.json#/$defs/NewSessionRequest{DIRECTORIES}/x-null",
    ),
    Case(
        "null-meaning-misplaced",
        {"session.json#/$defs/NewSessionRequest/x-null": "omitted"},
        "session.json#/$defs/NewSessionRequest/x-null",
    ),
    *(
        Case(
            "leniency-forbidden",
            {f"session.json#/$defs/{name}{DIRECTORIES}/x-deserialize-{leniency}": True},
            f"session.json#/$defs/{name}{DIRECTORIES}/x-deserialize-{leniency}",
            protocol=protocol,
        )
        for protocol in ("acp/v1", "acp/v2")
        for name in ("NewSessionRequest", "SessionInfo", "ListSessionsRequest")
        for leniency in ("default-on-error", "skip-invalid-items", "default-on-null")
    ),
    *(
        Case(
            "leniency-forbidden",
            {f"permission.json#/$defs/RequestPermissionRequest/properties/{name}/x-deserialize-default-on-error": True},
            f"permission.json#/$defs/RequestPermissionRequest/properties/{name}/x-deserialize-default-on-error",
            protocol="acp/v2",
        )
        for name in ("title", "options", "subject")
    ),
    Case(
        "gate-dangling",
        {"session.json#/$defs/LoadSessionRequest/x-capability": "agent:agentCapabilities.session.load"},
        "session.json#/$defs/LoadSessionRequest/x-capability",
        also=frozenset({"capability-unused"}),
    ),
    Case(
        "gate-dangling",
        {f"session.json#/$defs/SessionInfo{DIRECTORIES}/x-required-with": CAPABILITY.replace("agent:", "client:")},
        f"session.json#/$defs/SessionInfo{DIRECTORIES}/x-required-with",
    ),
    Case(
        "gate-misplaced",
        {"session.json#/$defs/LoadSessionResponse/x-capability": "agent:agentCapabilities.loadSession"},
        "session.json#/$defs/LoadSessionResponse/x-capability",
    ),
    Case(
        "gate-misplaced",
        {"plan.json#/$defs/PlanEntry/x-capability": "agent:agentCapabilities.loadSession"},
        "plan.json#/$defs/PlanEntry/x-capability",
    ),
    Case(
        "gate-misplaced",
        {"session.json#/$defs/SessionInfo/properties/cwd/x-required-with": CAPABILITY},
        "session.json#/$defs/SessionInfo/properties/cwd/x-required-with",
    ),
    Case(
        "gate-missing",
        {f"session.json#/$defs/ListSessionsRequest{DIRECTORIES}/x-capability": REMOVED},
        f"session.json#/$defs/ListSessionsRequest{DIRECTORIES}",
    ),
    Case(
        "capability-unused",
        {"content.json#/$defs/ContentBlock/oneOf/1/x-capability": REMOVED},
        "initialize.json#/$defs/PromptCapabilities/properties/image",
    ),
    Case(
        "capability-unused",
        {"initialize.json#/$defs/AgentCapabilities/properties/auth/x-gates": REMOVED},
        "initialize.json#/$defs/AgentCapabilities/properties/auth",
        protocol="acp/v2",
    ),
    Case(
        "capability-contradicted",
        {"initialize.json#/$defs/PromptCapabilities/properties/image/x-gates": "nothing"},
        "initialize.json#/$defs/PromptCapabilities/properties/image/x-gates",
    ),
    Case(
        "capability-contradicted",
        {"plan.json#/$defs/PlanEntry/properties/content/x-gates": "nothing"},
        "plan.json#/$defs/PlanEntry/properties/content/x-gates",
    ),
    Case(
        "keyword-wrong",
        {"session.json#/$defs/LoadSessionRequest/x-side": REMOVED},
        "session.json#/$defs/LoadSessionRequest",
    ),
    Case(
        "method-mismatched",
        {"session.json#/$defs/LoadSessionResponse/x-side": "client"},
        "session.json#/$defs/LoadSessionResponse",
        also=frozenset({"method-unlisted"}),
    ),
    Case(
        "method-mismatched",
        {"session.json#/$defs/LoadSessionResponse/x-method": "session/lode"},
        "session.json#/$defs/LoadSessionRequest",
    ),
    Case(
        "method-mismatched",
        {"session.json#/$defs/ForkSessionResponse/x-unstable": REMOVED},
        "session.json#/$defs/ForkSessionResponse",
    ),
    Case(
        "method-mismatched",
        {"session.json#/$defs/CloseSessionResponse/x-method": "session/load"},
        "session.json#/$defs/CloseSessionResponse",
    ),
    Case(
        "method-mismatched",
        {"plan.json#/$defs/PlanEntry/x-method": "plan/entry", "plan.json#/$defs/PlanEntry/x-side": "agent"},
        "plan.json#/$defs/PlanEntry",
        also=frozenset({"method-example-missing"}),
    ),
    Case(
        "method-unlisted",
        {"jsonrpc.json#/$defs/ClientRequest/properties/params/anyOf/0/anyOf/0": REMOVED},
        "initialize.json#/$defs/InitializeRequest",
    ),
    Case(
        "method-unlisted",
        {"jsonrpc.json#/anyOf/2/properties/params/anyOf/0": {"description": "Any.", "type": "object"}},
        "jsonrpc.json#/$defs/CancelRequestNotification",
    ),
    Case(
        "method-unlisted",
        {"jsonrpc.json#/$defs/ClientResponse/anyOf/0/properties/result/anyOf/0/$ref": "#/$defs/Meta"},
        "roots.json#/$defs/ListRootsResult",
        protocol="mcp/2025-06-18",
    ),
)


def canonical(protocol: str) -> Source:
    return read(SCHEMA / protocol, name=protocol)


def key(node: object, part: str) -> Any:
    """The key of a pointer as the index of a list or the name of a member."""
    return int(part) if isinstance(node, list) else part


def damaged(protocol: str, damage: Mapping[str, Any]) -> Source:
    """A copy of a protocol with values put in place of others, later places of a list first."""
    source = canonical(protocol)
    files: dict[str, Any] = {path: json.loads(content) for path, content in source.files}
    for at, value in sorted(damage.items(), reverse=True):
        path, _, fragment = at.partition("#")
        *parts, last = split_pointer(fragment) or ("",)
        if not fragment:
            files[path] = copy.deepcopy(value)
            continue
        node: Any = files[path]
        for part in parts:
            node = node[key(node, part)]
        if value is REMOVED:
            del node[key(node, last)]
        else:
            node[key(node, last)] = copy.deepcopy(value)
    encoded = tuple((path, json.dumps(value, ensure_ascii=False, indent=1).encode()) for path, value in files.items())
    return Source(source.name, source.root, encoded)


def test_a_copy_without_damage_is_without_findings() -> None:
    assert lint(damaged("mcp/2025-06-18", {})) == ()


@pytest.mark.parametrize("with_others", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["alone", "all"])
@pytest.mark.parametrize(
    "case",
    [
        case
        for rule in sorted({case.rule for case in CASES})
        for case in tiers.sample(
            [case for case in CASES if case.rule == rule], 1, lambda case: f"{case.protocol} {case.id}"
        )
    ],
)
def test_each_rule_finds_its_damage(case: Case, with_others: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default the rule is asked alone: most do not need what all files together mean."""
    if not with_others:
        monkeypatch.setattr("acpgen.lint.RULES", tuple(rule for rule in RULES if name_rule(rule) == case.rule))
    findings = lint(damaged(case.protocol, case.damage))
    root = canonical(case.protocol).root
    expected = [finding for finding in findings if finding.rule == case.rule]
    assert case.at in {f"{finding.file.removeprefix(root + '/')}{finding.pointer}" for finding in expected}
    assert {finding.rule for finding in findings} <= {case.rule} | case.also
    for finding in expected:
        assert finding.message.endswith((".", "?"))


def test_the_error_codes_are_used_though_nothing_refers_to_them() -> None:
    code = {"description": "Kind of failure.", "type": "integer"}
    assert lint(damaged("acp/v1", {"jsonrpc.json#/$defs/Error/properties/code": code})) == ()


def test_every_rule_has_a_case_a_docstring_and_a_line_in_the_readme() -> None:
    ids = [name_rule(rule) for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert set(ids) == {case.rule for case in CASES}
    readme = (SCHEMA / "README.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert rule.__doc__
        assert rule.__doc__.strip().split("\n")[0].endswith(".")
        assert f"`{name_rule(rule)}`" in readme


def shown(case: Case) -> dict[str, str]:
    """What the page of the rules shows of a case: the change, where it is found, and what is said."""
    before, after = (dict(source.files) for source in (damaged(case.protocol, {}), damaged(case.protocol, case.damage)))
    difference: list[str] = []
    for path in before:
        old, new = (json.dumps(json.loads(files[path]), indent=2, ensure_ascii=False) for files in (before, after))
        difference += unified_diff(old.split("\n"), new.split("\n"), path, path, n=3, lineterm="")
    finding = next(finding for finding in lint(damaged(case.protocol, case.damage)) if finding.rule == case.rule)
    pointer = f"{Path(finding.file).name}{finding.pointer}"
    return {"difference": "\n".join(difference), "pointer": pointer, "message": finding.message}


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_the_page_of_the_rules_shows_a_change_for_each(request: pytest.FixtureRequest, whole: bool) -> None:
    first = {rule: next(case for case in CASES if case.rule == rule) for rule in map(name_rule, RULES)}
    if not whole and not request.config.getoption("rewrite_goldens"):
        known = json.loads(resources.LINT_EXAMPLES.read_text("utf-8"))
        assert list(known) == list(first)
        for rule in tiers.draw(first, 2):
            assert shown(first[rule]) == known[rule]
        return
    made = {rule: shown(case) for rule, case in first.items()}
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    if request.config.getoption("rewrite_goldens"):
        assert not os.environ.get("CI"), "goldens are rewritten by people, and read before they are committed"
        resources.LINT_EXAMPLES.write_text(text, "utf-8")
    assert resources.LINT_EXAMPLES.read_text("utf-8") == text


def lines_of(finding: Finding) -> list[str]:
    return write_report(make_report({finding: "error"}, "x"), "text").splitlines()


def test_a_finding_is_one_line_with_file_line_column_pointer_rule_and_sentence() -> None:
    source = canonical("acp/v1")
    files = {path: content.decode() for path, content in source.files}
    text = files["plan.json"].replace('"x-unknown": "keep"', '"x-unknown": "drop"', 1)
    files["plan.json"] = text
    (finding,) = lint(Source("acp/v1", "schema/acp/v1", tuple((path, text.encode()) for path, text in files.items())))
    line = text[: text.index('"x-unknown": "drop"')].count("\n") + 1
    told, _ = lines_of(finding)
    assert told.startswith(f"schema/acp/v1/plan.json:{line}:7#/$defs/PlanEntry")
    assert "/x-unknown: keyword-wrong: 'x-unknown' is refused: " in told


def test_findings_come_in_the_order_of_files_and_lines_and_all_in_one_run() -> None:
    damage = {
        "updates.json#/$defs/SessionNotification/description": REMOVED,
        "content.json#/$defs/TextContent/description": REMOVED,
        "content.json#/$defs/ContentBlock/examples/0": REMOVED,
        "content.json#/x-odd": 1,
    }
    findings = lint(damaged("acp/v1", damage))
    assert [finding.rule for finding in findings] == [
        "variant-example-missing",
        "description-missing",
        "keyword-unknown",
        "description-missing",
    ]
    assert list(findings) == sorted(findings)
    assert len({finding.file for finding in findings}) == 2


def test_what_the_bundle_cannot_hold_hides_no_finding_in_the_files() -> None:
    damage = {
        "plan.json#/$defs/Plan/properties/entries/items/$ref": "#/$defs/Step",
        "session.json#/$defs/SessionInfo/properties/title/x-null": REMOVED,
    }
    assert {"reference-dangling", "null-meaning-missing"} <= {f.rule for f in lint(damaged("acp/v1", damage))}


def test_types_that_hold_themselves_end_in_findings() -> None:
    loop = {"description": "Nothing.", "$ref": "#/$defs/Loop"}
    inner = {"description": "More.", "$ref": "#/$defs/PromptCapabilities"}
    damage = {
        "initialize.json#/$defs/Loop": loop,
        "initialize.json#/$defs/PromptCapabilities/properties/loop": loop,
        "initialize.json#/$defs/PromptCapabilities/properties/inner": inner,
    }
    assert "reference-looping" in {finding.rule for finding in lint(damaged("acp/v1", damage))}


def test_text_of_a_schema_cannot_break_the_line_of_a_finding() -> None:
    damage = {"plan.json#/$defs/Plan/x-\u001b[31m\nred": 1}
    (finding,) = lint(damaged("acp/v1", damage))
    told, _ = lines_of(finding)
    assert told.isprintable()


def test_folders_of_protocols_are_told_apart_and_the_dialect_is_none() -> None:
    found = {protocol.name: protocol.root for protocol in find_protocols(select_schemas(read(SCHEMA)))}
    assert set(found) == set(PROTOCOLS)
    (single,) = find_protocols(read(SCHEMA / "acp" / "v1"))
    assert dict(single.files).keys() == {path.name for path in (SCHEMA / "acp" / "v1").glob("[!.]*.json")}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one protocol in two files, each of which misses one description."""
    folder = tmp_path / "schema" / "toy" / "v1"
    folder.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.acpgen]\nschema = "schema"\n' + OUTPUT)
    ids = {"description": "Ids.", "$defs": {"Id": {"type": "string"}}}
    root = {"description": "Root.", "type": "object", "properties": {"id": {"$ref": "ids.json#/$defs/Id"}}}
    (folder / "ids.json").write_text(json.dumps(ids))
    (folder / "root.json").write_text(json.dumps(root, indent=2))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_paths_are_folders_above_or_of_a_protocol_or_files(project: Path) -> None:
    def files(*paths: str) -> list[str]:
        return [finding.file for finding in lint_paths([Path(path) for path in paths], [project / "schema"])]

    both = ["schema/toy/v1/ids.json", "schema/toy/v1/root.json"]
    assert files("schema") == files("schema/toy/v1") == files("schema", "schema/toy") == both
    assert files("schema/toy/v1/root.json") == both[1:]
    alone = lint_paths([Path("schema/toy/v1/root.json")])
    assert [(finding.file, finding.rule) for finding in alone] == [("schema/toy/v1/root.json", "description-missing")]
    (project / "schema" / "toy" / "v1" / "ids.json").unlink()
    alone = lint_paths([Path("schema/toy/v1/root.json")])
    assert [finding.rule for finding in alone] == ["description-missing", "reference-dangling"]


def test_files_that_cannot_be_read_are_faults_and_all_are_told(project: Path) -> None:
    (project / "schema" / "toy" / "v1" / "ids.json").write_text('{"a": 1, "a": 2}')
    with pytest.raises(Faults) as caught:
        lint_paths([Path("schema"), Path("nowhere")])
    assert [fault.kind.id for fault in caught.value.faults] == ["duplicate-key", "not-found"]


def test_the_command_exits_with_0_1_and_2(project: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "acpgen", "lint", *arguments]
        environment = {"PYTHONPATH": str(ROOT / "generator"), "PATH": ""}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    found = run()
    assert (found.returncode, len(found.stdout.splitlines())) == (1, 3)
    assert found.stdout.endswith("\n2 errors\n")
    assert "description-missing" in found.stdout
    clean = run(str(SCHEMA / "mcp" / "2025-06-18"))
    assert (clean.returncode, clean.stdout) == (0, "No rule finds anything\n")
    unusable = run("nowhere")
    assert (unusable.returncode, unusable.stdout) == (2, "")
    assert unusable.stderr.startswith("error: nowhere: ")


def test_findings_are_values() -> None:
    finding = Finding("a.json", 1, 2, "#/x", "rule", "Sentence.")
    assert finding == copy.copy(finding)
    assert lines_of(finding) == ["a.json:1:2#/x: rule: Sentence.", "1 error"]


def test_a_side_that_nobody_declares_is_told_once_with_what_else_is_wrong() -> None:
    definitions = {
        "GoRequest": {"type": "object", "x-method": "go", "x-side": "agenz"},
        "OtherRequest": {"type": "object", "x-method": "other", "x-side": "agent"},
        "A": {"$ref": "#/$defs/Nothing"},
    }
    found = lint(Source("p", "", (("p.json", json.dumps({"$defs": definitions}).encode()),)))
    about = [finding.rule for finding in found if "agenz" in finding.message]
    assert about == ["keyword-wrong"]
    assert "reference-dangling" in {finding.rule for finding in found}
