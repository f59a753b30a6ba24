"""Reads and writes values with the official Python SDK: lines of `{"id", "type", "value"}` in, a verdict for each line out.

`written` is what the SDK itself would send: it leaves out what is null and what equals its default.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter, ValidationError

SCHEMA: Final[Any] = import_module("acp.schema")
SERIALIZE: Final[Any] = import_module("acp.utils").serialize_params


def verdict(name: str, value: Any) -> dict[str, Any]:
    """What the SDK makes of a value; `offered` is false if it has no such type."""
    type_ = getattr(SCHEMA, name, None)
    if type_ is None:
        return {"offered": False}
    try:
        found = TypeAdapter[Any](type_).validate_python(value)
    except ValidationError:
        return {"offered": True, "accepted": False}
    return {
        "offered": True,
        "accepted": True,
        "written": SERIALIZE(found) if isinstance(found, BaseModel) else found,
    }


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], **verdict(asked["type"], asked["value"])}))
