"""An independent judge: `jsonschema` on a schema of each message that is written down here, not taken from the validator."""

from __future__ import annotations

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

import evidence
from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.input.load import load
from acpgen.input.walk import is_object
from acpgen.meaning.understanding import understand
from acpgen.messages import validators

NAMES = ("acp/v1", "acp/v2", "mcp/2025-06-18")
UPSTREAM = ("acp-v1-newest", "acp-v2-newest", "mcp-2025-06-18", "mcp-2025-11-25")


class Subject:
    """One protocol with both judges."""

    def __init__(self, documents: Any) -> None:
        self.strict: Any = validators.read_strict(documents)
        meaning: tuple[ir.Protocol, Bundle] = understand(documents)
        self.protocol, self.bundle = meaning
        self.judges: dict[str, Any] = {}

    def accepts(self, definition: str, value: Any) -> bool:
        """What `jsonschema` says of an instance of a definition."""
        return bool(self.judge(definition, {"$ref": f"#/$defs/{definition}"}).is_valid(value))

    def judge(self, name: str, schema: Any) -> Any:
        if name not in self.judges:
            self.judges[name] = Draft202012Validator({**schema, "$defs": self.bundle.schema["$defs"]})
        return self.judges[name]

    def accepts_message(self, message: Any, sender: str, method: str | None) -> bool:
        """What `jsonschema` says of a whole message, by the schema of its kind and method."""
        if not is_object(message):
            return False
        if "method" in message:
            name, kind = message["method"], "request" if "id" in message else "notification"
        else:
            name, kind = method, "error" if "error" in message else "result"
        if not isinstance(name, str) and kind != "error":
            return kind == "result" and bool(self.judge("result", self.message("result", None)).is_valid(message))
        rows = [
            m
            for m in self.protocol.methods
            if m.name == name and m.kind == ("notification" if kind == "notification" else "request")
        ]
        row = rows[0] if rows else None
        if kind in ("request", "notification") and (row is None or row.side == sender):
            if row is not None or not str(name).startswith("_"):
                return False
            row = None
        if kind == "result" and row is not None and row.side not in (sender, "both", "protocol"):
            return False
        if kind == "result" and row is None and not str(name).startswith("_"):
            return False
        return bool(self.judge(f"{kind} {row.name if row else ''}", self.message(kind, row)).is_valid(message))

    def message(self, kind: str, row: ir.Method | None) -> Any:
        """The schema of a message."""
        id_ = (
            {"$ref": "#/$defs/RequestId"} if "RequestId" in self.bundle.definitions else {"type": ["string", "number"]}
        )
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {"jsonrpc": {"const": "2.0"}, "id": id_},
            "required": ["jsonrpc"],
        }
        match kind:
            case "request" | "notification":
                schema["properties"]["method"] = {"type": "string"}
                schema["required"] += ["method", *(["id"] if kind == "request" else [])]
                schema["not"] = {"anyOf": [{"required": ["result"]}, {"required": ["error"]}]}
                if row is not None and row.params is not None:
                    params: Any = {"$ref": f"#/$defs/{row.params}"}
                    if self.accepts(row.params, {}):
                        params = {"anyOf": [params, {"type": "null"}]}
                    else:
                        schema["required"].append("params")
                    schema["properties"]["params"] = params
            case "result":
                schema["required"] += ["id", "result"]
                schema["not"] = {"anyOf": [{"required": ["error"]}, {"required": ["method"]}]}
                if row is not None and row.result is not None:
                    schema["properties"]["result"] = {"$ref": f"#/$defs/{row.result}"}
            case _:
                schema["required"] += ["id", "error"]
                schema["not"] = {"anyOf": [{"required": ["result"]}, {"required": ["method"]}]}
                schema["properties"]["id"] = {"anyOf": [id_, {"type": "null"}]}
                if "Error" in self.bundle.definitions:
                    schema["properties"]["error"] = {"$ref": "#/$defs/Error"}
        return schema


@cache
def subject(name: str) -> Subject:
    """A protocol of this repository, or an upstream file."""
    if name in NAMES:
        return Subject(validators.find(name))
    evidence.need(f"upstream/{name}/schema.json")
    return Subject(load(evidence.path(f"upstream/{name}/schema.json"), name=name))
