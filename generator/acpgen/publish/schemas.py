"""The JSON Schemas of all versions on the site, as the target `bundle` writes them and as strict validators read them, and the page from
which they are downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from acpgen.diagnostics.markup import identifier
from acpgen.publish.pages import Page
from acpgen.publish.versions import Version
from acpgen.targets import bundle
from acpgen.targets.docs.templates import lay_out
from acpgen.targets.python.schema import schema_text

PAGE: Final = "schemas.md"
STRICT: Final = "strict.json"
"""Beside the pages of a version: the schema by which the strict validators of the bindings judge."""


def write_pages(versions: Sequence[Version]) -> list[Page]:
    """The page, and beside the pages of each version its schema, its table of methods and its schema for strict validators."""
    files: list[Page] = []
    rows: list[Mapping[str, object]] = []
    for version in versions:
        made = {
            **bundle.render(version.protocol, version.bundle, version.settings),
            version.path(STRICT): schema_text(version.bundle),
        }
        files += (Page(path, text) for path, text in made.items())
        row = {
            path.rpartition("/")[2].partition(".")[0]: _describe_download(version, path, text)
            for path, text in made.items()
        }
        rows.append({"name": version.protocol.name, "home": version.home(), **row})
    text = lay_out("schemas", path=PAGE, rows=rows)
    return [Page(PAGE, text, ("JSON Schemas",), about="Download the JSON Schemas"), *files]


def _describe_download(version: Version, path: str, text: str) -> dict[str, str]:
    """A file, and the name under which a browser stores it."""
    content = text.encode()
    saved = ".".join((*map(identifier, version.protocol.name.split("/")), path.rpartition("/")[2]))
    size, digest = f"{max(1, round(len(content) / 1000))} kB", hashlib.sha256(content).hexdigest()
    return {"path": path, "saved": saved, "size": size, "digest": digest}
