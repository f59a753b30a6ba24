"""A row of the vectors: one message, what it demonstrates, and the verdict that every implementation must reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from acpgen.input.numbers import dumps
from acpgen.meaning.samples import Path
from acpgen.pointers import write_plain_pointer

ABSENT: Final = object()

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a row is rejected: the path in the message, the violated rule (a keyword, or `tag` for the tag of a union), its location in the
    schema as a pointer, and the JSON-RPC error code.

    `missing` is the field that `required` demands. `vague`: a union without a clearly intended branch, so that its branches report
    different errors.
    """

    path: Path
    rule: str
    schema: str = ""
    code: int = INVALID_PARAMS
    missing: str | None = None
    vague: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled message. Its name, by default the label, is unique among the rows of its subject.

    `decoded` is the message after lenient decoding, `dropped` the paths of the values dropped by it. `text` replaces the message if no
    JSON value can express it.
    """

    label: str
    message: Any = field(hash=False)
    name: str = ""
    valid: bool = True
    decodes: bool = True
    decoded: Any = field(default=ABSENT, hash=False)
    dropped: tuple[Path, ...] = ()
    refusal: Refusal | None = None
    text: str | None = None
    unstable: bool = False

    def wrap(self, envelope: Mapping[str, Any], key: str) -> Row:
        """The row of a message that contains this row's message under `key`."""
        return replace(
            self,
            message={**envelope, key: self.message},
            decoded=self.decoded if self.decoded is ABSENT else {**envelope, key: self.decoded},
            dropped=tuple((key, *path) for path in self.dropped),
            refusal=None if self.refusal is None else replace(self.refusal, path=(key, *self.refusal.path)),
        )


def refuse(refusal: Refusal, message: Any, suffix: str, text: str | None = None) -> Row:
    """The row of a message that is rejected; `suffix` says in its name what is wrong."""
    label = f"invalid:{refusal.rule}"
    return Row(label, message, f"{label}{suffix}", valid=False, decodes=False, refusal=refusal, text=text)


@dataclass(frozen=True, slots=True)
class RowSubject:
    """The subject of rows: a type, or a method with the kind and the sender of the message. `unstable` marks all of its rows."""

    protocol: str
    type: str | None = None
    method: str | None = None
    kind: str = ""
    sender: str = ""
    unstable: bool = False

    @property
    def id(self) -> str:
        """The prefix of its rows' ids. Rows on the envelope are the same for all methods, so their ids contain no method name."""
        if self.type is not None:
            return f"{self.protocol}:{self.type}"
        if self.kind in ("text", "envelope", "batch", "error"):
            return f"{self.protocol}:{self.kind} by {self.sender}"
        return f"{self.protocol}:{self.method} {self.kind} by {self.sender}"


def write_lines(subject: RowSubject, rows: Iterable[Row]) -> dict[str, str]:
    """The rows of a subject as lines of JSON, by id. A row with the id of an earlier one is left out."""
    lines_by_id: dict[str, str] = {}
    for row in rows:
        id_ = f"{subject.id} {row.name or row.label}"
        if id_ not in lines_by_id:
            lines_by_id[id_] = dumps(_make_object(id_, subject, row), separators=(",", ":"))
    return lines_by_id


def _make_object(id_: str, subject: RowSubject, row: Row) -> dict[str, Any]:
    result: dict[str, Any] = {"id": id_}
    if subject.type is not None:
        result["type"] = subject.type
    else:
        result |= {"method": subject.method, "kind": subject.kind, "sender": subject.sender}
    result |= {"label": row.label, "valid": row.valid, "decodes": row.decodes}
    if subject.unstable or row.unstable:
        result["unstable"] = True
    if row.refusal is not None:
        refusal = row.refusal
        result |= {"pointer": write_plain_pointer(*refusal.path), "schema": refusal.schema, "code": refusal.code}
    if row.decoded is not ABSENT:
        result |= {"decoded": row.decoded, "dropped": [write_plain_pointer(*path) for path in row.dropped]}
    return result | ({"message": row.message} if row.text is None else {"text": row.text})
