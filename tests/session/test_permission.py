"""Permission requests: asked, shown, decided, and carried between the versions without loss."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import pytest
from acp_bindings import v2

from acp_session.permission import (
    Decision,
    ask,
    cancel,
    choose,
    decide,
    get_tool_call_update,
    read,
)
from session.permission_requests import V1_OPTIONS, as_json, v1_request, v2_request

T = TypeVar("T")
Body = dict[str, Any]

OPTIONS = [
    v2.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
    v2.PermissionOption(option_id="always", name="Always", kind="allow_always"),
    v2.PermissionOption(option_id="no", name="Refuse", kind="reject_once"),
    v2.PermissionOption(option_id="odd", name="Odd", kind="_later"),
]


# --- asking ----------------------------------------------------------------------------------------------------------


def test_a_request_needs_a_title_and_options_with_ids_of_their_own() -> None:
    for title, options in (("", OPTIONS), (" ", OPTIONS), ("Go?", []), ("Go?", [OPTIONS[0], OPTIONS[0]])):
        with pytest.raises(ValueError, match=r"needs|two options"):
            ask("s", title, options)


def test_prompt_words_never_enter_the_tool_call() -> None:
    update = v2.ToolCallUpdate(tool_call_id="c", title="Edit a.py")
    request = ask(
        "s",
        "May I edit a.py?",
        OPTIONS,
        description="It is broken.",
        subject=v2.ToolCallPermissionSubject(tool_call=update),
    )
    shown = get_tool_call_update(request)
    assert shown is not None
    assert as_json(shown) == {"toolCallId": "c", "title": "Edit a.py"}
    prompt = read(request)
    assert prompt is not None
    assert (prompt.title, prompt.description, prompt.tool_call) == ("May I edit a.py?", "It is broken.", update)
    bare = ask(
        "s", "May I?", OPTIONS, subject=v2.ToolCallPermissionSubject(tool_call=v2.ToolCallUpdate(tool_call_id="c"))
    )
    assert as_json(get_tool_call_update(bare)) == {"toolCallId": "c"}
    assert get_tool_call_update(ask("s", "May I?", OPTIONS)) is None


@pytest.mark.parametrize("subject", [{}, {"subject": None}, {"description": None}])
def test_null_and_omitted_mean_the_same(subject: Body) -> None:
    prompt = read(v2_request(**subject))
    assert prompt is not None
    assert (prompt.description, prompt.tool_call, prompt.command, prompt.is_understood) == (None, None, None, True)


# --- showing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["_lock", "database"])
def test_an_unknown_subject_is_forwarded_as_it_came_and_shown_as_a_plain_prompt_or_declined(tag: str) -> None:
    line = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "session/request_permission",
            "params": {
                "sessionId": "s",
                "title": "Open?",
                "options": V1_OPTIONS,
                "subject": {"type": tag, "door": [1, None], "_meta": None},
            },
        }
    )
    message = v2.decode(line, sender="agent")
    assert not isinstance(message, list)
    request = getattr(message, "params", None)
    assert isinstance(request, v2.RequestPermissionRequest)
    prompt = read(request)
    assert prompt is not None
    assert (prompt.title, prompt.is_understood, prompt.tool_call) == ("Open?", False, None)
    assert read(request, unknown_subject="decline") is None
    assert decide(request, cancel(request)) == Decision(allowed=False, verdict="cancelled")
    assert json.loads(v2.encode(message)) == json.loads(line)


def test_a_prompt_is_never_blank() -> None:
    for title in ("", " \n"):
        request = v2_request(title=title)
        prompt = read(request)
        assert prompt is not None
        assert prompt.title == "Allow this?"
        assert request.title == title, "the request stays as it came"


def test_a_command_and_a_v1_tool_call_are_shown() -> None:
    prompt = read(v2_request(subject={"type": "command", "command": "make", "cwd": "/w"}))
    assert prompt is not None
    assert prompt.command is not None
    assert prompt.command.command == "make"
    old = read(v1_request({"toolCallId": "c", "title": "Edit"}))
    assert old is not None
    assert (old.title, old.description) == ("Edit", None)
    untitled = read(v1_request({"toolCallId": "c", "title": None}))
    assert untitled is not None
    assert untitled.title


# --- deciding --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ({"outcome": "selected", "optionId": "yes"}, Decision(allowed=True, option_id="yes", verdict="allow")),
        (
            {"outcome": "selected", "optionId": "always"},
            Decision(allowed=True, lasting=True, option_id="always", verdict="allow"),
        ),
        ({"outcome": "selected", "optionId": "no"}, Decision(allowed=False, option_id="no", verdict="reject")),
        ({"outcome": "selected", "optionId": "odd"}, Decision(allowed=False, option_id="odd")),
        ({"outcome": "selected", "optionId": "never offered"}, Decision(allowed=False, option_id="never offered")),
        ({"outcome": "cancelled"}, Decision(allowed=False, verdict="cancelled")),
        ({"outcome": "_approved", "optionId": "yes"}, Decision(allowed=False)),
        ({"outcome": "allowed", "optionId": "yes"}, Decision(allowed=False)),
    ],
)
def test_only_a_chosen_offered_option_that_allows_is_consent(outcome: Body, expected: Decision) -> None:
    response = v2.decode_as(v2.RequestPermissionResponse, {"outcome": outcome})
    assert decide(ask("s", "Go?", OPTIONS), response) == expected


@pytest.mark.parametrize("kinds", [("allow_once", "reject_once"), ("reject_once", "allow_once")])
def test_an_ambiguous_option_is_no_consent(kinds: tuple[str, str]) -> None:
    twice = [{"optionId": "x", "name": kind, "kind": kind} for kind in kinds]
    request = v2_request(options=twice)
    response = v2.decode_as(v2.RequestPermissionResponse, {"outcome": {"outcome": "selected", "optionId": "x"}})
    assert not decide(request, response).allowed
    with pytest.raises(ValueError, match="more than once"):
        choose(request, "x")


@pytest.mark.parametrize("request_", [ask("s", "Go?", OPTIONS), v1_request({"toolCallId": "c"})])
def test_answers_of_both_versions_are_made_and_understood(request_: Any) -> None:
    assert decide(request_, choose(request_, "yes")).allowed
    assert not decide(request_, choose(request_, "no")).allowed
    assert not decide(request_, cancel(request_)).allowed
    with pytest.raises(ValueError, match="not offered"):
        choose(request_, "other")


# --- why, and the mode that folds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("allow_once", (True, False, "allow", "allow once")),
        ("allow_always", (True, True, "allow", "allow always")),
        ("reject_once", (False, False, "reject", "reject once")),
        ("reject_always", (False, True, "reject", "reject always")),
        ("allow_forever", (False, False, "unknown", "not known")),
    ],
)
def test_a_decision_says_what_for_how_long_and_why(kind: str, expected: tuple[bool, bool, str, str]) -> None:
    request = ask("s", "Go?", [v2.PermissionOption(option_id="x", name="X", kind=kind)])
    found = decide(request, choose(request, "x"))
    assert (found.allowed, found.lasting, found.verdict) == expected[:3]
    assert expected[3] in found.why
