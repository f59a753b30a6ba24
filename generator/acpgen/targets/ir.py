"""The target `ir`: the meaning of a version as JSON. The debugger, and the contract for back ends written elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.input.numbers import dumps
from acpgen.meaning.interchange import dump
from acpgen.targets.interface import Settings


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:  # noqa: ARG001 - every target takes it
    """One file, `ir.json`, below the prefix."""
    folder = f"{settings.prefix}/" if settings.prefix else ""
    return {f"{folder}ir.json": dumps(dump(protocol), indent=2, ensure_ascii=False) + "\n"}
