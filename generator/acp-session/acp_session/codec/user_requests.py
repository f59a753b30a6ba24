"""What an agent asks of the user, from one version to the other: permission, and input by a form or a page.

v1 has no words of the prompt beside the tool call: they go into the tool call's title, so that the user reads all, which is reported as a
loss. A request that nobody could answer rightly is refused: that is no consent.

Sources: the pages on tool calls and elicitation of both versions; the RFD on permission requests in v2 (2026-07-02).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from acp_bindings import to_builtins, v1, v2

from acp_session.diffs import as_object
from acp_session.permission import GENERIC_TITLE, title_of
from acp_workspace.errors import invalid_params
from jsonrpc_bindings.connection import Connection

from .losses import Place
from .messages import decode_v1, decode_v2
from .tables import TABLE
from .to_v1 import ToV1
from .to_v2 import ToV2
from .walker import CONFLICT, Json, omit, with_original

PROMPT: Final = ("title", "description", "subject")
"""What only v2 says in a request for permission."""


def permission_to_v2(params: v1.RequestPermissionRequest, walker: ToV2, place: Place) -> v2.RequestPermissionRequest:
    """A request for permission: the tool call is its subject, and has its title. Raises `RequestError` -32602."""
    body = to_builtins(params)
    for key in PROMPT:
        if key in body:
            place.at(key).lose(CONFLICT, body[key])
    call = walker.convert("ToolCallUpdate", body["toolCall"], place.at("toolCall"))
    options: dict[str, Any] = {}
    for index, one in enumerate(body["options"]):
        if one["optionId"] in options:
            place.at("options", index, "optionId").lose("in v2 the id of an option is used once", one)
        options.setdefault(one["optionId"], one)
    found: Json = {
        **omit(body, "toolCall", *PROMPT),
        "title": title_of(call.get("title")),
        "subject": {"type": "tool_call", "toolCall": call},
        "options": list(options.values()),
    }
    return decode_v2(v2.RequestPermissionRequest, found, place)


def permission_to_v1(params: v2.RequestPermissionRequest, walker: ToV1, place: Place) -> v1.RequestPermissionRequest:
    """A request for permission. A prompt without a tool call gets one: its id is made of the request, and a command is its input. Raises
    `RequestError` -32602.
    """
    body = to_builtins(params)
    subject = as_object(body.get("subject"))
    own: object = None
    match subject.get("type"):
        case "tool_call":
            call = as_object(subject["toolCall"])
            own = call.get("title")
            place.at("subject").lose_fields(subject, "type", "toolCall")
        case "command":
            own = subject["command"]
            call_id = subject.get("toolCallId") or _synthesize_id(body)
            raw_input = {"command": own, "cwd": subject["cwd"]}
            call = {"toolCallId": call_id, "kind": "execute", "rawInput": raw_input}
            place.at("subject").lose_fields(subject, "type", "toolCallId", "command", "cwd")
        case kind:
            call = {"toolCallId": _synthesize_id(body)}
            if kind is not None:
                place.at("subject").lose("v1 asks about tool calls only", subject, "carried")
                call = with_original(call, subject)
    words = (body.get("title"), own, body.get("description"))
    title = "\n".join(dict.fromkeys(word for word in words if isinstance(word, str) and word.strip()))
    if subject.get("type") != "tool_call" or body.get("description") or body.get("title") != title_of(own):
        place.at("title").lose("v1 has no prompt text; it is put into the tool call's title", kind="changed")
        call = {**call, "title": title or GENERIC_TITLE}
    if "toolCall" in body:
        place.at("toolCall").lose(CONFLICT, body["toolCall"])
    known = TABLE["PermissionOptionKind"].known  # type: ignore[union-attr]
    options = [one for one in body["options"] if one["kind"] in known]
    for index, one in enumerate(body["options"]):
        if one not in options:
            place.at("options", index).lose("v1 has no option of this kind", one)
    if not options:
        raise invalid_params("none of the options can be offered to a client of v1", pointer="/options")
    found: Json = {
        **omit(body, "toolCall", *PROMPT),
        "toolCall": walker.convert("ToolCallUpdate", call, place.at("subject", "toolCall")),
        "options": options,
    }
    return decode_v1(v1.RequestPermissionRequest, found, place)


def _synthesize_id(body: Json) -> str:
    """An id for a tool call that is none: the same for the same request, and nobody else's."""
    return f"permission_{hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]}"


def outcome_to_v1(answer: v2.RequestPermissionResponse, place: Place) -> v1.RequestPermissionResponse:
    """The answer to a request for permission: an outcome that v1 does not have is no consent."""
    body = to_builtins(answer)
    if as_object(body.get("outcome")).get("outcome") in ("selected", "cancelled"):
        return decode_v1(v1.RequestPermissionResponse, body, place)
    place.at("outcome").lose("v1 has no such outcome; it does not count as consent", body["outcome"], "changed")
    return v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())


def elicitation_to_v2(params: v1.CreateElicitationRequest, place: Place, sent_by: Connection | None) -> Any:
    """A request for input, with the client's id in place of the agent's (`with_id_of_client`). Raises `RequestError` -32602."""
    body = with_id_of_client(to_builtins(params), place, sent_by)
    if body.get("mode") == "form":
        body["requestedSchema"] = {"type": "object", "properties": {}, **as_object(body.get("requestedSchema"))}
    return decode_v2(v2.CreateElicitationRequest, body, place)  # type: ignore[arg-type]


def elicitation_to_v1(params: v2.CreateElicitationRequest, place: Place, sent_by: Connection | None) -> Any:
    """A request for input, as `elicitation_to_v2`."""
    return decode_v1(v1.CreateElicitationRequest, with_id_of_client(to_builtins(params), place, sent_by), place)  # type: ignore[arg-type]


def with_id_of_client(body: Json, place: Place, sent_by: Connection | None) -> Json:
    """A request for input that names a request of the codec's on `sent_by`: with the client's id, of the request in whose handler that was
    sent. Without `sent_by` agent and client know the same ids.

    Where the client has its answer already, as to a prompt of v2, the request for input belongs to the session. Raises `RequestError`
    -32602 for a request that does not wait for its answer, or that belongs to no session then.
    """
    if "requestId" not in body or sent_by is None:
        return body
    sent = sent_by.sent(body["requestId"])
    if sent is None:
        raise invalid_params("no request with this id is pending", pointer="/requestId")
    if sent.within is not None and not sent.within.is_done:
        return {**body, "requestId": sent.within.id}
    session_id = getattr(sent.params, "session_id", None)
    if session_id is None:
        place.at("requestId").lose("the client no longer waits for this request", body["requestId"])
        raise invalid_params("the client no longer waits for this request", pointer="/requestId")
    sentence = "the client already has its answer; the elicitation belongs to the session"
    place.at("requestId").lose(sentence, kind="changed")
    return {**omit(body, "requestId"), "sessionId": session_id}
