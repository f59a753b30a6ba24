"""The corpus: real messages, and what is known of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import evidence
from acpgen import ir
from acpgen.input.walk import is_object
from bindings.meaning import Path
from bindings.subjects import Subject
from variants import bodies


@dataclass(frozen=True)
class Row:
    """One message or part of one."""

    source: str
    kind: str
    type: str | None
    method: str | None
    sender: str
    valid: bool
    rust: str | None
    message: Any = field(repr=False)

    @property
    def is_message(self) -> bool:
        """Whether the row is a whole JSON-RPC message."""
        return self.kind in ("request", "notification", "result", "error")


@cache
def rows(version: int) -> tuple[Row, ...]:
    """The corpus of one protocol version. Skips the test where it is absent."""
    name = f"corpus/v{version}.jsonl"
    evidence.need(name)
    return tuple(map(_row, evidence.path(name).read_text("utf-8").splitlines()))


def _row(line: str) -> Row:
    entry: Mapping[str, Any] = json.loads(line)
    return Row(
        source=entry["source"],
        kind=entry["kind"],
        type=entry["type"],
        method=entry["method"],
        sender=(entry["direction"] or "client->agent").split("->")[0],
        valid=entry["valid_newest"],
        rust=entry.get("rust_expect"),
        message=entry["message"],
    )


def is_part(subject: Subject, row: Row) -> bool:
    """Whether a row is a body without fields that the union of its variant demands: of those no message is made."""
    record = subject.protocol.definitions.get(row.type or "")
    if row.is_message or not isinstance(record, ir.Record) or not is_object(row.message):
        return False
    return any(
        one.required and one.name not in row.message and not one.at.startswith(f"{record.at}/") for one in record.fields
    )


def tagged(subject: Subject, row: Row) -> Row:
    """A row whose definition is the body of one variant alone, with the tags that this has: there a body never stands without."""
    if row.is_message or row.type is None or not is_object(row.message):
        return row
    if row.type not in bodies(subject.protocol):
        return row
    return replace(row, message={**_tags(subject, row.type, row.message), **row.message})


def _tags(subject: Subject, name: str, message: Mapping[str, Any]) -> dict[str, Any]:
    """The constants that a definition demands of a message."""
    match subject.protocol.definitions[name]:
        case ir.Record(fields=fields):
            found = {one.name: one.type for one in fields if one.required and one.name not in message}
            return {key: kind.values[0] for key, kind in found.items() if isinstance(kind, ir.Constant)}
        case ir.TaggedUnion() as union:
            told = [one.type for one in union.variants if one.tag == message.get(union.tag)]
            chosen = told[0] if told else union.default or union.fallback
            return {} if chosen is None else _tags(subject, chosen, message)
        case ir.Alias(type=ir.AnyOf(types=(ir.Ref(name=first), *_))):
            return {} if name == first else _tags(subject, first, message)
        case _:
            return {}


def decoded(subject: Subject, row: Row, message: Any, **options: Any) -> Any:
    """A row's message, or a changed one in its place, decoded as what the row is."""
    if row.is_message:
        return subject.module.decode(json.dumps(message), sender=row.sender, method=row.method, **options)
    assert row.type is not None
    return subject.module.decode_as(subject.type(row.type), message, **options)


def typed_part(subject: Subject, row: Row) -> tuple[Path, str] | None:
    """Where the typed part of a row's message stands, and the definition it is of; `None` where there is none."""
    if not row.is_message:
        assert row.type is not None
        return (), row.type
    if row.kind == "error":
        return (("error",), "Error") if "Error" in subject.protocol.definitions else None
    kind = "notification" if row.kind == "notification" else "request"
    method = next((one for one in subject.protocol.methods if (one.name, one.kind) == (row.method, kind)), None)
    part = "result" if row.kind == "result" else "params"
    name = None if method is None else method.result if part == "result" else method.params
    return None if name is None or row.message.get(part) is None else ((part,), name)
