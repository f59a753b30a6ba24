"""Every requirement that a running program keeps with `acp_session`, shown by the function that keeps it.

`schema/requirements.json` says which function that is and which tests go deeper.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Final

import pytest
from acp_bindings import to_builtins, v1, v2

from acp_session.adapter import Losses
from acp_session.codec.to_v1 import ToV1
from acp_session.codec.to_v2 import ToV2
from acp_session.permission import (
    ask,
    cancel,
    decide,
    get_tool_call_update,
    read,
)
from acp_workspace.containment import guarantees
from requirement_checks import Checks
from requirements_file import label

from .raw_client import talking
from .test_agent import Working, echo

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

CHECKS: Final = Checks("acp_session")
requirement = CHECKS.requirement


@pytest.mark.parametrize("number", CHECKS.functions, ids=label)
def test_the_requirement_is_kept(number: int | str, tmp_path: Path) -> None:
    CHECKS.run(number, tmp_path)


def test_every_requirement_of_running_programs_is_in_the_table() -> None:
    assert set(CHECKS.functions) == set(CHECKS.checks)


@requirement(65)
def an_agent_with_sessions_supports_the_eight_methods(base: Path) -> None:
    async def converse() -> None:
        async with talking(Working(echo), 2) as client:
            id_ = await client.new(base)
            where: dict[str, Any] = {"cwd": str(base), "mcpServers": []}
            await client.prompt(id_)
            client.cancel(id_)
            await client.request("session/list")
            for method in ("session/load", "session/resume"):
                await client.request(method, sessionId=id_, **where)
            await client.request("session/close", sessionId=id_)
            assert client.text()

    asyncio.run(converse())
    named = {name for name, row in v2.METHODS.items() if row.capability == "agent:capabilities.session"}
    assert named - {"session/set_config_option"} == {
        f"session/{one}" for one in ("new", "load", "resume", "list", "close", "prompt", "cancel", "update")
    }


YES: Final = v2.PermissionOption(option_id="yes", name="Yes", kind="allow_once")


@requirement(90, 94)
def a_prompt_has_a_title_and_options(base: Path) -> None:
    assert ask("s", "May I?", [YES]).title == "May I?"
    for title, options in (("", [YES]), ("May I?", [])):
        with pytest.raises(ValueError, match="needs"):
            ask("s", title, options)


@requirement(91, 92)
def null_and_omitted_are_read_alike(base: Path) -> None:
    body = {"sessionId": "s", "title": "May I?", "options": [{"optionId": "y", "name": "Y", "kind": "allow_once"}]}
    for field in ("description", "subject"):
        left_out, null = (
            read(v2.decode_as(v2.RequestPermissionRequest, value)) for value in (body, {**body, field: None})
        )
        assert left_out == null
        assert left_out is not None
        assert (left_out.description, left_out.tool_call, left_out.is_understood) == (None, None, True)


@requirement(95)
def an_unknown_subject_is_kept(base: Path) -> None:
    body = {"type": "_lock", "door": [1, None], "_meta": None}
    options = [{"optionId": "y", "name": "Y", "kind": "allow_once"}]
    whole = {"sessionId": "s", "title": "Open?", "options": options, "subject": body}
    request = v2.decode_as(v2.RequestPermissionRequest, whole)
    assert read(request) is not None
    assert json.loads(v2.encode(request)) == whole


@requirement(98)
def prompt_words_stand_in_the_prompt(base: Path) -> None:
    request = ask(
        "s",
        "May I?",
        [YES],
        description="Because.",
        subject=v2.ToolCallPermissionSubject(tool_call=v2.ToolCallUpdate(tool_call_id="c")),
    )
    written = json.loads(v2.encode(request))
    assert (written["title"], written["description"]) == ("May I?", "Because.")
    assert written["subject"] == {"type": "tool_call", "toolCall": {"toolCallId": "c"}}


@requirement(96)
def an_unknown_subject_gets_a_plain_prompt_or_is_declined(base: Path) -> None:
    request = ask("s", "Open the lock?", [YES], subject=v2.UnknownRequestPermissionSubject(type="_lock"))
    prompt = read(request)
    assert prompt is not None
    assert (prompt.title, prompt.is_understood) == ("Open the lock?", False)
    assert read(request, unknown_subject="decline") is None
    assert not decide(request, cancel(request)).allowed


@requirement("acp/v1/prompt-turn/cancellation/3", "acp/v1/tool-calls/requesting-permission/5")
def a_permission_of_a_cancelled_turn_is_answered_as_cancelled(base: Path) -> None:
    call = v1.ToolCallUpdate(tool_call_id="c")
    once = v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")
    request = v1.RequestPermissionRequest(session_id="s", tool_call=call, options=[once])
    assert json.loads(v1.encode(cancel(request))) == {"outcome": {"outcome": "cancelled"}}
    assert not decide(request, cancel(request)).allowed


@requirement(99, "acp/v2/schema/toolcallpermissionsubject/1")
def prompt_words_do_not_reach_the_tool_call(base: Path) -> None:
    call = v2.ToolCallUpdate(tool_call_id="c", title="Edit")
    request = ask("s", "May I?", [YES], description="Because.", subject=v2.ToolCallPermissionSubject(tool_call=call))
    assert get_tool_call_update(request) == call
    assert b"May I" not in v2.encode(get_tool_call_update(request))


@requirement(
    "acp/v2/tool-calls/requesting-permission/10",
    "acp/v2/schema/requestpermissionoutcome/1",
    "acp/v2/schema/requestpermissionoutcome/2",
)
def only_an_offered_option_that_allows_is_consent(base: Path) -> None:
    request = ask("s", "May I?", [YES])
    assert decide(request, v2.decode_as(v2.RequestPermissionResponse, outcome("selected", optionId="yes"))).allowed
    for answer in (outcome("cancelled"), outcome("selected", optionId="other"), outcome("_later"), outcome("granted")):
        assert not decide(request, v2.decode_as(v2.RequestPermissionResponse, answer)).allowed


def outcome(name: str, **more: str) -> dict[str, Any]:
    return {"outcome": {"outcome": name, **more}}


@requirement("acp/v2/schema/permissionoption/1")
def no_option_stands_twice(base: Path) -> None:
    with pytest.raises(ValueError, match="two options"):
        ask("s", "May I?", [YES, YES])


@requirement(
    "acp/v2/rfds/terminal-output/compatibility/1",
    "acp/v2/rfds/client-filesystem-terminal-capabilities/implementation-details-and-plan/1",
)
def a_terminal_of_one_version_is_none_of_the_other(base: Path) -> None:
    content = [{"type": "terminal", "terminalId": "t"}]
    call = {"toolCallId": "c", "title": "Run", "content": content}
    options = [{"optionId": "y", "name": "Y", "kind": "allow_once"}]
    old = v1.decode_as(v1.RequestPermissionRequest, {"sessionId": "s", "toolCall": call, "options": options})
    body = {
        "sessionId": "s",
        "title": "Run",
        "subject": {"type": "tool_call", "toolCall": call},
        "options": options,
    }
    new_ = v2.decode_as(v2.RequestPermissionRequest, body)
    lost: list[str] = []
    place = Losses(lambda loss: lost.append(loss.pointer)).make_place("session/request_permission")
    ToV2().convert("RequestPermissionRequest", to_builtins(old), place)
    ToV1().convert("RequestPermissionRequest", to_builtins(new_), place)
    assert lost == ["/toolCall/content/0", "/subject/toolCall/content/0"]
