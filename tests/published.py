"""The docs of this project, made once for all tests of a process: those of the site, and those of the repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from acpgen import publish
from acpgen.config import docs_inputs
from acpgen.files.cache import find_user_cache, hash_all_code, make_key
from acpgen.input.load import parse, read
from acpgen.meaning.understanding import understand
from acpgen.publish.memory import Memory
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
        *understand(parse(source), cache=find_user_cache()), Settings(prefix=name), extends=source.extends
    )


@cache
def versions() -> tuple[publish.Version, ...]:
    """The stable ones."""
    return tuple(map(version, PROTOCOLS))


def all_versions() -> tuple[publish.Version, ...]:
    """These, and those that extend them."""
    return (*versions(), *map(version, CHANNELS))


@cache
def read_docs_inputs() -> docs_inputs.DocsInputs:
    """What stands beside the schemas."""
    return docs_inputs.parse_docs_inputs(docs_inputs.read(ROOT / "schema", PROTOCOLS))


@cache
def files(*, for_site: bool = True) -> Mapping[str, str]:
    """All files of the docs."""
    return publish.map_texts(site_pages(for_site=for_site))


@cache
def site_pages(*, for_site: bool = True) -> Sequence[publish.Page]:
    """All pages of the docs; made once for all workers, and again by a later run only where code or schemas have changed."""
    paths = sorted(path for path in (ROOT / "schema").rglob("*") if path.is_file())
    contents = (part for path in paths for part in (str(path.relative_to(ROOT)), path.read_bytes()))
    key = make_key("the docs that tests read", str(for_site), hash_all_code().digest, *contents)
    rows: Any = find_user_cache().find(key)
    if rows is None:
        pages = publish.make_pages(all_versions(), read_docs_inputs(), for_site=for_site, memory=_MEMORY)
        rows = [[page.path, page.text, [*page.place], page.about, page.source] for page in pages]
        find_user_cache().keep(key, rows)
    return [publish.Page(path, text, tuple(place), about, source) for path, text, place, about, source in rows]
