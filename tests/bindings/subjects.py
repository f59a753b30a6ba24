"""The bindings under test: generated once in a process from each schema, each a top-level package of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any, Final, clear_overloads

import pytest

import evidence
import jsonrpc_bindings
from acpgen import ir
from acpgen.bundle.bundle import Bundle, bundle
from acpgen.bundle.unknown_variants import make_receiver_definitions
from acpgen.input.load import load
from acpgen.input.numbers import dumps
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.lower import lower
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from acpgen.targets.python.naming import Names, name_all
from bindings.meaning import Meaning
from jsonrpc_bindings import module_registry, receiving

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True)
class Source:
    """A schema, and how its bindings are wanted. `evidence` is its name if others published it."""

    path: Path
    protocol: str
    keep_unknown: bool = False
    evidence: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _upstream(folder: str, *, unstable: bool = False, keep_unknown: bool = False) -> Source:
    name = f"upstream/{folder}/{'schema.unstable.json' if unstable else 'schema.json'}"
    return Source(evidence.path(name), folder, keep_unknown, name)


SOURCES: Final = {
    "acp_v1": _upstream("acp-v1-newest"),
    "acp_v2": _upstream("acp-v2-newest"),
    "acp_v1_unstable": _upstream("acp-v1-newest", unstable=True),
    "acp_v2_unstable": _upstream("acp-v2-newest", unstable=True),
    "acp_v1_keep": _upstream("acp-v1-newest", keep_unknown=True),
    "mcp_june": _upstream("mcp-2025-06-18"),
    "mcp_november": _upstream("mcp-2025-11-25"),
    "own_v1": Source(ROOT / "schema" / "acp" / "v1", "acp/v1"),
    "own_v2": Source(ROOT / "schema" / "acp" / "v2", "acp/v2"),
    "own_unstable_v1": Source(ROOT / "schema" / "acp" / "unstable" / "v1", "acp/unstable/v1"),
    "own_unstable_v2": Source(ROOT / "schema" / "acp" / "unstable" / "v2", "acp/unstable/v2"),
    "own_roots": Source(ROOT / "schema" / "mcp" / "2025-06-18", "mcp/2025-06-18"),
}
OWN: Final = tuple(name for name in SOURCES if name.startswith("own"))
USUAL: Final = frozenset({"own_v1", "own_v2", "own_roots", "acp_v1_keep", "mcp_november"})
"""The sources that tests of every source take by default: each that is generated stays in memory."""


def parameters(names: Iterable[str]) -> list[Any]:
    """Names of sources as parameters of a test: the usual ones, and the others in the exhaustive tier."""
    return [pytest.param(name, marks=() if name in USUAL else pytest.mark.exhaustive) for name in names]


def tolerant(bundle: Bundle, kept: Iterable[str] = ()) -> dict[str, Any]:
    """The bundle's schema with the fallbacks of what is marked `x-unknown: keep`, or `kept`, written in."""
    definitions = bundle.definitions
    marked = {name for name, one in definitions.items() if one.get("x-unknown") == "keep"}
    receiving = make_receiver_definitions(definitions, bundle.unions, marked.union(kept))
    return {**bundle.schema, "$defs": {**definitions, **receiving}}


@dataclass(frozen=True)
class Subject:
    """A schema and the package that was generated from it."""

    name: str
    bundle: Bundle
    protocol: ir.Protocol
    module: Any = field(repr=False)
    runtime: Any = field(repr=False)
    top: str = ""
    keep_unknown: bool = False

    @cached_property
    def names(self) -> Names:
        """The names of the package's classes and fields."""
        return name_all(self.protocol)

    @cached_property
    def meaning(self) -> Meaning:
        """The judge that reads the IR."""
        return Meaning(self.protocol)

    @cached_property
    def tolerant_schema(self) -> dict[str, Any]:
        """The bundle's schema with tolerated fallbacks written in, for judges of JSON Schema."""
        kept = self.protocol.tolerated if self.keep_unknown else ()
        return tolerant(self.bundle, kept)

    def type(self, definition: str) -> Any:
        """The class or alias of a definition."""
        return getattr(self.module, self.names.classes[definition])

    def encoded(self, value: Any) -> Any:
        """What `encode` writes, parsed."""
        return json.loads(self.module.encode(value))

    def problems(self, definition: str, value: Any, *, lenient: bool = False) -> tuple[Any, ...]:
        """The problems of a value that must be refused."""
        with pytest.raises(self.runtime.DecodeError) as caught:
            self.module.decode_as(self.type(definition), value, lenient=lenient)
        found: tuple[Any, ...] = caught.value.problems
        return found


def forget(package: str) -> None:
    """Let go of the modules of a package, so that its classes take no memory any more."""
    for name in [each for each in sys.modules if each == package or each.startswith(f"{package}.")]:
        del sys.modules[name]
    for table in (module_registry._MODULES, receiving._KNOWN):
        for name in [each for each in table if each == package or each.startswith(f"{package}.")]:
            del table[name]
    parent, _, own = package.rpartition(".")
    if parent in sys.modules:
        delattr(sys.modules[parent], own)
    clear_overloads()  # `typing` keeps each function that is overloaded, and with it all of its package


class Subjects:
    """Subjects by name, generated when first asked for, below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[str, Subject] = {}
        self.made: set[str] = set()
        sys.path.insert(0, str(folder))

    def __call__(self, name: str) -> Subject:
        """One of `SOURCES`."""
        if name not in self.known:
            source = SOURCES[name]
            if source.evidence is not None:
                evidence.need(source.evidence)
            self.known[name] = self.make(name, source)
        return self.known[name]

    def make(self, name: str, source: Source, *, shared: str = "") -> Subject:
        """The bindings of any schema, in a package named after `name`; below one that others are in, too, where it is `shared`."""
        found = bundle(load(source.path, name=source.protocol))
        protocol = lower(found, keep_unknown=source.keep_unknown)
        top, package = f"subject_{shared or name}", name if shared else "api"
        settings = Settings(package=f"{top}.{package}", options={"runtime": "package", **source.options})
        self.made.add(top)
        files: Mapping[str, str] = TARGETS["python"](protocol, found, settings)
        for path, text in files.items():
            file = self.folder / path
            if not shared or not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
        invalidate_caches()
        return Subject(
            name, found, protocol, import_module(f"{top}.{package}"), jsonrpc_bindings, top, source.keep_unknown
        )

    def forget(self, name: str) -> None:
        """Let go of a subject that no other test asks for."""
        self.known.pop(name, None)
        forget(f"subject_{name}")

    def keep(self, subject: Subject) -> Subject:
        """A subject that tests of a module share until all tests have ended."""
        self.known[subject.name] = subject
        return subject

    def forget_small(self) -> None:
        """Let go of all subjects that tests made up."""
        for top in self.made - {f"subject_{name}" for name in self.known}:
            forget(top)
            self.made.remove(top)

    def small(self, name: str, definitions: Mapping[str, Any], *, shared: str = "", **options: Any) -> Subject:
        """The bindings of a schema that a test makes up."""
        file = self.folder / f"{name}.json"
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}
        file.write_text(dumps(schema), "utf-8")
        return self.make(name, Source(file, f"test/{name}", **options), shared=shared)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: numbers by their decimal value, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return Decimal(repr(one)) == Decimal(repr(other))
    if type(one) is not type(other):
        return False
    if is_object(one):
        return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
    if is_array(one):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
