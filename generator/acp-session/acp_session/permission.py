"""Permission requests: asking, showing, deciding.

An agent creates a request with `ask` (v2) and evaluates the response with `decide`; a client shows what `read` returns and responds with
`choose`, `cancel` or a policy. Requests are kept and forwarded unchanged.

`title` and `description` belong to the prompt alone; what a request says about a tool call is `get_tool_call_update`, which never contains
them. An unknown outcome or kind of option is never consent.

Source: the RFD on permission requests in v2 (2026-07-02).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from acp_bindings import v1, v2

from .arguments import omit_none

AnyRequest: TypeAlias = "v1.RequestPermissionRequest | v2.RequestPermissionRequest"
"""A permission request, of v1 or v2."""
AnyResponse: TypeAlias = "v1.RequestPermissionResponse | v2.RequestPermissionResponse"
"""The response to a permission request, of v1 or v2."""
Verdict: TypeAlias = Literal["allow", "reject", "cancelled", "unknown"]
"""What the user decided: `cancelled` if nothing was chosen; `unknown` if the outcome is not understood, which is never consent."""

GENERIC_TITLE: Final = "Allow this tool call?"
"""The prompt title for a tool call without a title."""
PLAIN_TITLE: Final = "Allow this?"
"""The prompt title for a v2 request whose own is blank."""
_VERDICTS: Final[dict[str, Verdict]] = {
    **dict.fromkeys(("allow_once", "allow_always"), "allow"),
    **dict.fromkeys(("reject_once", "reject_always"), "reject"),
}


def ask(
    session_id: str,
    title: str,
    options: Sequence[v2.PermissionOption],
    *,
    description: str | None = None,
    subject: v2.RequestPermissionSubject | None = None,
) -> v2.RequestPermissionRequest:
    """Create a v2 permission request.

    The text of the prompt goes into `title` and `description`, never into the tool call of the subject. Raises `ValueError` for an empty
    title, no options, or two options with one id (RFD, "What we propose to do about it").

    >>> yes = v2.PermissionOption(option_id="yes", name="Send", kind="allow_once")
    >>> v2.encode(ask("s1", "Send the log?", [yes]))
    b'{"sessionId":"s1","title":"Send the log?","options":[{"optionId":"yes","name":"Send","kind":"allow_once"}]}'
    """
    if not title.strip():
        raise ValueError("a permission request needs a title: the user must at least see that")
    if not options:
        raise ValueError("a permission request needs at least one option")
    ids = [option.option_id for option in options]
    repeated = [id_ for index, id_ in enumerate(ids) if id_ in ids[:index]]
    if repeated:
        raise ValueError(f"two options have the id {repeated[0]!r}")
    prompt_fields = omit_none(description=description, subject=subject)
    return v2.RequestPermissionRequest(session_id=session_id, title=title, options=list(options), **prompt_fields)


def make_title(title: object) -> str:
    """The prompt title for a tool call with this title, which may be missing."""
    return title if isinstance(title, str) and title.strip() else GENERIC_TITLE


@dataclass(frozen=True, slots=True)
class Decision:
    """What a response decides.

    `allowed` is true only for an offered option that allows; `lasting` if the decision also applies to similar cases. `why` is a
    sentence for people and logs.
    """

    allowed: bool
    lasting: bool = False
    option_id: str | None = None
    verdict: Verdict = "unknown"
    why: str = field(default="", compare=False, repr=False)


def decide(request: AnyRequest, response: AnyResponse) -> Decision:
    """Decide whether the user has consented. Anything but one offered option of an allowing kind is a refusal.

    >>> yes = v2.PermissionOption(option_id="yes", name="Send", kind="allow_once")
    >>> request = ask("s1", "Send the log?", [yes])
    >>> decide(request, choose(request, "yes"))
    Decision(allowed=True, lasting=False, option_id='yes', verdict='allow')
    >>> found = decide(request, v2.RequestPermissionResponse(outcome=v2.UnknownRequestPermissionOutcome(outcome="_later")))
    >>> found.allowed, found.verdict, found.why
    (False, 'unknown', "The outcome '_later' is not known.")
    """
    outcome = response.outcome
    if isinstance(outcome, v1.CancelledPermissionOutcome | v2.CancelledPermissionOutcome):
        return Decision(allowed=False, verdict="cancelled", why="Nobody chose: the request was cancelled.")
    if not isinstance(outcome, v1.SelectedPermissionOutcome | v2.SelectedPermissionOutcome):
        tag = getattr(outcome, "tag", type(outcome).__name__)
        return Decision(allowed=False, why=f"The outcome {tag!r} is not known.")
    id_ = outcome.option_id
    matches = [option for option in request.options if option.option_id == id_]
    if len(matches) != 1:
        how = "offered more than once" if matches else "not offered"
        return Decision(allowed=False, option_id=id_, why=f"The option {id_!r} was {how}.")
    kind = str(matches[0].kind)
    verdict = _VERDICTS.get(kind, "unknown")
    if verdict == "unknown":
        return Decision(allowed=False, option_id=id_, why=f"The kind of option {kind!r} is not known.")
    is_lasting = kind.endswith("_always")
    why = f"The user chose {matches[0].name!r}, which is to {verdict} {'always' if is_lasting else 'once'}."
    return Decision(verdict == "allow", is_lasting, id_, verdict, why)


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What to show the user: always `title`, `description` if there is one, and `options` in order.

    All text is the agent's: show it as plain text.

    `tool_call` and `command` are the subject, for clients that can show it. Both are `None` if the request has no subject, or one that
    this version does not know (then `is_understood` is false: show the plain prompt).
    """

    session_id: str
    title: str
    description: str | None
    options: tuple[v1.PermissionOption | v2.PermissionOption, ...]
    tool_call: v1.ToolCallUpdate | v2.ToolCallUpdate | None = None
    command: v2.CommandPermissionSubject | None = None
    is_understood: bool = True

    def option_by_number(self, typed: str) -> str | None:
        """The id of the option with the number that a person types, counted from 1; `None` for anything else.

        >>> options = (v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),)
        >>> PermissionRequest("s1", "Send the log?", None, options).option_by_number(" 1 ")
        'yes'
        """
        numbers = {str(number): option.option_id for number, option in enumerate(self.options, 1)}
        return numbers.get(typed.strip())


