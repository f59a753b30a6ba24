"""The docs of this project, made once for all tests of a process: those of the site, and those of the repository."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from acpgen import publish
from acpgen.config import docs_inputs
from acpgen.files.cache import Memory, user_cache
from acpgen.input.load import parse, read
from acpgen.meaning.understanding import understand
from acpgen.targets.interface import Settings

ROOT: Final = Path(__file__).parents[1]
PROTOCOLS: Final = ("acp/v1", "acp/v2", "mcp/2025-06-18")
CHANNELS: Final = ("acp/unstable/v1", "acp/unstable/v2")
_MEMORY: Final = Memory()
"""What both renderings need is made once."""


@cache
def version(name: str) -> publish.Version:
    """One protocol version of this project."""
    source = read(ROOT / "schema" / name, name=name)
    return publish.Version(
        *understand(parse(source), cache=user_cache()), Settings(prefix=name), extends=source.extends
    )


@cache
def versions() -> tuple[publish.Version, ...]:
    """The stable ones."""
    return tuple(map(version, PROTOCOLS))


def all_versions() -> tuple[publish.Version, ...]:
    """These, and those that extend them."""
    return (*versions(), *map(version, CHANNELS))


@cache
def docs_material() -> docs_inputs.Material:
    """What stands beside the schemas."""
    return docs_inputs.parsed(docs_inputs.read(ROOT / "schema", PROTOCOLS))


@cache
def files(*, for_site: bool = True) -> Mapping[str, str]:
    """All files of the docs."""
    return publish.documents(all_versions(), docs_material(), for_site=for_site, memory=_MEMORY)
