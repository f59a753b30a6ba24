"""JSON Schemas of whole messages: the envelope of JSON-RPC around exactly the params or the result of a method.

Written by hand from the specification of JSON-RPC and the documents, so that they are not what they judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acpgen import ir
from conformance.vectors import Protocol

Schema = dict[str, Any]

ANSWERS: Final = ("result", "error")


def message_schema(protocol: Protocol, row: Mapping[str, Any]) -> Schema:
    """What the message of a row must be: any message that its sender may send, answers being those to the row's method.

    References go to the bundle's `$defs`.
    """
    branches = [_call(protocol, method) for method in protocol.meaning.methods if method.side != row["sender"]]
    branches += [_extension(protocol, is_request=True), _extension(protocol, is_request=False), _error(protocol)]
    asked = next((one for one in protocol.meaning.methods if one.name == row["method"] and one.kind == "request"), None)
    if asked is not None and asked.side in (row["sender"], "both", "protocol"):
        branches.append(_frame({"id": _id(protocol), "result": _ref(asked.result)}, ["id", "result"]))
    union: Schema = {"anyOf": branches}
    if protocol.meaning.batch:
        union = {"anyOf": [*branches, {"type": "array", "minItems": 1, "items": {"anyOf": branches}}]}
    return union


def _call(protocol: Protocol, method: ir.Method) -> Schema:
    """A call. Params that may be empty may also be null or absent."""
    params: Schema = _ref(method.params)
    definition = protocol.meaning.definitions.get(method.params or "")
    fields = definition.fields if isinstance(definition, ir.Record) else ()
    is_needed = not isinstance(definition, ir.Record) or any(field.required for field in fields)
    if method.params is None or not is_needed:
        params, is_needed = {"anyOf": [params, {"type": "null"}]}, False
    needed = ["params"] if is_needed else []
    properties: Schema = {"method": {"const": method.name}, "params": params}
    if method.kind == "request":
        return _frame({"id": _id(protocol), **properties}, ["id", "method", *needed], without=ANSWERS)
    return _frame(properties, ["method", *needed], without=("id", *ANSWERS))


def _extension(protocol: Protocol, *, is_request: bool) -> Schema:
    method: Schema = {"method": {"type": "string", "pattern": "^_"}}
    if is_request:
        return _frame({"id": _id(protocol), **method}, ["id", "method"], without=ANSWERS)
    return _frame(method, ["method"], without=("id", *ANSWERS))


def _error(protocol: Protocol) -> Schema:
    plain: Schema = {
        "type": "object",
        "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
        "required": ["code", "message"],
    }
    error = _ref("Error") if "Error" in protocol.bundle.definitions else plain
    id_: Schema = {"anyOf": [_id(protocol), {"type": "null"}]}
    return _frame({"id": id_, "error": error}, ["id", "error"], without=("method", "result"))


def _frame(properties: Schema, required: list[str], *, without: tuple[str, ...] = ()) -> Schema:
    if not without:
        without = tuple(name for name in ("method", "error") if name not in properties)
    return {
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, **properties, **dict.fromkeys(without, False)},
        "required": ["jsonrpc", *required],
    }


def _id(protocol: Protocol) -> Schema:
    return _ref("RequestId") if "RequestId" in protocol.bundle.definitions else {"type": ["string", "integer"]}


def _ref(name: str | None) -> Schema:
    return {} if name is None else {"$ref": f"#/$defs/{name}"}
