"""The search of the site: the index that the site generator makes, with what ranks it, and a worker of our own that reads both.

The generator's worker wants every word of a query and ranks by where they stand. Ours knows synonyms, parts of names, words that say
nothing, and that some pages are asked for more than others. `search.json` of the templates holds those. Each page has a tag by which
readers filter: its protocol version, or its folder.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from acpgen import resources
from acpgen.errors import Faults, SiteNotBuilt
from acpgen.files import Files
from acpgen.site.generator import ZENSICAL

_INDEX: Final = "search.json"
_SCRIPT: Final = "search.js"
_WORKERS: Final = "assets/javascripts/workers"
_VERSION: Final = "types.html"
"""The page that the folder of each protocol version has."""
_WORKER: Final = re.compile(_WORKERS + r"/search\.[0-9a-f]+\.min\.js")

_OTHER: Final = SiteNotBuilt(
    at="zensical", reason="its search has another form", remedy=f"Install zensical {ZENSICAL}, which was tested"
)


def is_part(path: str) -> bool:
    """Whether a file of the site belongs to its search."""
    return path in (_INDEX, _SCRIPT) or _WORKER.fullmatch(path) is not None


def files(site: Path) -> Iterator[Path]:
    """The files of the search in the folder of a site, but for those that hold the same."""
    yield site / _INDEX
    yield from (site / _WORKERS).glob("search.*.js")


def improved(files: Files) -> Mapping[str, str]:
    """The files of a site's search, as they stand in place of those that the site generator made."""
    source = resources.templates() / "docs" / "site"
    try:
        index = json.loads(files[_INDEX])
        index["config"].update(json.loads((source / "search.json").read_text("utf-8")))
        versions = {posixpath.dirname(each) for each in _locations(index) if posixpath.basename(each) == _VERSION}
        for item in index["items"]:
            item["tags"] = _tags(posixpath.dirname(item["location"].partition("#")[0]), versions)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise Faults([_OTHER]) from None
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    worker = (source / "search.js").read_text("utf-8")
    found = {path: worker for path in files if _WORKER.fullmatch(path)}
    if len(found) != 1:
        raise Faults([_OTHER])
    return {**found, _INDEX: text, _SCRIPT: f"var __index = {text}"}


def _locations(index: Mapping[str, Any]) -> Iterator[str]:
    return (item["location"] for item in index["items"])


def _tags(folder: str, versions: Collection[str]) -> list[str]:
    """The tag of the pages in a folder: the protocol version that they are about, otherwise the first folder above them."""
    above = folder
    while above and above not in versions:
        above = posixpath.dirname(above)
    tag = above or folder.partition("/")[0]
    return [tag] if tag else []
