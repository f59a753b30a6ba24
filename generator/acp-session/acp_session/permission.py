"""Permission requests: asking, showing, deciding, and carrying them between v1 and v2 without loss.

An agent asks with `ask` (v2) and reads the answer with `decide`; a client shows what `read` returns and answers with `choose`, `cancel` or
a policy. Requests are kept and forwarded as they came: nothing here changes one.

The words of a prompt (`title`, `description`) belong to the prompt alone; what a request says about a tool call is `tool_call_update`,
which never holds them. An outcome or a kind of option that is not understood is never consent.

Source: the RFD on permission requests in v2 (2026-07-02).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar, cast

from acp_bindings import MISSING, DecodeError, Unknown, v1, v2
from pydantic import BaseModel

from .diffs import as_object, diff_to_v1, diff_to_v2
from .errors import RequestError, invalid_params
from .permission_folding import folded

T = TypeVar("T")

AnyRequest: TypeAlias = "v1.RequestPermissionRequest | v2.RequestPermissionRequest"
AnyResponse: TypeAlias = "v1.RequestPermissionResponse | v2.RequestPermissionResponse"

GENERIC_TITLE: Final = "Allow this tool call?"
"""The title of a v1 request whose tool call has none."""
PLAIN_TITLE: Final = "Allow this?"
"""The title that is shown for a v2 request whose own is blank."""


# --- the agent asks (v2) ---------------------------------------------------------------------------------------------


def ask(
    session_id: str,
    title: str,
    options: Sequence[v2.PermissionOption],
    *,
    description: str | None = None,
    subject: v2.RequestPermissionSubject | None = None,
) -> v2.RequestPermissionRequest:
    """A v2 permission request. Prompt words go into `title` and `description`, never into the tool call of the subject.

    Raises `ValueError` for an empty title, no options, or two options with one id (RFD, "What we propose to do about it").

    >>> yes = v2.PermissionOption(option_id="yes", name="Send", kind="allow_once")
    >>> v2.encode(ask("s1", "Send the log?", [yes]))
    b'{"sessionId":"s1","title":"Send the log?","options":[{"optionId":"yes","name":"Send","kind":"allow_once"}]}'
    """
    if not title.strip():
        raise ValueError("a permission request needs a title: it is the least that the user sees")
    if not options:
        raise ValueError("a permission request needs at least one option")
    repeated = _repeated(option.option_id for option in options)
    if repeated is not None:
        raise ValueError(f"two options have the id {repeated[1]!r}")
    fields: dict[str, Any] = {"session_id": session_id, "title": title}
    if description is not None:
        fields["description"] = description
    if subject is not None:
        fields["subject"] = subject
    return v2.RequestPermissionRequest(**fields, options=list(options))


def about_tool_call(tool_call: v2.ToolCallUpdate) -> v2.RequestPermissionSubject:
    """The subject for a tool call: the update that the client applies to the tool call that it displays."""
    return v2.ToolCallPermissionSubject(tool_call=tool_call)


Verdict: TypeAlias = Literal["allow", "reject", "cancelled", "unknown"]
"""What the user decided: `cancelled` nothing, since nobody chose; `unknown` what is not understood, and never consent."""


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
    """Whether the user has consented. Anything but a chosen, offered option of a kind that allows is a refusal.

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
    chosen = [option for option in request.options if option.option_id == outcome.option_id]
    if len(chosen) != 1:
        reason = "was offered more than once" if chosen else "was not offered"
        return Decision(allowed=False, option_id=outcome.option_id, why=f"The option {outcome.option_id!r} {reason}.")
    kind = str(chosen[0].kind)
    verdict = _VERDICTS.get(kind, "unknown")
    if verdict == "unknown":
        return Decision(allowed=False, option_id=outcome.option_id, why=f"The kind of option {kind!r} is not known.")
    why = (
        f"The user chose {chosen[0].name!r}, which is to {verdict} {'always' if kind.endswith('_always') else 'once'}."
    )
    return Decision(verdict == "allow", kind.endswith("_always"), outcome.option_id, verdict, why)


