"""Permission requests and their answers from v1 to v2 and back, without loss: what cannot be carried over is not mapped, and said.

Source: the RFD on permission requests in v2 (2026-07-02).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar, cast

from acp_bindings import DecodeError, Unknown, to_builtins, v1, v2

from acp_workspace.errors import RequestError, invalid_params
from jsonrpc_bindings.records import Record, shape_of

from .diffs import as_object, diff_to_v1, diff_to_v2
from .permission_folding import folded

T = TypeVar("T")

GENERIC_TITLE: Final = "Allow this tool call?"
"""The title of a v1 request whose tool call has none."""


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
    source = to_builtins(request)
    tool_call, losses = _tool_call_to_v2(source["toolCall"])
    body = {key: value for key, value in source.items() if key != "toolCall"}
    losses += [(f"/{key}", "the field has a different meaning in v2") for key in _TAKEN_IN_V2 if key in source]
    body |= {"title": title_of(tool_call.get("title")), "subject": {"type": "tool_call", "toolCall": tool_call}}
    repeated = first_repeated(option.option_id for option in request.options)
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
    _require_same(
        _without_nulls(source, "toolCall"), _without_nulls(_to_v1_json(to_builtins(made))[0], "toolCall"), changed
    )
    return made


def to_v1(request: v2.RequestPermissionRequest, *, fold: bool = False) -> v1.RequestPermissionRequest:
    """A v2 request as one of v1; only for a request about a tool call whose prompt says what the tool call's title says.

    v1 has no place for words of the prompt alone: they would have to go into the tool call, which is what v2 forbids, or the user would
    consent to something unseen. Everything comes back by `to_v2`; null where it clears a list comes back as `[]`. With `fold`, the words do
    go into the tool call's title, and a prompt without a tool call gets one (`permission_folding.folded`): the user reads all, and
    the prompt does not come back as it was. Raises `NotMappable` that names what v1 cannot hold.
    """
    request = folded(request) if fold else request
    source = to_builtins(request)
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
    _require_same(_cleared(source), _cleared(to_builtins(to_v2(made))), changed)
    return made


def response_to_v2(response: v1.RequestPermissionResponse) -> v2.RequestPermissionResponse:
    """A v1 answer as one of v2."""
    return _decoded(v2.RequestPermissionResponse, to_builtins(response), {}, v2.decode_as)


def response_to_v1(response: v2.RequestPermissionResponse) -> v1.RequestPermissionResponse:
    """A v2 answer as one of v1. Raises `NotMappable` for an outcome that v1 does not have; it is no approval either way."""
    return _decoded(v1.RequestPermissionResponse, to_builtins(response), {}, v1.decode_as)


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
        (f"/toolCall/{key}", "the field has a different meaning in v2") for key in ("capabilities",) if key in source
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
        losses.append(("/toolCall", "the field has a different meaning in v1"))
    if source.get("description") is not None:
        losses.append(("/description", "v1 has no prompt text beside the tool call"))
    subject = as_object(source.get("subject"))
    if subject.get("type") != "tool_call":
        return body, [*losses, ("/subject", "v1 asks about tool calls only")]
    losses += [(f"/subject/{key}", "v1 has no such field") for key in subject if key not in ("type", "toolCall")]
    tool_call: dict[str, Any] = dict(subject["toolCall"])
    if source.get("title") != title_of(tool_call.get("title")):
        losses.append(("/title", "v1 has no prompt text beside the tool call"))
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
    sentence = "the client owns terminals in v1, the agent in v2"
    return [
        (f"{at}/{index}", sentence) for index, item in enumerate(content) if as_object(item).get("type") == "terminal"
    ]


# --- nothing lost ----------------------------------------------------------------------------------------------------


class _DecodeAs(Protocol):
    def __call__(self, type_: type[T], value: Any, /, *, lenient: bool) -> T: ...


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
    if not isinstance(first, Record) or not isinstance(second, Record):
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


def _set_fields(record: Any) -> dict[str, tuple[object, bool]]:
    """What a record holds, by wire name: the value, and whether the record declares the field."""
    declared = {one.wire: getattr(record, one.name) for one in shape_of(type(record)).fields.values()}
    return {key: (declared.get(key, value), key in declared) for key, value in to_builtins(record).items()}


def _require_same(before: object, after: object, changed: Iterable[tuple[str, str]]) -> None:
    losses = [*changed, *((pointer, "it would not survive the round trip") for pointer in _differences(before, after))]
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


def first_repeated(ids: Iterable[str]) -> tuple[int, str] | None:
    """The first id that stands there again, with its index."""
    seen: set[str] = set()
    for index, found in enumerate(ids):
        if found in seen:
            return index, found
        seen.add(found)
    return None
