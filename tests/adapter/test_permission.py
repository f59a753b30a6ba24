"""Requests for permission from one version to the other: what goes on without loss comes back as it was, and what is lost is named."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from acp_bindings import RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_session import Agent, Client, ClientSession, PermissionRequest, Turn, connect_in_memory
from acp_session.adapter import CARRIER, Losses
from acp_session.codec.relay import decode
from acp_session.codec.to_v1 import ToV1
from acp_session.codec.to_v2 import ToV2
from acp_session.permission import read
from acp_workspace.errors import INVALID_PARAMS
from session.permission_requests import V1_OPTIONS, as_json, v1_request, v2_request

Body = dict[str, Any]


def to_v2(request: v1.RequestPermissionRequest) -> tuple[Any, list[str]]:
    """The request in v2, or the error, and the places of what is lost."""
    found: list[Any] = []
    try:
        place = Losses(found.append).make_place("session/request_permission")
        body = ToV2().convert("RequestPermissionRequest", to_builtins(request), place)
        made: Any = decode(peers2.Client, v2.RequestPermissionRequest, body, place)
    except RequestError as error:
        made = error
    return made, sorted(one.pointer for one in found)


def to_v1(request: v2.RequestPermissionRequest) -> tuple[Any, list[str]]:
    """The request in v1, as `to_v2`."""
    found: list[Any] = []
    try:
        place = Losses(found.append).make_place("session/request_permission")
        body = ToV1().convert("RequestPermissionRequest", to_builtins(request), place)
        made: Any = decode(peers1.Client, v1.RequestPermissionRequest, body, place)
    except RequestError as error:
        made = error
    return made, sorted(one.pointer for one in found)


def test_a_v1_request_becomes_one_of_v2_with_a_diff_that_can_be_read() -> None:
    item = {"type": "diff", "path": "/w/a.py", "oldText": "one\ntwo\nthree", "newText": "one\n2\nthree"}
    request = v1_request({"toolCallId": "c", "title": "Edit a.py", "kind": "edit", "content": [item]}, _meta={"a": 1})
    found, lost = to_v2(request)
    made = as_json(found)
    assert (made["title"], made["_meta"], lost) == ("Edit a.py", {"a": 1}, [])
    (diff,) = made["subject"]["toolCall"]["content"]
    assert diff["changes"] == [{"operation": "modify", "path": "/w/a.py", "fileType": "text"}]
    assert diff["patch"]["text"] == (
        "diff --git /w/a.py /w/a.py\n--- /w/a.py\n+++ /w/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        "\\ No newline at end of file\n"
    )
    assert to_v1(found) == (request, [])


@pytest.mark.parametrize("old", [None, "one\n"])
@pytest.mark.parametrize("path", ["/w/a\nnew file mode 120000", '/w/"a" \\ b', "/w/a\t\r\x01\x7f", "/w/ü b"])
def test_the_path_of_a_diff_adds_no_line_to_the_patch(old: str | None, path: str) -> None:
    texts = {} if old is None else {"oldText": old}
    request = v1_request({"toolCallId": "c", "content": [{"type": "diff", "path": path, "newText": "two\n", **texts}]})
    made, _ = to_v2(request)
    (diff,) = as_json(made)["subject"]["toolCall"]["content"]
    head, _, _ = diff["patch"]["text"].partition("\n@@ ")
    assert len(head.split("\n")) == (4 if old is None else 3)
    assert "new file mode 120000" not in head.split("\n")
    assert all(character >= " " for character in head.replace("\n", ""))
    assert to_v1(made) == (request, [])


LOST_IN_V2: list[tuple[Body, Body, list[str]]] = [
    ({"locations": [{"path": "/a", "line": 0}]}, {}, ["/toolCall/locations/0/line"]),
    ({}, {"options": []}, ["/options"]),
    ({}, {"options": [*V1_OPTIONS, V1_OPTIONS[0]]}, ["/options/2/optionId"]),
    ({}, {"title": "an unknown field of v1", "description": 1}, ["/description", "/title"]),
    ({"capabilities": {}}, {}, ["/toolCall/capabilities"]),
    ({"content": [{"type": "terminal", "terminalId": "t"}]}, {}, ["/toolCall/content/0"]),
    (
        {"content": [{"type": "content", "content": {"type": "text", "text": "x", "annotations": {"priority": 7}}}]},
        {},
        ["/subject/toolCall/content/0/content/annotations/priority"],
    ),
]


@pytest.mark.parametrize(("tool_call", "more", "expected"), LOST_IN_V2)
def test_what_v2_cannot_hold_is_named(tool_call: Body, more: Body, expected: list[str]) -> None:
    assert to_v2(v1_request({"toolCallId": "c", **tool_call}, **more))[1] == expected


@pytest.mark.parametrize("kind", ["_fly", "tool_call", "command"])
def test_a_subject_that_v1_does_not_have_comes_back_and_no_other(kind: str) -> None:
    made, _ = to_v1(v2_request(None, subject={"type": "_fly", "to": "moon"}))
    body = to_builtins(made)
    body["toolCall"]["_meta"][CARRIER]["type"] = kind
    found, _ = to_v2(v1.decode_as(v1.RequestPermissionRequest, body))
    assert found.title == made.tool_call.title
    assert isinstance(
        found.subject, v2.UnknownRequestPermissionSubject if kind == "_fly" else v2.ToolCallPermissionSubject
    )


def test_a_client_declines_a_subject_that_it_does_not_know_also_over_v1(tmp_path: Path) -> None:
    class Flying(Agent):
        async def on_prompt(self, turn: Turn) -> None:
            subject = v2.UnknownRequestPermissionSubject(type="_fly", to="moon")
            allowed.append((await turn.decide("Fly?", subject=subject)).allowed)

    class Yes(Client):
        async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str:  # noqa: ARG002
            asked.append(request)
            return "allow"

    async def work() -> None:
        policies: tuple[Literal["decline"], Literal["ask"]] = ("decline", "ask")
        for policy in policies:
            client = Yes(allowed_roots=[tmp_path], unknown_subjects=policy)
            async with connect_in_memory(Flying(), client, versions=(1,)) as agent:
                session = await agent.new_session(tmp_path)
                await session.prompt("Go")
                assert not session.transcript.tool_calls

    allowed: list[bool] = []
    asked: list[PermissionRequest] = []
    asyncio.run(work())
    assert allowed == [False, True]
    assert [(one.title, one.is_understood) for one in asked] == [("Fly?", False)]


LOST_IN_V1: list[tuple[Body | None, Body, list[str]]] = [
    ({"title": "Edit"}, {}, ["/title"]),
    ({"title": "Edit a.py?"}, {"description": "why"}, ["/title"]),
    (None, {}, ["/title"]),
    (None, {"subject": {"type": "command", "command": "ls", "cwd": "/"}}, ["/title"]),
    (None, {"subject": {"type": "_x"}}, ["/subject", "/title"]),
    ({"title": "Edit a.py?", "capabilities": {"cancel": {}}}, {}, ["/subject/toolCall/capabilities"]),
    ({"title": "Edit a.py?", "content": [{"type": "diff", "changes": []}]}, {}, ["/subject/toolCall/content/0"]),
    (
        {"title": "Edit a.py?", "content": [{"type": "terminal", "terminalId": "t"}]},
        {},
        ["/subject/toolCall/content/0"],
    ),
    (
        {"title": "Edit a.py?"},
        {"options": [*V1_OPTIONS, {"optionId": "x", "name": "X", "kind": "_later"}]},
        ["/options/2"],
    ),
    ({"title": "Edit a.py?"}, {"toolCall": {}}, ["/toolCall"]),
]


@pytest.mark.parametrize(("tool_call", "more", "expected"), LOST_IN_V1)
def test_what_v1_cannot_hold_is_named(tool_call: Body | None, more: Body, expected: list[str]) -> None:
    request = v2_request(None if tool_call is None else {"toolCallId": "c", **tool_call}, **more)
    assert to_v1(request)[1] == expected


def test_a_request_that_nobody_could_answer_rightly_is_refused() -> None:
    error, _ = to_v1(v2_request(options=[{"optionId": "x", "name": "X", "kind": "_later"}]))
    assert (error.code, error.data["problems"][0]["pointer"]) == (INVALID_PARAMS, "/params/options")
    error, lost = to_v2(v1_request({"toolCallId": "c"}, options=[]))
    sentence = "the array's length must be 1 or more"
    assert (error.code, error.data, lost) == (
        INVALID_PARAMS,
        {"problems": [{"pointer": "/params/options", "message": sentence}]},
        ["/options"],
    )
    assert f"/options: {sentence}" in str(error)


def test_an_unknown_outcome_is_no_consent_in_v1() -> None:
    found: list[Any] = []
    later = v2.decode_as(v2.RequestPermissionResponse, {"outcome": {"outcome": "_later"}})
    place = Losses(found.append).make_place("session/request_permission")
    answer = ToV1().convert("RequestPermissionResponse", to_builtins(later), place)
    assert answer == {"outcome": {"outcome": "cancelled"}}
    assert [one.pointer for one in found] == ["/outcome"]
    chosen = {"outcome": {"outcome": "selected", "optionId": "x"}, "_meta": {"a": 1}}
    assert ToV1().convert("RequestPermissionResponse", chosen, place) == chosen


@pytest.mark.parametrize(
    ("tool_call", "more", "title"),
    [
        ({"title": "npm test"}, {}, "Edit a.py?\nnpm test"),
        ({"title": "Edit a.py?"}, {"description": "Why."}, "Edit a.py?\nWhy."),
        ({}, {"description": "Why."}, "Edit a.py?\nWhy."),
        (None, {"description": "Why."}, "Edit a.py?\nWhy."),
        (None, {"subject": {"type": "command", "command": "rm a", "cwd": "/srv"}}, "Edit a.py?\nrm a"),
    ],
)
def test_the_words_of_a_prompt_go_into_the_title_of_the_tool_call(
    tool_call: Body | None, more: Body, title: str
) -> None:
    request = v2_request(None if tool_call is None else {"toolCallId": "c", **tool_call}, **more)
    found, lost = to_v1(request)
    assert (found.tool_call.title, lost) == (title, ["/title"])
    assert to_v1(request)[0] == found
    assert found.options == v1_request({"toolCallId": "c"}).options
    prompt = read(found)
    assert prompt is not None
    assert prompt.title == title
    if "subject" in more:
        assert (found.tool_call.kind, found.tool_call.raw_input) == ("execute", {"command": "rm a", "cwd": "/srv"})


# --- there and back --------------------------------------------------------------------------------------------------


def null_free(value: Any, keys: frozenset[str]) -> Any:
    """JSON without the members of these names that are null."""
    if isinstance(value, dict):
        members = cast("Body", value)
        return {k: null_free(v, keys) for k, v in members.items() if v is not None or k not in keys}
    if isinstance(value, list):
        return [null_free(item, keys) for item in cast("list[object]", value)]
    return value


TOOL_CALL_FIELDS = frozenset(
    {"name", "title", "kind", "status", "content", "locations", "rawInput", "rawOutput", "_meta", "oldText"}
)

CLEARED = TOOL_CALL_FIELDS - {"content", "locations", "oldText"} | {"capabilities"}

words = st.sampled_from(["", "a", "Edit a.py?", "Allow this tool call?", "ü\n", "_x"])
texts = st.text("ab\n\r\\ +-@", max_size=12)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | words, lambda x: st.lists(x, max_size=2), max_leaves=3
)
metas = st.none() | st.dictionaries(words, plain, max_size=2)


def record(required: Body, optional: Body, extras: bool = True) -> st.SearchStrategy[Body]:
    more = {"_meta": metas, **({"extra": plain} if extras else {})}
    return st.fixed_dictionaries(required, optional={**optional, **more})


marks: st.SearchStrategy[Body] = record(
    {},
    {
        "audience": st.lists(st.sampled_from(["user", "assistant", "_x"]), max_size=2),
        "priority": st.sampled_from([0, 0.5, 1, 3]),
    },
)
blocks = st.one_of(
    record({"type": st.just("text"), "text": words}, {"annotations": marks | st.none()}),
    record({"type": st.just("image"), "data": st.just("aGk="), "mimeType": words}, {"uri": st.none() | words}),
    record(
        {"type": st.just("resource_link"), "name": words, "uri": words}, {"size": st.integers(-1, 3), "icons": plain}
    ),
    record({"type": st.just("_block")}, {"content": plain}),
)
locations = record({"path": st.just("/w/a.py")}, {"line": st.none() | st.integers(0, 3)})
options: st.SearchStrategy[list[Body]] = st.lists(
    record(
        {
            "optionId": words,
            "name": words,
            "kind": st.sampled_from(["allow_once", "allow_always", "reject_once", "reject_always"]),
        },
        {},
    ),
    max_size=3,
)
terminals = record({"type": st.just("terminal"), "terminalId": words}, {})
old_diffs = record(
    {"type": st.just("diff"), "path": st.sampled_from(["/w/a.py", "/w/b c"]), "newText": texts},
    {"oldText": st.none() | texts},
)
others = record({"type": st.sampled_from(["_x", "later"])}, {"content": plain})
old_items = st.one_of(record({"type": st.just("content"), "content": blocks}, {}), old_diffs, terminals, others)


def tool_calls(items: st.SearchStrategy[Any], **more: Any) -> st.SearchStrategy[Body]:
    return record(
        {"toolCallId": words},
        {
            "name": st.none() | words,
            "title": st.none() | words,
            "kind": st.none() | st.sampled_from(["edit", "read", "_x"]),
            "status": st.none() | st.sampled_from(["pending", "paused"]),
            "content": st.none() | st.lists(items, max_size=2),
            "locations": st.none() | st.lists(locations, max_size=2),
            "rawInput": plain,
            "rawOutput": plain,
            **more,
        },
    )


old_requests = record({"sessionId": words, "toolCall": tool_calls(old_items), "options": options}, {"title": words})
patches = record({"format": st.sampled_from(["git_patch", "_x"]), "text": texts}, {})
changes = record(
    {"operation": st.sampled_from(["add", "modify", "delete"]), "path": st.just("/w/a.py")},
    {"fileType": st.just("text")},
)
new_diffs = record({"type": st.just("diff"), "changes": st.lists(changes, max_size=2)}, {"patch": st.none() | patches})
new_items = st.one_of(record({"type": st.just("content"), "content": blocks}, {}), new_diffs, terminals, others)
EMPTY: Body = {}
OTHER_SUBJECTS: list[Body | None] = [
    {"type": "command", "command": "ls", "cwd": "/w"},
    {"type": "_x", "toolCall": EMPTY},
    None,
]
subjects = st.sampled_from(OTHER_SUBJECTS) | st.fixed_dictionaries(
    {"type": st.just("tool_call"), "toolCall": tool_calls(new_items, capabilities=st.none() | st.just(EMPTY))},
    optional={"_meta": st.just({"a": 1})},
)
new_requests = record(
    {"sessionId": words, "title": words, "options": options.filter(bool)},
    {"subject": subjects, "description": st.none() | words},
)


SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)


def run(strategy: st.SearchStrategy[Body], check: Any) -> Counter[str]:
    seen = Counter[str]()

    @settings(
        max_examples=400,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=SLOW,
    )
    @given(strategy)
    def judged(body: Body) -> None:
        seen[check(body)] += 1

    judged()
    return seen


def test_everything_of_v1_comes_back_from_v2_or_is_named() -> None:
    def check(body: Body) -> str:
        made, lost = to_v2(v1.decode_as(v1.RequestPermissionRequest, body, lenient=False))
        if isinstance(made, RequestError) or lost:
            assert lost
            return "named"
        back, lost = to_v1(made)
        if lost:
            return "named on the way back"
        assert null_free(as_json(back), TOOL_CALL_FIELDS) == null_free(body, TOOL_CALL_FIELDS)
        return "mapped"

    seen = run(old_requests, check)
    assert min(seen["mapped"], seen["named"]) > 50, seen


def test_everything_of_v2_comes_back_from_v1_or_is_named() -> None:
    def check(body: Body) -> str:
        made, lost = to_v1(v2.decode_as(v2.RequestPermissionRequest, body, lenient=False))
        if isinstance(made, RequestError) or lost:
            assert isinstance(made, RequestError) or all(resolves(body, pointer) for pointer in lost), lost
            return "named"
        back, lost = to_v2(made)
        if lost:
            return "named on the way back"
        call = body["subject"]["toolCall"]
        cleared: Body = {
            key: [] if key in ("content", "locations") and value is None else value for key, value in call.items()
        }
        found = as_json(back)
        assert null_free(found["subject"]["toolCall"], CLEARED) == null_free(cleared, CLEARED)
        assert {**found, "subject": 0} == {**null_free(body, frozenset({"description"})), "subject": 0}
        return "mapped"

    def again(body: Body) -> str:
        made, lost = to_v2(v1.decode_as(v1.RequestPermissionRequest, body, lenient=False))
        return "refused" if lost or isinstance(made, RequestError) else check(as_json(made))

    seen = run(new_requests, check) + run(old_requests, again)
    assert min(seen["mapped"], seen["named"]) > 50, seen


def resolves(body: Any, pointer: str) -> bool:
    """Whether a JSON Pointer leads to something, or to a place in an object where something is missing."""
    *parts, last = pointer.split("/")[1:]
    place: Any = body
    for part in parts:
        place = place[int(part) if isinstance(place, list) else part]
    return isinstance(place, dict) or int(last) < len(place)


def test_fields_of_a_subject_that_v1_has_no_place_for_are_named() -> None:
    command = {"type": "command", "command": "ls", "cwd": "/", "_meta": {"a": 1}}
    call = {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Edit a.py?"}, "mood": "calm"}
    assert to_v1(v2_request(subject=command))[1] == ["/subject/_meta", "/title"]
    assert to_v1(v2_request(subject=call))[1] == ["/subject/mood"]