_VERDICTS: Final[dict[str, Verdict]] = {
    **dict.fromkeys(("allow_once", "allow_always"), "allow"),
    **dict.fromkeys(("reject_once", "reject_always"), "reject"),
}


# --- the client shows and answers ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to show the user: `title` always, `description` if there is one, `options` in order. All words are the agent's: show them as
    plain text.

    `tool_call` and `command` tell what it is about, for clients that can show it; both are `None` where the request has no subject or
    one that this version does not know (`is_understood` is false then: show the plain prompt). They are read from the request, which
    keeps its subject as it came.
    """

    session_id: str
    title: str
    description: str | None
    options: tuple[v1.PermissionOption | v2.PermissionOption, ...]
    tool_call: v1.ToolCallUpdate | v2.ToolCallUpdate | None = None
    command: v2.CommandPermissionSubject | None = None
    is_understood: bool = True

    def numbered(self, typed: str) -> str | None:
        """The id of the option with this number, counted from 1, as a person types it; `None` for anything else.

        >>> options = (v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),)
        >>> Prompt("s1", "Send the log?", None, options).numbered(" 1 ")
        'yes'
        """
        numbers = {str(number): option.option_id for number, option in enumerate(self.options, 1)}
        return numbers.get(typed.strip())


def read(request: AnyRequest, *, unknown_subject: Literal["prompt", "decline"] = "prompt") -> Prompt | None:
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
    if isinstance(request, v1.RequestPermissionRequest):
        title = title_of(request.tool_call.title)
        return Prompt(request.session_id, title, None, tuple(request.options), tool_call=request.tool_call)
    tool_call: v2.ToolCallUpdate | None = None
    command: v2.CommandPermissionSubject | None = None
    understood = True
    match request.subject:
        case v2.ToolCallPermissionSubject() as subject:
            tool_call = subject.tool_call
        case v2.CommandPermissionSubject() as subject:
            command = subject
        case None:
            pass
        case _:
            understood = False
            if unknown_subject == "decline":
                return None
    description = request.description if isinstance(request.description, str) and request.description else None
    options = tuple(request.options)
    title = request.title if request.title.strip() else PLAIN_TITLE
    return Prompt(request.session_id, title, description, options, tool_call, command, understood)


def tool_call_update(request: AnyRequest) -> v1.ToolCallUpdate | v2.ToolCallUpdate | None:
    """What a request changes in the tool call that is displayed: the update it carries, exactly, or `None`.

    The prompt's title and description are never part of it (RFD, "Why not use ToolCallUpdate.title"). In v1 the two cannot be told
    apart, and the update is what the agent sent.
    """
    if isinstance(request, v1.RequestPermissionRequest):
        return request.tool_call
    subject = request.subject
    return subject.tool_call if isinstance(subject, v2.ToolCallPermissionSubject) else None


def choose(request: AnyRequest, option_id: str) -> AnyResponse:
    """The answer that the user chose an option. Raises `ValueError` for one that was not offered, or offered twice."""
    offered = [option.option_id for option in request.options]
    if offered.count(option_id) != 1:
        raise ValueError(f"the option {option_id!r} was not offered, or more than once")
    if isinstance(request, v1.RequestPermissionRequest):
        return v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id=option_id))
    return v2.RequestPermissionResponse(outcome=v2.SelectedPermissionOutcome(option_id=option_id))


def cancel(request: AnyRequest) -> AnyResponse:
    """The answer that nobody chose: the turn was cancelled, the prompt closed, or the policy declines."""
    if isinstance(request, v1.RequestPermissionRequest):
        return v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())
    return v2.RequestPermissionResponse(outcome=v2.CancelledPermissionOutcome())


# --- between v1 and v2 -----------------------------------------------------------------------------------------------


class NotMappable(ValueError):
    """A message that the other version cannot hold. `losses` names each place: a JSON Pointer into the message and a sentence."""

    def __init__(self, losses: Iterable[tuple[str, str]]) -> None:
        self.losses = tuple(losses)
        super().__init__("; ".join(f"{pointer or '(message)'}: {sentence}" for pointer, sentence in self.losses))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.losses,)

    def as_request_error(self) -> RequestError:
        """The error with which a bridge answers: -32602, the places in `data`."""
        places = [{"pointer": pointer, "reason": sentence} for pointer, sentence in self.losses]
        return invalid_params(
            "the request cannot be carried over to the other version of the protocol", problems=places
        )


def to_v2(request: v1.RequestPermissionRequest) -> v2.RequestPermissionRequest:
    """A v1 request as one of v2: the tool call becomes the subject, and its title the prompt's title as well.

    Everything comes back by `to_v1`. In v1 null and omitted mean the same; nulls that would clear a field in v2 are left out. A diff
    becomes a git patch that shows both texts in full. Raises `NotMappable` that names what v2 cannot hold.
    """
    source = _json(request)
    tool_call, losses = _tool_call_to_v2(source["toolCall"])
    body = {key: value for key, value in source.items() if key != "toolCall"}
    losses += [(f"/{key}", "the field has a meaning of its own in v2") for key in _TAKEN_IN_V2 if key in source]
    body |= {"title": title_of(tool_call.get("title")), "subject": {"type": "tool_call", "toolCall": tool_call}}
    repeated = _repeated(option.option_id for option in request.options)
    if repeated is not None:
        losses.append(
            (f"/options/{repeated[0]}/optionId", f"the id {repeated[1]!r} was used before; in v2 it must be unique")
        )
    if losses:
        raise NotMappable(losses)
    made = _decoded(v2.RequestPermissionRequest, body, {"/subject/toolCall": "/toolCall"}, v2.decode_as)
    subject = made.subject
    assert isinstance(subject, v2.ToolCallPermissionSubject)
    changed = [
        *_changed(request, made, skip={"toolCall", "title", "subject"}),
        *_changed(request.tool_call, subject.tool_call, at="/toolCall", diffs=True),
    ]
    _require_same(_without_nulls(source, "toolCall"), _without_nulls(_to_v1_json(_json(made))[0], "toolCall"), changed)
    return made


def to_v1(request: v2.RequestPermissionRequest, *, fold: bool = False) -> v1.RequestPermissionRequest:
    """A v2 request as one of v1; only for a request about a tool call whose prompt says what the tool call's title says.

    v1 has no place for words of the prompt alone: they would have to go into the tool call, which is what v2 forbids, or the user would
    consent to something unseen. Everything comes back by `to_v2`; null where it clears a list comes back as `[]`. With `fold`, the words do
    go into the tool call's title, and a prompt without a tool call gets one (`permission_folding.folded`): the user reads all, and
    the prompt does not come back as it was. Raises `NotMappable` that names what v1 cannot hold.
    """
    request = folded(request) if fold else request
    source = _json(request)
    body, losses = _to_v1_json(source)
    if losses:
        raise NotMappable(losses)
    made = _decoded(v1.RequestPermissionRequest, body, {"/toolCall": "/subject/toolCall"}, v1.decode_as)
    subject = request.subject
    assert isinstance(subject, v2.ToolCallPermissionSubject)
    changed = [
        *_changed(made, request, skip={"toolCall", "title", "subject", "description"}),
        *_changed(made.tool_call, subject.tool_call, at="/subject/toolCall", diffs=True),
    ]
    _require_same(_cleared(source), _cleared(_json(to_v2(made))), changed)
    return made


def response_to_v2(response: v1.RequestPermissionResponse) -> v2.RequestPermissionResponse:
    """A v1 answer as one of v2."""
    return _decoded(v2.RequestPermissionResponse, _json(response), {}, v2.decode_as)


def response_to_v1(response: v2.RequestPermissionResponse) -> v1.RequestPermissionResponse:
    """A v2 answer as one of v1. Raises `NotMappable` for an outcome that v1 does not have; it is no approval either way."""
    return _decoded(v1.RequestPermissionResponse, _json(response), {}, v1.decode_as)


_TAKEN_IN_V2: Final = ("title", "description", "subject")
_LISTS: Final = ("content", "locations")
_CLEARABLE: Final = ("name", "title", "kind", "status", "rawInput", "rawOutput", "capabilities", "_meta")


def title_of(title: object) -> str:
    """The title of a prompt about a tool call that has this one, or none."""
    return title if isinstance(title, str) and title.strip() else GENERIC_TITLE


def _tool_call_to_v2(source: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    tool_call: dict[str, Any] = {
        key: value for key, value in source.items() if value is not None or key not in (*_CLEARABLE, *_LISTS)
    }
    losses = [
        (f"/toolCall/{key}", "the field has a meaning of its own in v2") for key in ("capabilities",) if key in source
    ]
    if tool_call.get("content") is not None:
        losses += _terminals("/toolCall/content", tool_call["content"])
        tool_call["content"] = [diff_to_v2(item) for item in tool_call["content"]]
    return tool_call, losses


def _to_v1_json(source: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The JSON of a v2 request in the terms of v1, and what has no place there."""
    losses: list[tuple[str, str]] = []
    body = {key: value for key, value in source.items() if key not in _TAKEN_IN_V2}
    if "toolCall" in source:
        losses.append(("/toolCall", "the field has a meaning of its own in v1"))
    if source.get("description") is not None:
        losses.append(("/description", "v1 has no words of the prompt beside the tool call"))
    subject = as_object(source.get("subject"))
    if subject.get("type") != "tool_call":
        return body, [*losses, ("/subject", "v1 asks about tool calls only")]
    losses += [(f"/subject/{key}", "v1 has no such place") for key in subject if key not in ("type", "toolCall")]
    tool_call: dict[str, Any] = dict(subject["toolCall"])
    if source.get("title") != title_of(tool_call.get("title")):
        losses.append(("/title", "v1 has no words of the prompt beside the tool call"))
    for key in _CLEARABLE:
        if key in tool_call and tool_call[key] is None:
            losses.append((f"/subject/toolCall/{key}", "v1 cannot clear a field"))
    if tool_call.get("capabilities") is not None:
        losses.append(("/subject/toolCall/capabilities", "v1 has no capabilities of tool calls"))
    for key in _LISTS:
        if key in tool_call and tool_call[key] is None:
            tool_call[key] = []
    if "content" in tool_call:
        items: list[Any] = []
        losses += _terminals("/subject/toolCall/content", tool_call["content"])
        for index, item in enumerate(tool_call["content"]):
            made = diff_to_v1(item)
            if made is None:
                losses.append((f"/subject/toolCall/content/{index}", "v1 shows the old and the new text of one file"))
            items.append(made)
        tool_call["content"] = items
    body["toolCall"] = tool_call
    return body, losses


