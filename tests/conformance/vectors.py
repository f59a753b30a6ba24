"""The vectors of our own protocols, as `acpgen generate` writes them: made here, so that they are those of the schema at hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import published
from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.input.walk import is_object
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from variants import bodies

ROOT: Final = Path(__file__).parents[2]
PROTOCOLS: Final = ("acp/v1", "acp/v2", "acp/unstable/v1", "acp/unstable/v2", "mcp/2025-06-18")
PARTS: Final = {"request": "params", "notification": "params", "result": "result", "error": "error"}


@dataclass(frozen=True)
class Vector:
    """One row. `typed` is the definition that `value` is of: the row's own, or that of the params, result or error in its message."""

    row: Mapping[str, Any] = field(repr=False)
    id: str
    label: str
    valid: bool
    decodes: bool
    typed: str | None
    value: Any = field(repr=False)

    @property
    def is_unstable(self) -> bool:
        """Whether an implementation of the stable protocol leaves it out."""
        return "unstable" in self.row

    @property
    def expected(self) -> Any:
        """What a receiver makes of `value`."""
        decoded = self.row.get("decoded", self.row.get("message"))
        return decoded if "type" in self.row else decoded[PARTS[self.row["kind"]]]


@dataclass(frozen=True)
class Protocol:
    """A protocol with its vectors."""

    name: str
    bundle: Bundle
    meaning: ir.Protocol
    files: Mapping[str, str] = field(repr=False)

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The rows of all files, in the order of the files' names."""
        return _vectors(self.name)


@cache
def protocol(name: str) -> Protocol:
    """A protocol of this repository."""
    meaning, bundled = published.version(name).protocol, published.version(name).bundle
    return Protocol(name, bundled, meaning, TARGETS["vectors"](meaning, bundled, Settings()))


def rows_of_methods(name: str) -> list[dict[str, Any]]:
    """The rows about whole messages, as they stand in the files."""
    files = protocol(name).files
    texts = [text for path, text in sorted(files.items()) if path.startswith("methods/")]
    return [json.loads(line) for text in texts for line in text.splitlines()]


@cache
def variants(name: str) -> Mapping[str, str]:
    """The types that are a variant with its tag, by what the variant is called where its body is another type."""
    return bodies(protocol(name).meaning)


@cache
def _vectors(name: str) -> tuple[Vector, ...]:
    found = protocol(name)
    lines = [
        line for path, text in sorted(found.files.items()) if path.endswith(".jsonl") for line in text.splitlines()
    ]
    return tuple(_vector(found.meaning, json.loads(line)) for line in lines)


def _vector(meaning: ir.Protocol, row: Mapping[str, Any]) -> Vector:
    typed, value = _typed(meaning, row)
    return Vector(row, row["id"], row["label"].partition(":")[0], row["valid"], row["decodes"], typed, value)


def _typed(meaning: ir.Protocol, row: Mapping[str, Any]) -> tuple[str | None, Any]:
    if "type" in row:
        return row["type"], row["message"]
    part = PARTS.get(row["kind"], "")
    message: Any = row.get("message")
    if not is_object(message) or message.get(part) is None or "futureField" in message:
        return None, None  # it is about the envelope
    if part == "error":
        return "Error", message[part]
    kind = "notification" if row["kind"] == "notification" else "request"
    method = next(one for one in meaning.methods if (one.name, one.kind) == (row["method"], kind))
    return (method.params if part == "params" else method.result), message[part]