def read(request: AnyRequest, *, unknown_subject: Literal["ask", "decline"] = "ask") -> PermissionRequest | None:
    """The prompt of a request; `None` if the policy declines its subject, which this version does not know.

    In that case respond with `cancel(request)`. Source: the RFD: "show a generic permission prompt or decline according to policy".

    >>> yes = v2.PermissionOption(option_id="yes", name="Open", kind="allow_once")
    >>> request = ask("s1", "Open the lock?", [yes], subject=v2.UnknownRequestPermissionSubject(type="_lock", number=3))
    >>> prompt = read(request)
    >>> (prompt.title, prompt.is_understood) if prompt else None
    ('Open the lock?', False)
    >>> read(request, unknown_subject="decline") is None
    True
    """
    call = get_tool_call_update(request)
    options: tuple[v1.PermissionOption | v2.PermissionOption, ...] = (*request.options,)
    if isinstance(request, v1.RequestPermissionRequest):
        return PermissionRequest(request.session_id, make_title(request.tool_call.title), None, options, call)
    subject = request.subject
    command = subject if isinstance(subject, v2.CommandPermissionSubject) else None
    is_understood = subject is None or command is not None or call is not None
    if not is_understood and unknown_subject == "decline":
        return None
    description = request.description if isinstance(request.description, str) and request.description else None
    title = request.title if request.title.strip() else PLAIN_TITLE
    return PermissionRequest(request.session_id, title, description, options, call, command, is_understood)


def get_tool_call_update(request: AnyRequest) -> v1.ToolCallUpdate | v2.ToolCallUpdate | None:
    """The update that a request carries for the displayed tool call, unchanged; `None` if there is none.

    The title and description of a v2 prompt are never part of it (RFD, "Why not use ToolCallUpdate.title"); v1 does not distinguish the
    two.
    """
    if isinstance(request, v1.RequestPermissionRequest):
        return request.tool_call
    return request.subject.tool_call if isinstance(request.subject, v2.ToolCallPermissionSubject) else None


def choose(request: AnyRequest, option_id: str) -> AnyResponse:
    """The response that the user chose an option. Raises `ValueError` for an option that was not offered, or offered twice."""
    if [option.option_id for option in request.options].count(option_id) != 1:
        raise ValueError(f"the option {option_id!r} was not offered, or more than once")
    if isinstance(request, v1.RequestPermissionRequest):
        return v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id=option_id))
    return v2.RequestPermissionResponse(outcome=v2.SelectedPermissionOutcome(option_id=option_id))


def cancel(request: AnyRequest) -> AnyResponse:
    """The response that nothing was chosen: the turn was cancelled, the prompt closed, or the policy declines."""
    if isinstance(request, v1.RequestPermissionRequest):
        return v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())
    return v2.RequestPermissionResponse(outcome=v2.CancelledPermissionOutcome())
