"""The JSON Schemas of all versions on the site, as written by the target `bundle` and as read by strict validators, and their download
page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from acpgen.diagnostics.markup import make_identifier
from acpgen.publish.pages import Page
from acpgen.publish.versions import Version
from acpgen.targets import bundle
from acpgen.targets.docs.templates import lay_out
from acpgen.targets.python.schema import write_schema

PAGE: Final = "schemas.md"
STRICT: Final = "strict.json"
"""The file name of the schema that the bindings' strict validators use; it is beside the pages of a version."""


def write_pages(versions: Sequence[Version]) -> list[Page]:
    """Write the download page, and for each version its schema, its method table and its schema for strict validators."""
    files: list[Page] = []
    rows: list[Mapping[str, object]] = []
    for version in versions:
        texts = {
            **bundle.render(version.protocol, version.bundle, version.settings),
            version.locate(STRICT): write_schema(version.bundle),
        }
        files += (Page(path, text) for path, text in texts.items())
        row = {
            path.rpartition("/")[2].partition(".")[0]: _describe_download(version, path, text)
            for path, text in texts.items()
        }
        rows.append({"name": version.protocol.name, "home": version.home, **row})
    text = lay_out("schemas", path=PAGE, rows=rows)
    return [Page(PAGE, text, ("JSON Schemas",), about="Download the JSON Schemas"), *files]


def _describe_download(version: Version, path: str, text: str) -> dict[str, str]:
    """The template values of a file, including the file name under which a browser saves it."""
    content = text.encode()
    file_name = ".".join((*map(make_identifier, version.protocol.name.split("/")), path.rpartition("/")[2]))
    size, digest = f"{max(1, round(len(content) / 1000))} kB", hashlib.sha256(content).hexdigest()
    return {"path": path, "saved": file_name, "size": size, "digest": digest}
