"""The target `ir`: the meaning of a version as JSON. The debugger, and the contract for back ends written elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import cast

from acpgen import ir
from acpgen.schema.bundle import Bundle
from acpgen.targets import Settings


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:  # noqa: ARG001 - every target takes it
    """One file, `ir.json`, below the prefix."""
    folder = f"{settings.prefix}/" if settings.prefix else ""
    return {f"{folder}ir.json": json.dumps(dump(protocol), indent=2, ensure_ascii=False) + "\n"}


def dump(value: object) -> ir.JSON:
    """A value of the IR as JSON: an object per dataclass with its class as `kind`; what equals its default is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        result: dict[str, ir.JSON] = {"kind": type(value).__name__}
        for field in fields(value):
            item = getattr(value, field.name)
            if item != field.default or field.name == "value":
                result[field.name] = dump(item)
        return result
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return {key: dump(item) for key, item in table.items()}
    if isinstance(value, tuple | list):
        return [dump(item) for item in cast("Sequence[object]", value)]
    assert value is None or isinstance(value, bool | int | float | str), type(value)
    return value
