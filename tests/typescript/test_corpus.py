"""The corpus of real messages through the TypeScript modules: to the byte as they came, or refused as in Python."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from bindings.corpus import rows
from jsonrpc_bindings.errors import DecodeError
from typescript.test_typescript import HERE, PROTOCOLS, ROOT, run, write


@pytest.mark.parametrize("version", [1, 2])
def test_real_messages_come_back_to_the_byte(version: int, tmp_path: Path) -> None:
    name = f"acp/v{version}"
    lines: list[dict[str, Any]] = []
    for row in rows(version):
        if row.is_message:
            line = json.dumps(row.message, ensure_ascii=False, separators=(",", ":"))
            method = row.method if row.kind in ("result", "error") else None
            lines.append({"line": line, "sender": row.sender, "method": method})
    write(tmp_path, ROOT / "schema" / name)
    bindings = import_module(PROTOCOLS[name])
    found = run(HERE / "lines.mjs", tmp_path / "index.js", given="\n".join(map(json.dumps, lines)))
    wanted = [expected(bindings, row) for row in lines]
    kept = [one for one, row in zip(wanted, lines, strict=True) if one.get("text") == row["line"]]
    assert len(kept) > 40
    assert [comparable(one) for one in found] == [comparable(one) for one in wanted]
    assert [one for one in found if one in kept] == kept


def expected(bindings: Any, row: dict[str, Any]) -> dict[str, Any]:
    """The text of the line where Python decodes all of it, what Python writes where it drops a part, else the problems that it finds."""
    dropped: list[Any] = []
    try:
        message = bindings.decode(row["line"], sender=row["sender"], method=row["method"], on_drop=dropped.append)
    except DecodeError as error:
        return {"problems": sorted([one.pointer, one.sentence] for one in error.problems)}
    return {"text": bindings.encode(message).decode() if dropped else row["line"]}


def comparable(found: dict[str, Any]) -> dict[str, Any]:
    """What was found, with the value of a text in place of it: Python writes the method of a message first."""
    return {"value": json.loads(found["text"])} if "text" in found else found
