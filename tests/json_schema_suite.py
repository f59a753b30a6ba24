"""The JSON Schema test suite as its authors publish it: the required groups of each draft, and the schemas that they refer to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import evidence
from acpgen.input.drafts import Draft
from acpgen.input.load import Document
from acpgen.input.walk import is_object

REMOTES: Final = "json-schema-test-suite/remotes"
FOLDERS: Final[Mapping[str, str]] = {
    "draft-04": "json-schema-test-suite/draft4",
    "draft-06": "json-schema-test-suite/draft6",
    "draft-07": "json-schema-test-suite/draft7",
    "2019-09": "json-schema-test-suite/draft2019-09",
    "2020-12": "json-schema-test-suite/draft2020-12",
}
"""The folder of each draft, by the name of the draft."""


def groups(draft: Draft) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """Each schema of a draft's suite with its name, as a document that says its draft, and with its tests."""
    for path in sorted(evidence.path(FOLDERS[draft.name]).glob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            schema = {"allOf": [group["schema"]]} if isinstance(group["schema"], bool) else group["schema"]
            yield f"{path.stem}: {group['description']}", {"$schema": draft.address, **schema}, group["tests"]


def remotes(draft: Draft) -> Mapping[str, Document]:
    """What the suite expects at http://localhost:1234."""
    root = evidence.path(REMOTES)
    found: dict[str, Document] = {}
    for path in sorted(root.rglob("*.json")):
        name = path.relative_to(root).as_posix()
        value: Any = json.loads(path.read_text("utf-8"))
        folder = name.partition("/")[0]
        if folder != "v1" and (not folder.startswith("draft") or FOLDERS[draft.name].endswith(f"/{folder}")):
            whole = {"$schema": draft.address, **value} if is_object(value) else value
            found[f"http://localhost:1234/{name}"] = Document(f"remotes/{name}", whole, json.dumps(whole))
    return found
