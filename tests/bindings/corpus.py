"""The corpus: real messages, and what is known of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import evidence
from bindings.meaning import Path
from bindings.subjects import Subject


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
