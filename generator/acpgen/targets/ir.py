"""The target `ir`: the IR of a version as JSON, for debugging and as the input of external back ends."""

from __future__ import annotations

from collections.abc import Mapping

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.input.numbers import dumps
from acpgen.meaning.interchange import dump
from acpgen.targets.interface import Settings


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:  # noqa: ARG001 - every target takes it
    """Write one file, `ir.json`, below the prefix."""
    folder = f"{settings.prefix}/" if settings.prefix else ""
    return {f"{folder}ir.json": dumps(dump(protocol), indent=2, ensure_ascii=False) + "\n"}
