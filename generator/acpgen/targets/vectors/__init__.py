"""The target `vectors`: test messages for every method and type, with the verdict that any implementation must reach.

They are generated from the IR and validated by JSON Schema at generation. Rows that the validator does not confirm are omitted; types
without rows, and those with rows of some fields only, are listed in `index.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Faults
from acpgen.input.faults import NOT_A_SCHEMA
from acpgen.input.step_budget import set_place
from acpgen.meaning.samples import Values
from acpgen.naming.identifiers import make_file_name
from acpgen.resources import locate_templates
from acpgen.targets.interface import Settings, require_json_rpc
from acpgen.targets.vectors.definition_rows import Maker
from acpgen.targets.vectors.method_rows import Messages
from acpgen.targets.vectors.rows import Row, RowSubject, write_lines
from acpgen.targets.vectors.verdicts import Judge

_LONGEST: Final = 60


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
    """Write `methods/*.jsonl`, `types/*.jsonl` and `index.json` below the prefix; `README.md` and `row.schema.json` without prefix.

    Raises `Faults` if the validator cannot compile the schema, or if the messages are not JSON-RPC.
    """
    require_json_rpc(protocol, "vectors", "a row of the vectors is a message")
    try:
        judge = Judge(bundle, protocol)
    except jsonschema_rs.ValidationError as error:
        raise Faults([NOT_A_SCHEMA(at=protocol.name, reason=error.message, dialect="2020-12")]) from None
    maker = Maker(Values(protocol.definitions), judge)
    messages = Messages(protocol, maker)
    folder = f"{settings.prefix}/" if settings.prefix else ""
    files: dict[str, dict[str, str]] = {}

    def add(file: str, subject: RowSubject, rows: Iterable[Row]) -> None:
        files.setdefault(file, {}).update(write_lines(subject, rows))

    for subject, rows in messages.cover_envelopes():
        add("methods/envelope.jsonl", subject, rows)
    for method in protocol.methods:
        for subject, rows in messages.cover_method(method):
            add(f"methods/{name_file(method.name)}.jsonl", subject, rows)
    missing: list[str] = []
    for name, definition in protocol.definitions.items():
        if name not in bundle.definitions:
            continue  # made up for the receiver: what its union keeps is shown by the union
        set_place(definition.at)
        subject = RowSubject(protocol.name, name, unstable=definition.unstable)
        add(f"types/{_find_area(definition)}.jsonl", subject, maker.list_rows(name))
        missing += [] if maker.list_rows(name) else [name]
    texts = {
        f"{folder}{path}": "".join(f"{line}\n" for line in rows_by_id.values())
        for path, rows_by_id in files.items()
        if rows_by_id
    }
    index: dict[str, Any] = {
        "protocol": protocol.name,
        "version": protocol.version,
        "batches": protocol.batch,
        "methods": [_describe_method(method, messages) for method in protocol.methods],
        "files": sorted(path for path, rows_by_id in files.items() if rows_by_id),
        "types_without_rows": missing,
        "types_with_rows_of_some_fields": maker.shortened,
    }
    return {**texts, f"{folder}index.json": json.dumps(index, indent=2) + "\n", **_read_about()}


def _describe_method(method: ir.Method, messages: Messages) -> dict[str, Any]:
    """The index entry of a method: its possible senders, and the definitions of its params and result, null if any value is allowed."""
    senders = list(messages.list_senders(method))
    entry: dict[str, Any] = {"name": method.name, "kind": method.kind, "senders": senders, "params": method.params}
    return entry | ({"result": method.result} if method.kind == "request" else {})


def name_file(text: str) -> str:
    """The file name for a method or an area; two with equal names share a file."""
    name = re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")[:_LONGEST]
    return make_file_name(name or "unnamed")


def _find_area(definition: ir.Definition) -> str:
    """The file of the schema that declares a definition, without extension."""
    path = definition.at.partition("#")[0]
    return name_file(path.removesuffix(".json"))


@cache
def _read_about() -> Mapping[str, str]:
    folder = Path(locate_templates()) / "vectors"
    return {name: (folder / name).read_text("utf-8") for name in ("README.md", "row.schema.json")}
