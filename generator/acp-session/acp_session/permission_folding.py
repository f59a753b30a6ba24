"""A v2 permission request in the form that v1 can hold: words of the prompt go into the title of the tool call.

Nothing that the user should read is lost; what a client of v1 then shows as the tool call's title is more than that. It is a mode to be
asked for (`permission.to_v1(request, fold=True)`), since v2 keeps the two apart on purpose.
"""

from __future__ import annotations

import hashlib

from acp_bindings import UNSET, v2


def folded(request: v2.RequestPermissionRequest) -> v2.RequestPermissionRequest:
    r"""The request with one text for prompt and tool call: title, the tool call's own title or the command, description, a line each.

    A request without a tool call gets one of its own: its id is made of the request, and a command is its input. A subject that this
    version does not know stays, for `to_v1` to name.

    >>> yes = v2.PermissionOption(option_id="yes", name="Send", kind="allow_once")
    >>> found = folded(v2.RequestPermissionRequest(session_id="s", title="Send it?", description="To the harbour.", options=[yes]))
    >>> found.title, found.description
    ('Send it?\nTo the harbour.', None)
    """
    own: str | None = None
    match request.subject:
        case v2.ToolCallPermissionSubject() as subject:
            call = subject.tool_call
            own = call.title if isinstance(call.title, str) else None
        case v2.CommandPermissionSubject() as subject:
            own = subject.command
            call = v2.ToolCallUpdate(
                tool_call_id=subject.tool_call_id or _made_id(request),
                kind="execute",
                raw_input={"command": subject.command, "cwd": subject.cwd},
            )
        case None:
            call = v2.ToolCallUpdate(tool_call_id=_made_id(request))
        case _:
            return request
    words = (request.title, own, request.description)
    title = "\n".join(dict.fromkeys(word for word in words if isinstance(word, str) and word.strip()))
    if not title:
        return request
    made = v2.ToolCallPermissionSubject(tool_call=call.__replace__(title=title))
    return request.__replace__(title=title, subject=made, description=UNSET)


def _made_id(request: v2.RequestPermissionRequest) -> str:
    """An id for a tool call that is none: the same for the same request, and nobody else's."""
    return f"permission_{hashlib.sha256(v2.encode(request)).hexdigest()[:16]}"
