"""The migration guide between the canonical versions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from acpgen import ir
from acpgen.bundle.bundle import bundle
from acpgen.compat.catalogue import list_rules
from acpgen.compat.protocol.check.check import check
from acpgen.compat.protocol.messages import Route, write_message_schema
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.errors import Faults
from acpgen.input.load import load
from acpgen.input.walk import is_object
from acpgen.meaning.lower import lower
from acpgen.publish.migration import make_guide
from acpgen.publish.migration_entries import INSTEAD
from compat.protocols import CANONICAL, validates


@pytest.fixture(scope="module")
def sides() -> tuple[SchemaRevision, SchemaRevision]:
    made: list[SchemaRevision] = []
    for path, name in zip(CANONICAL, ("acp/v1", "acp/v2"), strict=False):
        bundled = bundle(load(path, name=name))
        made.append(SchemaRevision(lower(bundled), bundled))
    return made[0], made[1]


@pytest.fixture(scope="module")
def text(sides: tuple[SchemaRevision, SchemaRevision]) -> str:
    return whole(make_guide(*sides))


def whole(pages: Mapping[str, tuple[str, str]]) -> str:
    """All pages of a guide, one after another."""
    return "\n".join(text for _, text in pages.values())


def test_each_version_announces_itself(text: str, sides: tuple[SchemaRevision, SchemaRevision]) -> None:
    """What a reader copies from the guide negotiates the version that it stands for."""
    for side in sides:
        shown = re.findall(
            rf"(?:A message|A response) in `{side.protocol.name}`:\n\n```json\n(.*?)\n```", text, re.DOTALL
        )
        handshake = [value for value in map(json.loads, shown) if "protocolVersion" in str(value)]
        assert len(handshake) == 2
        for value in handshake:
            assert (value.get("params") or value["result"])["protocolVersion"] == side.protocol.version


def test_the_guide_names_every_method_of_both_versions_once(
    text: str, sides: tuple[SchemaRevision, SchemaRevision]
) -> None:
    headings = re.findall(r"^### `(.+)`$", text, flags=re.MULTILINE)
    assert sorted(headings) == sorted({method.name for side in sides for method in side.methods})


def test_the_guide_tells_everything_that_a_reader_must_act_on(
    text: str, sides: tuple[SchemaRevision, SchemaRevision]
) -> None:
    found = [each for each in check(*sides).reaches if each.severity in ("breaking", "risky", "undecided")]
    assert len(found) > 50
    for each in found:
        assert f"`{each.location}`" in text, each


def test_every_rule_that_can_ask_something_of_a_reader_says_what() -> None:
    silent = {"inclusion-undecided", "definition-renamed", "text-reworded", "schema-restructured", "format-changed"}
    silent |= {"definition-added", "definition-removed", "keyword-ignored", "not-compared"}
    silent |= {"default-grown", "null-meaning-declared", "null-result-allowed", "undeclared-widened"}
    silent |= {entry.id for entry in list_rules() if entry.id.startswith(("language-", "policy-", "waiver-"))}
    assert set(INSTEAD) == {entry.id for entry in list_rules()} - silent


def test_the_messages_in_the_guide_are_valid_in_their_version(
    text: str, sides: tuple[SchemaRevision, SchemaRevision]
) -> None:
    shown = re.findall(r"^A message in `([^`\n]+)`:\n\n```json\n(.+?)\n```$", text, flags=re.MULTILINE | re.DOTALL)
    assert len(shown) > 20
    for version, block in shown:
        side = next(side for side in sides if side.protocol.name == version)
        value = json.loads(block)
        method = next(method for method in side.methods if method.name == value["method"])
        schema = {
            "$defs": side.bundle.definitions,
            **write_message_schema(side, Route("params", method, method.params)),
        }
        assert validates(schema, value)


def test_the_guide_is_plain_markdown(text: str) -> None:
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert set(re.findall(r"<(?!/)([a-z0-9]+)", page)) <= {
        *("h1", "h2", "h3", "p", "code", "pre", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"),
        *("a", "details", "ol", "strong", "summary"),
    }
    assert text == text.rstrip() + "\n"


@pytest.mark.exhaustive
def test_two_runs_give_the_same_guide(text: str, sides: tuple[SchemaRevision, SchemaRevision]) -> None:
    assert whole(make_guide(*sides)) == text


NAMED_ELSEWHERE = {
    # What a list of differences, made by hand, names between the versions: a line of the guide that tells each.
    "capabilities of clients": "`params.clientCapabilities` (client → agent): The field `clientCapabilities` was removed",
    "capabilities of agents": "`result.agentCapabilities` (agent → client): The field `agentCapabilities` was removed",
    "capabilities of both": "| client | `clientCapabilities` `{}` | `capabilities` `{}` |",
    "the client's name": "`params.clientInfo` (client → agent): The field `clientInfo` was removed",
    "the agent's name": "`result.agentInfo` (agent → client): The field `agentInfo` was removed",
    "names are required": "`result.info` (agent → client): The required field `info` was added",
    "markers": "`agentCapabilities.promptCapabilities.image` `true` | `capabilities.session.prompt.image` `{}` |",
    "methodId": "`result.authMethods[](terminal).methodId` (agent → client): The required field `methodId` was added",
    "configId": "`result.configOptions[](boolean).configId` (agent → client): The required field `configId` was added",
    "planId": "- `PlanItems`: `type`, `planId`, `entries`",
    "groupId": ".groupId` (agent → client): The required field `groupId` was added",
    "updates": "- `SessionNotification` is `UpdateSessionNotification`",
    "cancelling": "- `CancelNotification` is `CancelSessionNotification`",
    "stop reasons": "`result.stopReason` (agent → client): The field `stopReason` was removed",
    "states": "`params.update(state_update)` (agent → client): ",
    "idle": "- `IdleStateUpdate`: `stopReason: end_turn`",
    "plans": "`params.update(plan)` (agent → client): ",
    "plan updates": "`params.update(plan_update)` (agent → client): ",
    "modes": "### `session/set_mode`\n\nGone.",
    "current mode": "`params.update(current_mode_update)` (agent → client): ",
    "reading files": "### `fs/read_text_file`\n\nGone.",
    "writing files": "### `fs/write_text_file`\n\nGone.",
    "terminals of the client": "### `terminal/create`\n\nGone.",
    "sse": "`params.mcpServers[](sse)` (client → agent): ",
    "background work": "- `RunningStateUpdate`: `sessionUpdate`, `state`, `background`",
    "stopping a tool call": "### `tool_call/cancel`\n",
    "stopping a terminal": "### `terminal/cancel`\n",
    "unknown sessions": "- `SessionNotFoundErrorData`: `sessionId`",
    "unknown versions": "- `UnsupportedProtocolVersionErrorData`: `requested`, `supported`",
    "cancelled permission": "- `CancelledPermissionOutcome`",
    "StopReason": "## Gone types\n",
    "StopReason as a type": "\n- `StopReason`\n",
    "AuthCapabilities": "\n- `AuthCapabilities`\n",
    "null as an id": "`id` (either side): The id of a request is an integer or a string, never null.",
    "login": "`authenticate` is `auth/login`",
    "logout": "`logout` is `auth/logout`",
}


@pytest.mark.parametrize("told", NAMED_ELSEWHERE.values(), ids=NAMED_ELSEWHERE)
def test_nothing_that_is_known_to_differ_is_missing(text: str, told: str) -> None:
    assert told in text


def test_every_type_that_only_one_version_has_is_listed_once(text: str) -> None:
    gone, new = (
        set(re.findall(r"^- `(\w+)`", text.partition(f"## {heading} types\n")[2].partition("\n## ")[0], re.MULTILINE))
        for heading in ("Gone", "New")
    )
    renamed = dict(re.findall(r"^- `(\w+)` is `(\w+)`$", text, re.MULTILINE))
    old_names, new_names = (
        {name for document in load(path).documents if is_object(document.value) for name in document.value["$defs"]}
        for path in CANONICAL[:2]
    )
    assert gone <= old_names - new_names and new <= new_names - old_names
    assert renamed.keys() <= old_names - new_names and set(renamed.values()) <= new_names - old_names
    assert not gone & renamed.keys() and not new & set(renamed.values())


# --- what takes the place of what is gone ----------------------------------------------------------------------------


def small(name: str, tmp_path: Path, definitions: dict[str, Any], **more: Any) -> SchemaRevision:
    (tmp_path / name).mkdir()
    (tmp_path / name / "all.json").write_text(json.dumps({"$defs": definitions, **more}))
    bundled = bundle(load(tmp_path / name, name=f"p/{name}"))
    return SchemaRevision(lower(bundled), bundled)


def small_guide(tmp_path: Path, **more: Any) -> str:
    properties = {name: {"type": "string"} for name in ("x", "y")}
    ask = {"type": "object", "x-method": "ask", "x-side": "agent"}
    old = {
        "AskRequest": {**ask, "properties": {**properties, "kind": {"enum": ["a", "b"]}}, "required": ["x", "y"]},
        "AskResponse": {"type": "object", "x-method": "ask", "x-side": "agent"},
        **{
            f"{name.title()}Request": {"type": "object", "x-method": name, "x-side": "agent"}
            for name in ("told", "lost")
        },
    }
    new = {"AskRequest": {**ask, "properties": {"kind": {"enum": ["a"]}}}, "AskResponse": old["AskResponse"]}
    return whole(make_guide(small("v1", tmp_path, old), small("v2", tmp_path, new, **more)))


def test_what_takes_the_place_of_something_gone_is_told_where_the_schema_says_it(tmp_path: Path) -> None:
    told = {
        "told": "Ask\n\nwith `ask`.",
        "AskRequest.x": "Say it in <b>words</b>.",
        "AskRequestKind(b)": "It is `a` now.",
        "ToldRequest": "`AskRequest` does it.",
    }
    text = small_guide(tmp_path, **{"x-migration": told})
    assert (
        "- `params` (client → agent): The request `told` was removed; new peers answer it with the error -32601. Ask with `ask`.\n"
        in text
    )
    assert (
        "`params.x` (client → agent): The field `x` was removed from here. Say it in &#60;b&#62;words&#60;/b&#62;.\n"
        in text
    )
    assert "The value `b` was removed" in text and " It is `a` now.\n" in text
    assert "- `ToldRequest`\n  `AskRequest` does it.\n" in text


@pytest.mark.parametrize("bad", [[], 5, "told", {"told": 5}, {"told": None}, None])
def test_words_about_the_version_before_of_another_form_are_a_fault_at_their_place(tmp_path: Path, bad: Any) -> None:
    with pytest.raises(Faults, match=r"all\.json(:\d+:\d+)?#: 'x-migration' must be an object of texts, or of objects"):
        small_guide(tmp_path, **{"x-migration": bad})


def test_the_description_of_a_method_is_told_on_one_line(tmp_path: Path) -> None:
    ask = {"type": "object", "x-method": "ask", "x-side": "agent", "description": "First\nline.\n\nSecond\tpart."}
    other = {"Other": {"type": "object"}}
    text = whole(make_guide(small("v1", tmp_path, other), small("v2", tmp_path, {**other, "AskRequest": ask})))
    assert "\nFirst line. Second part.\n" in text


def test_where_the_schema_does_not_say_it_the_guide_says_so(tmp_path: Path) -> None:
    text = small_guide(tmp_path)
    for place in ("lost", "told"):
        section = text.partition(f"### `{place}`\n")[2].partition("\n### ")[0]
        assert "The schema does not say whether there is a replacement." in section
    for entry in re.findall(r"^- `params\.[xy]`.*$", text, re.MULTILINE):
        assert entry.endswith("not require it of others. The schema does not say whether there is a replacement.")
    assert len(re.findall(r"^- `params\.[xy]`", text, re.MULTILINE)) == 2


def test_a_gate_on_what_its_own_side_sends_asks_to_advertise_and_not_to_look(tmp_path: Path) -> None:
    start = {
        "InitializeRequest": {"type": "object", "x-method": "initialize", "x-side": "agent"},
        "InitializeResponse": {
            "type": "object",
            "properties": {"capabilities": {"type": "object", "properties": {"talk": {"type": "boolean"}}}},
            "x-method": "initialize",
            "x-side": "agent",
        },
    }
    gate = {"x-capability": "agent:capabilities.talk"}
    news = {"type": "object", "x-method": "news", "x-side": "client"}
    ask = {"type": "object", "x-method": "ask", "x-side": "agent"}
    start["LogNotification"] = {
        "type": "object",
        "x-method": "log",
        "x-side": "client",
        **gate,
    }  # so that gates are known
    old = small("v1", tmp_path, {**start, "NewsNotification": news, "AskNotification": ask})
    new = small("v2", tmp_path, {**start, "NewsNotification": news | gate, "AskNotification": ask | gate})
    text = whole(make_guide(old, new))
    assert "(agent → client): It is sent only once the agent has advertised `capabilities.talk`." in text
    assert (
        "(client → agent): The method `ask` is now sent only to peers that advertise agent&#58;capabilities.talk;"
        in text
    )


def test_whatever_is_gone_from_acp_v1_has_a_word_on_what_takes_its_place(text: str) -> None:
    assert "The schema does not say whether there is a replacement." not in text
    for wrong in ("do not wait for it", "nobody listens", "Leave it out instead", "and is any value now. Be ready"):
        assert wrong not in text.replace(
            "`result(accept).content.*` (client → agent): It was string or number or boolean or "
            "array and is any value now. Be ready",
            "",
        )
    for section, told in {
        "session/prompt": "an update `state_update` whose `state` is `idle` carries `stopReason`. Wait for that update.",
        "session/request_permission": "It is part of `subject`",
        "session/set_mode": "`session/set_config_option`",
        "fs/read_text_file": "Nothing takes its place: a client of this version serves no files.",
        "terminal/output": "`terminal_output_chunk`",
    }.items():
        assert told in text.partition(f"### `{section}`\n")[2].partition("\n### ")[0], section


def things(side: SchemaRevision) -> set[str]:
    """All that `x-migration` can name in a version: methods, definitions, fields of definitions, variants and values."""
    found = {method.name for method in side.methods} | set(side.definitions)
    for name, schema in side.bundle.definitions.items():
        found |= {f"{name}.{field}" for field in properties(schema)}
        found |= {
            f"{name}.{field}"
            for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
            for field in properties(branch)
        }
    for definition in side.definitions.values():
        match definition:
            case ir.TaggedUnion():
                found |= {f"{definition.name}({variant.tag})" for variant in definition.variants}
                for variant in definition.variants:
                    record = side.definitions[variant.type]
                    found |= (
                        {f"{definition.name}.{each.name}" for each in record.fields}
                        if isinstance(record, ir.Record)
                        else set()
                    )
            case ir.Enum():
                found |= {f"{definition.name}({value.value})" for value in definition.values}
            case _:
                pass
    return found


def properties(schema: Any) -> set[str]:
    return set(schema.get("properties", ())) if is_object(schema) else set()


def test_every_word_about_the_version_before_is_about_something_of_it_and_names_what_is_there_now(
    sides: tuple[SchemaRevision, SchemaRevision],
) -> None:
    old, new = sides
    assert set(new.bundle.migration) <= things(old)
    written = [
        key for path in CANONICAL[1].glob("*.json") for key in json.loads(path.read_text()).get("x-migration", ())
    ]
    assert sorted(written) == sorted(new.bundle.migration)
    assert not old.bundle.migration
    still = {"InitializeRequest.protocolVersion", "InitializeResponse.authMethods", "Error.data", "RequestId"}
    still |= {"session/load", "session/cancel", "SessionUpdate", "SessionUpdate(agent_message_chunk)"}
    still |= {
        "ContentChunk.messageId",
        "AvailableCommand",
        "AuthMethodAgent",
        "AuthMethodTerminal.env",
        "McpServerStdio",
    }
    assert not (set(new.bundle.migration) & things(new)) - still
    words = {word for name in things(new) for word in re.split(r"[.()]", name)} | things(new)
    for key, said in new.bundle.migration.items():
        for named in re.findall(r"`([^`]*)`", said):
            parts = re.findall(r"[\w/]+", named)
            assert parts and set(parts) <= words | {"type", "id"}, (key, named)


def test_a_type_that_became_another_is_one_entry_and_null_is_not_to_be_left_out_of_what_is_required(text: str) -> None:
    assert len(re.findall(r"^- `result\.authMethods\[\]\(terminal\)\.env`", text, re.MULTILINE)) == 1
    (entry,) = re.findall(r"^- `params\.requestId`.*$", text, re.MULTILINE)
    assert "leave" not in entry and "never null" in entry


def test_what_is_said_of_ids_keeps_requests_requests_and_allows_null_in_errors(text: str) -> None:
    (entry,) = re.findall(r"^- `id`.*$", text, re.MULTILINE)
    assert "leave" not in entry
    assert entry.endswith("Only an error response to a message whose id could not be read has null as its `id`.")


def test_capabilities_that_hold_the_same_ones_are_one_row(text: str) -> None:
    for was, now in {"promptCapabilities": ".prompt", "mcpCapabilities": ".mcp", "sessionCapabilities": ""}.items():
        assert f"| agent | `agentCapabilities.{was}` `{{}}` | `capabilities.session{now}` `{{}}` |" in text
        assert f"none in `acp/v1` | `capabilities.session{now}` " not in text


def section(text: str, method: str) -> str:
    return text.partition(f"### `{method}`\n")[2].partition("\n### ")[0]


def test_an_invalid_value_that_is_an_error_now_says_what_it_was(text: str) -> None:
    said = "s now decoded strictly; previously an invalid value was read as"
    updates = section(text, "session/update")
    assert f"I{said} if the field were omitted. Send valid values." in updates
    assert f"I{said} an empty array. Send valid values." in updates
    assert f"`configOptions` i{said} an empty array." in section(text, "session/set_config_option")
    assert "fell back" not in text


def test_a_default_that_is_gone_without_another_meaning_demands_nothing(text: str) -> None:
    must, _, may = section(text, "initialize").partition(" may:\n")
    assert "- `result.authMethods` " not in must and "- `result.authMethods` " in may


def test_a_variant_beside_one_without_a_tag_says_what_old_peers_make_of_it(text: str) -> None:
    told = "The variant `command` was added; old peers decode it as AvailableCommand or reject it."
    assert told in section(text, "session/update")


def test_a_capability_that_is_gone_says_what_its_methods_need_now(text: str) -> None:
    assert (
        "| agent | `agentCapabilities.loadSession` `true` | none in `acp/v2`; `session/load` needs `capabilities.session` |"
        in text
    )
    assert "| agent | `agentCapabilities.auth.logout` `{}` | none in `acp/v2`; `auth/logout` needs none |" in text


# --- what the new version says of the old one ------------------------------------------------------------------------


def move(**more: Any) -> dict[str, Any]:
    return {"title": "Asking", "change": "removed", "says": "Ask `ask`.", "why": "It is simpler.", **more}


def test_what_moved_is_told_with_the_reason_both_messages_and_a_checklist_for_each_reader(tmp_path: Path) -> None:
    before: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "told", "params": {}}
    after: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"kind": "a"}}
    told = move(to=["ask"], does={"agents": "Answer `ask`.", "SDKs": "Drop it."}, before=[before], after=[after])
    text = small_guide(tmp_path, **{"x-migration": {"told": told}})
    part = text.partition("## What moved, and why\n")[2].partition("\n## ")[0]
    assert "### Asking\n\nRemoved: `told` → `ask`. Ask `ask`.\n\nWhy: It is simpler.\n" in part
    assert [json.loads(shown) for shown in re.findall(r"```json\n(.*?)\n```", part, re.DOTALL)] == [before, after]
    assert f"\n{json.dumps(before)}\n" in part, "a small message stands on one line"
    there = "migration-v1-v2/all.md#asking"
    assert f"## Checklist for agents\n\n**All**\n\n- **[Asking]({there})**: Answer `ask`.\n" in text
    assert f"## Checklist for SDKs\n\n**All**\n\n- **[Asking]({there})**: Drop it." in text
    first = text.partition("\n# ")[0]
    assert (
        "[Checklist for agents](#checklist-for-agents), [Checklist for SDKs](#checklist-for-sdks), [Methods]" in first
    )
    assert first.index("## Checklist for agents") < first.index("## Checklist for SDKs") < first.index("## Methods")
    for name in ("told", "ask"):
        assert "See [Asking](#asking).\n" in section(text, name)
    assert "The request `told` was removed; new peers answer it with the error -32601. Ask `ask`." in text


@pytest.mark.parametrize(
    ("part", "message", "reason"),
    [
        ("after", {"jsonrpc": "2.0", "id": 1, "method": "told", "params": {}}, "v2: it has no request 'told'"),
        ("before", {"jsonrpc": "2.0", "method": "told", "params": {}}, "v1: it has no notification 'told'"),
        ("before", {"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"x": "a"}}, "v1: /params: .* required"),
        ("after", {"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"kind": "b"}}, "v2: /params/kind: "),
        ("after", {"jsonrpc": "2.0", "id": 1, "result": {}}, "v2: no message before it has this id"),
    ],
)
def test_a_message_that_its_version_refuses_is_a_fault_at_its_place(
    tmp_path: Path, part: str, message: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Faults, match=rf"#/x-migration/told/{part}/0: the schema refuses this example: p/{reason}"):
        small_guide(tmp_path, **{"x-migration": {"told": move(**{part: [message]})}})


BATCH: list[dict[str, Any]] = [{"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {}}]


def test_a_batch_and_an_error_are_checked_against_their_version(tmp_path: Path) -> None:
    """`never` may not be in a batch, `id` says which request an error answers, and an error has a code."""
    start = {"type": "object", "x-method": "start", "x-side": "agent", "x-batch": "never"}
    failed = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "No."}}
    error = {"type": "object", "properties": {"code": {"type": "integer"}}, "required": ["code"]}
    envelope = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "error": {"$ref": "#/$defs/Error"}},
        "required": ["id", "error"],
        "x-docs-ignore": True,
    }
    root = {"anyOf": [{"$ref": "#/$defs/PeerError"}, {"type": "array", "items": {"$ref": "#/$defs/PeerError"}}]}
    ask = {"type": "object", "x-method": "ask", "x-side": "agent"}
    definitions = {"AskRequest": ask, "StartRequest": start, "Error": error, "PeerError": envelope}
    old = small("v1", tmp_path, {"AskRequest": ask, "ToldRequest": {**ask, "x-method": "told"}})

    def faults(name: str, *after: Any, **more: Any) -> str:
        new = small(name, tmp_path, definitions, **more, **{"x-migration": {"told": move(after=list(after))}})
        try:
            make_guide(old, new)
        except Faults as caught:
            return str(caught)
        return ""

    begun: list[dict[str, Any]] = [{"jsonrpc": "2.0", "id": 2, "method": "start", "params": {}}]
    broken = {**failed, "error": {"message": "No."}}
    assert "/after/0: the schema refuses this example: p/b: it has no batches" in faults("b", BATCH)
    assert faults("c", BATCH, failed, **root) == ""
    assert "/after/0: the schema refuses this example: p/d: /0: 'start' must not be part of a batch" in faults(
        "d", begun, **root
    )
    assert "/after/1: the schema refuses this example: p/e: " in faults("e", BATCH[0], broken, **root)


def test_sections_have_the_order_that_the_schema_gives_them(tmp_path: Path) -> None:
    told = {
        "told": move(title="Third"),
        "lost": move(title="Second", order=9),
        "AskRequest.x": move(title="First", order=-1),
    }
    text = small_guide(tmp_path, **{"x-migration": told})
    part = text.partition("## What moved, and why\n")[2].partition("\n## ")[0]
    assert re.findall(r"^### (.*)$", part, re.MULTILINE) == ["First", "Second", "Third"]


@pytest.mark.parametrize(
    "bad",
    [
        *(move(change="lost"), move(why=""), {"says": "Ask."}, move(who="me"), move(before=[]), move(order="1")),
        *(move(before=[[]]), move(after=[[5]])),
    ],
)
def test_a_move_of_another_form_is_a_fault(tmp_path: Path, bad: Any) -> None:
    with pytest.raises(Faults, match="'x-migration' must be an object of texts, or of objects"):
        small_guide(tmp_path, **{"x-migration": {"told": bad}})


def test_what_takes_the_place_of_something_is_there_and_every_reader_has_a_checklist(
    sides: tuple[SchemaRevision, SchemaRevision],
) -> None:
    moves = sides[1].bundle.moves
    assert {"PromptResponse.stopReason", "RequestPermissionRequest.toolCall", "fs/read_text_file"} <= set(moves)
    assert {name for each in moves.values() for name in each.to} <= things(sides[1])
    assert {reader for each in moves.values() for reader in each.does} == {"agents", "clients", "SDKs"}
    assert all(each.before and each.after for each in moves.values())
    titles = [each.title for each in moves.values()]
    assert titles[:3] == ["Version negotiation", "Initialization and capabilities", "Login"]
    assert {"Message ids", "Whole messages", "MCP servers", "Slash commands", "Logging out"} <= set(titles)
    orders = [each.order for each in moves.values()]
    assert len(set(orders)) == len(orders)
