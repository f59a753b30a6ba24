"""Schemas that others published, as TypeScript: the compiler accepts the declarations, and Node.js the modules."""

from __future__ import annotations

from pathlib import Path

import pytest

import evidence
import tiers
from acpgen.bundle.bundle import bundle
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from bindings.test_published import ACCEPTED, package_name
from typescript.test_typescript import compiled, run

HERE = [name for name in ACCEPTED if evidence.pins().brings(name) or evidence.path(name).exists()]
"""The schemas of packages, and of those that no package contains what is at hand."""


@pytest.mark.parametrize("whole", tiers.EXTENTS)
@pytest.mark.evidence(*HERE)
def test_the_compiler_accepts_what_published_schemas_make(whole: bool, tmp_path: Path) -> None:
    names = HERE if whole else tiers.draw(HERE, 4, str)
    assert len(HERE) > 20
    modules: list[Path] = []
    for name in names:
        bundled = bundle(load(evidence.path(name)))
        place = package_name(name)
        for path, text in TARGETS["typescript"](lower(bundled), bundled, Settings(place)).items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(text, "utf-8")
        modules.append(tmp_path / place / "index")
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    assert compiled(tmp_path, *(f"{module}.d.ts" for module in modules)) == ""
    script = tmp_path / "script.mjs"
    paths = ", ".join(f'"{module.as_uri()}.js"' for module in modules)
    script.write_text(f"for (const one of [{paths}]) console.log(JSON.stringify(typeof (await import(one)).decode));")
    assert run(script) == ["function"] * len(names)
