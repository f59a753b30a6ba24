"""The JSON Schemas of all versions on the site, as the target `bundle` writes them, and the page from which they are downloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from acpgen.publish.versions import Version
from acpgen.targets import bundle, docs

PAGE: Final = "schemas.md"


def pages(versions: Sequence[Version]) -> Mapping[str, str]:
    """The page, and beside the pages of each version its schema and its table of methods."""
    files: dict[str, str] = {}
    rows: list[Mapping[str, object]] = []
    for version in versions:
        made = bundle.render(version.protocol, version.bundle, version.settings)
        files |= made
        row = {path.rpartition("/")[2].partition(".")[0]: path for path in made}
        size = {name: round(len(made[path].encode()) / 1000) for name, path in row.items()}
        rows.append({"name": version.protocol.name, "home": version.home(), "size": size["schema"], **row})
    return {PAGE: docs.lay_out("schemas", path=PAGE, rows=rows), **files}
