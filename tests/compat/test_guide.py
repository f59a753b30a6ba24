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
from acpgen.walk import is_object
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


def test_each_version_announces_itself(text: str, sides: tuple[Revised, Revised]) -> None:
    """What a reader copies from the guide negotiates the version that it stands for."""
    for side in sides:
        shown = re.findall(
            rf"A smallest (?:message|answer) in `{side.protocol.name}`:\n\n```json\n(.*?)\n```", text, re.DOTALL
        )
        handshake = [value for value in map(json.loads, shown) if "protocolVersion" in str(value)]
        assert len(handshake) == 2
        for value in handshake:
            assert (value.get("params") or value["result"])["protocolVersion"] == side.protocol.version


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
    silent |= {"definition-added", "definition-removed", "not-compared"}
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


NAMED_ELSEWHERE = {
    # What a list of differences, made by hand, names between the versions: a line of the guide that tells each.
    "capabilities of clients": "`params.clientCapabilities` (client → agent): The field 'clientCapabilities' is gone",
    "capabilities of agents": "`result.agentCapabilities` (agent → client): The field 'agentCapabilities' is gone",
    "capabilities of both": "| client | `clientCapabilities` `{}` | `capabilities` `{}` |",
    "the client's name": "`params.clientInfo` (client → agent): The field 'clientInfo' is gone",
    "the agent's name": "`result.agentInfo` (agent → client): The field 'agentInfo' is gone",
    "names are required": "`result.info` (agent → client): The new field 'info' is required",
    "markers": "`agentCapabilities.promptCapabilities.image` `true` | `capabilities.session.prompt.image` `{}` |",
    "methodId": "`result.authMethods[](terminal).methodId` (agent → client): The new field 'methodId' is required",
    "configId": "`result.configOptions[](select).configId` (agent → client): The new field 'configId' is required",
    "planId": "- `PlanItems`: `planId`, `entries`",
    "groupId": ".groupId` (agent → client): The new field 'groupId' is required",
    "updates": "- `SessionNotification` is `UpdateSessionNotification`",
    "cancelling": "- `CancelNotification` is `CancelSessionNotification`",
    "stop reasons": "`result.stopReason` (agent → client): The field 'stopReason' is gone",
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
    "background work": "- `RunningStateUpdate`: `background`",
    "stopping a tool call": "### `tool_call/cancel`\n",
    "stopping a terminal": "### `terminal/cancel`\n",
    "unknown sessions": "- `SessionNotFoundErrorData`: `sessionId`",
    "unknown versions": "- `UnsupportedProtocolVersionErrorData`: `requested`, `supported`",
    "cancelled permission": "- `CancelledPermissionOutcome`",
    "StopReason": "## Gone types\n",
    "StopReason as a type": "\n- `StopReason`\n",
    "AuthCapabilities": "\n- `AuthCapabilities`\n",
    "null as an id": "`id` (either side): Null is refused now.",
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
