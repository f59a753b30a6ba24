"""Keep adopted facts as a release, beside earlier releases. The docs compute changelogs from them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from acpgen.adopt import layout
from acpgen.adopt.adoption import read_upstream
from acpgen.config.docs_inputs import INDEX, RELEASES, VERDICTS, parse_index
from acpgen.config.faults import BAD_PROJECT_FILE
from acpgen.errors import Faults, show
from acpgen.input.faults import BAD_SETTING
from acpgen.input.load import decode, display_path, read_bytes

_VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def find_folder(schema: Path, protocol: str) -> Path:
    """The folder for the releases of a protocol: its family's, if that has releases and the protocol has none of its own."""
    folder, family = (schema / RELEASES / name for name in (protocol, protocol.rpartition("/")[0] or protocol))
    return family if (family / INDEX).exists() and not (folder / INDEX).exists() else folder


def is_family(schema: Path, name: str, protocols: Collection[str]) -> bool:
    """Whether a name is that of a family of protocols whose releases are kept together."""
    related = any(protocol.startswith(f"{name}/") for protocol in protocols)
    return name not in protocols and related and (schema / RELEASES / name / INDEX).exists()


def keep_release(file: Path, folder: Path, version: str) -> Mapping[str, str]:
    """The files of `folder` that keep the facts of upstream's `file` under a version, as the newest release. Raises `Faults`.

    Empty if the version is already kept with the same facts.
    """
    if not _VERSION.fullmatch(version) or f"{version.lower()}.json" in (INDEX, VERDICTS):
        expected = "a version such as 1.21.0: letters, digits, '.', '+' and '-', and neither 'index' nor 'verdicts'"
        raise Faults([BAD_SETTING(at="--keep-as", key=show(version), expected=expected, hint="Correct it.")])
    text = layout.format_compact({"$schema": _DIALECT, **read_upstream(file)})
    path = folder / INDEX
    before = parse_index(read_bytes(path) if path.exists() else None, display_path(path))
    at = folder / f"{version}.json"
    is_same = at.exists() and decode(read_bytes(at), display_path(at)) == text
    if version in before.versions and is_same:
        return {}
    if version in before.versions or (at.exists() and not is_same):
        reason = f"{version} is kept already, with other facts"
        raise Faults([BAD_PROJECT_FILE(at=display_path(at), reason=reason, remedy="Give this release another name")])
    optional = {"dates": dict(before.dates), "titles": dict(before.titles)}
    document: dict[str, Any] = {"about": before.about, "versions": [*before.versions, version]}
    document |= {key: value for key, value in optional.items() if value}
    if before.differences is not None:
        document["differences"] = [
            {"at": list(difference.at), "why": difference.why} for difference in before.differences
        ]
    if before.typescript:
        document["typescript"] = before.typescript
    return {f"{version}.json": text, INDEX: layout.format_document(document)}
