"""What an agent asks of the user, from one version to the other: permission, and input by a form or a page.

What maps without loss goes by `acp_session.permission`; the rest as near as can be, with what is lost told. A request that nobody could
answer rightly is refused: that is no consent.

Sources: the pages on tool calls and elicitation of both versions; the RFD on permission requests in v2.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from acp_bindings import to_builtins, v1, v2

from acp_session.diffs import as_object
from acp_session.permission import NotMappable, title_of
from acp_session.permission import to_v1 as exactly_to_v1
from acp_session.permission import to_v2 as exactly_to_v2
from acp_session.permission_folding import folded
from acp_workspace.errors import invalid_params
from jsonrpc_bindings.connection import Connection

from .downward import Downward
from .forwarding import into_v1, into_v2
from .losses import Place
from .parts import Json, carried, without
from .upward import Upward

DECISIONS: Final = frozenset({"allow_once", "allow_always", "reject_once", "reject_always"})


def permission_to_v2(params: v1.RequestPermissionRequest, upward: Upward, place: Place) -> v2.RequestPermissionRequest:
    """A request for permission. Raises `RequestError` -32602."""
    try:
        return exactly_to_v2(params)
    except NotMappable:
        body = to_builtins(params)
    call = upward.tool_call(body["toolCall"], place.at("toolCall"))
    options: dict[str, Any] = {}
    for index, one in enumerate(body["options"]):
        if one["optionId"] in options:
            place.at("options", index).lose("the id of an option is used twice", one)
        options.setdefault(one["optionId"], one)
    made = {
        **without(body, "toolCall", "title", "description", "subject"),
        "title": title_of(call.get("title")),
        "subject": {"type": "tool_call", "toolCall": call},
        "options": list(options.values()),
    }
    return into_v2(v2.RequestPermissionRequest, made, place)


def permission_to_v1(
    params: v2.RequestPermissionRequest, downward: Downward, place: Place
) -> v1.RequestPermissionRequest:
    """A request for permission: as it is, else with the words of the prompt in the tool call's title. Raises `RequestError` -32602."""
    try:
        return exactly_to_v1(params)
    except NotMappable:
        body = to_builtins(folded(params))
    place.at("title").lose("v1 has no prompt text; it is put into the tool call's title", kind="changed")
    subject = as_object(body.get("subject"))
    call = as_object(subject.get("toolCall"))
    if subject.get("type") != "tool_call":
        place.at("subject").lose("v1 asks about tool calls only", subject, "carried")
        number = hashlib.sha256(v2.encode(params)).hexdigest()[:16]
        call = carried({"toolCallId": f"permission_{number}", "title": title_of(body.get("title"))}, subject)
    options: list[Any] = []
    for index, one in enumerate(body["options"]):
        if one.get("kind") in DECISIONS:
            options.append(one)
        else:
            place.at("options", index).lose("v1 has no option of this kind", one)
    if not options:
        raise invalid_params("none of the options can be offered to a client of v1", pointer="/options")
    made = {
        **without(body, "title", "description", "subject", "toolCall"),
        "toolCall": downward.tool_call(call, place.at("subject", "toolCall")),
        "options": options,
    }
    return into_v1(v1.RequestPermissionRequest, made, place)


def outcome_to_v1(answer: v2.RequestPermissionResponse, place: Place) -> v1.RequestPermissionResponse:
    """The answer to a request for permission: an outcome that v1 does not have is no consent."""
    body = to_builtins(answer)
    if as_object(body.get("outcome")).get("outcome") in ("selected", "cancelled"):
        return into_v1(v1.RequestPermissionResponse, body, place)
    place.at("outcome").lose("v1 has no such outcome; it does not count as consent", body["outcome"], "changed")
    return v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())


def elicitation_to_v2(
    params: v1.CreateElicitationRequest, place: Place, asked: Connection | None, *, is_local: bool = False
) -> Any:
    """A question for input, as `scoped` has it, where `asked` is the connection that it came by. Raises `RequestError` -32602."""
    body = scoped(to_builtins(params), place, asked, is_local=is_local)
    if body.get("mode") == "form":
        body["requestedSchema"] = {"type": "object", "properties": {}, **as_object(body.get("requestedSchema"))}
    return into_v2(v2.CreateElicitationRequest, body, place)  # type: ignore[arg-type]


def elicitation_to_v1(
    params: v2.CreateElicitationRequest, place: Place, asked: Connection | None, *, is_local: bool = False
) -> Any:
    """A question for input, as `elicitation_to_v2`."""
    return into_v1(v1.CreateElicitationRequest, scoped(to_builtins(params), place, asked, is_local=is_local), place)  # type: ignore[arg-type]


def scoped(body: Json, place: Place, asked: Connection | None, *, is_local: bool) -> Json:
    """A question whose request has the id that the client gave it: the one in whose handler the adapter sent the request that is named.

    Where the client has its answer already, as to a prompt of v2, the question belongs to the session. It keeps the id where the agent is
    an object of this process (`asked` is `None`), and where the client is (`is_local`). Raises `RequestError` -32602 for a request that
    does not wait for its answer, or that belongs to no session then.
    """
    if "requestId" not in body or asked is None:
        return body
    sent = asked.sent(body["requestId"])
    if sent is None:
        raise invalid_params("no request with this id is pending", pointer="/requestId")
    if is_local:
        return body
    if sent.within is not None and not sent.within.is_done:
        return {**body, "requestId": sent.within.id}
    session_id = getattr(sent.params, "session_id", None)
    if session_id is None:
        place.at("requestId").lose("the client no longer waits for this request", body["requestId"])
        raise invalid_params("the client no longer waits for this request", pointer="/requestId")
    place.at("requestId").lose(
        "the client already has its answer; the elicitation belongs to the session", kind="changed"
    )
    return {**without(body, "requestId"), "sessionId": session_id}
