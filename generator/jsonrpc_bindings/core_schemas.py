"""What is read of the layout of pydantic's core schemas, which changes between its versions."""

from __future__ import annotations

from typing import Any

from pydantic import VERSION

# With 2.12 and 2.13 encoding fails, and nobody knows 2.15.
if VERSION.split(".")[:2] != ["2", "14"]:
    raise ImportError(
        f"these bindings were tested with pydantic 2.14 and work with no other version, and {VERSION} is installed. "
        "Install a tested one: pip install 'pydantic>=2.14,<2.15'. For a newer pydantic, generate them with a newer acpgen.",
        name="pydantic",
    )


def model_parts(schema: Any) -> tuple[Any, Any, Any]:
    """Of the schema of a record: what stands directly around its fields, its model, and its fields."""
    outer = model = schema
    while schema["type"] != "model-fields":
        outer, model, schema = schema, schema if schema["type"] == "model" else model, schema["schema"]
    return outer, model, schema
