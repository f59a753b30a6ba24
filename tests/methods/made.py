"""Schemas and packages for the tests on methods."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import evidence
from acpgen import Faults, Settings, generate, load, write
from acpgen.bundle.bundle import Bundle
from acpgen.errors import FaultKind
from acpgen.files import Tree
from acpgen.input.load import Document, Documents
from acpgen.ir import Protocol
from acpgen.meaning.understanding import understand
from acpgen.methods.profile import Profile, read_profile


def documents(value: Any, name: str = "schema") -> Documents:
    return Documents("p", (Document(f"{name}.json", value, json.dumps(value, indent=2)),))


def meaning(value: Any, methods: Profile | None = None) -> tuple[Protocol, Bundle]:
    return understand(documents(value), methods=methods)


def own(**table: Any) -> Profile:
    """A profile as a person writes it."""
    return read_profile(table, "acme.toml", "acme")


def faults_of(value: Any, methods: Profile | None = None) -> list[str]:
    with pytest.raises(Faults) as caught:
        understand(documents(value), methods=methods)
    return [str(fault) for fault in caught.value.faults]


def kinds_of(value: Any, methods: Profile | None = None) -> list[FaultKind]:
    with pytest.raises(Faults) as caught:
        understand(documents(value), methods=methods)
    return [fault.kind for fault in caught.value.faults]


def rows(protocol: Protocol) -> list[tuple[str, str, str, str | None, str | None]]:
    return [(one.name, one.side, one.kind, one.params, one.result) for one in protocol.methods]


def wild(name: str) -> Documents:
    """A published schema. That of DAP names a draft that says the same of all that it has as the seventh."""
    evidence.need(f"wild/{name}.json")
    if name != "dap":
        return load(evidence.path(f"wild/{name}.json"))
    value = json.loads(evidence.path("wild/dap.json").read_text("utf-8"))
    return documents({**value, "$schema": "http://json-schema.org/draft-07/schema#"}, name)


def package(given: Documents, top: str, folder: Path, methods: Profile | None = None) -> Any:
    """The generated package, imported."""
    made = generate(given, {"python": Settings(package=f"{top}.v1")}, methods=methods)["python"]
    write([Tree(folder / top, made)])
    sys.path.insert(0, str(folder / top))
    try:
        return import_module(f"{top}.v1")
    finally:
        sys.path.remove(str(folder / top))
