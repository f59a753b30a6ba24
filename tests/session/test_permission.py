"""Permission requests: asked, shown, decided, and carried between the versions without loss."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import pytest
from acp_bindings import v1, v2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_session.permission import (
    Decision,
    NotMappable,
    about_tool_call,
    ask,
    cancel,
    choose,
    decide,
    read,
    response_to_v1,
    response_to_v2,
    to_v1,
    to_v2,
    tool_call_update,
)
from acp_workspace.errors import INVALID_PARAMS

T = TypeVar("T")
Body = dict[str, Any]

OPTIONS = [
    v2.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
    v2.PermissionOption(option_id="always", name="Always", kind="allow_always"),
    v2.PermissionOption(option_id="no", name="Refuse", kind="reject_once"),
    v2.PermissionOption(option_id="odd", name="Odd", kind="_later"),
]
V1_OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def v1_request(tool_call: Mapping[str, Any], **more: Any) -> v1.RequestPermissionRequest:
    body = {"sessionId": "s", "toolCall": tool_call, "options": V1_OPTIONS, **more}
    return v1.decode_as(v1.RequestPermissionRequest, body, lenient=False)


def v2_request(tool_call: Mapping[str, Any] | None = None, **more: Any) -> v2.RequestPermissionRequest:
    body: Body = {"sessionId": "s", "title": "Edit a.py?", "options": V1_OPTIONS}
    if tool_call is not None:
        body["subject"] = {"type": "tool_call", "toolCall": tool_call}
    return v2.decode_as(v2.RequestPermissionRequest, {**body, **more}, lenient=False)


def as_json(value: Any) -> Any:
    return json.loads(v1.encode(value))


def losses(work: Any, request: Any) -> list[str]:
    with pytest.raises(NotMappable) as caught:
        work(request)
    return sorted(pointer for pointer, _ in caught.value.losses)


# --- asking ----------------------------------------------------------------------------------------------------------


def test_a_request_needs_a_title_and_options_with_ids_of_their_own() -> None:
    for title, options in (("", OPTIONS), (" ", OPTIONS), ("Go?", []), ("Go?", [OPTIONS[0], OPTIONS[0]])):
        with pytest.raises(ValueError, match=r"needs|two options"):
            ask("s", title, options)


def test_prompt_words_never_enter_the_tool_call() -> None:
    update = v2.ToolCallUpdate(tool_call_id="c", title="Edit a.py")
    request = ask("s", "May I edit a.py?", OPTIONS, description="It is broken.", subject=about_tool_call(update))
    shown = tool_call_update(request)
    assert shown is not None
    assert as_json(shown) == {"toolCallId": "c", "title": "Edit a.py"}
    prompt = read(request)
    assert prompt is not None
    assert (prompt.title, prompt.description, prompt.tool_call) == ("May I edit a.py?", "It is broken.", update)
    bare = ask("s", "May I?", OPTIONS, subject=about_tool_call(v2.ToolCallUpdate(tool_call_id="c")))
    assert as_json(tool_call_update(bare)) == {"toolCallId": "c"}
    assert tool_call_update(ask("s", "May I?", OPTIONS)) is None


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


# --- between the versions --------------------------------------------------------------------------------------------


def test_a_v1_request_becomes_one_of_v2_with_a_diff_that_can_be_read() -> None:
    item = {"type": "diff", "path": "/w/a.py", "oldText": "one\ntwo\nthree", "newText": "one\n2\nthree"}
    request = v1_request({"toolCallId": "c", "title": "Edit a.py", "kind": "edit", "content": [item]}, _meta={"a": 1})
    made = as_json(to_v2(request))
    assert (made["title"], made["_meta"]) == ("Edit a.py", {"a": 1})
    (diff,) = made["subject"]["toolCall"]["content"]
    assert diff["changes"] == [{"operation": "modify", "path": "/w/a.py", "fileType": "text"}]
    assert diff["patch"]["text"] == (
        "diff --git /w/a.py /w/a.py\n--- /w/a.py\n+++ /w/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        "\\ No newline at end of file\n"
    )
    assert to_v1(to_v2(request)) == request


@pytest.mark.parametrize("old", [None, "one\n"])
@pytest.mark.parametrize("path", ["/w/a\nnew file mode 120000", '/w/"a" \\ b', "/w/a\t\r\x01\x7f", "/w/ü b"])
def test_the_path_of_a_diff_adds_no_line_to_the_patch(old: str | None, path: str) -> None:
    texts = {} if old is None else {"oldText": old}
    request = v1_request({"toolCallId": "c", "content": [{"type": "diff", "path": path, "newText": "two\n", **texts}]})
    made = to_v2(request)
    (diff,) = as_json(made)["subject"]["toolCall"]["content"]
    head, _, _ = diff["patch"]["text"].partition("\n@@ ")
    assert len(head.split("\n")) == (4 if old is None else 3)
    assert "new file mode 120000" not in head.split("\n")
    assert all(character >= " " for character in head.replace("\n", ""))
    assert to_v1(made) == request


LOST_IN_V2: list[tuple[Body, Body, list[str]]] = [
    ({"locations": [{"path": "/a", "line": 0}]}, {}, ["/toolCall/locations/0/line"]),
    ({}, {"options": []}, ["/options"]),
    ({}, {"options": [*V1_OPTIONS, V1_OPTIONS[0]]}, ["/options/2/optionId"]),
    ({}, {"title": "an unknown field of v1", "description": 1}, ["/description", "/title"]),
    ({"capabilities": {}}, {}, ["/toolCall/capabilities"]),
    (
        {"content": [{"type": "content", "content": {"type": "text", "text": "x", "annotations": {"priority": 7}}}]},
        {},
        ["/toolCall/content/0/content/annotations/priority"],
    ),
    (
        {"content": [{"type": "content", "content": {"type": "resource_link", "name": "x", "uri": "x:", "icons": []}}]},
        {},
        ["/toolCall/content/0/content/icons"],
    ),
]


@pytest.mark.parametrize(("tool_call", "more", "expected"), LOST_IN_V2)
def test_what_v2_cannot_hold_is_named(tool_call: Body, more: Body, expected: list[str]) -> None:
    assert losses(to_v2, v1_request({"toolCallId": "c", **tool_call}, **more)) == expected


LOST_IN_V1: list[tuple[Body | None, Body, list[str]]] = [
    ({"title": "Edit"}, {}, ["/title"]),
    ({"title": "Edit a.py?"}, {"description": "why"}, ["/description"]),
    (None, {}, ["/subject"]),
    (None, {"subject": {"type": "command", "command": "ls", "cwd": "/"}}, ["/subject"]),
    (None, {"subject": {"type": "_x"}}, ["/subject"]),
    ({"title": "Edit a.py?", "kind": None}, {}, ["/subject/toolCall/kind"]),
    ({"title": "Edit a.py?", "capabilities": {"cancel": {}}}, {}, ["/subject/toolCall/capabilities"]),
    ({"title": "Edit a.py?", "content": [{"type": "diff", "changes": []}]}, {}, ["/subject/toolCall/content/0"]),
    (
        {"title": "Edit a.py?"},
        {"options": [{"optionId": "x", "name": "X", "kind": "_later"}]},
        ["/options/0/kind"],
    ),
    ({"title": "Edit a.py?"}, {"toolCall": {}}, ["/toolCall"]),
]


@pytest.mark.parametrize(("tool_call", "more", "expected"), LOST_IN_V1)
def test_what_v1_cannot_hold_is_named(tool_call: Body | None, more: Body, expected: list[str]) -> None:
    request = v2_request(None if tool_call is None else {"toolCallId": "c", **tool_call}, **more)
    assert losses(to_v1, request) == expected


def test_the_error_answers_a_bridge() -> None:
    with pytest.raises(NotMappable) as caught:
        to_v1(v2_request())
    assert pickle.loads(pickle.dumps(caught.value)).losses == caught.value.losses
    error = caught.value.as_request_error()
    assert error.code == INVALID_PARAMS
    assert error.data["problems"][0]["pointer"] == "/subject"


def test_answers_are_mapped_and_an_unknown_outcome_is_no_answer_of_v1() -> None:
    for body in (
        {"outcome": {"outcome": "cancelled"}},
        {"outcome": {"outcome": "selected", "optionId": "x"}, "_meta": {"a": 1}},
    ):
        old = v1.decode_as(v1.RequestPermissionResponse, body)
        assert as_json(response_to_v2(old)) == as_json(response_to_v1(response_to_v2(old))) == body
    later = v2.decode_as(v2.RequestPermissionResponse, {"outcome": {"outcome": "_later"}})
    assert losses(response_to_v1, later) == ["/outcome/outcome"]


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


def attempted(work: Callable[[Any], T], request: Any) -> tuple[T | None, list[str]]:
    """What a mapping makes, or the places that it names."""
    try:
        return work(request), []
    except NotMappable as error:
        return None, [pointer for pointer, _ in error.losses]


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
        request = v1.decode_as(v1.RequestPermissionRequest, body, lenient=False)
        made, lost = attempted(to_v2, request)
        if made is None:
            assert lost
            assert all(resolves(body, pointer) for pointer in lost), lost
            return "named"
        back = to_v1(made)
        assert null_free(as_json(back), TOOL_CALL_FIELDS) == null_free(body, TOOL_CALL_FIELDS)
        return "mapped"

    seen = run(old_requests, check)
    assert min(seen["mapped"], seen["named"]) > 50, seen


def test_everything_of_v2_comes_back_from_v1_or_is_named() -> None:
    def check(body: Body) -> str:
        request = v2.decode_as(v2.RequestPermissionRequest, body, lenient=False)
        made, lost = attempted(to_v1, request)
        if made is None:
            assert lost
            assert all(resolves(body, pointer) or pointer == "/subject" for pointer in lost), lost
            return "named"
        back = as_json(to_v2(made))
        call = body["subject"]["toolCall"]
        cleared: Body = {
            key: [] if key in ("content", "locations") and value is None else value for key, value in call.items()
        }
        assert back["subject"]["toolCall"] == cleared
        assert {**back, "subject": 0} == {**null_free(body, frozenset({"description"})), "subject": 0}
        return "mapped"

    def again(body: Body) -> str:
        return mapped_back(body, check)

    seen = run(new_requests, check) + run(old_requests, again)
    assert min(seen["mapped"], seen["named"]) > 50, seen


def mapped_back(body: Body, check: Any) -> str:
    """Requests that came from v1 go there again."""
    try:
        made = to_v2(v1.decode_as(v1.RequestPermissionRequest, body, lenient=False))
    except NotMappable:
        return "no matter"
    result: str = check(as_json(made))
    assert result == "mapped"
    return result


def resolves(body: Any, pointer: str) -> bool:
    """Whether a JSON Pointer leads to something, or to a place in an object where something is missing."""
    *parts, last = pointer.split("/")[1:]
    place: Any = body
    for part in parts:
        place = place[int(part) if isinstance(place, list) else part]
    return isinstance(place, dict) or int(last) < len(place)


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
def test_a_prompt_is_folded_into_the_tool_call_where_that_is_asked_for(
    tool_call: Body | None, more: Body, title: str
) -> None:
    request = v2_request(None if tool_call is None else {"toolCallId": "c", **tool_call}, **more)
    assert losses(to_v1, request)
    found = to_v1(request, fold=True)
    assert found.tool_call.title == title
    assert to_v1(request, fold=True) == found
    assert found.options == v1_request({"toolCallId": "c"}).options
    prompt = read(found)
    assert prompt is not None
    assert prompt.title == title
    if "subject" in more:
        assert (found.tool_call.kind, found.tool_call.raw_input) == ("execute", {"command": "rm a", "cwd": "/srv"})


@pytest.mark.parametrize(
    ("tool_call", "more", "expected"),
    [
        (None, {"subject": {"type": "_lock", "number": 3}}, "/subject"),
        ({"toolCallId": "c", "kind": None}, {}, "/subject/toolCall/kind"),
        ({"toolCallId": "c", "capabilities": {}}, {}, "/subject/toolCall/capabilities"),
    ],
)
def test_folding_loses_nothing_else(tool_call: Body | None, more: Body, expected: str) -> None:
    with pytest.raises(NotMappable) as caught:
        to_v1(v2_request(tool_call, **more), fold=True)
    assert expected in [pointer for pointer, _ in caught.value.losses]
