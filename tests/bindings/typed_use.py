"""What type checkers know of records: mypy and pyright, both strict, find nothing here but what is marked."""

from __future__ import annotations

from typing import assert_type

from bindings.notes_protocol import (
    Body,
    BodyUpdate,
    Everything,
    Part,
    Picture,
    Progress,
    Server,
    Text,
    UnknownPart,
    Update,
)


def by_class(update: Update) -> str:
    """A variant is told by its class."""
    if isinstance(update, BodyUpdate):
        assert_type(update.parts, list[Part] | None)
        return update.call_id
    if isinstance(update, Progress):
        return str(update.done + 1)
    return update.kind


def by_match(part: Part) -> str:
    """And by a pattern."""
    match part:
        case Text(text=text):
            return text
        case Picture():
            return part.data
        case UnknownPart():
            return part.type


def by_tag(part: Part) -> str:
    """And by its tag."""
    if part.type == "text":
        assert_type(part, Text)
        return part.text
    if part.type == "picture":
        return part.data
    UnknownPart(type=5)  # type: ignore[arg-type]
    assert_type(part, UnknownPart)
    return part.tag


def built(server: Server) -> Everything:
    """Constructors know their arguments."""
    Text(text=5)  # type: ignore[arg-type]
    Text(tite="a", text="")  # type: ignore[call-arg]
    Text(text="a", extra={"x": 1})
    body: Body = BodyUpdate(call_id="c")
    return Everything(update=BodyUpdate(call_id="c", parts=[Text(text="", title=None)]), server=server, alone=body)
