"""The JSON Schema test suites of five drafts by way of the TypeScript modules: each row has the verdict that its authors gave it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import json_schema_suite as suite
import tiers
from acpgen.bundle.bundle import bundle
from acpgen.errors import Faults
from acpgen.input.drafts import ALL, Draft
from acpgen.input.load import Document, Documents
from acpgen.meaning.lower import lower
from acpgen.naming.identifiers import make_class_names
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from bindings.test_suite import FILE, FLOORS, root
from typescript.test_typescript import HERE, run


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.parametrize("draft", ALL, ids=lambda draft: draft.name)
@pytest.mark.evidence(suite.REMOTES, *suite.FOLDERS.values())
def test_every_row_has_its_verdict(draft: Draft, tmp_path: Path, whole: bool) -> None:
    groups = list(suite.groups(draft))
    if not whole:
        groups = tiers.draw(groups, 60 if draft == ALL[-1] else 8, name=lambda group: f"{group[0]} {group[1]}")
    beside = suite.remotes(draft)
    work: list[dict[str, Any]] = []
    wanted: list[tuple[str, str, bool]] = []
    refused = 0
    for number, (name, schema, tests) in enumerate(groups):
        documents = Documents(name, (Document(FILE, schema, json.dumps(schema)),), beside)
        try:
            made = bundle(documents)
            protocol = lower(made)
            files = TARGETS["typescript"](protocol, made, Settings(f"group{number}"))
        except Faults:
            refused += len(tests)
            continue
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(text, "utf-8")
        type_ = make_class_names(protocol.definitions.keys())[root(protocol, made, schema)]
        module = str(tmp_path / f"group{number}" / "index.js")
        work.append({"module": module, "type": type_, "values": [row["data"] for row in tests]})
        wanted += [(name, row["description"], row["valid"]) for row in tests]
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    found = [verdict for group in run(HERE / "suite.mjs", given=json.dumps(work)) for verdict in group]
    wrong = [row for row, verdict in zip(wanted, found, strict=True) if verdict != [row[2], row[2]]]
    assert not wrong
    assert refused <= FLOORS[draft.name][1]
