"""The search of the site: the index that the site generator makes, with what ranks it, and a worker of our own that reads both.

The generator's worker wants every word of a query and ranks by where they stand. Ours knows synonyms, parts of names, words that say
nothing, and that some pages are asked for more than others. `search.json` of the templates holds those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from acpgen import resources
from acpgen.write import Files

_INDEX: Final = "search.json"
_SCRIPT: Final = "search.js"
_WORKERS: Final = "assets/javascripts/workers"
_WORKER: Final = re.compile(_WORKERS + r"/search\.[0-9a-f]+\.min\.js")


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
    index = json.loads(files[_INDEX])
    index["config"].update(json.loads((source / "search.json").read_text("utf-8")))
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    worker = (source / "search.js").read_text("utf-8")
    found = {path: worker for path in files if _WORKER.fullmatch(path)}
    assert len(found) == 1, "the site generator keeps its worker elsewhere"
    return {**found, _INDEX: text, _SCRIPT: f"var __index = {text}"}
