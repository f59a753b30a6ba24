"""Prints how long the reports of `acpgen diff` are on real pairs. Measures; judges nothing, and is no part of CI.

    python tests/bench/reports.py [CHECKOUT] > figures.json
    python tests/bench/reports.py --against figures.json

The first form reads the code under `CHECKOUT/generator` (this project without one) and writes the lengths of all reports as JSON; the
second one compares them with the code here, the ten longest reports of each format first. Reads what `tests/evidence.toml` calls
apart, in `../shared` beside the project.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
SHARED: Final = ROOT.parent / "shared" / "data"
FORMATS: Final = ("text", "markdown", "html", "github")
LONGEST: Final = 10


def pairs() -> Iterator[tuple[str, Path, Path]]:
    """Real pairs with a name: releases and revisions side by side, and the first with the last."""
    releases = ROOT / "schema" / "releases" / "acp"
    kept = {
        version: [releases / version / f"{name}.json" for name in json.loads(index.read_text("utf-8"))["versions"]]
        for version in ("v1", "v2")
        for index in [releases / version / "index.json"]
    }
    for version, files in kept.items():
        for old, new in [*pairwise(files), (files[0], files[-1])]:
            yield f"acp/{version} {old.stem} → {new.stem}", old, new
    yield "acp/v1 → acp/v2", ROOT / "schema/acp/v1", ROOT / "schema/acp/v2"
    yield "acp/v1 oldest → acp/v2 newest", kept["v1"][0], kept["v2"][-1]
    wild, upstream = SHARED / "wild", SHARED / "upstream"
    yield "a2a 0.2.0 → 0.3.0", wild / "a2a-0.2.0.json", wild / "a2a-0.3.0.json"
    revisions = [wild / "mcp-2025-03-26.json", *sorted(upstream.glob("mcp-*/schema.json"))]
    for old, new in [*pairwise(revisions), (revisions[0], revisions[-1])]:
        yield f"mcp {_revision(old)} → {_revision(new)}", old, new
    history = SHARED / "history"
    for pair in json.loads((history / "pairs.json").read_text("utf-8")):
        yield f"history {pair['old']} → {pair['new']}", history / pair["old"], history / pair["new"]


def _revision(file: Path) -> str:
    return file.parent.name.removeprefix("mcp-") if file.stem == "schema" else file.stem.removeprefix("mcp-")


def measured() -> dict[str, Any]:
    """By pair: the counts of findings, and lines and characters of each format."""
    from acpgen.compat.check_report import check_report
    from acpgen.compat.compare import compare
    from acpgen.compat.findings import counts
    from acpgen.diagnostics import written

    found: dict[str, Any] = {}
    for name, old, new in pairs():
        report = compare(old, new)
        texts = {each: written(check_report(report), each) for each in (*FORMATS, "json")}
        sizes = {each: [text.count("\n"), len(text)] for each, text in texts.items()}
        found[name] = {"findings": dict(counts(report)), "sizes": sizes}
    return found


def against(before: dict[str, Any]) -> None:
    """The ten longest reports of before beside those of now."""
    now = measured()
    for form in FORMATS:
        longest = sorted(before, key=lambda name: -before[name]["sizes"][form][1])[:LONGEST]
        print(f"{form:44}{'lines':>16}{'characters':>20}{'share':>8}")
        for name in longest:
            (lines, size), (fewer, shorter) = before[name]["sizes"][form], now[name]["sizes"][form]
            print(f"  {name:42}{f'{lines} → {fewer}':>16}{f'{size} → {shorter}':>20}{shorter / size:>8.1%}")
        print()


def main() -> None:
    if sys.argv[1:2] == ["--against"]:
        sys.path.insert(0, str(ROOT / "generator"))
        against(json.loads(Path(sys.argv[2]).read_text("utf-8")))
        return
    checkout = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    sys.path.insert(0, str(checkout.resolve() / "generator"))
    print(json.dumps(measured(), indent=1))


if __name__ == "__main__":
    main()
