"""The conformance vectors by the TypeScript modules in other engines than Node.js."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import evidence
import javascript
from acpgen.publish.site import http_server
from browsing import browser
from typescript.test_typescript import HERE, PROTOCOLS, ROOT, write

__all__ = ["browser"]

ENGINES: dict[str, tuple[str, str, list[str]]] = {
    "deno": ("deno", "2.9.6", ["run", "--allow-all"]),
    "bun": ("bun", "1.4.5", []),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("engine", ENGINES)
def test_vectors(engine: str, name: str, tmp_path: Path) -> None:
    package, version, arguments = ENGINES[engine]
    try:
        program = javascript.packages(**{package: version}) / "node_modules" / ".bin" / engine
    except javascript.Unreachable as reason:
        evidence.lack(str(reason))
    write(tmp_path, ROOT / "schema" / name)
    given: list[str | Path] = [
        program,
        *arguments,
        HERE / "vectors.mjs",
        tmp_path / "index.js",
        ROOT / "generated" / "vectors" / name,
    ]
    ran = subprocess.run(given, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    check([json.loads(line) for line in ran.stdout.splitlines()])


def test_vectors_in_a_browser(tmp_path: Path, browser: Any) -> None:
    for name in PROTOCOLS:
        write(tmp_path / name, ROOT / "schema" / name)
    (tmp_path / "rows.mjs").write_text((HERE / "rows.mjs").read_text("utf-8"), "utf-8")
    (tmp_path / "index.html").write_text("<!doctype html><title>Vectors</title>", "utf-8")
    with http_server.serve_folder(tmp_path) as home:
        page = browser.new_page()
        page.goto(home)
        for name in PROTOCOLS:
            files = sorted((ROOT / "generated" / "vectors" / name).glob("*/*.jsonl"))
            lines = [line for file in files for line in file.read_text("utf-8").split("\n")]
            script = (
                "async ([name, lines]) => (await import('/rows.mjs')).judged(await import(`/${name}/index.js`), lines)"
            )
            check(page.evaluate(script, [name, lines]))
        page.close()


def check(found: list[Any]) -> None:
    *failed, last = found
    assert not failed
    assert last["rows"] > 200
