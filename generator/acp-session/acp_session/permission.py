"""Permission requests: asking, showing, deciding.

An agent asks with `ask` (v2) and reads the answer with `decide`; a client shows what `read` returns and answers with `choose`, `cancel` or
a policy. Requests are kept and forwarded as they came: nothing here changes one.

The words of a prompt (`title`, `description`) belong to the prompt alone; what a request says about a tool call is `tool_call_update`,
which never holds them. An outcome or a kind of option that is not understood is never consent.

Source: the RFD on permission requests in v2 (2026-07-02).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from acp_bindings import v1, v2

from .arguments import omit_none

AnyRequest: TypeAlias = "v1.RequestPermissionRequest | v2.RequestPermissionRequest"
"""A request for permission, of v1 or v2."""
AnyResponse: TypeAlias = "v1.RequestPermissionResponse | v2.RequestPermissionResponse"
"""The answer to it, of v1 or v2."""
Verdict: TypeAlias = Literal["allow", "reject", "cancelled", "unknown"]
"""What the user decided: `cancelled` nothing, since nobody chose; `unknown` what is not understood, and never consent."""

GENERIC_TITLE: Final = "Allow this tool call?"
"""The title of a prompt about a tool call that has none."""
PLAIN_TITLE: Final = "Allow this?"
"""The title that is shown for a v2 request whose own is blank."""
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
    """A v2 permission request. Prompt words go into `title` and `description`, never into the tool call of the subject. Raises `ValueError`
    for an empty title, no options, or two options with one id (RFD, "What we propose to do about it").

    >>> yes = v2.PermissionOption(option_id="yes", name="Send", kind="allow_once")
    >>> v2.encode(ask("s1", "Send the log?", [yes]))
    b'{"sessionId":"s1","title":"Send the log?","options":[{"optionId":"yes","name":"Send","kind":"allow_once"}]}'
    """
    if not title.strip():
        raise ValueError("a permission request needs a title: the user must at least see that")
    if not options:
        raise ValueError("a permission request needs at least one option")
    ids = [option.option_id for option in options]
    repeated = [found for index, found in enumerate(ids) if found in ids[:index]]
    if repeated:
        raise ValueError(f"two options have the id {repeated[0]!r}")
    more = omit_none(description=description, subject=subject)
    return v2.RequestPermissionRequest(session_id=session_id, title=title, options=list(options), **more)


def title_of(title: object) -> str:
    """The title of a prompt about a tool call that has this one, or none."""
    return title if isinstance(title, str) and title.strip() else GENERIC_TITLE


def tool_call_subject(tool_call: v2.ToolCallUpdate) -> v2.RequestPermissionSubject:
    """The subject for a tool call: the update that the client applies to the tool call that it displays."""
    return v2.ToolCallPermissionSubject(tool_call=tool_call)


@dataclass(frozen=True, slots=True)
class Decision:
    """What an answer decides. `allowed` only for an offered option that allows; `lasting` where allowing or rejecting is meant for like
    cases too. `why` is a sentence for people and logs.
    """

    allowed: bool
    lasting: bool = False
    option_id: str | None = None
    verdict: Verdict = "unknown"
    why: str = field(default="", compare=False, repr=False)


def decide(request: AnyRequest, response: AnyResponse) -> Decision:
    """Whether the user has consented. Anything but one offered option of a kind that allows is a refusal.

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
    found = [option for option in request.options if option.option_id == id_]
    if len(found) != 1:
        how = "offered more than once" if found else "not offered"
        return Decision(allowed=False, option_id=id_, why=f"The option {id_!r} was {how}.")
    kind = str(found[0].kind)
    verdict = _VERDICTS.get(kind, "unknown")
    if verdict == "unknown":
        return Decision(allowed=False, option_id=id_, why=f"The kind of option {kind!r} is not known.")
    is_lasting = kind.endswith("_always")
    why = f"The user chose {found[0].name!r}, which is to {verdict} {'always' if is_lasting else 'once'}."
    return Decision(verdict == "allow", is_lasting, id_, verdict, why)


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What to show the user: `title` always, `description` if there is one, `options` in order. All words are the agent's: show them as
    plain text.

    `tool_call` and `command` tell what it is about, for clients that can show it; both are `None` where the request has no subject or
    one that this version does not know (`is_understood` is false then: show the plain prompt).
    """

    session_id: str
    title: str
    description: str | None
    options: tuple[v1.PermissionOption | v2.PermissionOption, ...]
    tool_call: v1.ToolCallUpdate | v2.ToolCallUpdate | None = None
    command: v2.CommandPermissionSubject | None = None
    is_understood: bool = True

    def option_by_number(self, typed: str) -> str | None:
        """The id of the option with this number, counted from 1, as a person types it; `None` for anything else.

        >>> options = (v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),)
        >>> PermissionRequest("s1", "Send the log?", None, options).option_by_number(" 1 ")
        'yes'
        """
        numbers = {str(number): option.option_id for number, option in enumerate(self.options, 1)}
        return numbers.get(typed.strip())


def read(request: AnyRequest, *, unknown_subject: Literal["ask", "decline"] = "ask") -> PermissionRequest | None:
    """The prompt of a request; `None` where the policy declines subjects that this version does not know (RFD: "show a generic
    permission prompt or decline according to policy"). Answer that with `cancel(request)`.

    >>> yes = v2.PermissionOption(option_id="yes", name="Open", kind="allow_once")
    >>> request = ask("s1", "Open the lock?", [yes], subject=v2.UnknownRequestPermissionSubject(type="_lock", number=3))
    >>> prompt = read(request)
    >>> (prompt.title, prompt.is_understood) if prompt else None
    ('Open the lock?', False)
    >>> read(request, unknown_subject="decline") is None
    True
    """
    call = tool_call_update(request)
    options: tuple[v1.PermissionOption | v2.PermissionOption, ...] = (*request.options,)
    if isinstance(request, v1.RequestPermissionRequest):
        return PermissionRequest(request.session_id, title_of(request.tool_call.title), None, options, call)
    subject = request.subject
    command = subject if isinstance(subject, v2.CommandPermissionSubject) else None
    is_understood = subject is None or command is not None or call is not None
    if not is_understood and unknown_subject == "decline":
        return None
    description = request.description if isinstance(request.description, str) and request.description else None
    title = request.title if request.title.strip() else PLAIN_TITLE
    return PermissionRequest(request.session_id, title, description, options, call, command, is_understood)


def tool_call_update(request: AnyRequest) -> v1.ToolCallUpdate | v2.ToolCallUpdate | None:
    """What a request changes in the tool call that is displayed: the update it carries, exactly, or `None`. The title and description of
    a prompt of v2 are never part of it (RFD, "Why not use ToolCallUpdate.title"); in v1 the two cannot be told apart.
    """
    if isinstance(request, v1.RequestPermissionRequest):
        return request.tool_call
    return request.subject.tool_call if isinstance(request.subject, v2.ToolCallPermissionSubject) else None


def choose(request: AnyRequest, option_id: str) -> AnyResponse:
    """The answer that the user chose an option. Raises `ValueError` for one that was not offered, or offered twice."""
    if [option.option_id for option in request.options].count(option_id) != 1:
        raise ValueError(f"the option {option_id!r} was not offered, or more than once")
    if isinstance(request, v1.RequestPermissionRequest):
        return v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id=option_id))
    return v2.RequestPermissionResponse(outcome=v2.SelectedPermissionOutcome(option_id=option_id))


def cancel(request: AnyRequest) -> AnyResponse:
    """The answer that nobody chose: the turn was cancelled, the prompt closed, or the policy declines."""
    if isinstance(request, v1.RequestPermissionRequest):
        return v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())
    return v2.RequestPermissionResponse(outcome=v2.CancelledPermissionOutcome())