def _terminals(at: str, content: Sequence[Any]) -> list[tuple[str, str]]:
    """The terminals in a tool call's content. They look alike in both versions and are not: no terminal of one is one of the other."""
    sentence = "a terminal is the client's in v1, and the agent's in v2"
    return [
        (f"{at}/{index}", sentence) for index, item in enumerate(content) if as_object(item).get("type") == "terminal"
    ]


# --- nothing lost ----------------------------------------------------------------------------------------------------


class _DecodeAs(Protocol):
    def __call__(self, type_: type[T], value: Any, /, *, lenient: bool) -> T: ...


def _json(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _decoded(type_: type[T], body: Mapping[str, Any], renamed: Mapping[str, str], decode_as: _DecodeAs) -> T:
    try:
        return decode_as(type_, body, lenient=False)
    except DecodeError as error:
        raise NotMappable((_renamed(p.pointer, renamed), p.sentence) for p in error.problems) from None


def _renamed(pointer: str, renamed: Mapping[str, str]) -> str:
    for new, old in renamed.items():
        if pointer.startswith(new):
            return old + pointer.removeprefix(new)
    return pointer


def _changed(
    first: object, second: object, at: str = "", *, skip: frozenset[str] | set[str] = frozenset(), diffs: bool = False
) -> Iterator[tuple[str, str]]:
    """Fields that one version declares and the other only carries along: their meaning would be lost."""
    if isinstance(first, list) and isinstance(second, list):
        for index, (a, b) in enumerate(zip(cast("list[object]", first), cast("list[object]", second), strict=False)):
            yield from _changed(a, b, f"{at}/{index}", diffs=diffs)
        return
    if not isinstance(first, BaseModel) or not isinstance(second, BaseModel):
        return
    if diffs and isinstance(first, v1.Diff):
        skip = {"path", "oldText", "newText", "changes", "patch"}
    if isinstance(first, Unknown) != isinstance(second, Unknown):
        yield at, "only one of the two versions knows this variant"
        return
    ones, others = _set_fields(first), _set_fields(second)
    for key in sorted((ones.keys() & others.keys()) - skip - {"_meta"}):
        (one, is_one), (other, is_other) = ones[key], others[key]
        if is_one != is_other:
            yield f"{at}/{key}", "only one of the two versions knows this field"
        else:
            yield from _changed(one, other, f"{at}/{key}", diffs=diffs)


def _set_fields(model: BaseModel) -> dict[str, tuple[object, bool]]:
    """What a record holds, by wire name: the value, and whether the record declares the field."""
    declared = {
        (field.alias or name): (getattr(model, name), True)
        for name, field in type(model).model_fields.items()
        if name in model.model_fields_set and getattr(model, name) is not MISSING
    }
    return {**{key: (value, False) for key, value in (model.model_extra or {}).items()}, **declared}


def _require_same(before: object, after: object, changed: Iterable[tuple[str, str]]) -> None:
    losses = [*changed, *((pointer, "it would not come back as it is") for pointer in _differences(before, after))]
    if losses:
        raise NotMappable(dict.fromkeys(losses))


def _differences(before: object, after: object, at: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        one, other = as_object(before), as_object(after)
        for key in sorted(one.keys() | other.keys()):
            if key not in one or key not in other:
                yield f"{at}/{key}"
            else:
                yield from _differences(one[key], other[key], f"{at}/{key}")
    elif isinstance(before, list) and isinstance(after, list):
        ones, others = cast("list[object]", before), cast("list[object]", after)
        if len(ones) != len(others):
            yield at
        for index, (a, b) in enumerate(zip(ones, others, strict=False)):
            yield from _differences(a, b, f"{at}/{index}")
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        yield at


def _without_nulls(body: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A v1 request in which what null leaves unchanged is omitted."""
    tool_call: dict[str, Any] = {k: v for k, v in body[key].items() if v is not None or k not in (*_CLEARABLE, *_LISTS)}
    if tool_call.get("content") is not None:
        tool_call["content"] = [_without_null_text(item) for item in tool_call["content"]]
    return {**body, key: tool_call}


def _without_null_text(item: Any) -> Any:
    diff = as_object(item)
    if diff.get("type") != "diff" or diff.get("oldText", 0) is not None:
        return item
    return {key: value for key, value in diff.items() if key != "oldText"}


def _cleared(body: Mapping[str, Any]) -> dict[str, Any]:
    """A v2 request in which omitted and null description are one, and null in place of a list is `[]`."""
    result = {key: value for key, value in body.items() if key != "description" or value is not None}
    subject = as_object(result["subject"])
    tool_call = as_object(subject["toolCall"])
    lists: dict[str, list[Any]] = {key: [] for key in _LISTS if key in tool_call and tool_call[key] is None}
    return {**result, "subject": {**subject, "toolCall": {**tool_call, **lists}}}


def _repeated(ids: Iterable[str]) -> tuple[int, str] | None:
    """The first id that stands there again, with its index."""
    seen: set[str] = set()
    for index, found in enumerate(ids):
        if found in seen:
            return index, found
        seen.add(found)
    return None
